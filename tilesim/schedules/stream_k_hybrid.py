"""Whole tiles in full waves, and stream-k for the rest; TILES, 1 or 2, limits a block's share of that."""

import numpy as np

from tilesim.devices.device import Device
from tilesim.errors import ScheduleError
from tilesim.orders import rasterize
from tilesim.plans import Plan, segments
from tilesim.problems import Problem
from tilesim.schedules.stream_k import even_ranges, stream_k


def stream_k_hybrid(problem: Problem, device: Device, tiles: int = 2) -> Plan:
    """One CTA per slot; what full waves leave over is shared evenly, at most `tiles` tiles per CTA.

    1: full waves of whole tiles first, then the rest. 2: the rest and one wave first, so that no partial is
    late, then full waves. Less than a wave of tiles is basic stream-k. Stream-K, arXiv 2301.03598, figure 3.
    Raises ScheduleError if `tiles` is neither 1 nor 2.
    """
    if tiles not in (1, 2):
        raise ScheduleError(f"stream-k-hybrid:{tiles} shares {tiles} tiles; it must be 1 or 2")
    slots, order = device.slots, rasterize(problem)
    waves, left = divmod(problem.tiles, slots)
    if not waves:
        return stream_k(problem, device)
    cut = left + slots * (tiles - 1) if left else 0
    whole, shared = (order[cut:], order[:cut]) if tiles == 2 else np.split(order, [len(order) - cut])
    ranges = even_ranges(shared, problem.k_steps, slots)
    loops = segments(np.arange(len(whole)) % slots, whole, 0, problem.k_steps)
    rows = np.concatenate([ranges, loops] if tiles == 2 else [loops, ranges])
    return Plan(rows[np.argsort(rows["cta"], kind="stable")], slots)
