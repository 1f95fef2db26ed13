"""Blackwell's launch control: a thread block that runs cancels one that waits, and takes its tile."""

import numpy as np

from tilesim.devices.device import Device
from tilesim.orders import visit
from tilesim.plans import UNASSIGNED, Plan, segments
from tilesim.problems import Problem


def cluster_launch_control(problem: Problem, device: Device) -> Plan:
    """Of a grid of one block per tile, those start that find a slot; they cancel the others one by one.

    A block that is cancelled before it starts is never launched, so busy SMs leave no surplus blocks.
    CUDA Programming Guide, "Work Stealing with Cluster Launch Control".
    """
    started = min(device.slots, problem.tiles)
    order = visit(problem)
    own = segments(np.arange(started), order[:started], 0, problem.k_steps)
    return Plan(own, started, segments(UNASSIGNED, order[started:], 0, problem.k_steps))
