"""Provenance: what figures were computed from, as JSON values."""

from dataclasses import asdict
from typing import Any

from tilesim.devices.device import Device
from tilesim.problems import Problem
from tilesim.version import __version__


def provenance(schedule: str, problem: Problem, device: Device) -> dict[str, Any]:
    """The fields of a plan's Problem and Device, its schedule, and the version of tilesim.

    >>> provenance("naive", Problem(128, 640, 4), Device(2))["problem"]["order"]
    'row-major'
    """
    return {
        "tilesim": __version__,
        "schedule": schedule,
        "problem": problem.as_json(),
        "device": asdict(device) | {"title": device.title, "slots": device.slots},
    }
