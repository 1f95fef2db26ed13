"""Traces: what a film shows, from files or simulated to order."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from tilesim import Device, Problem, Trace, WorkItems, simulate
from tilesim.analysis.divergence import on_one_clock
from tilesim.engine.simulate import replay
from tilesim.formats.reader import read_several
from tilesim.kernel_costs.default import read_costs
from tilesim.text import plural

from . import settings as schema
from .settings import DEVICE, PROBLEM, READING, SIMULATION, FilmError, relative_to, tile_sizes

ENVIRONMENT = "TILESIM_FILM"
MOST_TILES = 2**22
"""Of a simulation that is made for a film, as on the command line."""


@dataclass(frozen=True, slots=True)
class Default:
    """What a scene shows where nothing is asked for: shipped traces, else a simulation of `schedules`.

    `shipped`: paths in tilesim's data, such as "traces/h200-naive-4096x4096x512.npz".
    `problem` and `device` also stand in for whatever part of a simulation is not asked for.
    `beside`: the film shows a measured trace beside its own simulation, or one that is given.
    `most`: traces or schedules that may be given, where that is more than `schedules` has.
    `any_work`: the film shows work items as well as tiles of a matrix product.
    """

    schedules: tuple[str, ...]
    problem: Problem
    device: Device
    shipped: tuple[str, ...] = ()
    beside: bool = False
    most: int = 0
    any_work: bool = False


def from_environment() -> dict[str, Any]:
    """The settings in the TOML file that TILESIM_FILM names; none without one.

    Paths in the file are relative to it. Raises FilmError where it cannot be read.
    """
    path = os.environ.get(ENVIRONMENT)
    if not path:
        return {}
    try:
        return relative_to(Path(path).parent, schema.read(path))
    except FilmError as error:
        raise FilmError(f"{ENVIRONMENT}: {error}") from None


def traces_for(default: Default, settings: Mapping[str, Any]) -> tuple[Trace, ...]:
    """The traces that `settings` ask for, on a film's `default`: read, shipped or simulated.

    `settings`: those of `settings.TRACES`, checked, all optional. Raises FilmError for a wrong number of
    traces, too many tiles, or traces beside settings of a simulation; any TilesimError that the traces,
    problem, device or costs raise.
    """
    if default.beside:
        return _beside(default, settings)
    wanted = len(default.schedules)
    simulated = [key for key in SIMULATION if key in settings]
    if "trace" in settings:
        for key in ("costs", "seed", "schedule"):
            if key in settings:
                raise FilmError(
                    f"{key} belongs to a simulation and cannot change a trace; leave out one of the two"
                )
        paths = _listed(settings["trace"])
        _expect(wanted, "trace", paths, default.most)
        traces = tuple(_read(paths, _said_of_files(settings)))
        for trace in traces:
            if isinstance(trace.problem, WorkItems) and not default.any_work:
                raise FilmError(f"this film is of matrix products; the film run shows {trace.problem.title}")
        return _comparable(traces)
    for key in READING:
        if key in settings:
            raise FilmError(f"{key.replace('_', '-')} is of a file that holds a trace; give one with trace")
    if default.shipped and not simulated:
        return tuple(shipped(name) for name in default.shipped)
    schedules = _listed(settings.get("schedule", default.schedules))
    _expect(wanted, "schedule", schedules, default.most)
    problem = _problem(default.problem, settings)
    device = Device.chosen({key: settings[key] for key in DEVICE if key in settings}, default.device)
    seed, made = settings.get("seed", 0), []
    for schedule in schedules:
        costs = read_costs(settings["costs"], schedule, problem, device) if "costs" in settings else None
        made.append(simulate(schedule, problem, device, costs, seed))
    return tuple(made)


def _beside(default: Default, settings: Mapping[str, Any]) -> tuple[Trace, ...]:
    """(simulated, measured), as a recorder would see both: from their first multiplies on."""
    for key in (*PROBLEM, *DEVICE, "schedule"):
        if key in settings:
            option = key.replace("_", "-")
            raise FilmError(
                f"{option} cannot be chosen: this film takes it from a measured trace, and simulates that"
            )
    paths = _listed(settings.get("trace", []))
    if len(paths) > 2:
        raise FilmError(f"this film shows a measured and a simulated trace; {len(paths)} were given")
    reading = {key: settings[key] for key in READING if key in settings}
    traces = _read(paths, reading) or [shipped(name) for name in default.shipped]
    if len(traces) == 2 and ("costs" in settings or "seed" in settings):
        raise FilmError("costs and seed belong to a simulation made here; leave out them or a trace")
    if len(traces) == 1 and traces[0].origin == "measured":
        run = traces[0].schedule, traces[0].problem, traces[0].device
        costs = read_costs(settings["costs"], *run) if "costs" in settings else None
        traces.insert(0, replay(traces[0], costs, settings.get("seed", 0)))
    simulated, measured = traces[0], traces[-1]
    if {simulated.origin, measured.origin} != {"simulated", "measured"}:
        raise FilmError(
            f"this film needs a measured trace, alone or with a simulated one; {_origins(traces)}"
        )
    if simulated.origin == "measured":
        simulated, measured = measured, simulated
    return _comparable((simulated, measured))


def _said_of_files(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What files of others do not say themselves."""
    return {key: settings[key] for key in (*PROBLEM, *DEVICE, *READING) if key in settings}


