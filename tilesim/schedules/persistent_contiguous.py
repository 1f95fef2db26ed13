"""As many thread blocks as fit on the SMs at once, each looping over a contiguous range of tiles."""

import numpy as np

from tilesim.devices.device import Device
from tilesim.orders import rasterize
from tilesim.plans import Plan, segments
from tilesim.problems import Problem


def persistent_contiguous(problem: Problem, device: Device) -> Plan:
    """Split the order into one range per CTA; sizes differ by at most one, longer ranges first."""
    ctas = device.sms * device.ctas_per_sm
    share, longer = divmod(problem.tiles, ctas)
    cta = np.repeat(np.arange(ctas), share + (np.arange(ctas) < longer))
    return Plan(segments(cta, rasterize(problem), 0, problem.k_steps), ctas)
