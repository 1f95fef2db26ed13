"""What K-steps take, alone and where memory is asked for much, as measured runs tell it. Part of calibration.

A segment's main loop, taken back to an SM of its own (see tilesim.calibration.sm_sharing) and to one clock, is

    K-steps · k_step · stretch(bandwidth, cache) · (1 + exposed_dram · cold + unshared_l2 · unshared)
    + ramp + contention if under an epilogue

and stretch, cold and unshared are what tilesim.model.traffic says of the plan. k_step, ramp, contention and what
K-steps are longer by are linear and come from least squares, of relative errors and with each run counting
alike; cache and bandwidth, which all kernels of a device share, are the pair from a grid that leaves the
smallest error.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilesim.calibration.least_squares import least_squares
from tilesim.calibration.main_loops import MainLoops
from tilesim.model.traffic import Traffic, stretch

CACHES = tuple(n * 4 * 10**6 for n in range(1, 17))
"""Bytes of cache that are tried."""

BANDWIDTHS = tuple(round(250 * 1.12**n) for n in range(32))
"""Bytes per ns that are tried, 250 to 8400."""

WORTH = 0.9
"""Memory is kept where it leaves at most this share of the error that there is without."""

RUNS = 5
"""Memory, and what it costs a kernel beyond, are sought in at least so many of its runs: fewer could be
explained by anything."""

LEAST_SPREAD = 0.1
"""Standard deviation over runs of the share of their loads that is unshared, below which they do not tell
what that costs: blocks that run in step are a little apart all the same."""

ROUNDS = 3
"""How often a fit is repeated: what saturates DRAM depends on the K-step that is sought."""


@dataclass(frozen=True, slots=True)
class Fit:
    """What main loops take, as in Costs. `error`: mean of the runs' relative errors, without their signs."""

    k_step: float
    ramp: float
    contention: float
    exposed_dram: float
    unshared_l2: float
    error: float


def fit_memory(kernels: Sequence[Sequence[MainLoops]]) -> tuple[float, int]:
    """(bandwidth, cache) that fit the runs of all `kernels` best, (0, 0) where they tell of none.

    Each kernel has its own k_step and the rest of a Fit. Only kernels with at least RUNS runs are asked.
    """
    kernels = [kernel for kernel in kernels if len(kernel) >= RUNS]
    plain = [fit(kernel, 0.0, 0) for kernel in kernels]
    best = (sum(len(k) * f.error for k, f in zip(kernels, plain, strict=True)) * WORTH, 0.0, 0)
    for cache in CACHES:
        seen = [[_Levels.of(one, cache) for one in kernel] for kernel in kernels]
        for bandwidth in BANDWIDTHS:
            error = sum(
                _error(kernel, levels, bandwidth, f.k_step)
                for kernel, levels, f in zip(kernels, seen, plain, strict=True)
            )
            best = min(best, (error, float(bandwidth), cache))
    return best[1], best[2]


@dataclass(frozen=True, slots=True, eq=False)
class _Levels:
    """K-steps of a run by the bytes they ask of DRAM: how many ask for `demand`, and of how many the loads
    are cold, or unshared. float64 arrays of one shape."""

    demand: np.ndarray
    steps: np.ndarray
    cold: np.ndarray
    unshared: np.ndarray

    @classmethod
    def of(cls, one: MainLoops, cache: int) -> "_Levels":
        seen, row = one.loads.behind(cache), one.loads.row
        pieces = np.maximum(1, np.bincount(row, minlength=one.loads.rows))
        steps = (one.steps[np.argsort(one.of)] / pieces)[row]
        level, at = np.unique(np.round(8 * np.log2(1 + seen.demand)), return_inverse=True)
        shares = (np.ones(len(row)), seen.cold, one.loads.unshared())
        counts = [np.bincount(at, steps * share, len(level)) for share in shares]
        return cls(np.bincount(at, seen.demand) / np.bincount(at), *counts)


