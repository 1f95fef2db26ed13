"""Main loops of measured runs, and what they tell of K-steps, memory and jitter. Part of calibration.

A segment's main loop, taken back to an SM of its own and to one clock, is

    K-steps · k_step · stretch(bandwidth, cache, exposed) + ramp + contention if under an epilogue

and the stretch is what tilesim.traffic says of the plan. k_step, ramp, contention and exposed · k_step are
linear and come from least squares, of relative errors and with each run counting alike; cache and bandwidth,
which all kernels of a device share, are the pair from a grid that leaves the smallest error.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilesim.metrics import in_turn, slot_index
from tilesim.plans import Plan, shown_by
from tilesim.residents import shares
from tilesim.schedules import SCHEDULES, plan
from tilesim.traces import Trace
from tilesim.traffic import Loads, Traffic, loads, stretch

CACHES = tuple(n * 4 * 10**6 for n in range(1, 17))
"""Bytes of cache that are tried."""

BANDWIDTHS = tuple(round(250 * 1.12**n) for n in range(32))
"""Bytes per ns that are tried, 250 to 8400."""

WORTH = 0.9
"""Memory is kept where it leaves at most this share of the error that there is without."""

RUNS = 5
"""Memory, and how exposed a kernel is to it, are sought in at least so many of its runs: fewer could be
explained by anything."""

ROUNDS = 3
"""How often a fit is repeated: what saturates DRAM depends on the K-step that is sought."""

MEDIAN_OF_CHI_SQUARE = 0.45494
"""Of one degree of freedom: the median of the square of a standard normal number."""


@dataclass(frozen=True, slots=True, eq=False)
class MainLoops:
    """The main loops of one run, arrays [segments] in the order of its spans.

    `ns`: at the mean clock of its kernel's runs, `clock_mhz`, which is 0 where not known. `steps`: K-steps.
    `under`: whether another tile's epilogue runs under it. `beside`, `idle`: see tilesim.residents. `made`:
    the run's plan, `of`: each span's segment in it. `loads`: what it loads. `full`: how many times as long a
    K-step takes on a full SM, once `ns` is taken back to one alone (see tilesim.company).
    """

    trace: Trace
    ns: np.ndarray
    steps: np.ndarray
    under: np.ndarray
    beside: np.ndarray
    idle: np.ndarray
    made: Plan
    of: np.ndarray
    loads: Loads
    clock_mhz: float
    full: float = 1.0

    def cold(self, cache: int) -> np.ndarray:
        """The share of each main loop's operands that comes from DRAM; 0 for a cache of 0, not known."""
        if not cache:
            return np.zeros(len(self.ns))
        return self.loads.mean(self.loads.behind(cache).cold)[self.of]


@dataclass(frozen=True, slots=True)
class Fit:
    """What main loops take, as in Costs. `error`: mean of the runs' relative errors, without their signs."""

    k_step: float
    ramp: float
    contention: float
    exposed: float
    error: float


def main_loops(trace: Trace, clock_mhz: float, gap_ns: float) -> MainLoops:
    """The main loops of `trace`; `gap_ns` is what passes in a slot between two of them."""
    spans = trace.spans
    steps = (spans["k1"] - spans["k0"]).astype(np.int64)
    ns = np.maximum(1, spans["drain"] - spans["start"]).astype(float)
    if clock_mhz:
        ns = spans["cycles"] * 1000 / clock_mhz
    before, after = in_turn(trace)
    under = np.zeros(len(spans), bool)
    under[after] = (spans["cta"][before] == spans["cta"][after]) & (
        spans["done"][before] > spans["start"][after]
    )
    made = _made(trace)
    rows = np.concatenate([made.segments, made.shared])
    of = np.empty(len(spans), np.int64)
    of[np.lexsort((spans["k0"], spans["tile"]))] = np.lexsort((rows["k0"], rows["tile"]))
    seen = loads(made, trace.problem, trace.device.slots, gap_ns * steps.sum() / ns.sum())
    return MainLoops(trace, ns, steps, under, *shares(trace), made, of, seen, clock_mhz)


