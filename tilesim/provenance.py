"""Provenance: what figures are of, as JSON values, so that they can be made again."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tilesim.devices import Device
from tilesim.problems import Problem

if TYPE_CHECKING:
    from tilesim.traces import Trace


def provenance(schedule: str, problem: Problem, device: Device) -> dict[str, Any]:
    """What a plan is of: the fields of its Problem and its Device, and under "tilesim" the version.

    >>> provenance("naive", Problem(128, 640, 4), Device(2))["problem"]["order"]
    'row-major'
    """
    from tilesim import __version__

    return {
        "tilesim": __version__,
        "schedule": schedule,
        "problem": asdict(problem),
        "device": asdict(device) | {"title": device.title, "slots": device.slots},
    }


def of_trace(trace: Trace) -> dict[str, Any]:
    """What a run is of: also its origin; its costs and seed, None where measured; and the rest of its meta.

    >>> from tilesim import simulate
    >>> run = of_trace(simulate("naive", Problem(128, 640, 4), Device(2), seed=3))
    >>> run["origin"], run["costs"]["source"], run["seed"]
    ('simulated', 'ideal: 1 µs per K-step, nothing else', 3)
    """
    known = {"costs": None, "seed": None} | dict(trace.meta)
    known.pop("launches", None)
    costs, seed = known.pop("costs"), known.pop("seed")
    made = provenance(trace.schedule, trace.problem, trace.device)
    return made | {
        "origin": trace.origin,
        "costs": costs,
        "seed": seed,
        "tick_ns": trace.tick_ns,
        "meta": known,
    }
