"""Schedules: each turns (Problem, Device) into a Plan.

A file here is a schedule: `split_k.py` defines the function `split_k(problem, device, s)`, and users
call it "split-k:2". Adding one edits nothing else.

A schedule of your own needs no file here. `plan` and `simulate` take the function itself;
`@SCHEDULES.register` has it go by its name; and a package that is installed may name some in its
pyproject.toml:

    [project.entry-points."tilesim.schedules"]
    snake = "my_package.schedules:snake"
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
from tilesim.problems import Problem, check_product
from tilesim.text import resolve

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "tilesim.schedules"
"""The group of entry points by which packages offer schedules."""

Function = Callable[..., Plan]
"""(problem, device, *parameters) -> Plan; the parameters, whole numbers from 1, ride in the name."""


class _Schedules(Mapping[str, Function]):
    """Schedules by name: those of this folder, those of packages, and what was registered.

    Each is imported when it is looked up. So one that is broken breaks its own name alone: looking that up
    raises ScheduleError.
    """

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
            return _loaded(f"schedules/{module}.py", module, lambda: _from_folder(module))
        offers = _offers()[name]
        if len(offers) > 1:
            raise ScheduleError(f"{_packages(offers)} both offer a schedule {name!r}; uninstall one of them")
        return _loaded(f"the schedule {name!r} of {_packages(offers)}", offers[0].attr, offers[0].load)

    def register(self, function: Function) -> Function:
        """Have `function` go by its own name from now on; a decorator.

        Registered again from the same module, as a notebook's cell is run again, it replaces the one before.
        Raises ScheduleError where another schedule has that name, or `function` is no function
        (problem, device).
        """
        name = getattr(function, "__name__", "")
        if not name.isidentifier():
            raise ScheduleError(f"{function!r:.60} has no name to go by; define it with def")
        self.add(name, function, function.__module__)
        return function

    def add(self, name: str, function: Function, source: str) -> None:
        """Have `function` of `source`, a module or a file, go by `name`. Raises what `register` raises."""
        known = self.source(name) if name in self else source
        if known != source:
            raise ScheduleError(
                f"there is a schedule {name!r} already, {known or 'one of tilesim'}; "
                f"give the one of {source} another name"
            )
        self._registered[name] = _checked(function, source, name), source

    def discard(self, name: str) -> None:
        """Forget what was registered as `name`, if anything was."""
        self._registered.pop(name, None)

    def built_in(self, name: str) -> bool:
        """Whether a schedule is tilesim's own."""
        return name in _files()

    def source(self, name: str) -> str:
        """The module, file or package that a schedule comes from; "" for tilesim's own."""
        if name in self._registered:
            return self._registered[name][1]
        return "" if name in _files() else _packages(_offers()[name])


def _files() -> set[str]:
    """The names of the files here."""
    names = (module.name for module in iter_modules(__path__))
    return {name.replace("_", "-") for name in names if not name.startswith("_")}


def _from_folder(module: str) -> Any:
    return getattr(import_module(f"{__name__}.{module}"), module, None)


@cache
def _offers() -> dict[str, tuple["EntryPoint", ...]]:
    """The entry points of each name; tilesim's own schedules come before them."""
    from importlib.metadata import entry_points

    points = [point for point in entry_points(group=GROUP) if point.name not in _files()]
    return {name: tuple(p for p in points if p.name == name) for name in {p.name for p in points}}


def _packages(points: tuple["EntryPoint", ...]) -> str:
    """Who offers these.

    >>> from importlib.metadata import EntryPoint
    >>> _packages((EntryPoint("snake", "my_package.schedules:snake", GROUP),))
    'the package my_package'
    """
    names = sorted({point.dist.name if point.dist else point.module.partition(".")[0] for point in points})
    return f"the package{'s' * (len(names) > 1)} {' and '.join(names)}"


def _loaded(what: str, name: str, load: Callable[[], Any]) -> Function:
    """What `load` returns, a function (problem, device); raises ScheduleError where that fails."""
    try:
        function = load()
    except (Exception, SystemExit) as error:
        raise ScheduleError(f"{what} cannot be loaded ({said(error)})") from error
    return _checked(function, what, name)


def _checked(function: Any, what: str, name: str) -> Function:
    """`function`, or ScheduleError where it is none that takes a problem and a device."""
    try:
        fits = callable(function) and len(signature(function).parameters) >= 2
    except ValueError:  # a few that are written in C do not tell
        fits = False
    if not fits:
        raise ScheduleError(f"{what} must define a function {name}(problem, device)")
    return function


def said(error: BaseException) -> str:
    """An exception in a line, cut where it is long."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


def label(schedule: str | Function) -> str:
    """What a trace calls a schedule: its name, or that of a function, with what a partial gives it.

    Raises ScheduleError for a function that is called as another schedule is.

    >>> label(lambda problem, device: None)
    'lambda'
    >>> from tilesim.schedules.split_k import split_k
    >>> label(partial(split_k, s=2))
    'split_k:2'
    """
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


def plan(schedule: str | Function, problem: Problem, device: Device) -> Plan:
    """The checked Plan of a schedule: by its name, such as "persistent" or "split-k:2", or a function itself.

    Raises ScheduleError for an unknown name, parameters that do not fit, a function that fails, or one that
    returns no Plan; PlanError for a plan that leaves out or repeats a K-step, or that would wait for ever in
    the device's slots; ProblemError for work items, of which there are no schedules.
    """
    check_product(problem)
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
    """Where an exception went through the file of the function that was called: " in line 12", or ""."""
    frames = extract_tb(error.__traceback__)[1:]
    own = [frame for frame in frames if frame.filename == frames[0].filename]
    return f" in line {own[-1].lineno}" if own else ""
