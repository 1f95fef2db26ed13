"""Blackwell's launch control: a running thread block cancels a waiting one and takes its tile."""

import numpy as np

from tilesim.devices.device import Device
from tilesim.orders import rasterize
from tilesim.plans import UNASSIGNED, Plan, segments
from tilesim.problems import Problem


def cluster_launch_control(problem: Problem, device: Device) -> Plan:
    """Blocks of a grid of one per tile start while slots are free, and cancel the others one by one (CUDA
    Programming Guide, "Work Stealing with Cluster Launch Control")."""
    started = min(device.slots, problem.tiles)
    order = rasterize(problem)
    own = segments(np.arange(started), order[:started], 0, problem.k_steps)
    return Plan(own, started, segments(UNASSIGNED, order[started:], 0, problem.k_steps))
