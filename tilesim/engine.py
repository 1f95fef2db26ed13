"""The engine: the only place where time advances.

It plays a Plan on a Device's slots. A slot is at any instant free, launching, in a main loop, waiting
for a partial, or writing. Main loops of one SM share it: with r of them each advances at 1/f(r)
(processor sharing), so a drain that has been foreseen is foreseen anew whenever r changes.

The heap's key is (time, event, rank): what ends comes before what begins, and ties between slots go by
the rank in which the hardware fills them, so a run is the same for ever.
"""

from dataclasses import dataclass
from heapq import heappop, heappush
from math import ceil

import numpy as np

from tilesim.costs import Costs
from tilesim.devices import Device
from tilesim.errors import PlanError
from tilesim.plans import Plan
from tilesim.problems import Problem
from tilesim.traces import SPAN
from tilesim.traffic import loads, stretch

DRAIN, NEXT, FREE, BEGIN, START = range(5)
NOBODY = -1
ROUNDING = 1e-6
"""ns by which a float may stick out of the whole nanosecond that it means."""


@dataclass(slots=True)
class _Slot:
    """What runs in one slot; `work` is what was left of its main loop at `since`, in ns alone on the SM."""

    sm: int
    place: int
    cta: int = NOBODY
    row: int = NOBODY
    next_row: int = 0
    end_row: int = 0
    work: float = 0.0
    since: int = 0
    version: int = 0


@dataclass(slots=True)
class _Merge:
    """A tile cut into several segments: the last of them, `owner`, adds the others' partials."""

    owner: int
    partials: int
    missing: int
    arrived: int = 0
    waiting: int = NOBODY


def run(plan: Plan, problem: Problem, device: Device, costs: Costs, seed: int = 0) -> np.ndarray:
    """Play `plan` and return its spans: a SPAN array, a row per segment, in the plan's order.

    The jitter is drawn per tile, so that a tile costs the same whichever schedule runs it. A segment
    waits only on segments before it in the plan, and blocks start in id order, so no wait is circular.

    Raises PlanError where one from the shared queue waits for a thread block that never gets a slot.
    """
    rows = np.concatenate([plan.segments, plan.shared])
    spans = np.zeros(len(rows), SPAN)
    for name in ("tile", "k0", "k1"):
        spans[name] = rows[name]
    work = main_loop_ns(plan, problem, device, costs, seed).tolist()
    merges = _merges(rows)
    tile, offsets = rows["tile"].tolist(), plan.offsets.tolist()
    queue, queue_end = len(plan.segments), len(rows)

    slots = [_Slot(sm, place) for place in range(device.ctas_per_sm) for sm in device.free_sms]
    multiplying: dict[int, list[int]] = {sm: [] for sm in device.free_sms}
    slowdown = dict.fromkeys(device.free_sms, 1.0)
    issue, start, drain, ready, fixup, done, ran_in, ran_by = ([0] * len(rows) for _ in range(8))
    events = [(0, FREE, rank, NOBODY) for rank in range(len(slots))]
    next_cta, dispatched = 0, -costs.dispatch

    def take(rank: int, now: int, gap: int, writes_until: int = 0) -> bool:
        """Issue the slot's next segment, its CTA's or the queue's, perhaps with an epilogue under it.

        False where neither is left.
        """
        nonlocal queue
        slot = slots[rank]
        if slot.next_row < slot.end_row:
            row = slot.next_row
            slot.next_row += 1
        elif queue < queue_end:
            row = queue
            queue += 1
        else:
            return False
        slot.row, ran_in[row], ran_by[row] = row, rank, slot.cta
        if writes_until > now + gap:
            work[row] += costs.contention
        issue[row], start[row] = now, now + gap
        heappush(events, (now + gap, START, rank, NOBODY))
        return True

    def share(sm: int, now: int, newcomer: int = NOBODY) -> None:
        """Foresee the drains of an SM anew, now that another number of CTAs multiplies on it."""
        before, slowdown[sm] = slowdown[sm], costs.slowdown(max(1, len(multiplying[sm])))
        for rank in multiplying[sm]:
            slot = slots[rank]
            if rank == newcomer:
                slot.work = work[slot.row]
            elif before == slowdown[sm]:
                continue
            else:
                slot.work -= (now - slot.since) / before
            slot.since = now
            slot.version += 1
            left = ceil(slot.work * slowdown[sm] - ROUNDING)
            heappush(events, (now + max(0, left), DRAIN, rank, slot.version))

    def finish(rank: int, row: int, partials: int) -> None:
        """Add the partials and write the tile, whose accumulator is ready; then the CTA goes on."""
        fixup[row] = ready[row] + (costs.merge + costs.fixup * partials if partials else 0)
        done[row] = fixup[row] + costs.epilogue
        heappush(events, (fixup[row] if costs.overlap else done[row], NEXT, rank, row))

    def hand_in(rank: int, row: int) -> None:
        """Store the accumulator for another CTA to add."""
        if costs.partial is None:
            finish(rank, row, 0)
        else:
            fixup[row], done[row] = ready[row], ready[row] + costs.partial
            heappush(events, (done[row], NEXT, rank, row))

    def merge_in(merge: _Merge, rank: int, row: int) -> None:
        """A segment of a shared tile has drained: store its partial, or wait for the others'."""
        if row == merge.owner:
            merge.waiting = rank
        else:
            hand_in(rank, row)
            merge.missing -= 1
            merge.arrived = max(merge.arrived, done[row])
        if merge.waiting != NOBODY and not merge.missing:
            ready[merge.owner] = max(drain[merge.owner], merge.arrived)
            finish(merge.waiting, merge.owner, merge.partials)

    while events:
        now, event, rank, mark = heappop(events)
        slot = slots[rank]
        if event == DRAIN:
            if mark != slot.version:
                continue
            row = slot.row
            drain[row] = ready[row] = now
            multiplying[slot.sm].remove(rank)
            share(slot.sm, now)
            if tile[row] in merges:
                merge_in(merges[tile[row]], rank, row)
            else:
                finish(rank, row, 0)
        elif event == NEXT:
            gap = costs.handover + (costs.staging if done[mark] > now else 0)
            if not take(rank, now, gap, done[mark]):
                heappush(events, (done[mark], FREE, rank, NOBODY))
        elif event == FREE:
            if next_cta < plan.ctas:
                slot.cta, slot.next_row, slot.end_row = next_cta, offsets[next_cta], offsets[next_cta + 1]
                next_cta += 1
                dispatched = max(now, dispatched + costs.dispatch)
                heappush(events, (dispatched, BEGIN, rank, NOBODY))
        elif event == BEGIN:
            if not take(rank, now, costs.launch + costs.prologue):
                heappush(events, (now + costs.launch, FREE, rank, NOBODY))
        else:
            multiplying[slot.sm].append(rank)
            share(slot.sm, now, newcomer=rank)

    if next_cta < plan.ctas:
        stuck = next(t for t, merge in merges.items() if merge.waiting != NOBODY and merge.missing)
        raise PlanError(
            f"tile {stuck} waits for ever for its other partials: all {len(slots)} slots are held, "
            f"and thread block {next_cta} finds none"
        )
    spans["cta"] = ran_by
    spans["sm"] = np.array([slot.sm for slot in slots])[ran_in]
    spans["slot"] = np.array([slot.place for slot in slots])[ran_in]
    times = {"issue": issue, "start": start, "drain": drain, "ready": ready, "fixup": fixup, "done": done}
    for name, column in times.items():
        spans[name] = column
    return spans


