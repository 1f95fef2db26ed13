"""As many thread blocks as fit at once, each taking its next tile from a shared counter."""

from tilesim.devices.device import Device
from tilesim.orders import rasterize
from tilesim.plans import UNASSIGNED, Plan, segments
from tilesim.problems import Problem


def persistent_dynamic(problem: Problem, device: Device) -> Plan:
    """No CTA owns a tile in advance: the order is a queue, first come, first served."""
    queue = segments(UNASSIGNED, rasterize(problem), 0, problem.k_steps)
    return Plan(queue[:0], ctas=device.sms * device.ctas_per_sm, shared=queue)
