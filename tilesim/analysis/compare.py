"""Comparison of a simulation with a measured run of the same problem, from their first multiplies on."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any

import numpy as np

from tilesim.analysis.divergence import time_lag
from tilesim.errors import TraceError
from tilesim.metrics import in_turn, makespan, run, sm_busy, tail
from tilesim.sm_cycles import run_cycles
from tilesim.traces import Trace
from tilesim.view import tile_sm

DIVERGED = 0.01
"""Lags beyond this fraction of the measured run count as a divergence. Repeats vary by 0.1 to 0.7 %."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One figure of both runs."""

    simulated: float
    measured: float

    @property
    def error(self) -> float | None:
        """(simulated - measured) / measured; None if only the measured figure is 0."""
        if self.simulated == self.measured:
            return 0.0
        return (self.simulated - self.measured) / self.measured if self.measured else None


@dataclass(frozen=True, slots=True)
class Loads:
    """How similar the main-loop times of the free SMs are.

    `correlation`: Pearson's; 1 if they are equal, else 0 if either does not vary. `largest`, `mean`: absolute
    differences as fractions of the mean measured load.
    """

    correlation: float
    largest: float
    mean: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of `compare`. Times are in ns; a lag is positive while the measured run is behind.

    `makespan`: first issue to last done; `run`: first multiply to last done. `run_cycles`: the run in SM
    cycles, None if a clock is unknown. `tail`, `tail_idle`: see `metrics.tail`. `main_loop`, `epilogue`:
    means of drain - start and done - fixup. `gap`: mean of start minus the drain of the previous segment in
    the slot, 0 if there is none. `loads`: compared SM by SM; `sorted_loads`: in order of load, since SM
    numbering may differ. `order`: Kendall's tau-b of the order in which tiles start. `same_sm`: the fraction
    of tiles finished by the same SM. `largest_lag`: in absolute value, `largest_lag_at` after the first
    multiply. `diverged_at`: when a lag first exceeds DIVERGED; None if none does.
    """

    makespan: Pair
    run: Pair
    run_cycles: Pair | None
    tail: Pair
    tail_idle: Pair
    main_loop: Pair
    gap: Pair
    epilogue: Pair
    loads: Loads
    sorted_loads: Loads
    order: float
    same_sm: float
    largest_lag: int
    largest_lag_at: int
    diverged_at: int | None

    def as_json(self) -> dict[str, Any]:
        figures = asdict(self)
        for name in figures:
            if isinstance(pair := getattr(self, name), Pair):
                figures[name]["error"] = pair.error
        return figures


def compare(simulated: Trace, measured: Trace) -> Comparison:
    """Compare two runs of one problem, of any schedule and origin. Raises TraceError if the problems or the
    SMs differ, or a run takes no time after its first multiply."""
    _check(simulated, measured)

    def pair(figure: Callable[[Trace], float]) -> Pair:
        return Pair(figure(simulated), figure(measured))

    times, lags = time_lag(simulated, measured)
    most = int(np.argmax(np.abs(lags)))
    cycles = pair(run_cycles)
    free = list(measured.device.free_sms)
    one, other = sm_busy(simulated)[free], sm_busy(measured)[free]
    return Comparison(
        makespan=pair(makespan),
        run=pair(run),
        run_cycles=cycles if cycles.simulated and cycles.measured else None,
        tail=pair(lambda trace: tail(trace)[0]),
        tail_idle=pair(lambda trace: tail(trace)[1]),
        main_loop=pair(lambda trace: float((trace.spans["drain"] - trace.spans["start"]).mean())),
        gap=pair(_gap),
        epilogue=pair(lambda trace: float((trace.spans["done"] - trace.spans["fixup"]).mean())),
        loads=_loads(one, other),
        sorted_loads=_loads(np.sort(one), np.sort(other)),
        order=kendall_tau(tile_starts(simulated), tile_starts(measured)),
        same_sm=float(np.mean(tile_sm(simulated) == tile_sm(measured))),
        largest_lag=round(lags[most]),
        largest_lag_at=round(times[most]),
        diverged_at=_first_beyond(times, lags, DIVERGED * run(measured)),
    )


def _first_beyond(times: np.ndarray, lags: np.ndarray, limit: float) -> int | None:
    """When the absolute lag first exceeds `limit`, ns."""
    beyond = np.flatnonzero(np.abs(lags) > limit)
    if not beyond.size:
        return None
    after = max(1, int(beyond[0]))
    (low, high), (start, end) = lags[after - 1 : after + 1], times[after - 1 : after + 1]
    return round(start + (np.copysign(limit, high) - low) / (high - low) * (end - start))


def tile_starts(trace: Trace) -> np.ndarray:
    """The first multiply of each tile, ns: int64 [tiles]."""
    starts = np.full(trace.problem.tiles, np.iinfo(np.int64).max)
    np.minimum.at(starts, trace.spans["tile"], trace.spans["start"])
    return starts


def _gap(trace: Trace) -> float:
    before, after = in_turn(trace)
    gaps = trace.spans["start"][after] - trace.spans["drain"][before]
    return float(gaps.mean()) if gaps.size else 0.0


def _loads(one: np.ndarray, other: np.ndarray) -> Loads:
    apart, mean = np.abs(one - other), max(1.0, float(other.mean()))
    varies = one.std() > 0 and other.std() > 0
    alike = float(np.corrcoef(one, other)[0, 1]) if varies else float((one == other).all())
    return Loads(alike, float(apart.max() / mean), float(apart.mean() / mean))


def _check(simulated: Trace, measured: Trace) -> None:
    one, other = (
        f"{p.m}x{p.n}x{p.k} in tiles of {'x'.join(map(str, p.tile))}" for p in (simulated.gemm, measured.gemm)
    )
    if one != other:
        raise TraceError(f"the traces are of different problems, {one} and {other}; both must be the same")
    devices = simulated.device, measured.device
    if devices[0].slots != devices[1].slots or sorted(devices[0].free_sms) != sorted(devices[1].free_sms):
        sms = " and ".join(f"{d.slots} slots on {d.sms - d.busy_sms} of {d.sms} SMs" for d in devices)
        raise TraceError(f"the traces are of different devices, {sms}; both must be the same")
    for trace in (simulated, measured):
        if not run(trace):
            raise TraceError(f"the {trace.origin} run takes 0 ns from its first multiply to its last write")


def kendall_tau(one: np.ndarray, other: np.ndarray) -> float:
    """Kendall's tau-b of two rankings with ties, in O(n log² n): 1 for the same order, -1 for the reverse. It
    is 1 if all are tied in both, and 0 if in one.

    M. Kendall, The treatment of ties in ranking problems (1945).
    """
    by_one = np.lexsort((other, one))
    ranks = np.unique(other, return_inverse=True)[1]
    pairs = len(one) * (len(one) - 1) // 2
    tied, other_tied = _ties(one), _ties(other)
    both = _ties(np.stack([one, other]))
    if tied == pairs or other_tied == pairs:
        return float(tied == other_tied)
    swapped = _inversions(ranks[by_one])
    return (pairs - tied - other_tied + both - 2 * swapped) / sqrt((pairs - tied) * (pairs - other_tied))


def _ties(values: np.ndarray) -> int:
    """Pairs of equal values, or columns."""
    counts = np.unique(values, axis=-1, return_counts=True)[1]
    return int((counts * (counts - 1) // 2).sum())


def _inversions(ranks: np.ndarray) -> int:
    """Pairs whose first rank is larger: among few all are compared, else in each half and across."""
    if len(ranks) <= 64:
        return int(np.tril(ranks[:, None] < ranks).sum())
    first, last = np.array_split(ranks, 2)
    across = int(np.searchsorted(np.sort(last), first).sum())
    return across + _inversions(first) + _inversions(last)
