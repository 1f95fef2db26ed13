"""The engine: plays a Plan on a Device's slots, and finds when and where each segment runs.

Here plan, device and costs are laid out in columns, which tilesim.clock plays. It plays a small plan in Python;
for a large one it pays to load it compiled.
"""

from math import exp
from typing import Any

import numpy as np

from tilesim import clock, compiled
from tilesim.blocks import ROWS, blocks
from tilesim.costs import WHOLE, Costs
from tilesim.devices import Device
from tilesim.errors import PlanError
from tilesim.plans import Plan
from tilesim.problems import DTYPE_BYTES, Problem
from tilesim.traces import SPAN
from tilesim.traffic import loads, stretch


def run(plan: Plan, problem: Problem, device: Device, costs: Costs, seed: int = 0) -> np.ndarray:
    """Play `plan`, which covers `problem`, and return its spans: a read-only SPAN array, a row per segment.

    They are sorted as a Trace's are. The jitter is drawn per tile, so that a tile costs the same whichever
    schedule runs it. A segment waits only on segments before it in the plan, and blocks start in id order, so
    no wait is circular.

    Raises PlanError where one from the shared queue waits for a thread block that never gets a slot.
    """
    rows = plan.rows
    cut, merges = _merges(rows["tile"], problem)
    work = main_loop_ns(plan, problem, device, costs, seed)
    spans = np.zeros(len(rows), SPAN)
    segments = clock.Segments(rows["tile"], rows["k0"], rows["k1"], work, cut, plan.offsets)
    log = clock.Log(*(spans[name] for name in clock.Log._fields))
    heads = np.array([0, len(plan.segments), 0, -costs.dispatch])
    columns = clock.Run(segments, _rates(costs, device), _slots(device), merges, log, heads)
    fast = compiled.functions(len(spans))
    if fast and longest(plan, problem, device, costs) < clock.latest(device.slots):
        fast.play(columns)
    else:
        columns = _listed(columns)
        clock.play(columns)
        for name, column in zip(clock.Log._fields, columns.log, strict=True):
            spans[name] = column
    dispatched = int(columns.heads[clock.CTA])
    if dispatched < plan.ctas:
        late = (np.array(columns.merges.waiting) != clock.NOBODY) & (np.array(columns.merges.missing) > 0)
        stuck = rows["tile"][merges.owner[np.argmax(late)]]
        raise PlanError(
            f"tile {stuck} waits for ever for its other partials: all {device.slots} slots are held, "
            f"and thread block {dispatched} finds none"
        )
    _settle(spans)
    spans.flags.writeable = False
    return spans


def _listed(columns: Any) -> Any:
    """`columns`, tuples of arrays, with lists in their place."""
    if isinstance(columns, tuple):
        return type(columns)(*map(_listed, columns))  # type: ignore[call-arg]
    return columns.tolist() if isinstance(columns, np.ndarray) else columns


def _rates(costs: Costs, device: Device) -> clock.Rates:
    slowdown = np.array([costs.slowdown(r + 1) for r in range(device.ctas_per_sm)])
    return clock.Rates(
        costs.dispatch, costs.launch, costs.launch + costs.prologue, costs.handover, costs.staging,
        costs.contention, costs.epilogue, costs.overlap, costs.partial or 0, costs.partial is not None,
        costs.merge, costs.fixup, slowdown, bool((slowdown != 1).any()),
    )  # fmt: skip


