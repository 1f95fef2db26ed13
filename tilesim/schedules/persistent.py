"""As many thread blocks as fit on the SMs at once, each looping over tiles with a fixed stride."""

import numpy as np

from tilesim.devices.device import Device
from tilesim.orders import rasterize
from tilesim.plans import Plan, segments
from tilesim.problems import Problem

NONE = -1
"""Padding of the last iteration."""


def persistent(problem: Problem, device: Device) -> Plan:
    """CTA c computes the c-th, (c + ctas)-th, (c + 2 ctas)-th, ... tile of the order. The kernel counts all
    SMs: if another kernel holds some, the surplus CTAs queue."""
    ctas = device.sms * device.ctas_per_sm
    share, longer = divmod(problem.tiles, ctas)
    cta = np.repeat(np.arange(ctas, dtype=np.int32), share + (np.arange(ctas) < longer))
    turns = np.pad(rasterize(problem), (0, -problem.tiles % ctas), constant_values=NONE).reshape(-1, ctas)
    tile = turns.T[turns.T != NONE]
    return Plan(segments(cta, tile, 0, problem.k_steps), ctas)
