"""How far apart the slots of a run end, and what that tells of jitter. Part of calibration.

Where tiles are cut, what main loops differ by is not all chance: blocks are at different K-steps, one is slow
while another is fast, and the slots end closer together than if each tile had been drawn for itself.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import inf

import numpy as np

from tilesim.calibration.phases import clock
from tilesim.costs import Costs
from tilesim.engine.simulate import replay
from tilesim.metrics import last_done
from tilesim.model.traffic import in_waves
from tilesim.plans import Plan, splits_tiles
from tilesim.traces import Trace

SEEDS = range(4)


def most_jitter(runs: Sequence[tuple[Trace, Plan]], costs: Costs) -> float:
    """The jitter with which the last of simulated slots ends as late as of `runs`, infinite where none tells.

    How much later than the mean, squared, adds up as variances do: what of a run's a simulation without
    jitter lacks, in proportion to what `costs.jitter` adds to it. The lower quartile over the runs that cut
    tiles and whose thread blocks each have segments of their own: where slots take them as they become free,
    who is late gets fewer.
    """
    told = []
    for trace, plan in runs if costs.jitter else ():
        if not splits_tiles(plan.rows, trace.problem) or in_waves(plan, trace.device.slots):
            continue
        scale = clock(trace) / costs.clock_mhz if costs.clock_mhz else 1.0
        straight = _lateness(replay(trace, replace(costs, jitter=0.0))) ** 2
        drawn = float(np.mean([_lateness(replay(trace, costs, seed)) ** 2 for seed in SEEDS]))
        if drawn > straight:
            told.append(max(0.0, (_lateness(trace) * scale) ** 2 - straight) / (drawn - straight))
    return costs.jitter * float(np.quantile(told, 0.25)) ** 0.5 if told else inf


def _lateness(trace: Trace) -> float:
    """How much later the last of the slots that had work finished than they did in the mean, ns."""
    last = last_done(trace)
    return float(last.max() - last[last > 0].mean())
