"""The engine: plays a Plan on a Device's slots, and finds when and where each segment runs.

tilesim.engine.setup lays plan, device and costs out in columns, and tilesim.engine.events plays those:
compiled where there are many segments, else in Python.
"""

from math import exp

import numpy as np

from tilesim import compiled
from tilesim.costs import WHOLE, Costs
from tilesim.devices.device import Device
from tilesim.engine import events
from tilesim.engine.chunks import chunks
from tilesim.engine.setup import laid_out, with_lists, with_tree
from tilesim.engine.state import CTA, NOBODY, TIE, Log, State
from tilesim.engine.ties import settle
from tilesim.errors import CostsError, PlanError
from tilesim.model.kstep import load_times, slowest_k_step
from tilesim.plans import Plan
from tilesim.problems import Problem
from tilesim.spans.columns import LONGEST_NS

STEPS: compiled.Steps = (
    *((step, step) for step in (
        events.enter, events.go_to, events.launch_to_start, events.issue, events.tie, events.split_tile,
        events.share, events.drain, events.store_partial, events.finish, events.go_on, events.wait_for,
        events.rest,
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

    Raises PlanError where one from the shared queue waits for a thread block that never gets a slot,
    CostsError where the run could be so long that its slot-time does not fit int64.
    """
    k_steps, first = load_times(plan, problem, device, costs)
    end, limit = longest(plan, problem, device, costs) + first, LONGEST_NS / device.slots
    if end > limit:
        raise CostsError(f"with these costs the run could last {end:.3g} ns; at most {limit:.3g} fit")
    work = main_loop_ns(plan, problem, costs, k_steps[0], seed)
    late = lateness(plan, device, costs, first)
    state, spans = laid_out(plan, problem, device, costs, work, slowdowns(k_steps, costs), late)
    play = compiled.fast(events.play, len(work), STEPS)
    if play and end < events.latest(device.slots):
        play(with_tree(state))
    else:
        state = with_lists(state)
        events.play(state)
        for name, column in zip(Log._fields, state.log, strict=True):
            spans[name] = column
    if state.heads[CTA] < plan.ctas:
        raise PlanError(_stuck(plan, device, state))
    ties = [np.asarray(rows, np.int32)[: state.heads[TIE]] for rows in state.ties]
    del state, work  # they take as much memory as sorting
    settle(spans, *ties)
    spans.flags.writeable = False
    return spans


def _stuck(plan: Plan, device: Device, state: State) -> str:
    waits = (np.array(state.merges.waiting) != NOBODY) & (np.array(state.merges.missing) > 0)
    tile = plan.rows["tile"][state.merges.owner[int(waits.argmax())]]
    return (
        f"tile {tile} waits for ever for its other partials: all {device.slots} slots are held, "
        f"and thread block {state.heads[CTA]} finds none"
    )


def longest(plan: Plan, problem: Problem, device: Device, costs: Costs) -> float:
    """How long a run of `plan` can be, ns: in one slot, at its slowest."""
    fixed = sum(getattr(costs, name) or 0 for name in WHOLE if name != "stages")
    # Of a tile's noise, nothing beyond 8 standard deviations is ever drawn.
    k_step = slowest_k_step(problem, device, costs) * exp(8 * _noise(costs, problem))
    segments = len(plan.rows)
    on_top = segments * (costs.ramp + costs.contention) * max(*costs.coresidency, device.ctas_per_sm)
    return fixed * (segments + plan.ctas) + float(problem.tiles * problem.k_steps) * k_step + on_top


def _noise(costs: Costs, problem: Problem) -> float:
    """Relative standard deviation of what a tile takes: its K-steps vary by themselves, and add up."""
    return costs.jitter / problem.k_steps**0.5


def main_loop_ns(plan: Plan, problem: Problem, costs: Costs, k_steps: np.ndarray, seed: int) -> np.ndarray:
    """How long each main loop takes alone on its SM: int64 ns, at least 1, in plan order, the queue last.

    `k_steps`: what a K-step of each takes there, ns, float64 [segments].
    """
    rows = plan.rows
    noise = np.zeros(0)
    if costs.jitter:
        noise = np.random.default_rng(seed).standard_normal(problem.tiles)
        noise *= _noise(costs, problem)
        np.exp(noise, out=noise)
    work = np.empty(len(rows), np.int64)
    for chunk in chunks(len(work)):
        k_step = k_steps[chunk]
        if costs.jitter:
            k_step = k_step * noise[rows["tile"][chunk]]
        work[chunk] = np.maximum(1, np.rint((rows["k1"][chunk] - rows["k0"][chunk]) * k_step))
    work += costs.ramp
    return work


def slowdowns(k_steps: np.ndarray, costs: Costs) -> np.ndarray:
    """f(r) for r from 0 to all residents of an SM: how many times as long K-steps take as alone.

    float64 [segments, residents + 1], or of one row where all are alike. `k_steps`: float64 [residents,
    segments]. At 0 it is that of 1.
    """
    if not costs.hardware or len(k_steps) == 1:
        k_steps = k_steps[:, :1]
    return (np.concatenate([k_steps[:1], k_steps]) / k_steps[0]).T


def lateness(plan: Plan, device: Device, costs: Costs, first: float) -> np.ndarray:
    """`late` of Slots, int64 ns: thread blocks that begin together get their first stage one after the other.

    `first`: how much later the last of them does than the first one. Their mean is the prologue.
    """
    many = min(device.slots, plan.ctas)
    late = first * ((np.arange(device.slots) + 0.5) / many - 0.5)
    return np.maximum(-costs.prologue, np.rint(late)).astype(np.int64)
