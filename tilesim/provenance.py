"""Provenance: what figures are of, as JSON values, so that they can be made again."""

from dataclasses import asdict
from typing import Any, Protocol

from tilesim.costs import badge
from tilesim.devices import Device
from tilesim.metrics import TraceLike
from tilesim.problems import Problem

__version__ = "0.1.0"


class RunLike(TraceLike, Protocol):
    """What provenance is told from: a Trace, or what has these parts of one."""

    @property
    def schedule(self) -> str: ...
    @property
    def origin(self) -> str: ...
    @property
    def tick_ns(self) -> int: ...


def provenance(schedule: str, problem: Problem, device: Device) -> dict[str, Any]:
    """What a plan is of: the fields of its Problem and its Device, and under "tilesim" the version.

    >>> provenance("naive", Problem(128, 640, 4), Device(2))["problem"]["order"]
    'row-major'
    """
    return {
        "tilesim": __version__,
        "schedule": schedule,
        "problem": asdict(problem),
        "device": asdict(device) | {"title": device.title, "slots": device.slots},
    }


def of_trace(trace: RunLike) -> dict[str, Any]:
    """What a run is of: also its origin and the rest of its meta.

    Its costs, the badge that says whose they are, and its seed are None where it was measured.

    >>> from tilesim import simulate
    >>> run = of_trace(simulate("naive", Problem(128, 640, 4), Device(2), seed=3))
    >>> run["origin"], run["costs"]["source"], run["badge"], run["seed"]
    ('simulated', 'ideal: 1 µs per K-step, nothing else', 'ideal costs', 3)
    """
    meta = {name: value for name, value in trace.meta.items() if name not in ("launches", "costs", "seed")}
    costs = trace.meta.get("costs")
    return provenance(trace.schedule, trace.problem, trace.device) | {
        "origin": trace.origin,
        "costs": costs,
        "badge": None if costs is None else badge(costs, trace.device),
        "seed": trace.meta.get("seed"),
        "tick_ns": trace.tick_ns,
        "meta": meta,
    }