def _error(kernel: Sequence[MainLoops], seen: Sequence[_Levels], bandwidth: float, k_step: float) -> float:
    """Sum of the runs' relative errors, each run taken as a whole."""
    for _ in range(ROUNDS):
        rows = []
        for one, levels in zip(kernel, seen, strict=True):
            longer = stretch(levels.demand, bandwidth * k_step * one.full)
            steps, cold, unshared = (longer @ each for each in (levels.steps, levels.cold, levels.unshared))
            rows.append(np.array([[steps, len(one.ns), one.under.sum(), cold, unshared]]))
        found = _solved(kernel, rows)
        k_step = found.k_step
    return len(kernel) * found.error


def fit(kernel: Sequence[MainLoops], bandwidth: float, cache: int) -> Fit:
    """The Fit of one kernel's runs, given the memory that they share."""
    k_step = sum(one.ns.sum() for one in kernel) / sum(one.steps.sum() for one in kernel)
    seen = [one.loads.behind(cache) if bandwidth else None for one in kernel]
    for _ in range(ROUNDS if bandwidth else 1):
        found = _solved(
            kernel, [_columns(one, each, bandwidth, k_step) for one, each in zip(kernel, seen, strict=True)]
        )
        k_step = found.k_step
    return found


def expected(one: MainLoops, found: Fit, bandwidth: float, cache: int) -> np.ndarray:
    """What each main loop should take: float64 ns, shape [segments]."""
    columns = _columns(one, one.loads.behind(cache) if bandwidth else None, bandwidth, found.k_step)
    longer = found.exposed_dram * found.k_step, found.unshared_l2 * found.k_step
    return columns @ [found.k_step, found.ramp, found.contention, *longer]


def _columns(one: MainLoops, seen: Traffic | None, bandwidth: float, k_step: float) -> np.ndarray:
    """What k_step, ramp, contention, exposed_dram · k_step and unshared_l2 · k_step are multiplied with: float64
    [segments, 5]."""
    longer, cold = np.ones(len(one.loads.row)), np.zeros(len(one.loads.row))
    if seen is not None:
        longer, cold = stretch(seen.demand, bandwidth * k_step * one.full), seen.cold
    parts = longer, longer * cold, longer * one.loads.unshared()
    steps, exposed_dram, unshared_l2 = (one.steps * one.loads.mean(part)[one.of] for part in parts)
    return np.column_stack([steps, np.ones(len(steps)), one.under, exposed_dram, unshared_l2])


def _solved(kernel: Sequence[MainLoops], columns: Sequence[np.ndarray]) -> Fit:
    """The Fit of runs' columns, of each of its segments or of them all together; each run counts alike."""
    weights = [len(c) ** 0.5 / one.ns.sum() for c, one in zip(columns, kernel, strict=True)]
    took = [
        one.ns if len(c) == len(one.ns) else one.ns.sum(keepdims=True)
        for c, one in zip(columns, kernel, strict=True)
    ]
    left = np.concatenate([c * w for c, w in zip(columns, weights, strict=True)])
    right = np.concatenate([ns * w for ns, w in zip(took, weights, strict=True)])
    use = np.any(left, axis=0).tolist()
    # One length of main loop cannot tell its ramp from its K-steps.
    use[1] = len(np.unique(np.concatenate([one.steps for one in kernel]))) > 1
    unshared = [c[:, 4].sum() / c[:, 0].sum() for c in columns]
    use[3] = use[3] and len(kernel) >= RUNS
    use[4] = use[4] and len(kernel) >= RUNS and float(np.std(unshared)) > LEAST_SPREAD
    found = least_squares(left, right, use)
    off = [(c @ found).sum() / one.ns.sum() - 1 for c, one in zip(columns, kernel, strict=True)]
    k_step, ramp, contention, exposed_dram, unshared_l2 = found.tolist()
    return Fit(
        k_step, ramp, contention, exposed_dram / k_step, unshared_l2 / k_step, float(np.mean(np.abs(off)))
    )