def _origins(traces: Sequence[Trace]) -> str:
    """What was given."""
    return f"both are {traces[0].origin}" if len(traces) > 1 else f"this one is {traces[0].origin}"


def _expect(wanted: int, noun: str, given: Sequence[str], most: int = 0) -> None:
    if not wanted <= len(given) <= max(wanted, most):
        verb = "was" if len(given) == 1 else "were"
        shown = f"{wanted} to {most} {noun}s" if most > wanted else plural(wanted, noun)
        raise FilmError(f"this film shows {shown}; {len(given)} {verb} given")


def _comparable(traces: tuple[Trace, ...]) -> tuple[Trace, ...]:
    """Traces on one clock must be of one problem, or the film would compare unlike things."""
    first = traces[0].problem
    for trace in traces[1:]:
        if trace.problem.title != first.title:
            sizes = " and ".join(one.problem.title for one in traces)
            raise FilmError(f"the traces are of different problems, {sizes}; a race needs one")
    return tuple(on_one_clock(traces))


def shipped(name: str) -> Trace:
    """A trace of tilesim's own data, such as "traces/h200-naive-4096x4096x512.npz"."""
    with as_file(files("tilesim").joinpath("data", *name.split("/"))) as path:
        return Trace.load(path)


def _read(traces: Sequence[str | Trace], said: Mapping[str, Any]) -> list[Trace]:
    """Those of `traces` that are names of files are read, as `read_several` does with what is `said` of them.

    Raises FilmError where something is said of traces alone.
    """
    names = [one for one in traces if not isinstance(one, Trace)]
    if traces and said and not names:
        raise FilmError(f"a trace says everything; leave out {' and '.join(said)}")
    read = iter(read_several(names, said))
    return [one if isinstance(one, Trace) else next(read) for one in traces]


def _listed(value: Any) -> list[Any]:
    return [value] if isinstance(value, str) else list(value)


def _problem(default: Problem, settings: Mapping[str, Any]) -> Problem:
    """`default` with what `settings` say of it."""
    values = {name: settings[name] for name in PROBLEM if name in settings}
    if "tile" in values:
        values["tile"] = tile_sizes(values["tile"])
    problem = replace(default, **values)
    if problem.tiles > MOST_TILES:
        raise FilmError(f"the problem has {problem.tiles} tiles; a film is made of at most {MOST_TILES}")
    return problem
