"""Trace: when and where each segment ran, simulated or measured, in one form."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from os import PathLike
from typing import Any

import numpy as np

from tilesim import compiled, metrics
from tilesim.devices import Device
from tilesim.engine.state import Log
from tilesim.errors import TraceError, whole
from tilesim.plans import coverage_fault
from tilesim.problems import Problem
from tilesim.provenance import of_trace
from tilesim.text import plural

PLACES = ("cta", "tile", "k0", "k1", "sm", "slot")
TIMES = ("issue", "start", "drain", "ready", "fixup", "done")
SPAN = np.dtype([(name, "i4") for name in PLACES] + [(name, "i8") for name in (*TIMES, "cycles")])
LONGEST_NS = 2**62
"""Slots times makespan: slot-time must fit int64."""
ORIGINS = ("simulated", "measured")


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """A run of `schedule` for `problem` on `device`.

    `spans`: read-only SPAN array, a row per segment, sorted by (issue, start, sm, slot); times are ns from
    the first issue, `cycles` are clock64 ticks from start to drain, 0 where not known. What is given is
    copied, unless it is read-only and owns its memory.
    `origin`: "simulated" or "measured". `tick_ns`: the step of the clock that stamped it.
    `meta`: what else is known, JSON values: launches, costs, seed, or gpu, driver, versions, date, kernel.

    Raises TraceError, naming the row, where a K-step is missing or done twice, times run backwards, a
    place is not on the device, or two main loops overlap in one slot.
    """

    problem: Problem
    device: Device
    schedule: str
    spans: np.ndarray
    origin: str = "simulated"
    tick_ns: int = 1
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        spans = self.spans
        if not _is_frozen(spans):
            spans = np.array(spans)
        _check_form(self, spans)
        if not _is_sound(self, spans):
            _check_rows(self, spans)
            spans = spans[np.lexsort((spans["slot"], spans["sm"], spans["start"], spans["issue"]))]
            zero = spans["issue"].min()
            for name in TIMES:
                spans[name] -= zero
        spans.flags.writeable = False
        object.__setattr__(self, "spans", spans)

    @property
    def makespan(self) -> int:
        """ns from the first issue to the last done."""
        return metrics.makespan(self)

    @property
    def utilization(self) -> float:
        """Share of slot-time in main loops."""
        return metrics.utilization(self)

    @property
    def occupancy(self) -> float:
        """Share of slot-time between issue and done."""
        return metrics.occupancy(self)

    @property
    def waves(self) -> int:
        """Segments over slots, rounded up."""
        return metrics.waves(self)

    def __repr__(self) -> str:
        problem, name = self.problem, " ".join(self.schedule.split())[:80]
        size = f"{problem.m}x{problem.n}x{problem.k} {problem.dtype} in {plural(problem.tiles, 'tile')}"
        took = f"{self.makespan / 1000:.3f} µs"
        return f"<Trace: {name} on {self.device.title}, {self.origin}, {size}, {took}>"

    def summary(self) -> dict[str, Any]:
        """Every figure by its name, as `metrics.summary`, and what they are of: JSON values, times in ns.

        >>> from tilesim import simulate
        >>> found = simulate("naive", Problem(384, 384, 4, tile=(128, 128, 4)), Device(4)).summary()
        >>> found["utilization"], found["problem"]["m"], found["origin"], found["costs"]["k_step"]
        (0.75, 384, 'simulated', 1000.0)
        """
        return of_trace(self) | metrics.summary(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the trace as .npz; the file appears under its name only when it is complete."""
        from tilesim.formats import npz

        npz.save(self, path)

    @staticmethod
    def load(path: str | PathLike[str]) -> "Trace":
        """Read a trace from .npz; raises TraceError where the file is not a valid trace."""
        from tilesim.formats import npz

        return npz.load(path)


def _is_frozen(spans: object) -> bool:
    """Whether nobody can change `spans` but by making them writeable."""
    return isinstance(spans, np.ndarray) and spans.base is None and not spans.flags.writeable


