"""Solitude: which main loops of a plan are alone on their SM while other slots of the device are idle.

A thread block with few stages waits for its loads unless another one on its SM multiplies meanwhile, and how
long depends on how much the rest of the device loads, and on what comes from DRAM. Time counts as in
tilesim.model.traffic: it is the plan that is looked at, not a run.
"""

import numpy as np

from tilesim.devices import Device
from tilesim.model.traffic import Loads, in_waves
from tilesim.plans import Plan


def solitude(plan: Plan, seen: Loads, device: Device) -> tuple[np.ndarray, np.ndarray]:
    """(alone, idle) of each piece of a main loop: whether it is alone on its SM while not every slot of the
    device is busy, bool; and the share of slots that are idle then, float64 in [0, 1). Shapes [pieces].

    >>> from tilesim import Problem, plan
    >>> from tilesim.model.traffic import loads
    >>> tiles, device = Problem(128, 640, 64, tile=(128, 128, 64)), Device(2, ctas_per_sm=2)
    >>> made = plan("naive", tiles, device)  # four tiles at once, then one
    >>> alone, idle = solitude(made, loads(made, tiles, device.slots, gap=0), device)
    >>> alone.tolist(), idle.tolist()
    ([False, False, False, False, True], [0.0, 0.0, 0.0, 0.0, 0.75])
    """
    row = np.arange(seen.rows)
    slot = (row % device.slots if in_waves(plan, device.slots) else plan.segments["cta"])[seen.row]
    # Of a slot's pieces at one time, as there are of pieces of several K-steps, one counts.
    at, who = np.divmod(np.unique(seen.at * device.slots + slot), device.slots)
    idle = 1 - np.bincount(at) / device.slots
    sm = np.asarray(device.filling)
    sms = int(sm.max()) + 1
    places, together = np.unique(at * sms + sm[who], return_counts=True)
    alone = together[np.searchsorted(places, seen.at * sms + sm[slot])] == 1
    return alone & (idle[seen.at] > 0), idle[seen.at]
