"""A schedule of one's own, beside tilesim's: each thread block takes its tiles from the last to the first."""

import numpy as np

from tilesim import Device, Plan, Problem, simulate
from tilesim.formats.gantt import draw
from tilesim.plans import segments


def backwards(problem: Problem, device: Device) -> Plan:
    """CTA c takes every ctas-th tile, counted from the last."""
    ctas = device.slots
    cta = np.arange(problem.tiles) % ctas
    by_cta = np.argsort(cta, kind="stable")
    tile = problem.tiles - 1 - np.arange(problem.tiles)
    return Plan(segments(cta[by_cta], tile[by_cta], 0, problem.k_steps), ctas)


problem, device = Problem(384, 1536, 512), Device.named("h200", sms=4)
for schedule in ("persistent", backwards):
    print(draw(simulate(schedule, problem, device)), end="\n\n")
