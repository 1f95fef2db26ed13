"""What `tilesim info` says of a film: what it declares, and its options with their defaults."""

import re
from collections.abc import Mapping
from typing import Any

import click

from tilesim.cli.packages import COURSE, declared, scene_class
from tilesim.declared import Declared, course, parts
from tilesim.errors import TilesimError
from tilesim.text import plural

WIDTH = 12
SAID = ("title", "question", "finding", "part", "shows")
DEFAULT = re.compile(r"  \[.*\]$")
"""How a help text ends that says what stands in where nothing is given."""


def lines(name: str, film: Declared, export: click.Command) -> list[str]:
    length = f" of {film.seconds} s" if film.seconds else ""
    if not film.title:
        return [f"{name}: film", f"  {film.about}"]
    said = {key: value for key in SAID if (value := getattr(film, key))}
    options = _options(name, film)
    return [
        f"{name}: film{length}",
        *(f"  {key:{WIDTH}} {value}" for key, value in said.items()),
        *(["  options"] if options else []),
        *(f"    {line}" for line in _explained(options, export)),
    ]


def course_lines() -> list[str]:
    """The films of the course by part, each with its length and title."""
    films = {name: declared()[name] for name in course(declared())}
    minutes = round(sum(film.seconds for film in films.values()) / 60)
    lines = [f"{COURSE}: {plural(len(films), 'film')}, about {plural(minutes, 'minute')} together"]
    for part, inside in parts(films).items():
        lines.append(f"  {part}")
        lines += [f"    {name:24} {films[name].seconds:3} s  {films[name].title}" for name in inside]
    return lines


def as_json(name: str, film: Declared) -> dict[str, Any]:
    said = {key: getattr(film, key) for key in SAID}
    return {"film": name, "seconds": film.seconds, **said, "options": _options(name, film)}


def _options(name: str, film: Declared) -> dict[str, Any]:
    """Each option with its default, None where it has none, or where Manim is missing that the film needs."""
    try:
        shown = getattr(scene_class(name), "default", None)
    except TilesimError:
        shown = None
    known: dict[str, Any] = {}
    if shown:
        problem, device = shown.problem, shown.device
        known |= {key: getattr(problem, key) for key in ("m", "n", "k", "order", "dtype")}
        known |= {"tile": "x".join(map(str, problem.tile)), "schedule": ", ".join(shown.schedules)}
        known |= {key: getattr(device, key) for key in ("sms", "ctas_per_sm", "busy_sms")}
        known["device"] = device.name
    return {key: known.get(key) for key in film.taken}


def _explained(options: Mapping[str, Any], export: click.Command) -> list[str]:
    context, rows = click.Context(export), []
    for parameter in export.params:
        record = parameter.get_help_record(context)
        if parameter.name in options and record:
            default = options[parameter.name]
            rows.append((record[0], DEFAULT.sub("", record[1]) + f"  [{default}]" * (default is not None)))
    width = max((len(written) for written, _ in rows), default=0) + 2
    return [f"{written:{width}}{about}" for written, about in rows]
