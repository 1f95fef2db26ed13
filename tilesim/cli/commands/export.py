"""`tilesim export`: render a film, a still, slides, or a page that plays what the film shows, into a file."""

import json
from pathlib import Path
from typing import Any

import click

from tilesim import player
from tilesim.cli.arguments.course import SETTINGS, films_option, orders
from tilesim.cli.arguments.course import check_options as check_course
from tilesim.cli.arguments.film_formats import FORMATS, PAGES, SLIDES, STILLS, check_kind, chosen
from tilesim.cli.arguments.film_parameters import PARAMETERS, parameter_options
from tilesim.cli.arguments.film_targets import FilmTarget, Target, check, is_film
from tilesim.cli.arguments.languages import language_option, spoken
from tilesim.cli.arguments.options import (
    DEVICE_NAMES,
    PROBLEM_NAMES,
    OutputFile,
    costs_options,
    device_options,
    given,
    json_option,
    problem_options,
    reading_from,
    reading_options,
    usage,
)
from tilesim.cli.arguments.parameter_types import INPUT, Instant, Schedule
from tilesim.cli.output.figures import wrote
from tilesim.cli.output.progress import counter
from tilesim.cli.packages import COURSE, load, scene_class, scene_names
from tilesim.cli.running.jobs import cluster_option, jobs_option, workers_of
from tilesim.parallel import cores
from tilesim.storage import files, scratch
from tilesim.storage.files import check_outputs
from tilesim.text import plural

SIZES = ("4k", "1080p", "720p", "480p", "square", "vertical")
FPS = 30
POSTER = OutputFile(".png", rule="a poster is written as .png")
FILM_SETTINGS = (
    *(*PROBLEM_NAMES, *DEVICE_NAMES, *PARAMETERS),
    *("costs", "ladder", "report", "seconds", "theme", "title", "lang", "next"),
)


@click.command(short_help="Render a film, or any Manim scene, or a still of one.")
@click.argument("scene", type=FilmTarget())
@click.option("-o", "--output", type=OutputFile(), metavar="FILE", help="The film to write.  [SCENE.mp4]")
@click.option(
    "--trace",
    type=INPUT,
    multiple=True,
    metavar="FILE",
    help="A trace to show; race takes two.  [repeatable]",
)
@click.option(
    "--ladder", type=INPUT, metavar="FILE", help="Of `tilesim bench ladder`, for ladder and roofline."
)
@click.option(
    "--report", type=INPUT, metavar="FILE", help="Of `tilesim bench NAME`, for the film of that idea."
)
@click.option(
    "--schedule", type=Schedule(), multiple=True, metavar="NAME", help="A schedule to simulate.  [repeatable]"
)
@films_option
@parameter_options
@problem_options("the film's own")
@device_options("the film's own")
@reading_options
@costs_options
@click.option("--theme", type=click.Choice(["dark", "light"]), help="Colours.  [dark]")
@language_option
@click.option("--title", metavar="TEXT", help="Instead of the film's own.")
@click.option(
    "--next", metavar="NAME", help="The film that the end card names next, or none.  [the course's next]"
)
@click.option("--no-opening", is_flag=True, help="Begin after the title.")
@click.option("--size", metavar="SIZE", help=f"Of the frame: {', '.join(SIZES)} or WIDTHxHEIGHT.  [1080p]")
@click.option("--fps", type=click.IntRange(1, 120), help=f"Frames per second.  [{FPS}; a GIF's is chosen]")
@click.option("-t", "--transparent", is_flag=True, help="Without a background (.mov, .webm, .png).")
@click.option("--seconds", type=float, metavar="S", help="Of the whole film, 3 to 600.  [the film's own]")
@click.option("--from", "start", type=float, metavar="S", help="Start here in the film.  [0]")
@click.option("--to", "end", type=float, metavar="S", help="Stop here in the film.  [its end]")
@click.option(
    "--at",
    type=Instant(),
    metavar="TIME",
    help="Of a still: the film's second 6.5, or 12.5us of the trace; of a page: 12.5us.  [the end]",
)
@click.option("--format", "form", type=click.Choice(FORMATS), help="Instead of the one that FILE ends in.")
@click.option("--poster", type=POSTER, metavar="FILE", help="Also write the end card here (.png).")
@click.option("--captions", is_flag=True, help="Also write the captions beside FILE, as WebVTT (.vtt).")
@click.option("--fragment", is_flag=True, help="Of a page: also print the HTML that puts it into another.")
@jobs_option
@cluster_option
@click.option("--finding", is_flag=True, help="Also print what the end card says.")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    scene: Target,
    output: str | None,
    form: str | None,
    poster: str | None,
    **options: Any,
) -> None:
    """Render SCENE into FILE: an MP4, WebM, MOV or GIF, a still as .png, .svg or .pdf, a page, or slides.

    A page, .html, plays the traces of the film in any browser, without a network; it can be scrubbed, zoomed
    and asked about each tile. Slides, a .pptx or --format slides with an .html, stop at the film's captions,
    which are their notes.

    SCENE is a film of `tilesim list`, FILE.py:Name for any Manim scene, a file that holds a trace, or course:
    all films as one MP4, WebM or MOV, in teaching order or as --films names them. Without further options a
    film is the scene's own; with options of a problem, a device or costs it is simulated, and with --trace it
    shows what a file holds; what a file of others does not say, options do. The films of the kernel ladder
    show the problem of its file that --m, --n, --k and --dtype choose. Without -o, FILE is SCENE.mp4 in the
    current folder, or ends as --format says; what stands there is replaced.
    """
    output, form = chosen(output, form, scene.label)
    captions = str(Path(output).with_suffix(".vtt")) if options["captions"] else None
    inputs = (
        *options["trace"],
        options["costs"],
        options["ladder"],
        options["report"],
        scene.file,
        scene.trace,
    )
    if scene.is_course:
        check_course(ctx, form)
    elif options["films"]:
        raise click.UsageError(f"--films is of a course; write: tilesim export {COURSE} --films ...")
    with usage():
        check_outputs((output, poster, captions), inputs)
    if scene.is_course:
        return _course(output, form, captions, options)
    check_kind(form, options)
    if scene.trace:
        options["trace"] = (scene.trace, *options["trace"])
    act, file = scene.scene()
    if form in STILLS:
        _still(act, file, output, form, options)
    elif form in PAGES:
        _page(scene.label, act, file, output, options)
    else:
        _film(scene.label, act, file, output, form, captions, options)
    if poster:
        _still(act, file, poster, "png", options)


