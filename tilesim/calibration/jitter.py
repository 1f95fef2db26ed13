"""Jitter: how much tiles' K-steps differ by chance, as measured runs tell it. Part of calibration."""

from collections.abc import Sequence

import numpy as np

from tilesim.calibration.main_loops import MainLoops
from tilesim.metrics import slot_index
from tilesim.traces import Trace

MEDIAN_OF_CHI_SQUARE = 0.45494
"""Of one degree of freedom: the median of the square of a standard normal number."""


def jitter(kernel: Sequence[MainLoops], expectations: Sequence[np.ndarray]) -> float:
    """Relative standard deviation of a K-step: the lower quartile over runs.

    K-steps vary by themselves: a tile of n of them varies by 1/sqrt(n) of it, and n times the variance of
    tiles is alike for all K (on an H200, mostly 0.04 to 0.07 of two 128x128 blocks on an SM, for 8 to 256).
    What main loops of some runs differ by beyond that comes from where in the plan they are, as of thread
    blocks that read other parts of K, and is no chance.

    What all slots do together, their 1st, 2nd, ... segments, is no jitter. Nor is the clock's step, where
    main loops are not counted in cycles: both stamps are off by up to one, and each adds a variance of
    tick² / 12.
    """
    variances = []
    for one, ns in zip(kernel, expectations, strict=True):
        tick = 0 if one.clock_mhz else one.trace.tick_ns
        of_tiles = _variance(one.trace, np.log(one.ns / ns)) - tick**2 / 6 / float(one.ns.mean()) ** 2
        variances.append(of_tiles * one.trace.problem.k_steps)
    return max(0.0, float(np.quantile(variances, 0.25))) ** 0.5


def _variance(trace: Trace, log_ratio: np.ndarray) -> float:
    """The variance of tiles' `log_ratio`, the smallest of three estimates: medians over tiles, slots, SMs.

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