def _made(trace: Trace) -> Plan:
    """The plan of a run: its schedule's, or what the spans show where that cuts tiles in other places."""
    if trace.schedule.partition(":")[0] in SCHEDULES:
        made = plan(trace.schedule, trace.problem, trace.device)
        planned, ran = (
            np.sort(rows["tile"].astype(np.int64) * trace.problem.k_steps + rows["k0"])
            for rows in (np.concatenate([made.segments, made.shared]), trace.spans)
        )
        if np.array_equal(planned, ran):
            return made
    return shown_by(trace.spans)


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
    """How many K-steps of a run, and how many's operands, ask DRAM for `demand` bytes: float64 arrays."""

    demand: np.ndarray
    steps: np.ndarray
    cold: np.ndarray

    @classmethod
    def of(cls, one: MainLoops, cache: int) -> "_Levels":
        seen = one.loads.behind(cache)
        row = one.loads.row
        steps = (one.steps[np.argsort(one.of)] / np.maximum(1, np.bincount(row, minlength=one.loads.rows)))[row]
        level, at = np.unique(np.round(8 * np.log2(1 + seen.demand)), return_inverse=True)
        demand = np.bincount(at, seen.demand) / np.bincount(at)
        return cls(demand, np.bincount(at, steps), np.bincount(at, steps * seen.cold, len(level)))


def _error(kernel: Sequence[MainLoops], seen: Sequence[_Levels], bandwidth: float, k_step: float) -> float:
    """Sum of the runs' relative errors, each run taken as a whole."""
    for _ in range(ROUNDS):
        rows = []
        for one, levels in zip(kernel, seen, strict=True):
            longer = stretch(levels.demand, bandwidth * k_step * one.full)
            rows.append(
                [(levels.steps * longer).sum(), len(one.ns), one.under.sum(), (levels.cold * longer).sum()]
            )
        found = _least_squares(kernel, [np.array([row], float) for row in rows])
        k_step = found.k_step
    return len(kernel) * found.error


def fit(kernel: Sequence[MainLoops], bandwidth: float, cache: int) -> Fit:
    """The Fit of one kernel's runs, given the memory that they share."""
    found = Fit(sum(one.ns.sum() for one in kernel) / sum(one.steps.sum() for one in kernel), 0, 0, 0, 0)
    seen = [one.loads.behind(cache) if bandwidth else None for one in kernel]
    for _ in range(ROUNDS if bandwidth else 1):
        columns = [_columns(one, s, bandwidth, found.k_step) for one, s in zip(kernel, seen, strict=True)]
        found = _least_squares(kernel, columns)
    return found


def expected(one: MainLoops, found: Fit, bandwidth: float, cache: int) -> np.ndarray:
    """What each main loop should take: float64 ns, shape [segments]."""
    seen = one.loads.behind(cache) if bandwidth else None
    columns = _columns(one, seen, bandwidth, found.k_step)
    return columns @ [found.k_step, found.ramp, found.contention, found.exposed * found.k_step]


def _columns(one: MainLoops, seen: Traffic | None, bandwidth: float, k_step: float) -> np.ndarray:
    """What k_step, ramp, contention and exposed · k_step are multiplied with: float64 [segments, 4]."""
    columns = np.zeros((len(one.ns), 4))
    columns[:, 0], columns[:, 1], columns[:, 2] = one.steps, 1, one.under
    if seen is not None:
        longer = stretch(seen.demand, bandwidth * k_step * one.full)
        columns[:, 0] *= one.loads.mean(longer)[one.of]
        columns[:, 3] = one.steps * one.loads.mean(longer * seen.cold)[one.of]
    return columns


