"""SM sharing: what co-resident main loops do to each other, fitted to observed runs.

A K-step takes f(r) times as long beside r - 1 other main loops as alone on its SM. Of two, one multiplies
while the other waits for its loads; nothing hides the waits of one alone. How long these are depends on what
its loads take: less where most slots of the device are idle, more where operands come from DRAM.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tilesim.calibration.fit import least_squares
from tilesim.calibration.main_loops import MainLoops
from tilesim.costs import even_shares
from tilesim.model.kstep import sole_resident_factor

LEAST_SPREAD = 0.02
"""Standard deviations below which an effect is not fitted: of the share of a main loop that is alone
on its SM and, of those that are, of the idle slots and of the operands from DRAM."""

MOSTLY_ALONE, LEAST_STEPS = 0.5, 0.25
"""A main loop is used for K-steps alone if it is alone for this share of its time, and if so many of its
K-steps are left when those beside others are taken off: fewer would tell of the error in these."""

MOST_UNLOADED = 0.9
"""A K-step takes time, however idle the device is."""


@dataclass(frozen=True, slots=True)
class SmSharing:
    """What main loops on an SM do to each other: fields of Costs."""

    coresidency: tuple[float, ...]
    unloaded_latency: float = 0.0
    sole_exposed_dram: float = 0.0


def without_sharing(loops: MainLoops, found: SmSharing, cache: int) -> MainLoops:
    """`loops` with the ns that each would take alone on its SM, while all of the device's slots are busy and
    its operands lie in the L2."""
    if len(found.coresidency) == 1:
        return loops
    run = loops.run
    alone = sole_resident_factor(
        run.idle, loops.l2_miss(cache), found.unloaded_latency, found.sole_exposed_dram
    )
    shared = (run.sharing[:, 1:] / np.asarray(found.coresidency[1:])).sum(axis=1)
    ns = loops.ns * (run.sharing[:, 0] / alone + shared)
    return replace(loops, ns=ns, full=found.coresidency[-1])


def fit_sm_sharing(kernel: Sequence[MainLoops], cache: int) -> SmSharing:
    """The SmSharing of runs whose blocks have the same resources, behind a `cache` of so many bytes.

    Only whole tiles are used. How fast they advance beside 1, 2 ... other main loops comes from least squares
    of their speeds; what a K-step takes of those that mostly were alone, from least squares of their time, of
    relative errors and with each run counting alike. f(r) is from 1, where nothing is shared, to r, where
    everything is. Where all were alone, or none, it is r: main loops then share their SM's rate.
    """
    most = kernel[0].run.sharing.shape[1]
    if most == 1:
        return SmSharing(even_shares(most))
    seen = [_whole_tiles(loops, cache) for loops in kernel]
    sharing = np.concatenate([one.sharing for one in seen])
    if not len(sharing) or sharing[:, 0].std() < LEAST_SPREAD:
        return SmSharing(even_shares(most))
    met = np.flatnonzero(sharing.any(axis=0))
    left = [np.column_stack([one.sharing[:, met], one.sharing[:, :1] * one.waits]) for one in seen]
    right = np.concatenate([one.steps / one.ns for one in seen])
    speeds = np.zeros(most)
    speeds[met] = np.linalg.lstsq(np.concatenate(left), right, rcond=None)[0][: len(met)]
    k_step, unloaded_latency, sole_exposed_dram = _fit_alone(seen, speeds)
    slower = [1 / (k_step * speed) if speed > 0 else most for speed in speeds[1:].tolist()]
    factors = [round(min(max(1.0, f), r), 4) for r, f in enumerate(slower, 2)]
    return SmSharing((1.0, *map(float, factors)), round(unloaded_latency, 4), round(sole_exposed_dram, 4))


@dataclass(frozen=True, slots=True, eq=False)
class _WholeTiles:
    """The main loops of a run that do all of a tile: float64 [tiles], and `sharing` as in Observations.

    `waits`: what changes how long a K-step alone takes: idle slots, negative, and operands from DRAM; [tiles,
    2].
    """

    ns: np.ndarray
    steps: np.ndarray
    sharing: np.ndarray
    waits: np.ndarray


def _whole_tiles(loops: MainLoops, cache: int) -> _WholeTiles:
    run = loops.run
    rows = run.steps == run.trace.problem.k_steps
    waits = np.column_stack([-run.idle, loops.l2_miss(cache)])
    return _WholeTiles(loops.ns[rows], run.steps[rows], run.sharing[rows], waits[rows])


def _fit_alone(seen: Sequence[_WholeTiles], speeds: np.ndarray) -> tuple[float, float, float]:
    """(k_step, unloaded_latency, sole_exposed_dram) of main loops alone on their SM; `speeds`: K-steps per ns
    of those beside 0, 1, 2 ... others."""
    left, right, waits = [], [], []
    for one in seen:
        share = one.sharing[:, 0]
        steps = one.steps - one.ns * (one.sharing[:, 1:] @ speeds[1:])
        rows = (share > MOSTLY_ALONE) & (steps > LEAST_STEPS * one.steps)
        rate, each = (steps[rows] / (one.ns * share)[rows])[:, np.newaxis], one.waits[rows]
        weight = max(1, len(rate)) ** -0.5
        left.append(weight * rate * np.column_stack([np.ones(len(each)), each]))
        right.append(np.full(len(each), weight))
        waits.append(each)
    if not sum(map(len, left)):
        return 1 / float(speeds[0]), 0.0, 0.0
    varies = (np.concatenate(waits).std(axis=0) > LEAST_SPREAD).tolist()
    found = least_squares(np.concatenate(left), np.concatenate(right), [True, *varies])
    k_step, unloaded_latency, sole_exposed_dram = found.tolist()
    return k_step, min(unloaded_latency / k_step, MOST_UNLOADED), sole_exposed_dram / k_step
