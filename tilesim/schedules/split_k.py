"""Each tile's K-steps in S slices, one thread block per slice; the first slices of all tiles come first."""

import numpy as np

from tilesim.devices.device import Device
from tilesim.errors import ScheduleError
from tilesim.orders import rasterize
from tilesim.plans import Plan, segments
from tilesim.problems import Problem
from tilesim.text import plural


def split_k(problem: Problem, device: Device, s: int) -> Plan:
    """Block i * tiles + b computes slice i of the b-th tile of the order; slices differ by at most one K-step
    (Stream-K, arXiv 2301.03598, figure 2a). Raises ScheduleError for more slices than K-steps."""
    steps = problem.k_steps
    if s > steps:
        have = plural(steps, "K-step")
        raise ScheduleError(
            f"split-k:{s} cuts each tile into {s} slices; the tiles of this problem have only {have}"
        )
    part, place = np.divmod(np.arange(s * problem.tiles), problem.tiles)
    rows = segments(
        np.arange(len(part)), rasterize(problem)[place], steps * part // s, steps * (part + 1) // s
    )
    return Plan(rows, ctas=len(rows))