def _check_form(trace: Trace, spans: np.ndarray) -> None:
    if spans.dtype != SPAN or spans.ndim != 1:
        names = ", ".join(SPAN.names or ())
        raise TraceError(f"spans are {spans.dtype}; they must be one row per segment with the fields {names}")
    if not len(spans):
        raise TraceError("the trace has no spans; it needs at least one")
    if trace.origin not in ORIGINS:
        raise TraceError(f"the origin is {trace.origin!r}; it must be one of {', '.join(ORIGINS)}")
    whole("tick_ns", trace.tick_ns, 1, 10**9, TraceError)
    _check_words(trace)


def _check_words(trace: Trace) -> None:
    if not isinstance(trace.schedule, str):
        raise TraceError(f"the schedule is {trace.schedule!r}; it must be a name")
    if not isinstance(trace.meta, Mapping):
        raise TraceError(f"meta is {trace.meta!r}; it must be a mapping")
    if "launches" in trace.meta:
        whole("meta's launches", trace.meta["launches"], 1, 2**31, TraceError)
    try:
        json.dumps(dict(trace.meta), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise TraceError(f"meta must hold JSON values: {error}") from None


def _is_sound(trace: Trace, spans: np.ndarray) -> bool:
    """Whether `spans` are in order from 0 and keep all rules; also False where nothing fast can tell."""
    device, problem, fast = trace.device, trace.problem, compiled.functions(len(spans))
    if not fast:
        return False
    columns = Log(*(spans[name] for name in Log._fields))
    free = np.zeros(device.sms, bool)
    free[list(device.free_sms)] = True
    drained = np.zeros(device.sms * device.ctas_per_sm, np.int64)
    complete = np.zeros(problem.tiles if len(spans) == problem.tiles else 0, bool)
    last = fast.last_done(columns, spans["cycles"], free, drained, problem.k_steps, complete)
    if not 0 < last <= LONGEST_NS // device.slots:
        return False
    return bool(len(complete) and complete.all()) or not coverage_fault(spans, problem)


def _check_rows(trace: Trace, spans: np.ndarray) -> None:
    fault, device = coverage_fault(spans, trace.problem), trace.device
    if fault:
        raise TraceError(fault)
    _check_places(device, spans)
    _check_times(spans)
    length, limit = int(spans["done"].max()) - int(spans["issue"].min()), LONGEST_NS // device.slots
    if not 0 < length <= limit:
        raise TraceError(f"the run takes {length} ns; it must take time, and at most {limit} ns")
    _check_overlap(spans)


def _check_places(device: Device, spans: np.ndarray) -> None:
    for name, limit in {"cta": 2**31 - 1, "sm": device.sms, "slot": device.ctas_per_sm}.items():
        for row in np.flatnonzero((spans[name] < 0) | (spans[name] >= limit))[:1]:
            raise TraceError(f"row {row} has {name} {spans[name][row]}; the device has 0 to {limit - 1}")
    for row in np.flatnonzero(~np.isin(spans["sm"], device.free_sms))[:1]:
        raise TraceError(f"row {row} ran on SM {spans['sm'][row]}, which another kernel holds")


def _check_times(spans: np.ndarray) -> None:
    for name in ("issue", "cycles"):
        for row in np.flatnonzero(spans[name] < 0)[:1]:
            raise TraceError(f"row {row} has {name} {spans[name][row]}; it cannot be negative")
    for earlier, later in pairwise(TIMES):
        for row in np.flatnonzero(spans[later] < spans[earlier])[:1]:
            raise TraceError(
                f"row {row} (tile {spans['tile'][row]}) has {later} at {spans[later][row]} ns, "
                f"before its {earlier} at {spans[earlier][row]} ns"
            )


def _check_overlap(spans: np.ndarray) -> None:
    """One slot multiplies for one segment at a time."""
    by_slot = spans[np.lexsort((spans["drain"], spans["start"], spans["slot"], spans["sm"]))]
    before, after = by_slot[:-1], by_slot[1:]
    same = (before["sm"] == after["sm"]) & (before["slot"] == after["slot"])
    for i in np.flatnonzero(same & (after["start"] < before["drain"]))[:1]:
        raise TraceError(
            f"tile {after['tile'][i]} starts at {after['start'][i]} ns on SM {after['sm'][i]}, slot "
            f"{after['slot'][i]}, where the main loop of tile {before['tile'][i]} runs until "
            f"{before['drain'][i]} ns"
        )
