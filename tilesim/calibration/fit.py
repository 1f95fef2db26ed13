"""Main-loop costs, fitted to observed runs: K-steps, what memory adds to them, and what comes on top.

A segment's main loop, at one clock and without SM sharing (see tilesim.calibration.sm_sharing), takes

    K-steps · k_step · (1, exposed_dram, unshared_l2) @ terms + ramp + contention if under an epilogue

with the terms of tilesim.model.kstep, in which the memory's bandwidth and cache are. What is linear comes
from least squares of relative errors, with each run counting alike; bandwidth and cache, which all kernels of
a device share, are the pair from a grid that leaves the smallest error.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from tilesim.calibration.main_loops import MainLoops
from tilesim.model.kstep import k_step_terms
from tilesim.model.traffic import Traffic

CACHES = tuple(n * 4 * 10**6 for n in range(1, 17))
"""Bytes of cache that are tried."""

BANDWIDTHS = tuple(round(250 * 1.12**n) for n in range(32))
"""Bytes per ns that are tried, 250 to 8400."""

LEAST_GAIN = 0.9
"""Bandwidth and cache are kept where they leave at most this share of the error that there is without."""

RUNS = 5
"""Runs of a kernel below which memory is not fitted to it: fewer could be explained by anything."""

LEAST_SPREAD = 0.1
"""Standard deviation over runs of the share of their loads that is unshared, below which its cost is not
fitted: blocks that run in step are a little apart all the same."""

ROUNDS = 3
"""How often a fit is repeated: what saturates DRAM depends on the K-step that is sought."""


@dataclass(frozen=True, slots=True)
class MainLoopCosts:
    """Fields of Costs. `error`: mean of the runs' relative errors, without their signs."""

    k_step: float
    ramp: float
    contention: float
    exposed_dram: float
    unshared_l2: float
    error: float


def fit_memory(kernels: Sequence[Sequence[MainLoops]]) -> tuple[float, int]:
    """(bandwidth, cache) that fit the runs of all `kernels` best, (0, 0) where none helps.

    Each kernel has its own MainLoopCosts. Only kernels with at least RUNS runs are asked.
    """
    kernels = [kernel for kernel in kernels if len(kernel) >= RUNS]
    plain = [fit(kernel, 0.0, 0) for kernel in kernels]
    best = (sum(len(k) * f.error for k, f in zip(kernels, plain, strict=True)) * LEAST_GAIN, 0.0, 0)
    for cache in CACHES:
        seen = [[_by_demand(one, cache) for one in kernel] for kernel in kernels]
        for bandwidth in BANDWIDTHS:
            error = sum(
                _error(kernel, levels, bandwidth, f.k_step)
                for kernel, levels, f in zip(kernels, seen, plain, strict=True)
            )
            best = min(best, (error, float(bandwidth), cache))
    return best[1], best[2]


def _by_demand(one: MainLoops, cache: int) -> tuple[np.ndarray, Traffic]:
    """(steps, traffic) of a run's K-steps, in levels of what they ask of DRAM: float64 [levels].

    How many K-steps there are of each level, an eighth of a power of two, and the mean of their traffic.
    """
    seen, row = one.loads.behind(cache), one.loads.row
    pieces = np.maximum(1, np.bincount(row, minlength=one.loads.rows))
    steps = (one.run.steps[np.argsort(one.run.segment)] / pieces)[row]
    levels, at = np.unique(np.round(8 * np.log2(1 + seen.demand)), return_inverse=True)
    count = np.bincount(at, steps, len(levels))
    l2_miss, unshared = (np.bincount(at, steps * each) / count for each in (seen.l2_miss, seen.unshared))
    return count, Traffic(np.bincount(at, seen.demand) / np.bincount(at), l2_miss, unshared)


def _error(
    kernel: Sequence[MainLoops],
    levels: Sequence[tuple[np.ndarray, Traffic]],
    bandwidth: float,
    k_step: float,
) -> float:
    """Sum of the runs' relative errors, each run taken as a whole."""
    for _ in range(ROUNDS):
        rows = []
        for one, (count, seen) in zip(kernel, levels, strict=True):
            steps = k_step_terms(seen, bandwidth * k_step * one.full) @ count
            rows.append(_columns(steps[:, np.newaxis], len(one.ns), one.run.under_epilogue.sum()))
        found = _solved(kernel, rows)
        k_step = found.k_step
    return len(kernel) * found.error


