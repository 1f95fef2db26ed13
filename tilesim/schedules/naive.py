"""One thread block per tile, dispatched by the hardware to SMs as they become free."""

import numpy as np

from tilesim.devices.device import Device
from tilesim.orders import rasterize
from tilesim.plans import Plan, segments
from tilesim.problems import Problem


def naive(problem: Problem, device: Device) -> Plan:
    """Block b computes the b-th tile of the order, and pays for its own launch."""
    cta = np.arange(problem.tiles, dtype=np.int32)
    return Plan(segments(cta, rasterize(problem), 0, problem.k_steps), ctas=problem.tiles)
