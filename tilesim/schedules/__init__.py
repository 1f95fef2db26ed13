"""Schedules: each turns (Problem, Device) into a Plan.

A file here is a schedule: `split_k.py` defines the function `split_k(problem, device, s)`, and users
call it "split-k:2". Adding one edits nothing else.
"""

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules

from tilesim.devices import Device
from tilesim.errors import ScheduleError
from tilesim.names import resolve
from tilesim.plans import Plan
from tilesim.problems import Problem


def _found() -> dict[str, Callable[..., Plan]]:
    modules = sorted(module.name for module in iter_modules(__path__))
    return {name.replace("_", "-"): getattr(import_module(f"{__name__}.{name}"), name) for name in modules}


SCHEDULES = _found()


def plan(schedule: str, problem: Problem, device: Device) -> Plan:
    """The checked Plan of a schedule by its name, such as "persistent" or "split-k:2".

    Raises ScheduleError for an unknown name or parameters that do not fit, PlanError for a plan that
    leaves out or repeats a K-step.
    """
    function, parameters = resolve("schedule", schedule, SCHEDULES, 2, ScheduleError)
    made = function(problem, device, *parameters)
    made.check(problem)
    return made
