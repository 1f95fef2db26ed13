"""Figures of a trace, as pure functions. Times are int64 ns; shares are floats in [0, 1]. "Slot-time" is time
summed over slots."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from tilesim.devices.device import Device
from tilesim.spans.columns import LONGEST_NS
from tilesim.work import Work

TURNAROUND_NS = 168
"""From the end of a thread block to its successor's first instruction on the same SM; measured on an H200
with blocks that only spin (tilesim bench turnaround; data/turnaround)."""


class TraceLike(Protocol):
    """The parts of a Trace that figures need."""

    @property
    def problem(self) -> Work: ...
    @property
    def device(self) -> Device: ...
    @property
    def spans(self) -> np.ndarray: ...
    @property
    def meta(self) -> Mapping[str, Any]: ...


def makespan(trace: TraceLike) -> int:
    """From the first issue to the last done, ns."""
    return int(trace.spans["done"].max() - trace.spans["issue"].min())


def run(trace: TraceLike) -> int:
    """From the first multiply to the last done, ns: the part of a kernel that a measured trace shows."""
    return int(trace.spans["done"].max() - trace.spans["start"].min())


def utilization(trace: TraceLike) -> float:
    """The share of slot-time spent in main loops: Σ(drain - start) / (slots · makespan)."""
    multiplying = int((trace.spans["drain"] - trace.spans["start"]).sum())
    return multiplying / (trace.device.slots * makespan(trace))


def busy_share(trace: TraceLike) -> float:
    """The share of slot-time between issue and done of a segment, counting overlaps once."""
    place, spans = slot_index(trace), trace.spans
    by_slot = np.lexsort((spans["issue"], place))
    place, issue, done = place[by_slot], spans["issue"][by_slot], spans["done"][by_slot]
    # A running maximum of done per slot; the offsets keep one slot from affecting the next.
    apart = place * (int(done.max()) + 1)
    reached = np.maximum.accumulate(done + apart) - apart
    first = np.append(True, place[1:] != place[:-1])
    before = np.where(first, issue, np.append(0, reached[:-1]))
    held = np.maximum(0, done - np.maximum(issue, before)).sum()
    return int(held) / (trace.device.slots * makespan(trace))


def waves(trace: TraceLike) -> int:
    """Segments divided by slots, rounded up."""
    return -(-len(trace.spans) // trace.device.slots)


def launches(trace: TraceLike) -> int:
    """Thread blocks launched, including idle ones if the trace has their number."""
    return int(trace.meta.get("launches", len(np.unique(trace.spans["cta"]))))


def launch_time(trace: TraceLike) -> int:
    """Slot-time from issue to first multiply, summed over thread blocks, ns."""
    first = first_of_cta(trace)
    return int((trace.spans["start"][first] - trace.spans["issue"][first]).sum())


def launch_end(trace: TraceLike) -> np.ndarray:
    """When each segment's launch ends and its first load begins, ns: int64 [spans].

    A simulated launch takes what its costs say; a measured one TURNAROUND_NS, since timestamps begin after
    it. Only the first segment of a thread block has a launch.
    """
    spans, first = trace.spans, first_of_cta(trace)
    costs = trace.meta.get("costs", {})
    launch = costs.get("launch") if isinstance(costs, Mapping) else None
    if not isinstance(launch, int | float) or not 0 <= launch <= LONGEST_NS:
        launch = TURNAROUND_NS
    ends = spans["issue"].copy()
    ends[first] = np.minimum(spans["start"][first], spans["issue"][first] + int(launch))
    return ends


def tail(trace: TraceLike) -> tuple[int, int]:
    """(length, idle slot-time) of the tail, ns, which lasts from when the first slot runs out of work to the
    end. The idle time is Σ(end - the slot's last done)."""
    idle = trace.spans["done"].max() - last_done(trace)
    return int(idle.max()), int(idle.sum())


def sm_busy(trace: TraceLike) -> np.ndarray:
    """Time that each SM's slots spend in main loops: int64 ns [sms]."""
    spans = trace.spans
    busy = np.zeros(trace.device.sms, np.int64)
    np.add.at(busy, spans["sm"], spans["drain"] - spans["start"])
    return busy


def imbalance(trace: TraceLike) -> float:
    """The busiest SM's main-loop time divided by the mean of all free SMs; 1 is perfect balance."""
    busy = sm_busy(trace)
    return float(busy.max() / (busy.sum() / (trace.device.sms - trace.device.busy_sms)))


def last_done(trace: TraceLike) -> np.ndarray:
    """When each slot finished its last segment: int64 ns [slots]; 0 if it had none."""
    last = np.zeros(trace.device.sms * trace.device.ctas_per_sm, np.int64)
    used = slot_index(trace)
    np.maximum.at(last, used, trace.spans["done"])
    free = np.sort(np.array(trace.device.free_sms)) * trace.device.ctas_per_sm
    return last[(free[:, None] + np.arange(trace.device.ctas_per_sm)).ravel()]


def slot_index(trace: TraceLike) -> np.ndarray:
    """Each span's slot as one number, sm · ctas_per_sm + slot: int64 [spans]."""
    return trace.spans["sm"].astype(np.int64) * trace.device.ctas_per_sm + trace.spans["slot"]


def first_of_cta(trace: TraceLike) -> np.ndarray:
    """The row of each thread block's first segment, by cta: int64 [ctas with work]."""
    return np.unique(trace.spans["cta"], return_index=True)[1]


def in_turn(trace: TraceLike) -> tuple[np.ndarray, np.ndarray]:
    """(before, after): rows of consecutive segments in the same slot, slot by slot."""
    place = slot_index(trace)
    by_slot = np.lexsort((trace.spans["start"], place))
    same = place[by_slot[1:]] == place[by_slot[:-1]]
    return by_slot[:-1][same], by_slot[1:][same]


def next_in_slot(trace: TraceLike, time: str) -> np.ndarray:
    """The `time` (issue, ...) of the slot's next segment, ns: int64 [spans]; the largest int64 if none."""
    before, after = in_turn(trace)
    upcoming = np.full(len(trace.spans), np.iinfo(np.int64).max)
    upcoming[before] = trace.spans[time][after]
    return upcoming


def breakdown(trace: TraceLike) -> dict[str, int]:
    """Where all slot-time went, ns, by part; the parts add up to slots · makespan.

    `launch` is from issue to start of a thread block's first segment, `hand over` of its later ones. `wait`,
    `fix up` and `write` end when the slot's next segment is issued. `idle` is the rest.
    """
    spans = trace.spans
    launch, following = launch_time(trace), next_in_slot(trace, "issue")
    drain, ready, fixup, done = (
        int(np.minimum(spans[name], following).sum()) for name in ("drain", "ready", "fixup", "done")
    )
    parts = {
        "multiply": int((spans["drain"] - spans["start"]).sum()),
        "launch": launch,
        "hand over": int((spans["start"] - spans["issue"]).sum()) - launch,
        "wait": ready - drain,
        "fix up": fixup - ready,
        "write": done - fixup,
    }
    return parts | {"idle": trace.device.slots * makespan(trace) - sum(parts.values())}


def summary(trace: TraceLike) -> dict[str, Any]:
    """Every figure by name, as tables and --json print them."""
    tail_length, tail_idle = tail(trace)
    return {
        "makespan_ns": makespan(trace),
        "utilization": utilization(trace),
        "busy_share": busy_share(trace),
        "waves": waves(trace),
        "launches": launches(trace),
        "launch_time_ns": launch_time(trace),
        "tail_ns": tail_length,
        "tail_idle_slot_ns": tail_idle,
        "imbalance": imbalance(trace),
        "sm_busy_ns": sm_busy(trace).tolist(),
    }
