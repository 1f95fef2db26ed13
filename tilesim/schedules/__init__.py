"""Schedules: each turns (Problem, Device) into a Plan.

Each file here is a schedule: `split_k.py` defines `split_k(problem, device, s)`, which users call
"split-k:2". To add one, add a file. `plan` and `simulate` also take a function, `@SCHEDULES.register` gives
it a name, and an installed package can offer schedules: see docs/extending.md.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from inspect import signature
from pkgutil import iter_modules
from traceback import extract_tb
from typing import TYPE_CHECKING, Any

from tilesim.devices.device import Device
from tilesim.errors import ScheduleError, TilesimError
from tilesim.plans import Plan
from tilesim.text import resolve
from tilesim.work import Work, gemm_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "tilesim.schedules"
"""The entry-point group in which packages offer schedules."""
Function = Callable[..., Plan]
"""(problem, device, *parameters) -> Plan; parameters are positive integers that are part of the name."""


class _Schedules(Mapping[str, Function]):
    """Schedules by name: of this folder, of packages, and registered ones, imported when looked up."""

    def __init__(self) -> None:
        self._registered: dict[str, tuple[Function, str]] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*_files(), *_offers(), *self._registered}))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return name in self._registered or name in _files() or name in _offers()

    def __getitem__(self, name: str) -> Function:
        if name in self._registered:
            return self._registered[name][0]
        if name in _files():
            module = name.replace("-", "_")
            path = f"{__name__}.{module}"
            return _loaded(
                f"schedules/{module}.py", module, lambda: getattr(import_module(path), module, None)
            )
        offers = _offers()[name]
        if len(offers) > 1:
            raise ScheduleError(f"{_packages(offers)} both offer a schedule {name!r}; uninstall one of them")
        return _loaded(f"the schedule {name!r} of {_packages(offers)}", offers[0].attr, offers[0].load)

    def register(self, function: Function) -> Function:
        """Register `function` under its own name; usable as a decorator. Registering again from the same
        module replaces it. Raises ScheduleError if another schedule has that name, or it is not a function
        (problem, device)."""
        name = getattr(function, "__name__", "")
        if not name.isidentifier():
            raise ScheduleError(f"{function!r:.60} has no name; define it with def")
        self.add(name, function, function.__module__)
        return function

    def add(self, name: str, function: Function, source: str) -> None:
        """Register `function` from `source`, a module or a file, as `name`. Raises what `register` raises."""
        known = self.source(name) if name in self else source
        if known != source:
            raise ScheduleError(
                f"there is already a schedule {name!r} in {known or 'tilesim'}; rename the one in {source}"
            )
        self._registered[name] = _checked(function, source, name), source

    def discard(self, name: str) -> None:
        self._registered.pop(name, None)

    def built_in(self, name: str) -> bool:
        """Whether a schedule is part of tilesim."""
        return name in _files()

    def source(self, name: str) -> str:
        """The module, file or package that a schedule comes from; "" for built-in ones."""
        if name in self._registered:
            return self._registered[name][1]
        return "" if name in _files() else _packages(_offers()[name])


def _files() -> set[str]:
    names = (module.name for module in iter_modules(__path__))
    return {name.replace("_", "-") for name in names if not name.startswith("_")}


@cache
def _offers() -> dict[str, tuple["EntryPoint", ...]]:
    """The entry points by name, except names of built-in schedules."""
    from importlib.metadata import entry_points

    points = [point for point in entry_points(group=GROUP) if point.name not in _files()]
    return {name: tuple(p for p in points if p.name == name) for name in {p.name for p in points}}


def _packages(points: tuple["EntryPoint", ...]) -> str:
    """The packages that offer these entry points."""
    names = sorted({point.dist.name if point.dist else point.module.partition(".")[0] for point in points})
    return f"the package{'s' * (len(names) > 1)} {' and '.join(names)}"


def _loaded(what: str, name: str, load: Callable[[], Any]) -> Function:
    try:
        function = load()
    except (Exception, SystemExit) as error:
        raise ScheduleError(f"{what} cannot be loaded ({said(error)})") from error
    return _checked(function, what, name)


def _checked(function: Any, what: str, name: str) -> Function:
    """`function`, or ScheduleError if it does not take a problem and a device."""
    try:
        fits = callable(function) and len(signature(function).parameters) >= 2
    except ValueError:  # some C functions have no signature
        fits = False
    if not fits:
        raise ScheduleError(f"{what} must define a function {name}(problem, device)")
    return function


def said(error: BaseException) -> str:
    """An exception in one line of at most 200 characters."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


def label(schedule: str | Function) -> str:
    """The name of a schedule in traces: its name, or that of a function, with the arguments of a partial.
    Raises ScheduleError for a function named like a different schedule."""
    if isinstance(schedule, str):
        return schedule
    if isinstance(schedule, partial):
        given = (str(value) for value in schedule.keywords.values() if type(value) is int)
        return ":".join([label(schedule.func), *given])
    name = getattr(schedule, "__name__", type(schedule).__name__).strip("<>")
    if name in SCHEDULES and SCHEDULES[name] is not schedule:
        raise ScheduleError(f"the function {name!r} is not the schedule of that name; give it another name")
    return name


SCHEDULES = _Schedules()


def plan(schedule: str | Function, problem: Work, device: Device) -> Plan:
    """The checked Plan of a schedule, given by name, such as "persistent" or "split-k:2", or as a function.

    Raises ScheduleError for an unknown name, invalid parameters, or a function that fails or returns no Plan;
    PlanError for a plan that omits or repeats a K-step, or might wait forever; ProblemError for work items.
    """
    problem = gemm_of(problem)
    if callable(schedule):
        function = _checked(schedule, f"{label(schedule)!r} as a schedule", label(schedule))
        parameters: tuple[int, ...] = ()
    else:
        function, parameters = resolve("schedule", schedule, SCHEDULES, 2, ScheduleError)
    try:
        made = function(problem, device, *parameters)
    except (TilesimError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        raise ScheduleError(
            f"the schedule {label(schedule)!r} failed{line(error)} ({said(error)})"
        ) from error
    if not isinstance(made, Plan):
        raise ScheduleError(
            f"the schedule {label(schedule)!r} returned {made!r:.40} of type {type(made).__name__}; "
            "it must return a Plan"
        )
    made.check(problem, device.slots)
    return made


def line(error: BaseException) -> str:
    """Where an exception occurred in the function's file, " in line 12", or ""."""
    frames = extract_tb(error.__traceback__)[1:]
    own = [frame for frame in frames if frame.filename == frames[0].filename]
    return f" in line {own[-1].lineno}" if own else ""
