"""Provenance: what figures were computed from, as JSON values."""

from dataclasses import asdict
from typing import Any

from tilesim.devices.device import Device
from tilesim.version import __version__
from tilesim.work import Work


def provenance(schedule: str, problem: Work, device: Device) -> dict[str, Any]:
    """The fields of a plan's Problem and Device, its schedule, and the version of tilesim.

    >>> from tilesim import Problem
    >>> provenance("naive", Problem(128, 640, 4), Device(2))["problem"]["order"]
    'row-major'
    """
    return {
        "tilesim": __version__,
        "schedule": schedule,
        "problem": problem.as_json(),
        "device": asdict(device) | {"title": device.title, "slots": device.slots},
    }
