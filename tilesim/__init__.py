"""tilesim: which thread block computes which output tile, on which SM, in what order and when."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tilesim.version import __version__ as __version__

if TYPE_CHECKING:
    from tilesim.costs import Costs
    from tilesim.devices.device import Device
    from tilesim.engine.simulate import simulate
    from tilesim.plans import Plan
    from tilesim.problems import Problem
    from tilesim.schedules import SCHEDULES, plan
    from tilesim.traces import Trace
    from tilesim.work import WorkItems

__all__ = ["SCHEDULES", "Costs", "Device", "Plan", "Problem", "Trace", "WorkItems", "plan", "simulate"]

_MODULES = {
    "SCHEDULES": "schedules",
    "Costs": "costs",
    "Device": "devices.device",
    "Plan": "plans",
    "Problem": "problems",
    "Trace": "traces",
    "WorkItems": "work",
    "plan": "schedules",
    "simulate": "engine.simulate",
}


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first used: so the command line starts before NumPy is there."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return [*globals(), *_MODULES]
