"""Energy: what launches that follow each other without a pause take and use, by the driver's own count."""

import time
from collections.abc import Callable, Mapping
from ctypes import CDLL, byref, c_uint, c_ulonglong, c_void_p
from functools import cache
from typing import Any

import numpy as np
import torch

from .timing import Rotation, SMClocks

QUEUED = 16
"""Replays that the host queues before it waits for them, so that the GPU does not wait for the host."""


@cache
def nvml_reader() -> Callable[[str, Any], float | None]:
    """What asks the driver's library NVML for a figure of PyTorch's GPU, by a function's name and a variable.

    NVML answers in thousandths of J and W; None where it does not answer.
    """
    try:
        nvml, gpu = CDLL("libnvidia-ml.so.1"), c_void_p()
    except OSError:
        return lambda name, variable: None
    uuid = f"GPU-{torch.cuda.get_device_properties().uuid}".encode()
    lost = nvml.nvmlInit_v2() or nvml.nvmlDeviceGetHandleByUUID(uuid, byref(gpu))

    def read(name: str, variable: Any) -> float | None:
        return None if lost or getattr(nvml, name)(gpu, byref(variable)) else variable.value / 1000

    return read


def joules_used() -> float | None:
    """J since the driver was loaded; None where the GPU does not count them, as before Volta."""
    return nvml_reader()("nvmlDeviceGetTotalEnergyConsumption", c_ulonglong())


def power_limit() -> float | None:
    """W, at which the GPU lowers its clock; None where the driver does not say."""
    return nvml_reader()("nvmlDeviceGetEnforcedPowerLimit", c_uint())


def without_pause(
    rotations: Mapping[str, Rotation], seconds: float, rounds: int
) -> dict[str, dict[str, float]]:
    """Replay each rotation for `seconds` in each round, after as long untimed, as a power limit is slow.

    For each: us and joules of a launch, watts and sm_mhz, the medians over the rounds; least and most joules.
    """
    clocks = SMClocks()
    seen: dict[str, list[list[float]]] = {name: [] for name in rotations}
    for _ in range(rounds):
        for name, rotation in rotations.items():
            replay(rotation, seconds)
            clocks.note(0)
            torch.cuda.synchronize()
            before, began = joules_used(), time.perf_counter()
            launches = replay(rotation, seconds)
            took, used = time.perf_counter() - began, (joules_used() or 0.0) - (before or 0.0)
            clocks.note(1)
            seen[name].append([took * 1e6 / launches, used / launches, used / took, clocks.mhz()])
    found = {}
    for name, rows in seen.items():
        medians = dict(zip(("us", "joules", "watts", "sm_mhz"), np.median(rows, axis=0), strict=True))
        each = [row[1] for row in rows]
        medians |= {"least_joules": min(each), "most_joules": max(each)}
        found[name] = {key: float(f"{value:.5g}") for key, value in medians.items()}
    return found


def replay(rotation: Rotation, seconds: float) -> int:
    """Replay for so many seconds, and return how many launches that were."""
    replays, until = 0, time.perf_counter() + seconds
    while time.perf_counter() < until:
        for _ in range(QUEUED):
            rotation.graph.replay()
        torch.cuda.synchronize()
        replays += QUEUED
    return replays * len(rotation.launches)