def _least_squares(kernel: Sequence[MainLoops], columns: Sequence[np.ndarray]) -> Fit:
    """Each run counts alike. Nothing comes out negative: what would is left out, the most negative first.

    A K-step must take time: where it would not, main loops are K-steps and nothing else.
    """
    weights = [len(c) ** 0.5 / one.ns.sum() for c, one in zip(columns, kernel, strict=True)]
    took = [
        one.ns if len(c) == len(one.ns) else one.ns.sum(keepdims=True)
        for c, one in zip(columns, kernel, strict=True)
    ]
    left = np.concatenate([c * w for c, w in zip(columns, weights, strict=True)])
    right = np.concatenate([ns * w for ns, w in zip(took, weights, strict=True)])
    use = np.any(left, axis=0).tolist()
    use[3] = use[3] and len(kernel) >= RUNS
    # One length of main loop cannot tell its ramp from its K-steps.
    use[1] = len(np.unique(np.concatenate([one.steps for one in kernel]))) > 1
    found = least_squares(left, right, use)
    off = [(c @ found).sum() / one.ns.sum() - 1 for c, one in zip(columns, kernel, strict=True)]
    k_step, ramp, contention, exposed = found.tolist()
    return Fit(k_step, ramp, contention, exposed / k_step, float(np.mean(np.abs(off))))


def least_squares(left: np.ndarray, right: np.ndarray, use: list[bool]) -> np.ndarray:
    """What solves left · found = right best, of the columns to `use`, the others 0: float64 [columns].

    Nothing comes out negative: what would is left out, the most negative first. The first must be positive:
    where it would not, it is left alone.
    """
    found = np.zeros(left.shape[1])
    while True:
        found[:] = 0
        found[use] = np.linalg.lstsq(left[:, use], right, rcond=None)[0]
        if found[0] <= 0 and any(use[1:]):
            use[1:] = [False] * (len(use) - 1)
        elif found[1:].min() < 0:
            use[1 + int(np.argmin(found[1:]))] = False
        else:
            return found


def jitter(kernel: Sequence[MainLoops], expectations: Sequence[np.ndarray]) -> float:
    """Relative standard deviation of a tile's K-step: the lower quartile over runs.

    The hardware is the same in all of them. What main loops of some runs differ by beyond that comes from
    where in the plan they are, as of thread blocks that read other parts of K, and is no chance. A run counts
    by the length of its main loops: long ones average their K-steps' noise out, and it is they that it would
    make late.

    What all slots do together, their 1st, 2nd, ... segments, is no jitter. Nor is the clock's step, where
    main loops are not counted in cycles: both stamps are off by up to one, and each adds a variance of
    tick² / 12.
    """
    variances = []
    for one, ns in zip(kernel, expectations, strict=True):
        tick = 0 if one.clock_mhz else one.trace.tick_ns
        variances.append(_variance(one.trace, np.log(one.ns / ns)) - tick**2 / 6 / float(one.ns.mean()) ** 2)
    order = np.argsort(variances)
    lengths = np.cumsum([kernel[i].ns.mean() for i in order])
    quarter = order[int(np.searchsorted(lengths, lengths[-1] / 4))]
    return max(0.0, variances[quarter]) ** 0.5


def _variance(trace: Trace, log_ratio: np.ndarray) -> float:
    """The variance of log k_step, the smallest of three estimates, medians over tiles, slots and SMs.

    If tiles vary independently, n of them in a slot add up to n times the variance of one. A slot that is
    slow all the time adds up to more, one that catches up, or whose neighbour does, to less; none of these is
    what the engine draws.
    """
    place = slot_index(trace)
    by_slot = np.lexsort((trace.spans["start"], place))
    _, first, counts = np.unique(place[by_slot], return_index=True, return_counts=True)
    rank = np.arange(len(place)) - np.repeat(first, counts)
    apart = log_ratio[by_slot]
    members = np.bincount(rank)
    apart = apart - (np.bincount(rank, apart) / members)[rank]
    # A mean over few slots takes a part of the variance with it.
    free = (1 - 1 / members)[rank]
    estimates = []
    for group in (np.arange(len(place)), place[by_slot], trace.spans["sm"][by_slot]):
        weights = np.bincount(group, free)
        sums = np.bincount(group, apart)[weights > 0]
        estimates.append(float(np.median(sums**2 / weights[weights > 0])) if len(sums) else 0.0)
    return min(estimates) / MEDIAN_OF_CHI_SQUARE
