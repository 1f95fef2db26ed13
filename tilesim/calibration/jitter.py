"""Jitter: how much tiles' K-steps differ by chance, fitted to observed runs."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf

import numpy as np

from tilesim.calibration.main_loops import MainLoops
from tilesim.calibration.observations import Observations
from tilesim.costs import MOST_JITTER, Costs
from tilesim.engine.simulate import replay
from tilesim.metrics import last_done
from tilesim.model.traffic import in_waves
from tilesim.plans import splits_tiles
from tilesim.traces import Trace

MEDIAN_OF_CHI_SQUARE = 0.45494
"""Of one degree of freedom: the median of the square of a standard normal number."""

SEEDS = range(4)
"""Of the simulations that a run's finish-time spread is compared with."""


def jitter(kernel: Sequence[MainLoops], expectations: Sequence[np.ndarray]) -> float:
    """Relative standard deviation of a K-step: the lower quartile over runs, at most MOST_JITTER.

    `expectations`: ns that each main loop of a run should take. K-steps vary by themselves: a tile of n of
    them varies by 1/sqrt(n) of it, and n times the variance of tiles is alike for all K (on an H200, mostly
    0.04 to 0.07 of two 128x128 blocks on an SM, for 8 to 256). What main loops of some runs differ by beyond
    that comes from where in the plan they are, as of thread blocks that read other parts of K, and is no
    chance.

    What all slots do together, their 1st, 2nd, ... segments, is no jitter. Nor is the clock's step, where
    main loops are not counted in cycles: both stamps are off by up to one, and each adds a variance of tick²
    / 12.
    """
    variances = []
    for one, ns in zip(kernel, expectations, strict=True):
        trace = one.run.trace
        tick = 0 if one.clock_mhz else trace.tick_ns
        of_tiles = _variance(one.run, np.log(one.ns / ns)) - tick**2 / 6 / float(one.ns.mean()) ** 2
        variances.append(of_tiles * trace.problem.k_steps)
    return min(MOST_JITTER, max(0.0, float(np.quantile(variances, 0.25))) ** 0.5)


def _variance(run: Observations, log_ratio: np.ndarray) -> float:
    """The variance of tiles' `log_ratio`, the smallest of three estimates: medians over tiles, slots, SMs.

    If tiles vary independently, n of them in a slot add up to n times the variance of one. A slot that is
    slow all the time adds up to more, one that catches up, or whose neighbour does, to less; none of these is
    what the engine draws.
    """
    by_slot = np.lexsort((run.spans["start"], run.slot))
    slot = run.slot[by_slot]
    _, first, counts = np.unique(slot, return_index=True, return_counts=True)
    rank = np.arange(len(slot)) - np.repeat(first, counts)
    deviation = log_ratio[by_slot]
    members = np.bincount(rank)
    deviation = deviation - (np.bincount(rank, deviation) / members)[rank]
    # A mean over few slots takes a part of the variance with it.
    free = (1 - 1 / members)[rank]
    estimates = []
    for group in (np.arange(len(slot)), slot, run.spans["sm"][by_slot]):
        weights = np.bincount(group, free)
        sums = np.bincount(group, deviation)[weights > 0]
        estimates.append(float(np.median(sums**2 / weights[weights > 0])) if len(sums) else 0.0)
    return min(estimates) / MEDIAN_OF_CHI_SQUARE


def most_jitter(runs: Sequence[Observations], costs: Costs) -> float:
    """The jitter with which simulated slots finish as far apart as those of `runs`; inf without such a run.

    Where tiles are split, what main loops differ by is not all chance: blocks are at different K-steps, one
    is slow while another is fast, and slots finish closer together than if each tile had been drawn for
    itself. The spread of finish times, squared, adds up as variances do: what a simulation without jitter
    lacks of a run's, in proportion to what `costs.jitter` adds. The lower quartile over the runs that split
    tiles and whose thread blocks each have segments of their own: where slots take them as they become free,
    who is late gets fewer.
    """
    shares = []
    for run in runs if costs.jitter else ():
        trace = run.trace
        if not splits_tiles(run.plan.rows, trace.problem) or in_waves(run.plan, trace.device.slots):
            continue
        scale = run.clock_mhz / costs.clock_mhz if costs.clock_mhz else 1.0
        without = finish_spread(replay(trace, replace(costs, jitter=0.0))) ** 2
        drawn = float(np.mean([finish_spread(replay(trace, costs, seed)) ** 2 for seed in SEEDS]))
        if drawn > without:
            shares.append(max(0.0, (finish_spread(trace) * scale) ** 2 - without) / (drawn - without))
    return costs.jitter * float(np.quantile(shares, 0.25)) ** 0.5 if shares else inf


def finish_spread(trace: Trace) -> float:
    """How much later the last of the slots that had work finished than they did in the mean, ns."""
    last = last_done(trace)
    return float(last.max() - last[last > 0].mean())
