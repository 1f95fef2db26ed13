"""SM cycles: how often the SMs' clock ticked during a run, which is not its time at their mean clock.

The clock of a GPU rises as its SMs fall idle. On an H200, at 1920 x 2304 x 6144 in tiles of 128 x 256, the
first 132 tiles multiply at 1,633 MHz and the last three, alone, at 1,701. At the mean clock of the run those
three would take 987 cycles a K-step, where tensor cores need 1,024; counted by the SM itself they take 1,027.

So the clock of each instant is the mean of what the main loops that are in flight say, each cycles / ns;
where none is, it goes on straight from the last one known to the next.
"""

from dataclasses import replace

import numpy as np

from tilesim.metrics import run
from tilesim.spans.columns import TIMES
from tilesim.traces import Trace

SHORTEST = 30
"""Ticks of the timer that a main loop must take to say a clock: both of its ends are off by up to one."""


def run_cycles(trace: Trace) -> float:
    """SM cycles from the first multiply to the last done, as counted; else at the clock that the trace says.

    0 where it says none.

    >>> from tilesim import Costs, Device, Problem, simulate
    >>> costs = Costs(k_step=500, clock_mhz=2000)
    >>> run_cycles(simulate("naive", Problem(128, 128, 128), Device(sms=1), costs))
    2000.0
    """
    spans = trace.spans
    ticks = _ticks(trace)
    if ticks is None:
        return run(trace) * sm_mhz(trace) / 1000
    first, last = np.interp([spans["start"].min(), spans["done"].max()], *ticks)
    return float(last - first)


def at_clock(trace: Trace, mhz: float) -> Trace:
    """`trace` as if the SMs had run at one clock: each stamp at its cycle, ns at that clock.

    The same where its main loops count no cycles.
    """
    ticks = _ticks(trace)
    if ticks is None:
        return trace
    times, cycles = ticks
    spans = trace.spans.copy()
    for name in TIMES:
        spans[name] = np.rint(np.interp(spans[name], times, cycles) * 1000 / mhz)
    return replace(trace, spans=spans)


def sm_mhz(trace: Trace) -> float:
    """The mean SM clock of a run: as recorded, or as calibrated; 0 where it is not known."""
    costs = trace.meta.get("costs", {})
    return float(trace.meta.get("sm_mhz") or costs.get("clock_mhz") or 0)


def _ticks(trace: Trace) -> tuple[np.ndarray, np.ndarray] | None:
    """(instants from the first issue to the last done, ns; SM cycles until each); None without a count."""
    spans = trace.spans
    long = (spans["cycles"] > 0) & (spans["drain"] - spans["start"] >= SHORTEST * trace.tick_ns)
    start, drain = spans["start"][long], spans["drain"][long]
    if not len(start):
        return None
    ends = int(spans["issue"].min()), int(spans["done"].max())
    times, clock = _clock(start, drain, spans["cycles"][long] / (drain - start), *ends)
    return times, np.append(0.0, np.cumsum(clock * np.diff(times)))


def _clock(
    start: np.ndarray, drain: np.ndarray, each: np.ndarray, first: int, last: int
) -> tuple[np.ndarray, np.ndarray]:
    """(instants from `first` to `last`, ns; the clock between each and the next, cycles a ns)."""
    times = np.unique(np.concatenate([start, drain, [first, last]]))
    begins, ends = np.searchsorted(times, start), np.searchsorted(times, drain)
    size = len(times)
    flying = np.cumsum(np.bincount(begins, minlength=size) - np.bincount(ends, minlength=size))[:-1]
    total = np.cumsum(np.bincount(begins, each, size) - np.bincount(ends, each, size))[:-1]
    known = flying > 0
    middle = (times[1:] + times[:-1]) / 2
    return times, np.interp(middle, middle[known], total[known] / flying[known])
