"""Trace: when and where each segment ran, simulated or measured, in one form."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from os import PathLike
from typing import Any

import numpy as np

from tilesim import metrics
from tilesim.blocks import Rule, blocks, fault
from tilesim.devices import Device
from tilesim.errors import TraceError, whole
from tilesim.plans import coverage_fault
from tilesim.problems import Problem

PLACES = ("cta", "tile", "k0", "k1", "sm", "slot")
TIMES = ("issue", "start", "drain", "ready", "fixup", "done")
SPAN = np.dtype([(name, "i4") for name in PLACES] + [(name, "i8") for name in (*TIMES, "cycles")])
ORDER = ("issue", "start", "sm", "slot")
"""What the rows of a trace are sorted by."""
LONGEST_NS = 2**62
"""Slots times makespan: slot-time must fit int64."""
ORIGINS = ("simulated", "measured")


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """A run of `schedule` for `problem` on `device`.

    `spans`: read-only SPAN array, a row per segment, sorted by (issue, start, sm, slot); times are ns from
    the first issue, `cycles` are clock64 ticks from start to drain, 0 where not known. What is given is copied,
    unless it is all that and owns its memory.
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
        frozen = isinstance(spans, np.ndarray) and not spans.flags.writeable and spans.base is None
        if not frozen:
            spans = np.array(spans)
        _check(self, spans)
        if not in_order(spans):
            spans = spans[np.lexsort([spans[name] for name in reversed(ORDER)])]
            frozen = False
        zero = spans["issue"][0]
        if zero:
            spans = np.array(spans) if frozen else spans
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

    def save(self, path: str | PathLike[str]) -> None:
        """Write the trace as .npz; the file appears under its name only when it is complete."""
        from tilesim.formats import npz

        npz.save(self, path)

    @staticmethod
    def load(path: str | PathLike[str]) -> "Trace":
        """Read a trace from .npz; raises TraceError where the file is not a valid trace."""
        from tilesim.formats import npz

        return npz.load(path)


def _check(trace: Trace, spans: np.ndarray) -> None:
    if spans.dtype != SPAN or spans.ndim != 1:
        names = ", ".join(SPAN.names or ())
        raise TraceError(f"spans are {spans.dtype}; they must be one row per segment with the fields {names}")
    if not len(spans):
        raise TraceError("the trace has no spans; it needs at least one")
    if trace.origin not in ORIGINS:
        raise TraceError(f"the origin is {trace.origin!r}; it must be one of {', '.join(ORIGINS)}")
    whole("tick_ns", trace.tick_ns, 1, 10**9, TraceError)
    _check_words(trace)
    wrong = coverage_fault(spans, trace.problem) or fault(spans, [*_places(trace.device, spans), *_times(spans)])
    if wrong:
        raise TraceError(wrong)
    length, limit = int(spans["done"].max()) - int(spans["issue"].min()), LONGEST_NS // trace.device.slots
    if not 0 < length <= limit:
        raise TraceError(f"the run takes {length} ns; it must take time, and at most {limit} ns")
    if not _takes_turns(spans, trace.device):
        _check_overlap(spans)


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


def _places(device: Device, spans: np.ndarray) -> list[Rule]:
    """A span's thread block, SM and slot exist, and its SM is free."""

    def limited(name: str, limit: int) -> Rule:
        return Rule(
            lambda block: (block[name] < 0) | (block[name] >= limit),
            lambda row: f"row {row} has {name} {spans[name][row]}; the device has 0 to {limit - 1}",
        )

    limits = {"cta": 2**31 - 1, "sm": device.sms, "slot": device.ctas_per_sm}
    busy = Rule(
        lambda block: ~np.isin(block["sm"], device.free_sms),
        lambda row: f"row {row} ran on SM {spans['sm'][row]}, which another kernel holds",
    )
    return [limited(*limit) for limit in limits.items()] + [busy] * bool(device.busy_sms)


def _times(spans: np.ndarray) -> list[Rule]:
    """A span's times are in order, and from zero on."""

    def positive(name: str) -> Rule:
        return Rule(
            lambda block: block[name] < 0,
            lambda row: f"row {row} has {name} {spans[name][row]}; it cannot be negative",
        )

    def in_turn(earlier: str, later: str) -> Rule:
        return Rule(
            lambda block: block[later] < block[earlier],
            lambda row: (
                f"row {row} (tile {spans['tile'][row]}) has {later} at {spans[later][row]} ns, "
                f"before its {earlier} at {spans[earlier][row]} ns"
            ),
        )

    return [positive(name) for name in ("issue", "cycles")] + [in_turn(*pair) for pair in pairwise(TIMES)]


def _takes_turns(spans: np.ndarray, device: Device) -> bool:
    """Whether, in the order of the rows, each main loop of a slot starts when the one before has drained."""
    slots = device.sms * device.ctas_per_sm
    drained = np.zeros(slots, np.int64)
    number = np.int16 if slots < 2**15 else np.int32  # of 16 bits, a stable sort is a radix sort
    for block in blocks(len(spans)):
        rows = spans[block]
        slot = (rows["sm"] * device.ctas_per_sm + rows["slot"]).astype(number)
        order = np.argsort(slot, kind="stable")
        slot, start, drain = slot[order], rows["start"][order], rows["drain"][order]
        first = np.append(True, slot[1:] != slot[:-1])
        before = np.append(0, drain[:-1])
        before[first] = drained[slot[first]]
        if (start < before).any():
            return False
        last = np.append(first[1:], True)
        drained[slot[last]] = drain[last]
    return True


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


def in_order(spans: np.ndarray) -> bool:
    """Whether rows are sorted by ORDER."""
    for block in blocks(len(spans)):
        rows = spans[max(0, block.start - 1) : block.stop]
        tied = np.arange(len(rows) - 1)
        for name in ORDER:
            before, after = rows[name][tied], rows[name][tied + 1]
            if (after < before).any():
                return False
            tied = tied[after == before]
    return True
