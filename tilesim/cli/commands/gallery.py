"""`tilesim gallery`: render many films with one command."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from tilesim.cli.exports import ExportRequest, are, make, planned, report
from tilesim.cli.jobs import cluster_option, jobs_option, workers_of
from tilesim.cli.output.figures import counter
from tilesim.cli.packages import declared, load
from tilesim.declared import films
from tilesim.errors import TilesimError
from tilesim.parallel import cores
from tilesim.storage.files import check_outputs

FOLDER = click.Path(exists=True, file_okay=False, writable=True)


@click.command(short_help="Render many films.")
@click.argument("file", type=click.Path(exists=True), required=False)
@click.option(
    *("-o", "--output", "folder"), type=FOLDER, metavar="FOLDER", required=True, help="Where to write them."
)
@jobs_option
@cluster_option
def command(file: str | None, folder: str, jobs: int | None, cluster: str | None) -> None:
    """Render the films that FILE lists into FOLDER; without FILE, every film of `tilesim list` as an MP4.

    FILE may be a folder of films, such as scenes: then it is what these declare.

    FILE is TOML with a table [[film]] for each film, which gives its `scene`, a film or FILE.py:Name, and its
    `output`, a file name, and as it likes `poster`, `size`, `fps`, `from`, `to` and whatever else `tilesim
    export` takes, with _ for -. Paths of scenes, traces, costs and ladders are relative to FILE. The scene
    "course" is several films as one, of which `films` is the list.
    """
    if file and Path(file).is_dir():
        where, listed = Path(file), _declared(Path(file))
    elif file:
        where, listed = Path(file).parent, _listed(file)
    else:
        where, listed = Path(), [{"scene": name, "output": f"{name}.mp4"} for name in declared()]
    films = [_film(number, asked, where, Path(folder)) for number, asked in enumerate(listed, 1)]
    outputs = [path for request in films for path in request.outputs]
    check_outputs(outputs, [file, *(path for request in films for path in request.inputs)])
    with workers_of(cluster) as workers:
        for request in films:
            with counter(request.output.name, "frames") as done:
                made = make(request, jobs or cores(), done, workers)
            report(made)


def _declared(folder: Path) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = [
        {"scene": film.file.name, **entry} for film in films(folder).values() for entry in film.gallery
    ]
    if not found:
        raise TilesimError(f"{folder}: no film in this folder declares itself in a FILM")
    return found


def _listed(file: str) -> list[Mapping[str, Any]]:
    schema = load("scenes", "film.settings")
    gallery = schema.read(file)
    tables = schema.Kind(partial(are, dict), "a table [[film]] for each film, and at least one")
    try:
        schema.check({"film": None} | gallery, {"film": tables}, "entry")
    except TilesimError as error:
        raise TilesimError(f"{file}: {error}") from None
    return gallery["film"]


def _film(number: int, asked: Mapping[str, Any], where: Path, folder: Path) -> ExportRequest:
    try:
        if "output" not in asked and "scene" in asked:
            raise TilesimError("it has no output")
        request = ExportRequest.of(asked)
        scene = request.scene
        placed = replace(
            request,
            scene=scene._replace(file=where / scene.file) if scene.file else scene,
            output=folder / request.output,
            poster=folder / request.poster if request.poster else None,
            settings=load("scenes", "film.settings").relative_to(where, request.settings),
        )
        return planned(placed)
    except TilesimError as error:
        raise TilesimError(f"film {number} of the gallery: {error}") from None