def main_loop_ns(plan: Plan, problem: Problem, device: Device, costs: Costs, seed: int) -> np.ndarray:
    """How long each main loop takes alone on its SM: int64 ns, at least 1, in plan order, the queue last."""
    rows = np.concatenate([plan.segments, plan.shared])
    k_step = float(costs.k_step) * memory_stretch(plan, problem, device, costs)
    if costs.jitter:
        noise = np.random.default_rng(seed).standard_normal(problem.tiles)
        k_step *= np.exp(costs.jitter * noise)[rows["tile"]]
    return np.maximum(1, np.rint((rows["k1"] - rows["k0"]) * k_step)).astype(np.int64) + costs.ramp


def memory_stretch(plan: Plan, problem: Problem, device: Device, costs: Costs) -> np.ndarray:
    """How much longer K-steps take for what comes from DRAM: float64 from 1, a segment each in plan order."""
    if not costs.bandwidth:
        return np.ones(len(plan.segments) + len(plan.shared))
    alone = plan.ctas > device.slots
    gap = costs.launch + costs.prologue if alone else costs.handover
    gap += costs.ramp + (costs.staging if costs.overlap else costs.epilogue)
    step = costs.k_step * costs.slowdown(device.ctas_per_sm)
    seen = loads(plan, problem, device.slots, gap / step).behind(costs.cache)
    return seen.mean(stretch(seen.demand, costs.bandwidth * step) * (1 + costs.exposed * seen.cold))


def _merges(rows: np.ndarray) -> dict[int, _Merge]:
    """The tiles that have more than one segment, by id."""
    tiles, first, counts = np.unique(rows["tile"][::-1], return_index=True, return_counts=True)
    last = len(rows) - 1 - first
    shared = np.flatnonzero(counts > 1)
    return {
        int(tiles[i]): _Merge(owner=int(last[i]), partials=int(counts[i]) - 1, missing=int(counts[i]) - 1)
        for i in shared
    }
