"""`tilesim gallery`: render many films with one command."""

import tomllib
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from tilesim import files
from tilesim.cli.commands.export import FORMATS, SIZES
from tilesim.cli.jobs import cluster_option, executor, jobs_option
from tilesim.cli.packages import load, scene_class, scene_names
from tilesim.cli.progress import progress
from tilesim.errors import TilesimError, unknown
from tilesim.text import plural

OWN = {"scene": str, "output": str, "poster": str, "size": str, "fps": int, "from": float, "to": float}
"""What a film of a gallery says beside the settings of a film, and as what."""
AHEAD = 1
"""Films that are begun while another is still being encoded, so that no process waits."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A film of a gallery, ready to be rendered."""

    act: Any
    film: Any
    cut: Any
    output: Path
    poster: Path | None

    @property
    def form(self) -> str:
        return self.output.suffix.lstrip(".").lower()


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

    FILE is TOML with a table [[film]] for each film, which gives its `scene` and `output`, a file name, and
    as it likes `poster`, `size`, `fps`, `from`, `to` and whatever else `tilesim export` takes, with _ for -.
    Paths of traces, costs and ladders are relative to FILE.
    """
    listed = (
        _listed(Path(file)) if file else [{"scene": name, "output": f"{name}.mp4"} for name in scene_names()]
    )
    where = Path(file).parent if file else Path()
    entries = [
        _entry(number, dict(settings), where, Path(folder)) for number, settings in enumerate(listed, 1)
    ]
    _check_names(entries)
    codings = [entry.cut.coding(entry.film, entry.form) for entry in entries]
    stage = load("scenes", "_stage.export")
    tasks, frames = (
        sum(len(coding.segments()) for coding in codings),
        sum(coding.frames for coding in codings),
    )
    with executor(jobs, cluster, tasks) as workers, progress(plural(len(entries), "film"), frames) as done:
        begun: deque[Any] = deque()
        for entry in entries:
            begun.append(
                stage.begin(entry.act, entry.film, entry.output, entry.form, entry.cut, workers, done)
            )
            if entry.poster:
                stage.save_still(begun[-1].reel, entry.poster, entry.film.seconds)
            if workers is None or len(begun) > AHEAD:
                begun.popleft().finish()
        while begun:
            begun.popleft().finish()


def _listed(file: Path) -> list[Mapping[str, Any]]:
    """The tables [[film]] of a gallery's file."""
    try:
        gallery = tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TilesimError(f"{file}: this is not a TOML file ({error})") from None
    films = gallery.pop("film", None)
    if gallery:
        raise TilesimError(f"{file}: " + unknown("entry", next(iter(gallery)), ["film"]))
    if not isinstance(films, list) or not films or not all(isinstance(film, dict) for film in films):
        raise TilesimError(f"{file}: a gallery has a table [[film]] for each film, and at least one")
    return films


def _check_names(entries: Sequence[Entry]) -> None:
    """Raise TilesimError where a file of the gallery could not be written, or would be written twice."""
    taken: set[Path] = set()
    for number, entry in enumerate(entries, 1):
        for file in (entry.output, entry.poster):
            if file is None:
                continue
            try:
                if file in taken:
                    raise TilesimError(f"another one writes {file.name!r} as well")
                files.check(file)
            except TilesimError as error:
                raise TilesimError(f"film {number} of the gallery: {error}") from None
            taken.add(file)


def _entry(number: int, settings: dict[str, Any], where: Path, folder: Path) -> Entry:
    """A film from its table; raises TilesimError, which says in which film it is, for whatever is wrong."""
    films, stage = load("scenes", "_stage.film"), load("scenes", "_stage.export")
    try:
        own = {key: settings.pop(key) for key in OWN if key in settings}
        for key, value in own.items():
            wanted = OWN[key]
            if isinstance(value, bool) or not isinstance(value, int | float if wanted is float else wanted):
                noun = {str: "a text", int: "a whole number", float: "a number"}[wanted]
                raise TilesimError(f"{key} is {value!r}; it must be {noun}")
        for key in ("scene", "output"):
            if key not in own:
                raise TilesimError(f"it has no {key}")
        if own["scene"] not in scene_names():
            raise TilesimError(unknown("scene", own["scene"], scene_names()))
        if own.setdefault("size", "1080p") not in SIZES:
            raise TilesimError(unknown("size", own["size"], SIZES))
        if not 1 <= own.setdefault("fps", 30) <= 120:
            raise TilesimError(f"fps is {own['fps']}; it must lie between 1 and 120")
        act = scene_class(own["scene"])
        film = act.make(films.relative_to(where, settings))
        act.write(film)
        cut = stage.Cut(own["size"], own["fps"], own.get("from", 0.0), own.get("to"))
        poster = folder / own["poster"] if "poster" in own else None
        entry = Entry(act, film, cut, folder / own["output"], poster)
        moving = [form for form in FORMATS if form != "png"]
        if entry.form not in moving:
            raise TilesimError(f"the output {own['output']!r} must end in one of .{', .'.join(moving)}")
        if poster and poster.suffix.lower() != ".png":
            raise TilesimError(f"the poster {own['poster']!r} must end in .png")
        cut.coding(film, entry.form)
    except TilesimError as error:
        raise TilesimError(f"film {number} of the gallery: {error}") from None
    return entry
