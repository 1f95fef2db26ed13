"""As many thread blocks as fit at once; each takes its next tile from a counter that all of them share."""

from tilesim.devices.device import Device
from tilesim.orders import visit
from tilesim.plans import UNASSIGNED, Plan, segments
from tilesim.problems import Problem


def persistent_dynamic(problem: Problem, device: Device) -> Plan:
    """No CTA owns a tile from the start: the order is a queue, served first come first served."""
    queue = segments(UNASSIGNED, visit(problem), 0, problem.k_steps)
    return Plan(queue[:0], ctas=device.sms * device.ctas_per_sm, shared=queue)