def _order(act: Any, file: Path, form: str, options: dict[str, Any]) -> Any:
    """What to export, as scenes/ takes it; raises UsageError for an option that does not fit."""
    running, settings = load("scenes", "render.running"), _settings(options)
    if settings and not is_film(act):
        raise click.UsageError(
            f"{_option(next(iter(settings)))} is of tilesim's own films; {file} holds another scene"
        )
    for name in settings:
        if name not in act.asked:
            raise click.UsageError(
                f"this film takes no {_option(name)}; it takes {', '.join(map(_option, act.asked))}"
            )
    keep = tuple(name for name in ("fps", "size") if options[name])
    with usage():
        if is_film(act):
            check(act, settings)
        order = running.Order(act, file, _format(form, options), settings=settings, keep=keep)
        return order.between(options["start"] or 0.0, options["end"])


def _format(form: str, options: dict[str, Any]) -> Any:
    """How what is asked for is written; raises TilesimError for a size or a rate that no film can have."""
    formats = load("scenes", "render.files.formats")
    own_size, own_fps = ("960x540", 20) if form == "gif" else ("1080p", FPS)
    size = formats.frame_size(options["size"] or own_size)
    return formats.Format(form, size, options["fps"] or own_fps, options["transparent"])


def _settings(options: dict[str, Any]) -> dict[str, Any]:
    """What was asked for on the command line, as a film takes it."""
    settings = given(options, FILM_SETTINGS)
    settings |= {name: list(options[name]) for name in ("trace", "schedule") if options[name]}
    settings |= reading_from(options)
    settings |= {"opening": False} if options["no_opening"] else {}
    return settings | ({"seed": options["seed"]} if options["seed"] else {})


def _option(setting: str) -> str:
    names = {"opening": "--no-opening"}
    return names.get(setting, f"--{setting.replace('_', '-')}")


def _film(
    label: str, act: Any, file: Path, output: str, form: str, captions: str | None, options: dict[str, Any]
) -> None:
    render = load("scenes", "render.talk" if form == SLIDES else "render.export")
    _rendered(label, render, _order(act, file, form, options), output, captions, options)


def _course(output: str, form: str, captions: str | None, options: dict[str, Any]) -> None:
    with usage():
        films = orders(options["films"], _format(form, options), given(options, SETTINGS))
    _rendered(COURSE, load("scenes", "render.course"), films, output, captions, options)


def _rendered(
    label: str, render: Any, ordered: Any, output: str, captions: str | None, options: dict[str, Any]
) -> None:
    """Let `render` export what was ordered, and say what came of it."""
    jobs, cluster = options["jobs"] or cores(), options["cluster"]
    with workers_of(cluster) as workers, counter(label, "frames") as done:
        made = render.export(ordered, Path(output), jobs, done, workers)
    if made.note:
        click.echo(f"note: {made.note}", err=True)
    wrote(output, made.about)
    if captions:
        load("scenes", "render.files.captions").save(made.extras.cues, captions)
        wrote(captions, plural(len(made.extras.cues), "caption"))
    if options["as_json"]:
        click.echo(json.dumps({"film": output} | made.figures))
    elif options["finding"]:
        click.echo("\n".join(made.figures.get("finding", ())))


def _page(label: str, act: Any, file: Path, output: str, options: dict[str, Any]) -> None:
    """Write the traces that a film shows, and what it finds, as a page that plays them."""
    if not is_film(act) or act.default is None:
        pages = ", ".join(name for name in scene_names() if scene_class(name).default)
        raise click.UsageError(
            f"{label} shows no traces that a page could play; these films do: {pages}; as .html "
            f"it can be slides, with --format {SLIDES}"
        )
    moments, runs = load("scenes", "render.files.moments"), load("scenes", "story.traces.runs")
    with scratch.folder() as folder:
        scene = moments.played(_order(act, file, "mp4", options), folder)
    card, traces = scene.card, scene.traces
    alike = len({trace.schedule for trace in traces}) < len(traces)
    value, unit = options["at"] or (None, "ns")
    text = player.page(
        traces,
        names=None if alike else runs.names(traces),
        story=player.Story(scene.chapters[0][1], card.sentence, card.number, card.aside),
        theme=options["theme"] or "",
        **spoken(options["lang"]),
        at=None if value is None else value * moments.NS[unit],
    )
    files.write(output, lambda stream: stream.write(text.encode()))
    wrote(output, plural(len(traces), "trace"))
    if options["fragment"]:
        click.echo(player.fragment(Path(output).name, scene.chapters[0][1]))
    if options["as_json"]:
        click.echo(json.dumps({"page": output, "finding": [card.sentence]}))
    elif options["finding"]:
        click.echo(card.sentence)


def _still(act: Any, file: Path, output: str, form: str, options: dict[str, Any]) -> None:
    order, moments = _order(act, file, form, options), load("scenes", "render.files.moments")
    moments.save(order, options["at"], Path(output))
    wrote(output, "x".join(map(str, order.format.size)))
