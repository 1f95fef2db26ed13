"""SM cycles of a run, which are not its time at the mean clock, as clocks rise while SMs are idle.

The clock at each time is the mean of cycles / ns of the main loops in flight, interpolated between these.
"""

from dataclasses import replace

import numpy as np

from tilesim.metrics import run
from tilesim.spans.columns import TIMES
from tilesim.traces import Trace

SHORTEST = 30
"""Shorter main loops, in timer ticks, give no clock: both ends may be off by up to one tick."""


def run_cycles(trace: Trace) -> float:
    """SM cycles from the first multiply to the last done, counted, or at the trace's clock; 0 if unknown."""
    spans = trace.spans
    ticks = _ticks(trace)
    if ticks is None:
        return run(trace) * sm_mhz(trace) / 1000
    first, last = np.interp([spans["start"].min(), spans["done"].max()], *ticks)
    return float(last - first)


def at_clock(trace: Trace, mhz: float) -> Trace:
    """The trace as if the SMs had run at a constant clock: each timestamp is its cycle, in ns at that clock.
    Unchanged if its main loops have no cycle counts."""
    ticks = _ticks(trace)
    if ticks is None:
        return trace
    times, cycles = ticks
    spans = trace.spans.copy()
    for name in TIMES:
        spans[name] = np.rint(np.interp(spans[name], times, cycles) * 1000 / mhz)
    return replace(trace, spans=spans)


def sm_mhz(trace: Trace) -> float:
    """The mean SM clock of a run, recorded or calibrated; 0 if unknown."""
    costs = trace.meta.get("costs", {})
    return float(trace.meta.get("sm_mhz") or costs.get("clock_mhz") or 0)


def _ticks(trace: Trace) -> tuple[np.ndarray, np.ndarray] | None:
    """(times from the first issue to the last done, ns; SM cycles until each), or None without counts."""
    spans = trace.spans
    long = (spans["cycles"] > 0) & (spans["drain"] - spans["start"] >= SHORTEST * trace.tick_ns)
    start, drain = spans["start"][long], spans["drain"][long]
    if not len(start):
        return None
    each = spans["cycles"][long] / (drain - start)
    times = np.unique(np.concatenate([start, drain, [spans["issue"].min(), spans["done"].max()]]))
    begins, ends = np.searchsorted(times, start), np.searchsorted(times, drain)
    size = len(times)
    flying = np.cumsum(np.bincount(begins, minlength=size) - np.bincount(ends, minlength=size))[:-1]
    total = np.cumsum(np.bincount(begins, each, size) - np.bincount(ends, each, size))[:-1]
    known = flying > 0
    middle = (times[1:] + times[:-1]) / 2
    clock = np.interp(middle, middle[known], total[known] / flying[known])
    return times, np.append(0.0, np.cumsum(clock * np.diff(times)))
