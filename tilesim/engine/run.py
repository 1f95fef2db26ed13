"""The engine: plays a Plan on a Device's slots, and finds when and where each segment runs.

tilesim.engine.setup lays plan, device and costs out in columns, and tilesim.engine.events plays those: compiled where there
are many segments, else in Python.
"""

from math import exp

import numpy as np

from tilesim import compiled
from tilesim.costs import WHOLE, Costs
from tilesim.devices import Device
from tilesim.engine import events
from tilesim.engine.chunks import ROWS, blocks
from tilesim.engine.setup import laid_out, with_lists, with_tree
from tilesim.engine.state import CTA, NOBODY, Log, Run
from tilesim.errors import PlanError
from tilesim.model.sole_residents import solitude
from tilesim.model.traffic import loads, stretch
from tilesim.plans import Plan
from tilesim.problems import DTYPE_BYTES, Problem

STEPS: compiled.Steps = (
    *((step, step) for step in (
        events.enter, events.lead, events.issue, events.share, events.drain, events.hand_in, events.finish,
        events.go_on, events.wait_for, events.rest,
    )),
    (events.lowest, events.lowest_in_tree),
    (events.enqueue, events.enqueue_in_tree),
)  # fmt: skip
"""What `events.play` calls, and as what each is compiled."""


def run(plan: Plan, problem: Problem, device: Device, costs: Costs, seed: int = 0) -> np.ndarray:
    """Play `plan`, which covers `problem`, and return its spans: a read-only SPAN array, a row per segment.

    They are sorted as a Trace's are. The jitter is drawn per tile, so that a tile costs the same whichever
    schedule runs it. A segment waits only on segments before it in the plan, and blocks start in id order, so
    no wait is circular.

    Raises PlanError where one from the shared queue waits for a thread block that never gets a slot.
    """
    work = main_loop_ns(plan, problem, device, costs, seed)
    made, spans = laid_out(plan, problem, device, costs, work)
    play = compiled.fast(events.play, len(work), STEPS)
    if play and longest(plan, problem, device, costs) < events.latest(device.slots):
        play(with_tree(made))
    else:
        made = with_lists(made)
        events.play(made)
        for name, column in zip(Log._fields, made.log, strict=True):
            spans[name] = column
    if made.heads[CTA] < plan.ctas:
        raise PlanError(_stuck(plan, device, made))
    _settle(spans)
    spans.flags.writeable = False
    return spans


def _stuck(plan: Plan, device: Device, made: Run) -> str:
    waits = (np.array(made.merges.waiting) != NOBODY) & (np.array(made.merges.missing) > 0)
    tile = plan.rows["tile"][made.merges.owner[int(waits.argmax())]]
    return (
        f"tile {tile} waits for ever for its other partials: all {device.slots} slots are held, "
        f"and thread block {made.heads[CTA]} finds none"
    )


def _settle(spans: np.ndarray) -> None:
    """Sort rows of one issue by (start, sm, slot), in place; the rows come in the order of issue."""
    begin, size = 0, ROWS
    while begin < len(spans):
        block = spans[begin : begin + size]
        same = block["issue"][1:] == block["issue"][:-1]
        if begin + size < len(spans):  # what has the last row's issue is left to the next block
            if same.all():
                size *= 2
                continue
            end = len(same) - int(same[::-1].argmin())
            block, same = block[:end], same[: end - 1]
        rows = np.flatnonzero(np.append(False, same) | np.append(same, False))
        names = ("slot", "sm", "start", "issue")
        block[rows] = block[rows[np.lexsort([block[name][rows] for name in names])]]
        begin, size = begin + len(block), ROWS


def longest(plan: Plan, problem: Problem, device: Device, costs: Costs) -> float:
    """How long a run of `plan` can be, ns: in one slot, at its slowest."""
    fixed = sum(getattr(costs, name) or 0 for name in WHOLE if name != "cache")
    # Of a tile's noise, nothing beyond 8 standard deviations is ever drawn.
    k_step = _slowest_k_step(problem, device, costs) * exp(8 * _noise(costs, problem))
    segments = len(plan.segments) + len(plan.shared)
    main_loops = float(problem.tiles * problem.k_steps) * k_step + segments * (costs.ramp + costs.contention)
    return fixed * (segments + plan.ctas) + main_loops * max(costs.coresidency)


def _slowest_k_step(problem: Problem, device: Device, costs: Costs) -> float:
    """ns of a K-step whose operands all come from DRAM, as those of all other slots, which share none."""
    size = (problem.tile_m + problem.tile_n) * problem.tile_k * DTYPE_BYTES[problem.dtype] * device.slots
    # A slot may begin a second piece of a main loop while the first one's time lasts: see tilesim.model.traffic.
    waits = 2 * size / costs.bandwidth / min(costs.coresidency) if costs.bandwidth else 0.0
    return (
        (costs.k_step + waits) * (1 + costs.exposed_dram + costs.unshared_l2) * (1 + costs.sole_exposed_dram)
    )


def _noise(costs: Costs, problem: Problem) -> float:
    """Relative standard deviation of what a tile takes: its K-steps vary by themselves, and add up."""
    return costs.jitter / problem.k_steps**0.5


def main_loop_ns(plan: Plan, problem: Problem, device: Device, costs: Costs, seed: int) -> np.ndarray:
    """How long each main loop takes alone on its SM: int64 ns, at least 1, in plan order, the queue last."""
    rows = plan.rows
    stretched = k_step_stretch(plan, problem, device, costs)
    noise = np.zeros(0)
    if costs.jitter:
        noise = np.random.default_rng(seed).standard_normal(problem.tiles)
        noise *= _noise(costs, problem)
        np.exp(noise, out=noise)
    work = np.empty(len(stretched), np.int64)
    for block in blocks(len(work)):
        k_step = costs.k_step * stretched[block]
        if costs.jitter:
            k_step *= noise[rows["tile"][block]]
        work[block] = np.maximum(1, np.rint((rows["k1"][block] - rows["k0"][block]) * k_step))
    work += costs.ramp
    return work


def k_step_stretch(plan: Plan, problem: Problem, device: Device, costs: Costs) -> np.ndarray:
    """How much longer K-steps take for where their operands come from and who else is there: float64, in plan
    order."""
    lonely = device.ctas_per_sm > 1 and (costs.unloaded_latency or costs.sole_exposed_dram)
    if not costs.bandwidth and not costs.unshared_l2 and not lonely:
        return np.broadcast_to(1.0, len(plan.rows))
    gap = costs.launch + costs.prologue if plan.ctas > device.slots else costs.handover
    gap += costs.ramp + (costs.staging if costs.overlap else costs.epilogue)
    step = costs.k_step * costs.slowdown(device.ctas_per_sm)
    loaded = loads(plan, problem, device.slots, gap / step)
    longer, cold = np.ones(len(loaded.row)), np.zeros(len(loaded.row))
    if costs.bandwidth:
        seen = loaded.behind(costs.cache)
        longer, cold = stretch(seen.demand, costs.bandwidth * step), seen.cold
    longer *= (
        1 + costs.exposed_dram * cold + (costs.unshared_l2 * loaded.unshared() if costs.unshared_l2 else 0)
    )
    if lonely:
        alone, idle = solitude(plan, loaded, device)
        longer *= 1 + alone * (costs.sole_exposed_dram * cold - costs.unloaded_latency * idle)
    return loaded.mean(longer)
