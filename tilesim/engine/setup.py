"""Arrange a plan, its costs and its slots in the columns that tilesim.engine.events plays."""

from dataclasses import asdict
from typing import Any

import numpy as np

from tilesim.costs import Costs
from tilesim.devices.device import Device
from tilesim.engine.events import FREE, NEVER
from tilesim.engine.state import NOBODY, Merges, Rates, Segments, Slots, State
from tilesim.plans import Plan, owners
from tilesim.problems import Problem
from tilesim.spans.columns import SPAN, columns_of


def laid_out(
    plan: Plan,
    problem: Problem,
    device: Device,
    costs: Costs,
    work: np.ndarray,
    slowdown: np.ndarray,
    late: np.ndarray,
) -> tuple[State, np.ndarray]:
    """(state in arrays, the SPAN array whose fields are its log). `work`: each segment's main loop alone on
    its SM, int64 ns, in plan order. `slowdown`: f(r) of each segment, or of all: float64 [segments or 1,
    ctas_per_sm + 1]. `late`: see Slots."""
    tile, k0, k1 = (plan.rows[name] for name in ("tile", "k0", "k1"))
    split, merges = _merges(tile, problem)
    heads = np.array([0, len(plan.segments), 0])
    spans = np.zeros(len(work), SPAN)
    segments = Segments(tile, k0, k1, work, split, plan.offsets)
    rates, slots = _rates(costs, device, slowdown), _slots(device, late)
    return State(segments, rates, slots, merges, columns_of(spans), heads), spans


def with_lists(state: Any) -> Any:
    """The same state with lists instead of arrays."""
    if isinstance(state, tuple):
        return type(state)(*map(with_lists, state))
    return state.tolist() if isinstance(state, np.ndarray) else state


def with_tree(state: State) -> State:
    """The same state with a winner tree instead of a heap; initial keys ascend, so left children win."""
    width = len(state.slots.key)
    tree = np.append(state.slots.key, state.slots.key)
    while width > 1:
        tree[width // 2 : width] = tree[width : 2 * width : 2]
        width //= 2
    return state._replace(slots=state.slots._replace(queue=tree))


def _rates(costs: Costs, device: Device, slowdown: np.ndarray) -> Rates:
    epilogue_serialisation = costs.epilogue_serialisation if device.ctas_per_sm > 1 else 0
    rates = asdict(costs) | {
        "epilogue_serialisation": epilogue_serialisation,
        "partial": costs.partial or 0,
        "stores": costs.partial is not None,
        "slowdown": slowdown.ravel(),
        "columns": slowdown.shape[1] if len(slowdown) > 1 else 0,
        "shared": bool((slowdown != 1).any() or epilogue_serialisation),
        "residents": device.ctas_per_sm,
    }
    return Rates(*(rates[name] for name in Rates._fields))


def _slots(device: Device, late: np.ndarray) -> Slots:
    slots = device.slots
    key = np.full(1 << (slots - 1).bit_length(), NEVER)
    key[:slots] = FREE * len(key) + np.arange(slots)
    zeros = ("when", "cta", "row", "at", "next_row", "next_work", "end_row")
    filling = np.array(device.filling)
    sms, home = np.unique(filling, return_inverse=True)
    by_sm = np.argsort(home, kind="stable").reshape(len(sms), -1)  # ranks, a row for each SM
    slot, beside = np.empty((2, slots), np.int64)
    slot[by_sm] = np.arange(device.ctas_per_sm)
    beside[by_sm] = np.roll(by_sm, -1, axis=1)
    return Slots(
        queue=key.copy(),
        key=key,
        event=np.full(slots, FREE),
        late=late,
        left=np.zeros(slots),
        since=np.full(slots, NOBODY),
        sm=filling,
        slot=slot,
        beside=beside,
        home=home,
        multiplying=np.zeros_like(sms),
        written=np.zeros_like(sms),
        **{name: np.zeros(slots, np.int64) for name in zeros},
    )


def _merges(tile: np.ndarray, problem: Problem) -> tuple[np.ndarray, Merges]:
    """Segments.split, and the split tiles that it refers to."""
    if len(tile) == problem.tiles:
        none = np.zeros(0, np.int64)
        return np.full(len(tile), NOBODY, np.int32), Merges(none, none, none, none, none)
    counts = np.bincount(tile, minlength=problem.tiles)
    several = counts > 1
    split = np.where(several, np.cumsum(several, dtype=np.int32) - 1, np.int32(NOBODY))[tile]
    partials = counts[several] - 1
    owner, arrived = np.zeros((2, len(partials)), np.int64)
    rows = np.flatnonzero(split != NOBODY)
    rows = rows[owners(tile[rows])]
    owner[split[rows]] = rows
    return split, Merges(owner, partials, partials.copy(), arrived, np.full_like(owner, NOBODY))
