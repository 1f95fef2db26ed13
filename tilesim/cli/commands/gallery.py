"""`tilesim gallery`: render many films with one command."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from tilesim.cli.arguments.film_targets import FilmTarget, check, is_film
from tilesim.cli.commands.export import FORMATS, FPS, PAGES, SLIDES, STILLS
from tilesim.cli.output.figures import wrote
from tilesim.cli.output.progress import counter
from tilesim.cli.packages import load, scene_names
from tilesim.cli.running.jobs import cluster_option, jobs_option, workers_of
from tilesim.errors import TilesimError, shown
from tilesim.parallel import cores
from tilesim.storage.files import check_outputs

MOVING = tuple(form for form in FORMATS if form not in (*STILLS, *PAGES, SLIDES))


@dataclass(frozen=True, slots=True)
class Entry:
    """A film of a gallery, ready to be rendered."""

    order: Any
    output: Path
    poster: Path | None
    inputs: tuple[str, ...]
    """Files that it is made of."""


@click.command(short_help="Render many films.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False), required=False)
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(exists=True, file_okay=False, writable=True),
    metavar="FOLDER",
    required=True,
    help="The folder to write into.",
)
@jobs_option
@cluster_option
def command(file: str | None, folder: str, jobs: int | None, cluster: str | None) -> None:
    """Render the films that FILE lists into FOLDER; without FILE, every film of `tilesim list` as an MP4.

    FILE is TOML with a table [[film]] for each film, which gives its `scene`, a film or FILE.py:Name, and its
    `output`, a file name, and as it likes `poster`, `size`, `fps`, `from`, `to` and whatever else `tilesim
    export` takes, with _ for -. Paths of scenes, traces, costs and ladders are relative to FILE.
    """
    listed = _listed(file) if file else [{"scene": name, "output": f"{name}.mp4"} for name in scene_names()]
    where = Path(file).parent if file else Path()
    entries = [_entry(number, settings, where, Path(folder)) for number, settings in enumerate(listed, 1)]
    outputs = [path for entry in entries for path in (entry.output, entry.poster)]
    check_outputs(outputs, [file, *(path for entry in entries for path in entry.inputs)])
    with workers_of(cluster) as workers:
        for entry in entries:
            _render(entry, jobs or cores(), workers)


def _render(entry: Entry, jobs: int, workers: Any) -> None:
    with counter(entry.output.name, "frames") as done:
        made = load("scenes", "render.export").export(entry.order, entry.output, jobs, done, workers)
    if made.note:
        click.echo(f"note: {made.note}", err=True)
    wrote(entry.output, made.about)
    if entry.poster:
        load("scenes", "render.files.moments").save(entry.order, None, entry.poster)
        wrote(entry.poster, "x".join(map(str, entry.order.format.size)))


def _listed(file: str) -> list[Mapping[str, Any]]:
    """The tables [[film]] of a gallery's file."""
    schema = load("scenes", "film.settings")
    gallery = schema.read(file)
    tables = schema.Kind(_are_tables, "a table [[film]] for each film, and at least one")
    try:
        schema.check({"film": None} | gallery, {"film": tables}, "entry")
    except TilesimError as error:
        raise TilesimError(f"{file}: {error}") from None
    return gallery["film"]


def _are_tables(films: Any) -> bool:
    return isinstance(films, list) and bool(films) and all(isinstance(film, dict) for film in films)


def _entry(number: int, settings: Mapping[str, Any], where: Path, folder: Path) -> Entry:
    """A film from its table; raises TilesimError, which says in which film it is, for whatever is wrong."""
    try:
        return _film(settings, where, folder)
    except TilesimError as error:
        raise TilesimError(f"film {number} of the gallery: {error}") from None
    except click.UsageError as error:
        raise TilesimError(f"film {number} of the gallery: {error.message}") from None


def _film(settings: Mapping[str, Any], where: Path, folder: Path) -> Entry:
    schema = load("scenes", "film.settings")
    own = {
        "scene": schema.NAME,
        "output": schema.FILE,
        "poster": schema.FILE,
        "size": schema.NAME,
        "fps": schema.whole(1, 120),
        "from": schema.NUMBER,
        "to": schema.NUMBER,
        "transparent": schema.Kind(lambda value: isinstance(value, bool), "true or false"),
    }
    for key in ("scene", "output"):
        if key not in settings:
            raise TilesimError(f"it has no {key}")
    schema.check({key: settings[key] for key in settings if key in own}, own)
    target = FilmTarget().convert(settings["scene"], None, None)
    if target.file:
        target = target._replace(file=where / target.file)
    act, file = target.scene()
    schema.check(settings, own | getattr(act, "asked", {}))
    output = folder / settings["output"]
    poster = folder / settings["poster"] if "poster" in settings else None
    form = output.suffix.lstrip(".").lower()
    if form not in MOVING:
        raise TilesimError(f"the output {shown(settings['output'])} must end in one of .{', .'.join(MOVING)}")
    if poster and poster.suffix.lower() != ".png":
        raise TilesimError(f"the poster {shown(settings['poster'])} must end in .png")
    asked = schema.relative_to(where, {name: settings[name] for name in settings if name not in own})
    inputs = (*schema.files_in(asked), *([str(file)] if target.file else []))
    if is_film(act):
        check(act, asked)
    order = load("scenes", "render.running").Order(act, file, _format(form, settings), settings=asked)
    start, end = settings.get("from", 0.0), settings.get("to")
    return Entry(order.between(start, end), output, poster, inputs)


def _format(form: str, settings: Mapping[str, Any]) -> Any:
    formats = load("scenes", "render.files.formats")
    size, fps = formats.frame_size(settings.get("size", "1080p")), settings.get("fps", FPS)
    return formats.Format(form, size, fps, settings.get("transparent", False))
