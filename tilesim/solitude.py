"""Solitude: which main loops of a plan are alone on their SM while other slots of the device are idle.

A thread block with few stages waits for its loads unless another one on its SM multiplies meanwhile, and how
long depends on how much the rest of the device loads. Time counts as in tilesim.traffic: it is the plan that
is looked at, not a run.
"""

import numpy as np

from tilesim.devices import Device
from tilesim.plans import Plan
from tilesim.traffic import Loads, in_waves


def solitude(plan: Plan, seen: Loads, device: Device) -> np.ndarray:
    """The share of the device's slots that are idle while a segment is alone on its SM, the mean over its
    K-steps, those in company counting 0: float64 in [0, 1), shape [rows], in plan order, the queue last.

    >>> from tilesim import Problem, plan
    >>> from tilesim.traffic import loads
    >>> tiles, device = Problem(128, 640, 64, tile=(128, 128, 64)), Device(2, ctas_per_sm=2)
    >>> made = plan("naive", tiles, device)  # four tiles at once, then one
    >>> solitude(made, loads(made, tiles, device.slots, gap=0), device).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.75]
    """
    running = np.bincount(seen.at)
    few = np.flatnonzero((running < device.slots)[seen.at])
    row, at = seen.row[few], seen.at[few]
    slot = row % device.slots if in_waves(plan, device.slots) else plan.segments["cta"][row]
    _, where, together = np.unique(
        at * device.sms + slot % device.sms, return_inverse=True, return_counts=True
    )
    idle = np.where(together[where] == 1, 1 - running[at] / device.slots, 0.0)
    return np.bincount(row, idle, seen.rows) / np.maximum(1, np.bincount(seen.row, minlength=seen.rows))
