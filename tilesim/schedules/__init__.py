"""Schedules: each turns (Problem, Device) into a Plan.

A file here is a schedule: `split_k.py` defines the function `split_k(problem, device, s)`, and users
call it "split-k:2". Adding one edits nothing else.
"""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from inspect import signature
from pkgutil import iter_modules

from tilesim.devices import Device
from tilesim.errors import ScheduleError
from tilesim.plans import Plan
from tilesim.problems import Problem
from tilesim.text import resolve


class _Schedules(Mapping[str, Callable[..., Plan]]):
    """The functions of this folder by schedule name, each imported when it is looked up.

    So a file that is broken breaks its own schedule alone: looking that up raises ScheduleError.
    """

    def __iter__(self) -> Iterator[str]:
        names = (module.name for module in iter_modules(__path__))
        return iter(sorted(name.replace("_", "-") for name in names if not name.startswith("_")))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return name in set(self)

    def __getitem__(self, name: str) -> Callable[..., Plan]:
        if name not in self:
            raise KeyError(name)
        module = name.replace("-", "_")
        try:
            function = getattr(import_module(f"{__name__}.{module}"), module, None)
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise ScheduleError(f"schedules/{module}.py cannot be loaded ({reason})") from error
        if not callable(function) or len(signature(function).parameters) < 2:
            raise ScheduleError(f"schedules/{module}.py must define a function {module}(problem, device)")
        return function


SCHEDULES = _Schedules()


def plan(schedule: str, problem: Problem, device: Device) -> Plan:
    """The checked Plan of a schedule by its name, such as "persistent" or "split-k:2".

    Raises ScheduleError for an unknown name, parameters that do not fit, or a schedule that is no function
    from a problem and a device to a Plan; PlanError for a plan that leaves out or repeats a K-step, or that
    would wait for ever in the device's slots.
    """
    function, parameters = resolve("schedule", schedule, SCHEDULES, 2, ScheduleError)
    made = function(problem, device, *parameters)
    if not isinstance(made, Plan):
        raise ScheduleError(
            f"the schedule {schedule!r} returned {made!r:.40} of type {type(made).__name__}; "
            "it must return a Plan"
        )
    made.check(problem, device.slots)
    return made