def fit(kernel: Sequence[MainLoops], bandwidth: float, cache: int) -> MainLoopCosts:
    """The costs of one kernel's main loops, given the memory that all kernels share."""
    k_step = sum(one.ns.sum() for one in kernel) / sum(one.run.steps.sum() for one in kernel)
    seen = [one.loads.behind(cache if bandwidth else 0) for one in kernel]
    for _ in range(ROUNDS if bandwidth else 1):
        columns = [_segments(one, each, bandwidth, k_step) for one, each in zip(kernel, seen, strict=True)]
        found = _solved(kernel, columns)
        k_step = found.k_step
    return found


def expected(one: MainLoops, found: MainLoopCosts, bandwidth: float, cache: int) -> np.ndarray:
    """What each main loop should take: float64 ns, shape [spans]."""
    columns = _segments(one, one.loads.behind(cache if bandwidth else 0), bandwidth, found.k_step)
    on_top = found.exposed_dram * found.k_step, found.unshared_l2 * found.k_step
    return columns @ [found.k_step, found.ramp, found.contention, *on_top]


def _segments(one: MainLoops, seen: Traffic, bandwidth: float, k_step: float) -> np.ndarray:
    """The columns of each main loop of a run: float64 [spans, 5]."""
    terms = k_step_terms(seen, bandwidth * k_step * one.full if bandwidth else inf)
    steps = np.stack([one.run.steps * one.loads.mean(term)[one.run.segment] for term in terms])
    return _columns(steps, np.ones(len(one.ns)), one.run.under_epilogue)


def _columns(steps: np.ndarray, loops: np.ndarray | int, under_epilogue: np.ndarray | int) -> np.ndarray:
    """What k_step, ramp, contention, exposed_dram · k_step and unshared_l2 · k_step are multiplied with.

    float64 [rows, 5]. `steps` [3, rows]: K-steps times each term.
    """
    plain, l2_miss, unshared = steps
    rows = len(plain)
    whole = (np.broadcast_to(np.asarray(each, float), rows) for each in (loops, under_epilogue))
    return np.column_stack([plain, *whole, l2_miss, unshared])


def _solved(kernel: Sequence[MainLoops], columns: Sequence[np.ndarray]) -> MainLoopCosts:
    """The costs that runs' columns give, a row for each main loop or for them all; each run counts alike."""
    weights = [len(c) ** 0.5 / one.ns.sum() for c, one in zip(columns, kernel, strict=True)]
    took = [
        one.ns if len(c) == len(one.ns) else one.ns.sum(keepdims=True)
        for c, one in zip(columns, kernel, strict=True)
    ]
    left = np.concatenate([c * w for c, w in zip(columns, weights, strict=True)])
    right = np.concatenate([ns * w for ns, w in zip(took, weights, strict=True)])
    use = np.any(left, axis=0).tolist()
    # One length of main loop cannot tell its ramp from its K-steps.
    use[1] = len(np.unique(np.concatenate([one.run.steps for one in kernel]))) > 1
    unshared = [c[:, 4].sum() / c[:, 0].sum() for c in columns]
    use[3] = use[3] and len(kernel) >= RUNS
    use[4] = use[4] and len(kernel) >= RUNS and float(np.std(unshared)) > LEAST_SPREAD
    found = least_squares(left, right, use)
    off = [(c @ found).sum() / one.ns.sum() - 1 for c, one in zip(columns, kernel, strict=True)]
    k_step, ramp, contention, exposed_dram, unshared_l2 = found.tolist()
    error = float(np.mean(np.abs(off)))
    return MainLoopCosts(k_step, ramp, contention, exposed_dram / k_step, unshared_l2 / k_step, error)


def least_squares(left: np.ndarray, right: np.ndarray, use: list[bool]) -> np.ndarray:
    """What solves left · found = right best, of the columns to `use`, the others 0: float64 [columns].

    Nothing comes out negative: what would is left out, the most negative first. The first is what the others
    are added to and must be positive: where it would not, it alone is sought.

    >>> left = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> least_squares(left, np.array([2.0, 3.0]), [True, True]).round(6).tolist()
    [2.0, 1.0]
    >>> least_squares(left, np.array([3.0, 2.0]), [True, True]).round(6).tolist()
    [2.5, 0.0]
    """
    use = list(use)
    while True:
        found = np.zeros(left.shape[1])
        found[use] = np.linalg.lstsq(left[:, use], right, rcond=None)[0]
        if found[0] <= 0 and any(use[1:]):
            use[1:] = [False] * (len(use) - 1)
        elif found[1:].min() < 0:
            use[1 + int(np.argmin(found[1:]))] = False
        else:
            return found
