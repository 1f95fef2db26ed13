"""Slots that take what is next: work items of unequal lengths, and blocks that wait for one."""

from collections.abc import Iterable
from heapq import heapreplace
from typing import NamedTuple

import numpy as np

from tilesim.errors import ProblemError
from tilesim.metrics import slot_index
from tilesim.traces import Trace
from tilesim.work import WorkItems


class ItemTimes(NamedTuple):
    """Times in ns. `longest` is an item's name; `bound`, what no order beats: the longest item, or all items
    shared out evenly over the slots. `in_order` and `longest_first`: makespans if each slot takes the next
    item once it is free, in the order of the run or the longest first."""

    longest: str
    longest_ns: int
    median_ns: float
    bound: int
    makespan: int
    in_order: int
    longest_first: int


def item_times(trace: Trace) -> ItemTimes:
    """What the lengths of a run's items say; raises ProblemError for a run of a matrix product.

    The greedy rule is list scheduling: R. L. Graham, "Bounds on multiprocessing timing anomalies", SIAM J.
    Appl. Math. 17 (1969), by which longest first takes at most 4/3 - 1/(3 slots) of the shortest possible.
    """
    if not isinstance(trace.problem, WorkItems):
        raise ProblemError(f"{trace.problem.title} is a matrix product, whose tiles are alike")
    spans = trace.spans
    took = np.zeros(trace.problem.tiles, np.int64)
    np.add.at(took, spans["tile"], spans["done"] - spans["start"])
    begun = dict.fromkeys(spans["tile"][np.argsort(spans["start"], kind="stable")].tolist())
    slots, longest = trace.device.slots, int(took.argmax())
    return ItemTimes(
        trace.problem.called(longest),
        int(took[longest]),
        float(np.median(took)),
        max(int(took[longest]), -(-int(took.sum()) // slots)),
        trace.makespan,
        greedy((int(took[item]) for item in begun), slots),
        greedy(sorted(took.tolist(), reverse=True), slots),
    )


def greedy(lengths: Iterable[int], slots: int) -> int:
    """When the last item ends, if each is taken by the slot that is free first."""
    free = [0] * slots
    for length in lengths:
        heapreplace(free, free[0] + length)
    return max(free)


def behind_the_first(trace: Trace) -> np.ndarray:
    """How much later than the first free slot each block's own slot had become free, ns.

    Of the blocks that waited, by number: int64 [blocks - slots]. Every block must be one segment, as in a
    naive kernel. 0 says that the block ran where a slot was free first; a recorder's timer moves in steps.
    """
    order = np.argsort(trace.spans["cta"])
    slots, done = slot_index(trace)[order].tolist(), trace.spans["done"][order].tolist()
    free = dict(zip(slots[: trace.device.slots], done, strict=False))
    late = []
    for slot, end in zip(slots[trace.device.slots :], done[trace.device.slots :], strict=True):
        late.append(free[slot] - min(free.values()))
        free[slot] = end
    return np.array(late, np.int64)