def _slots(device: Device) -> clock.Slots:
    """All slots are free at 0, and the lowest rank is the first."""
    slots, width = device.slots, 1 << (device.slots - 1).bit_length()
    tree = np.full(2 * width, clock.NEVER)
    tree[width : width + slots] = clock.FREE * width + np.arange(slots)
    while width > 1:
        tree[width // 2 : width] = tree[width : 2 * width : 2]
        width //= 2
    when, event = np.zeros(slots, np.int64), np.full(slots, clock.FREE)
    cta, row, at, next_row, end_row = np.zeros((5, slots), np.int64)
    sms = np.array(device.free_sms)
    slot, first = np.divmod(np.arange(slots), len(sms))
    return clock.Slots(
        tree, when, event, cta, row, at, next_row, end_row, np.zeros(slots), np.full(slots, clock.NOBODY),
        sms[first], slot, first, np.zeros_like(sms),
    )  # fmt: skip


def _merges(tile: np.ndarray, problem: Problem) -> tuple[np.ndarray, clock.Merges]:
    """(cut, merges): see tilesim.clock."""
    if len(tile) == problem.tiles:
        none = np.zeros(0, np.int64)
        return none.astype(np.int32), clock.Merges(none, none, none, none, none)
    counts = np.bincount(tile, minlength=problem.tiles)
    several = counts > 1
    cut = np.where(several, np.cumsum(several, dtype=np.int32) - 1, np.int32(clock.NOBODY))[tile]
    rows = np.flatnonzero(cut != clock.NOBODY)
    partials = counts[several] - 1
    owner, arrived = np.zeros((2, len(partials)), np.int64)
    owner[cut[rows]] = rows  # of a tile's rows, the last stays
    return cut, clock.Merges(owner, partials, partials.copy(), arrived, np.full_like(owner, clock.NOBODY))


def _settle(spans: np.ndarray) -> None:
    """Sort rows of one issue by (start, sm, slot), in place; the rows come in the order of issue."""
    begin, size = 0, ROWS
    while begin < len(spans):
        block = spans[begin : begin + size]
        issue = block["issue"].copy()
        same = issue[1:] == issue[:-1]
        if begin + size < len(spans):  # rows of one issue stay together
            whole = len(block) - 1 - int(np.argmin(same[::-1]))
            if same.all():
                size *= 2
                continue
            block, same = block[:whole], same[: whole - 1]
        tied = np.append(False, same) | np.append(same, False)
        rows = np.flatnonzero(tied)
        names = ("slot", "sm", "start", "issue")
        block[rows] = block[rows[np.lexsort([block[name][rows] for name in names])]]
        begin, size = begin + len(block), ROWS


def longest(plan: Plan, problem: Problem, device: Device, costs: Costs) -> float:
    """How long a run of `plan` can be, ns: in one slot, at its slowest."""
    fixed = sum(getattr(costs, name) or 0 for name in WHOLE if name != "cache")
    # Of a tile's noise, nothing beyond 8 standard deviations is ever drawn.
    slowest = _slowest_k_step(problem, device, costs) * max(costs.coresidency) * exp(8 * costs.jitter)
    segments = len(plan.segments) + len(plan.shared)
    return fixed * (segments + plan.ctas) + float(problem.tiles * problem.k_steps) * slowest


def _slowest_k_step(problem: Problem, device: Device, costs: Costs) -> float:
    """ns of a K-step whose operands all come from DRAM, as those of all other slots."""
    if not costs.bandwidth:
        return costs.k_step
    size = (problem.tile_m + problem.tile_n) * problem.tile_k * DTYPE_BYTES[problem.dtype] * device.slots
    # A slot may begin a second piece of a main loop while the first one's time lasts: see tilesim.traffic.
    return (costs.k_step + 2 * size / costs.bandwidth / min(costs.coresidency)) * (1 + costs.exposed)


def main_loop_ns(plan: Plan, problem: Problem, device: Device, costs: Costs, seed: int) -> np.ndarray:
    """How long each main loop takes alone on its SM: int64 ns, at least 1, in plan order, the queue last."""
    rows = plan.rows
    stretched = memory_stretch(plan, problem, device, costs)
    noise = np.zeros(0)
    if costs.jitter:
        noise = np.random.default_rng(seed).standard_normal(problem.tiles)
        noise *= costs.jitter
        np.exp(noise, out=noise)
    work = np.empty(len(stretched), np.int64)
    for block in blocks(len(work)):
        k_step = costs.k_step * stretched[block]
        if costs.jitter:
            k_step *= noise[rows["tile"][block]]
        work[block] = np.maximum(1, np.rint((rows["k1"][block] - rows["k0"][block]) * k_step))
    work += costs.ramp
    return work


def memory_stretch(plan: Plan, problem: Problem, device: Device, costs: Costs) -> np.ndarray:
    """How much longer K-steps take for what comes from DRAM: float64 from 1, a segment each in plan order."""
    if not costs.bandwidth:
        return np.broadcast_to(1.0, len(plan.segments) + len(plan.shared))
    alone = plan.ctas > device.slots
    gap = costs.launch + costs.prologue if alone else costs.handover
    gap += costs.ramp + (costs.staging if costs.overlap else costs.epilogue)
    step = costs.k_step * costs.slowdown(device.ctas_per_sm)
    seen = loads(plan, problem, device.slots, gap / step).behind(costs.cache)
    return seen.mean(stretch(seen.demand, costs.bandwidth * step) * (1 + costs.exposed * seen.cold))
