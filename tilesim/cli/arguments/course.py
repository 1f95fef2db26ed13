"""The course: which films it is made of, and what may be asked of all of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import click
from click.core import ParameterSource

from tilesim.cli.arguments.axes import Names
from tilesim.cli.arguments.film_targets import check, is_film
from tilesim.cli.arguments.parameter_types import starting_with
from tilesim.cli.packages import load, scene_class, scene_file, scene_list
from tilesim.errors import TilesimError, shown, unknown

FORMATS = ("mp4", "webm", "mov")
SETTINGS = ("theme", "lang")
"""What all films of a course are asked for."""
TAKES = (
    *("scene", "output", "films", *SETTINGS, "size", "fps", "transparent", "form", "captions", "jobs"),
    *("cluster", "finding", "as_json"),
)
"""The parameters of `tilesim export` that a course has."""


class CourseFilm(click.ParamType):
    """The name of a film, spelled with - or _."""

    name = "NAME"

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> Any:
        return starting_with(incomplete, scene_list())

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        name, names = value.replace("_", "-"), scene_list()
        if name not in names:
            self.fail(unknown("film", value, names), param, ctx)
        return name


films_option = click.option(
    "--films",
    type=Names(CourseFilm()),
    metavar="NAME,...",
    help="Of a course: which films, in which order.  [all, in teaching order]",
)


def check_options(ctx: click.Context, form: str) -> None:
    """Raise UsageError where a course is asked for what only one film has."""
    if form not in FORMATS:
        raise click.UsageError(f"a course is written as .{', .'.join(FORMATS)}, not as {shown(form)}")
    for option in ctx.command.params:
        given = ctx.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if given and option.name not in TAKES:
            name = max(option.opts, key=len)
            raise click.UsageError(f"{name} is of one film, and cannot be given for a course; leave it out")


def orders(films: Sequence[str] | None, form: Any, settings: Mapping[str, Any]) -> list[Any]:
    """What `render.course` joins: films by name, all of the course for None; each names the next of them.

    Raises TilesimError where one cannot be made of `settings`.
    """
    order, taught = load("scenes", "render.running").Order, load("scenes", "story.course").order()
    films, none, made = films or taught, load("scenes", "film.settings").NO_FILM, []
    for name, following in zip(films, [*films[1:], none], strict=True):
        act, own = scene_class(name), dict(settings) | {"next": following if following in taught else none}
        if not is_film(act):
            raise TilesimError(f"{name} is another scene, and a course is of tilesim's own films")
        try:
            check(act, own)
        except TilesimError as error:
            raise TilesimError(f"{name}: {error}") from None
        made.append(order(act, scene_file(name), form, settings=own))
    return made
