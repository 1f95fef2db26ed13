"""`tilesim export`: render a film, or a still of one, into a file."""

import json
import re
from pathlib import Path
from typing import Any

import click

from tilesim.cli.figures import wrote
from tilesim.cli.jobs import cluster_option, executor, jobs_option
from tilesim.cli.options import (
    DEVICE_NAMES,
    PROBLEM_NAMES,
    OutputFile,
    costs_options,
    device_options,
    given,
    json_option,
    problem_from,
    problem_options,
    usage,
)
from tilesim.cli.packages import load, scene_class, scene_names
from tilesim.cli.parameter_types import INPUT, Schedule, starting_with
from tilesim.cli.progress import progress
from tilesim.errors import shown, unknown
from tilesim.storage.files import check_outputs

FORMATS = ("mp4", "webm", "gif", "png", "mov")
SIZES = ("1080p", "720p", "480p", "square", "vertical")
POSTER = OutputFile(".png", rule="a poster is written as .png")
UNITS = {"": None, "ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6}
"""ns in the units of an instant of the trace; a second of the film has none."""


class SceneName(click.ParamType):
    """The name of a film."""

    name = "SCENE"

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> Any:
        return starting_with(incomplete, scene_names())

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        if value not in scene_names():
            self.fail(unknown("scene", value, scene_names()), param, ctx)
        return value


class Instant(click.ParamType):
    """A second of the film, or an instant of the trace: (value, unit)."""

    name = "TIME"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[float, str]:
        if isinstance(value, tuple):
            return value
        found = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{0,15})?)(|ns|us|µs|ms)", value)
        if not found:
            what = "a second of the film such as 6.5, nor an instant of the trace such as 12.5us"
            self.fail(f"{shown(value)} is neither {what}", param, ctx)
        return float(found[1]), found[2]


@click.command(short_help="Render a film, or a still of one.")
@click.argument("scene", type=SceneName())
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
    "--schedule", type=Schedule(), multiple=True, metavar="NAME", help="A schedule to simulate.  [repeatable]"
)
@problem_options("the film's own")
@device_options("the film's own")
@costs_options
@click.option("--theme", type=click.Choice(["dark", "light"]), default="dark", help="Colours.  [dark]")
@click.option("--size", type=click.Choice(SIZES), default="1080p", help="Of the frame.  [1080p]")
@click.option("--fps", type=click.IntRange(1, 120), default=30, help="Frames per second.  [30]")
@click.option("--seconds", type=float, metavar="S", help="Of the whole film, 6 to 600.  [15; of a ladder 16]")
@click.option("--from", "start", type=float, metavar="S", help="Start here in the film.  [0]")
@click.option("--to", "end", type=float, metavar="S", help="Stop here in the film.  [its end]")
@click.option(
    "--at",
    type=Instant(),
    metavar="TIME",
    help="Of a still: the film's second 6.5, or 12.5us of the trace.  [the end card]",
)
@click.option("--format", "form", type=click.Choice(FORMATS), help="Instead of the one that FILE ends in.")
@click.option("--poster", type=POSTER, metavar="FILE", help="Also write the end card here (.png).")
@jobs_option
@cluster_option
@click.option("--finding", is_flag=True, help="Also print what the end card says.")
@json_option
def command(scene: str, output: str | None, form: str | None, poster: str | None, **options: Any) -> None:
    """Render the film SCENE into FILE: an MP4, WebM, MOV or GIF, or as .png a still of it.

    Without further options the film is the scene's own; with options of a problem, a device or costs it is
    simulated, and with --trace it shows what a file holds. The films of the kernel ladder show the problem of
    its file that --m, --n, --k and --dtype choose. Without -o, FILE is SCENE.mp4 in the current folder, or
    ends as --format says; what stands there is replaced.
    """
    output = output or f"{scene}.{form or 'mp4'}"
    form = form or Path(output).suffix.lstrip(".").lower()
    if form not in FORMATS:
        raise click.UsageError(f"cannot tell a format from {output!r}; give --format {'|'.join(FORMATS)}")
    with usage():
        check_outputs((output, poster), (*options["trace"], options["costs"], options["ladder"]))
    _check_times(form, options)
    stage, act = load("scenes", "_stage.export"), scene_class(scene)
    # What is too large for the command line is too large for a film.
    problem_from(options, default=act.problem)
    with usage():
        film = act.make(_settings(options))
        cut = stage.Cut(options["size"], options["fps"], options["start"] or 0.0, options["end"])
        coding = cut.coding(film, form)
        at = _at(options["at"], film, stage)
        at.check(act, film)
        finding = act.write(film).finding
    if form == "png":
        reel = stage.reel_of(act, film, cut.frame)
        stage.save_still(reel, output, at.second(reel))
        wrote(output, cut.pixels)
    else:
        jobs = executor(options["jobs"], options["cluster"], len(coding.segments()))
        with jobs as workers, progress(scene, coding.frames) as done:
            begun = stage.begin(act, film, output, form, cut, workers, done)
            begun.finish()
        reel = begun.reel
        wrote(output, coding.length)
    if poster:
        stage.save_still(reel, poster, film.seconds)
        wrote(poster, cut.pixels)
    if options["as_json"]:
        click.echo(json.dumps({"film": output, "finding": finding} | act.figures(film)))
    elif options["finding"]:
        click.echo("\n".join(finding))


def _check_times(form: str, options: dict[str, Any]) -> None:
    """Raise UsageError where a still is given a part of a film, or a film an instant."""
    for name, option in {"start": "--from", "end": "--to"}.items():
        if form == "png" and options[name] is not None:
            raise click.UsageError(f"{option} is of a film, and a still is of one instant; give --at instead")
    if form != "png" and options["at"] is not None:
        raise click.UsageError(f"--at is of a still; write a .png, or leave it out of a film in {form}")


def _at(at: tuple[float, str] | None, film: Any, stage: Any) -> Any:
    """Of what a still is: without --at, of the film's end."""
    value, unit = at or (film.seconds, "")
    scale = UNITS[unit]
    return stage.At(value * scale, True) if scale else stage.At(value)


def _settings(options: dict[str, Any]) -> dict[str, Any]:
    """What was asked for on the command line, as a film takes it."""
    settings = given(options, (*PROBLEM_NAMES, *DEVICE_NAMES, "costs", "ladder", "seconds", "theme"))
    settings |= {name: list(options[name]) for name in ("trace", "schedule") if options[name]}
    return settings | ({"seed": options["seed"]} if options["seed"] else {})
