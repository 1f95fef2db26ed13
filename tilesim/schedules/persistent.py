"""As many thread blocks as fit on the SMs at once, each looping over tiles with a fixed stride."""

import numpy as np

from tilesim.devices.device import Device
from tilesim.orders import visit
from tilesim.plans import Plan, segments
from tilesim.problems import Problem


def persistent(problem: Problem, device: Device) -> Plan:
    """CTA c computes the c-th, (c + ctas)-th, (c + 2 ctas)-th ... tile of the order.

    The kernel counts SMs, not free SMs: where another kernel holds some, the surplus CTAs queue.
    """
    ctas = device.sms * device.ctas_per_sm
    cta = np.arange(problem.tiles) % ctas
    by_cta = np.argsort(cta, kind="stable")
    return Plan(segments(cta[by_cta], visit(problem)[by_cta], 0, problem.k_steps), ctas)
