"""`tilesim export`: render a film, a still, slides, or a page that plays what the film shows, into a file."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from tilesim import player
from tilesim.analysis.divergence import on_one_clock
from tilesim.cli.arguments import film_targets as targets
from tilesim.cli.arguments import options as shared
from tilesim.cli.arguments.parameter_types import INPUT, INSTANT, SCHEDULE, SECONDS, Names, OutputFile, Whole
from tilesim.cli.exports import FPS, ExportRequest, Made, asked_for, make, page_of, planned, report
from tilesim.cli.jobs import cluster_option, jobs_option, workers_of
from tilesim.cli.output.figures import counter
from tilesim.cli.packages import load
from tilesim.formats.reader import read_several
from tilesim.parallel import cores
from tilesim.storage.files import check_outputs

SIZES = ("4k", "1080p", "720p", "480p", "square", "vertical")
QUALITIES = {
    "l": ("480p", 15), "m": ("720p", 30), "h": ("1080p", 60), "p": ("2560x1440", 60), "k": ("4k", 60),
}  # fmt: skip
"""Sizes and frames per second, as `manim render -q` has them."""
OF_A_PAGE = {
    *("scene", "output", "format", "trace", "theme", "lang", "at", "fragment", "preview", "jobs"),
    *(*shared.PROBLEM_NAMES, *shared.DEVICE_NAMES, "map", "tile_from", "items"),
}
"""Options that a page of traces has without a film."""
POSTER = OutputFile(".png", rule="a poster is written as .png")
OF_THE_COMMAND = ("quality", "jobs", "cluster", "fragment", "preview", "finding", "as_json")
"""Parameters that no request has."""


@click.command(short_help="Render a film, or any Manim scene, or a still of one.")
@click.argument("scene", type=targets.FILM_TARGET)
@click.option("-o", "--output", type=OutputFile(), metavar="FILE", help="The film to write.  [SCENE.mp4]")
@click.option("--trace", type=INPUT, multiple=True, metavar="FILE", help="A trace to show.  [repeatable]")
@click.option("--ladder", type=INPUT, metavar="FILE", help="Of `tilesim bench ladder`, for films of kernels.")
@click.option("--report", type=INPUT, metavar="FILE", help="Of `tilesim bench NAME`, for the idea's film.")
@click.option(
    "--schedule", type=SCHEDULE, multiple=True, metavar="NAME", help="A schedule to simulate.  [repeatable]"
)
@click.option(
    "--films",
    type=Names(targets.COURSE_FILM),
    metavar="NAME,...",
    help="Of a course: which films, in which order.  [all, in teaching order]",
)
@shared.work_options("the film's own")
@shared.reading_options
@shared.costs_options
@click.option("--theme", type=targets.THEMES, help="Colours.  [dark]")
@targets.language_option
@click.option("--title", metavar="TEXT", help="Instead of the film's own.")
@click.option(
    "--next", metavar="NAME", help="The film that the end card names next, or none.  [the course's next]"
)
@click.option("--no-opening", is_flag=True, help="Begin after the title.")
@click.option("--no-work", is_flag=True, help="Leave out the picture that introduces what is computed.")
@click.option(
    "-q",
    "--quality",
    type=click.Choice(list(QUALITIES)),
    help="Size and frame rate in Manim's words: -ql is 480p at 15 frames/s, -qh 1080p at 60.",
)
@click.option("--size", metavar="SIZE", help=f"Of the frame: {', '.join(SIZES)} or WIDTHxHEIGHT.  [1080p]")
@click.option("--fps", type=Whole(1, 120), help=f"Frames per second.  [{FPS}; a GIF's is chosen]")
@click.option("-t", "--transparent", is_flag=True, help="Without a background (.mov, .webm, .png).")
@click.option("--seconds", type=SECONDS, help="Of the whole film, 3 to 600.  [the film's own]")
@click.option("--from", type=SECONDS, help="Start here in the film.  [0]")
@click.option("--to", type=SECONDS, help="Stop here in the film.  [its end]")
@click.option(
    "--at",
    type=INSTANT,
    metavar="TIME",
    help="Of a still: the film's second 6.5, or 12.5us of the trace; of a page: 12.5us.  [the end]",
)
@click.option("--format", type=click.Choice(targets.FORMATS), help="Instead of the one that FILE ends in.")
@click.option("--poster", type=POSTER, metavar="FILE", help="Also write the end card to this file (.png).")
@click.option("--captions", is_flag=True, help="Also write the captions beside FILE, as WebVTT (.vtt).")
@click.option("--fragment", is_flag=True, help="Of a page: also print the HTML that puts it into another.")
@jobs_option
@cluster_option
@click.option("-p", "--preview", is_flag=True, help="Open FILE once it is written.")
@click.option("--finding", is_flag=True, help="Also print what the end card says.")
@shared.json_option
def command(**options: Any) -> None:
    """Render SCENE into FILE: an MP4, WebM, MOV or GIF, a still as .png, .svg or .pdf, a page, or slides.

    A page, .html, plays the traces of the film in any browser, without a network; it can be scrubbed, zoomed
    and asked about each tile. Slides, a .pptx or --format slides with an .html, stop at the film's captions,
    which are their notes.

    SCENE is a film of `tilesim list`, FILE.py:Name for any Manim scene, a file that holds a trace, or course:
    all films as one MP4, WebM or MOV, in teaching order or as --films names them. Without further options a
    film is the scene's own; with options of a problem, a device or costs it is simulated, and with --trace it
    shows what a file holds; what a file of others does not say, options do. `tilesim info SCENE` lists the
    options that a film takes. Without -o, FILE is SCENE.mp4 in the current folder, or ends as --format says;
    what stands there is replaced.
    """
    output, made = _page_of_files(options) if _is_page_of_files(options) else _rendered(options)
    report(made)
    if options["preview"]:
        click.launch(str(output))
    if options["fragment"]:
        click.echo(player.fragment(output.name, made.title))
    if options["as_json"]:
        click.echo(json.dumps(made.figures))
    elif options["finding"]:
        click.echo("\n".join(made.figures.get("finding", ())))


def _rendered(options: Mapping[str, Any]) -> tuple[Path, Made]:
    request = _request(options)
    try:
        scene = None if request.scene.is_course else request.scene.scene()
    except load("scenes", "render.scene_files").NoSceneError as error:
        raise click.UsageError(str(error)) from None
    with shared.usage():
        request = planned(request, scene)
        check_outputs(request.outputs, request.inputs)
    cluster = options["cluster"] if request.form not in (*targets.STILLS, *targets.PAGES) else None
    with workers_of(cluster) as workers, counter(request.scene.label, "frames") as done:
        return request.output, make(request, options["jobs"] or cores(), done, workers)


def _is_page_of_files(options: Mapping[str, Any]) -> bool:
    form = options["format"] or Path(options["output"] or "").suffix.lstrip(".").lower()
    more = [name for name, value in options.items() if value and name not in OF_A_PAGE]
    of_film = options["at"] and not options["at"][1]
    return bool(options["scene"].trace) and form in targets.PAGES and not more and not of_film


def _page_of_files(options: Mapping[str, Any]) -> tuple[Path, Made]:
    label = options["scene"].label
    output, paths = Path(options["output"] or f"{label}.html"), [options["scene"].trace, *options["trace"]]
    with shared.usage():
        check_outputs([output], paths)
        traces = on_one_clock(read_several(paths, shared.facts_from(options)))
    return output, page_of(traces, output, options, label)


def _request(options: Mapping[str, Any]) -> ExportRequest:
    asked = asked_for({name: value for name, value in options.items() if name not in OF_THE_COMMAND})
    asked |= {name: list(options[name]) for name in ("trace", "schedule") if options[name]}
    asked |= shared.reading_from(options)
    if not options["seed"]:
        del asked["seed"]
    if options["quality"]:
        asked = dict(zip(("size", "fps"), QUALITIES[options["quality"]], strict=True)) | asked
    with shared.usage():
        request = ExportRequest.of(asked)
    if options["fragment"] and request.form not in targets.PAGES:
        raise click.UsageError(f"--fragment is of a page; write an .html, or leave it out of {request.form}")
    for name, flag in {"finding": "--finding", "as_json": "--json"}.items():
        if options[name] and request.form in targets.STILLS:
            raise click.UsageError(f"{flag} tells what a film finds; a still shows that without --at")
    return request
