"""Play a Plan on a Device's slots, and find when and where each segment runs."""

from itertools import pairwise
from math import exp
from typing import Any

import numpy as np

from tilesim import compiled
from tilesim.costs import WHOLE, Costs
from tilesim.devices.device import Device
from tilesim.devices.hardware import Hardware
from tilesim.engine import events
from tilesim.engine.setup import laid_out, with_lists, with_tree
from tilesim.engine.state import CTA, NOBODY, State
from tilesim.errors import CostsError, PlanError
from tilesim.model.kstep import hardware_of, load_times, slowest_k_step
from tilesim.plans import Plan
from tilesim.problems import Problem
from tilesim.spans.columns import FIELDS, LONGEST_NS

STEPS: compiled.Steps = (
    *((step, step) for step in (
        events.enter, events.go_to, events.launch_to_start, events.issue, events.share,
        events.drain, events.store_partial, events.finish, events.go_on, events.wait_for, events.rest,
    )),
    (events.lowest, events.lowest_in_tree),
    (events.enqueue, events.enqueue_in_tree),
)  # fmt: skip
"""What `events.play` calls, and what each is compiled from."""


def run(plan: Plan, problem: Problem, device: Device, costs: Costs, seed: int = 0) -> np.ndarray:
    """Play `plan`, which covers `problem`, and return its spans: a read-only SPAN array, sorted as a Trace's.
    Jitter is drawn per tile, so a tile costs the same under every schedule.

    Raises PlanError if a segment from the shared queue waits for a thread block that never gets a slot, and
    CostsError if the run's slot-time might not fit int64.
    """
    hardware = hardware_of(costs, problem)
    k_steps, first = load_times(plan, problem, device, costs, hardware)
    end, limit = longest(plan, problem, device, costs, hardware) + first, LONGEST_NS / device.slots
    if end > limit:
        raise CostsError(f"with these costs the run could last {end:.3g} ns; at most {limit:.3g} ns fit")
    work = main_loop_ns(plan, problem, costs, k_steps[0], seed)
    late = lateness(plan, device, costs, first)
    state, spans = laid_out(plan, problem, device, costs, work, slowdowns(k_steps, costs), late)
    play = compiled.fast(events.play, len(work), STEPS)
    if play and end < events.latest(device.slots):
        play(with_tree(state))
    else:
        state = with_lists(state)
        events.play(state)
        for name, column in zip(FIELDS, state.log, strict=True):
            spans[name] = column
    if state.heads[CTA] < plan.ctas:
        raise PlanError(_stuck(plan, device, state))
    del state, work  # frees the memory that sorting needs
    settle(spans)
    spans.flags.writeable = False
    return spans


def _stuck(plan: Plan, device: Device, state: State) -> str:
    waits = (np.array(state.merges.waiting) != NOBODY) & (np.array(state.merges.missing) > 0)
    tile = plan.rows["tile"][state.merges.owner[int(waits.argmax())]]
    return (
        f"tile {tile} waits forever for its other partials: all {device.slots} slots are held, "
        f"and thread block {state.heads[CTA]} finds none"
    )


def longest(plan: Plan, problem: Problem, device: Device, costs: Costs, hardware: Hardware | None) -> float:
    """An upper bound for a run of `plan`, ns: all in one slot, at its slowest."""
    fixed = sum(getattr(costs, name) or 0 for name in WHOLE if name != "stages")
    # Noise beyond 8 standard deviations is never drawn.
    k_step = slowest_k_step(problem, device, costs, hardware) * exp(8 * _noise(costs, problem))
    segments, slowest = len(plan.rows), max(*costs.coresidency, device.ctas_per_sm)
    on_top = segments * (costs.mainloop_overhead + costs.epilogue_overlap_penalty) * slowest
    return fixed * (segments + plan.ctas) + float(problem.tiles * problem.k_steps) * k_step + on_top


def _noise(costs: Costs, problem: Problem) -> float:
    return costs.jitter / problem.k_steps**0.5


def main_loop_ns(plan: Plan, problem: Problem, costs: Costs, k_steps: np.ndarray, seed: int) -> np.ndarray:
    """Each main loop's time alone on its SM: int64 ns, at least 1, in plan order, the queue last. `k_steps`:
    ns per K-step of each, float64 [segments]."""
    rows = plan.rows
    if costs.jitter:
        noise = np.random.default_rng(seed).standard_normal(problem.tiles)
        noise *= _noise(costs, problem)
        k_steps = k_steps * np.exp(noise, out=noise)[rows["tile"]]
    work = (rows["k1"] - rows["k0"]) * k_steps
    np.maximum(1, np.rint(work, out=work), out=work)
    return work.astype(np.int64) + costs.mainloop_overhead


def slowdowns(k_steps: np.ndarray, costs: Costs) -> np.ndarray:
    """f(r), how much slower K-steps are with r residents than alone, for r from 0: f(0) = f(1) = 1. float64
    [segments, residents + 1], or one row if all are the same. `k_steps`: float64 [residents, segments]."""
    if not costs.hardware or len(k_steps) == 1:
        k_steps = k_steps[:, :1]
    return (np.concatenate([k_steps[:1], k_steps]) / k_steps[0]).T


def lateness(plan: Plan, device: Device, costs: Costs, first: float) -> np.ndarray:
    """`late` of Slots, int64 ns: thread blocks that begin together get their first stages one after another.
    `first`: the delay between the first and last of them. The mean delay is part of the prologue."""
    many = min(device.slots, plan.ctas)
    late = first * ((np.arange(device.slots) + 0.5) / many - 0.5)
    return np.maximum(-costs.prologue, np.rint(late)).astype(np.int64)


SORTED_ROWS = 2**12
"""Rows sorted at a time, approximately: 320 KiB."""


def settle(spans: np.ndarray) -> None:
    """Sort rows with equal issue, which follow each other, by (start, sm, slot), in place."""
    alike = spans["issue"][1:] == spans["issue"][:-1]
    edges = np.flatnonzero(np.diff(alike, prepend=False, append=False))
    first, end = edges[::2], edges[1::2] + 1
    whole = spans.view(f"V{spans.itemsize}")  # NumPy copies rows of fields field by field
    sizes = end - first
    chunks = np.flatnonzero(np.diff(np.cumsum(sizes) // SORTED_ROWS, prepend=-1))
    for begin, stop in pairwise([*chunks, len(sizes)]):
        many = sizes[begin:stop]
        rows: Any = slice(first[begin], end[stop - 1])
        if rows.stop - rows.start > many.sum():  # rows of other instants lie between
            rows = np.arange(many.sum()) + np.repeat(end[begin:stop] - np.cumsum(many), many)
        found = whole[rows]
        whole[rows] = found.take(_order(found.view(spans.dtype), many))


def _order(spans: np.ndarray, many: np.ndarray) -> np.ndarray:
    """The permutation that sorts `spans` by (instant, start, sm, slot), `many` per instant: int64 [spans]."""
    keys = spans["slot"], spans["sm"], spans["start"] - spans["issue"]
    if (many == many[0]).all():
        alike = [key.reshape(len(many), -1) for key in keys]
        if all((key == key[0]).all() for key in alike):  # as under ideal costs: sort one instant for all
            order = np.lexsort([key[0] for key in alike])
            return (np.arange(len(many))[:, np.newaxis] * many[0] + order).ravel()
    # NumPy sorts narrow keys and equal ones fastest.
    number = np.repeat(np.arange(len(many)), many)
    return np.lexsort([key.astype(np.min_scalar_type(key.max())) for key in (*keys, number)])
