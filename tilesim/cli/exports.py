"""Exports: one type of request for the command line, the tables of a gallery and `Trace.film`."""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import click

from tilesim import player
from tilesim.cli.arguments import film_targets as targets
from tilesim.cli.arguments.film_targets import COURSE_FILM, COURSE_FORMATS, PAGES, SLIDES, SOURCE, STILLS
from tilesim.cli.arguments.parameter_types import INSTANT
from tilesim.cli.output.figures import wrote
from tilesim.cli.packages import COURSE, declared, load, scene_class
from tilesim.declared import course
from tilesim.errors import TilesimError, shown
from tilesim.storage import files, scratch
from tilesim.text import plural
from tilesim.traces import Trace

FPS, GIF_FPS = 30, 20
SIZE, GIF_SIZE = "1080p", "960x540"
OF_A_COURSE = ("films", "theme", "lang", "size", "fps", "transparent", "format", "captions")
LEFT_OUT = ("opening", "work")
"""What a film has unless `--no-NAME` leaves it out."""
OF_FRAMES = ("size", "fps", "transparent", "seconds", "from", "to", "captions", *LEFT_OUT)
REFUSED = (
    (PAGES, OF_FRAMES, "is of a film; a page fills the browser or the frame around it, so leave it out"),
    (STILLS, ("from", "to"), "is of a film, and a still is of one instant; give --at instead"),
    (STILLS, ("captions",), "is of a film; leave it out of a still"),
    ((SLIDES,), ("captions",), "is of a film; slides have their captions as notes, so leave it out"),
    ((*targets.MOVING, SLIDES), ("at",), "is of a still; write a .png, or leave it out of a film"),
)
"""(forms, what they do not have, and why)."""


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What is to be made of a scene, and written to `output`.

    `settings`: of the film. `asked`: what else was asked for, by the names of `_kinds`. `at`: the instant of
    a still or a page, as INSTANT makes it. `poster`: where the end card is written, too. `films`: of a
    course, by name; all of it for None. `orders`: what scenes/ is to draw, once it is `planned`.
    """

    scene: targets.Target
    output: Path
    form: str
    settings: Mapping[str, Any]
    asked: Mapping[str, Any]
    at: tuple[float, str] | None
    poster: Path | None
    films: Sequence[str] | None
    orders: Sequence[Any] = ()

    @classmethod
    def of(cls, asked: Mapping[str, Any]) -> "ExportRequest":
        """A request from what was asked for, by name; the settings are not checked before `planned`. Raises
        TilesimError for what is missing, has the wrong type, or does not fit the form."""
        schema = load("scenes", "film.settings")
        kinds = _kinds(schema)
        own = {name: asked[name] for name in asked if name in kinds}
        schema.check(own, kinds)
        if "scene" not in own:
            raise TilesimError("it has no scene")
        try:
            scene = targets.FILM_TARGET.convert(own["scene"], None, None)
            output, form = targets.chosen(own.get("output"), own.get("format"), scene.label)
            films = own.get("films") and [COURSE_FILM.convert(one, None, None) for one in own["films"]]
            at = own.get("at")
            if at is not None:
                at = INSTANT.convert(at if isinstance(at, tuple) else str(at), None, None)
        except click.UsageError as error:
            raise TilesimError(error.message) from None
        _check_form(scene, form, asked, at)
        settings = {name: asked[name] for name in asked if name not in kinds}
        if scene.trace:
            more = settings.get("trace", [])
            settings["trace"] = [scene.trace, *(more if isinstance(more, list) else [more])]
        poster = Path(own["poster"]) if "poster" in own else None
        if poster and poster.suffix.lower() not in ("", ".png"):
            raise TilesimError(f"the poster {shown(own['poster'])} must end in .png")
        return cls(scene, Path(output), form, settings, own, at, poster, films)

    @property
    def captions_file(self) -> Path | None:
        return self.output.with_suffix(".vtt") if self.asked.get("captions") else None

    @property
    def outputs(self) -> tuple[Path | None, ...]:
        return self.output, self.poster, self.captions_file

    @property
    def inputs(self) -> list[str]:
        """The files that it is made of, once the settings are checked."""
        named = load("scenes", "film.settings").files_in(self.settings)
        return [str(name) for name in (*named, self.scene.file) if isinstance(name, str | Path)]

    def format(self, form: str) -> Any:
        """How frames are written in a form; raises TilesimError for a size or a rate that none can have."""
        formats = load("scenes", "render.files.formats")
        size, fps = (GIF_SIZE, GIF_FPS) if form == "gif" else (SIZE, FPS)
        asked = {"size": size, "fps": fps, "transparent": False, **self.asked}
        return formats.Format(form, formats.frame_size(asked["size"]), asked["fps"], asked["transparent"])


def asked_for(options: Mapping[str, Any]) -> dict[str, Any]:
    """What a request is made of, by options of `tilesim export` or of `Trace.film`.

    >>> asked_for({"size": "720p", "from_": 2.5, "captions": False, "lang": None, "no_opening": True})
    {'size': '720p', 'from': 2.5, 'opening': False}
    """
    asked = {
        name.rstrip("_"): os.fspath(value) if isinstance(value, PathLike) else value
        for name, value in options.items()
        if value is not None and value is not False and value != ()
    }
    left_out = {name: False for name in LEFT_OUT if asked.pop(f"no_{name}", False)}
    return asked | left_out


@dataclass(frozen=True, slots=True)
class Made:
    """What came of a request: each file with a word on it, a note on how it was drawn, and what films say."""

    files: Sequence[tuple[Path, str]]
    figures: Mapping[str, Any]
    note: str = ""
    title: str = ""
    """Of a page."""


def report(made: Made) -> None:
    if made.note:
        click.echo(f"note: {made.note}", err=True)
    for path, about in made.files:
        wrote(path, about)


def option(name: str) -> str:
    """The name of a setting's option on the command line."""
    return f"--no-{name}" if name in LEFT_OUT else f"--{name.replace('_', '-')}"


def planned(request: ExportRequest, scene: tuple[Any, Path] | None = None) -> ExportRequest:
    """The request with its orders, all of it checked: one, or one for each film of a course. `scene`: what
    `request.scene.scene()` gave, if it is loaded already. Raises TilesimError where a film cannot be made
    as asked for."""
    render_request = load("scenes", "render.running").RenderRequest
    if request.form not in PAGES:
        load("scenes", "look.language").check_font(request.settings.get("lang", SOURCE))
    if request.scene.is_course:
        return replace(request, orders=_course(request, render_request))
    act, file = scene or request.scene.scene()
    schema, settings = load("scenes", "film.settings"), request.settings
    if hasattr(act, "checked"):
        schema.check(settings, _kinds(schema) | act.asked)
        _check(act, settings)
    elif settings:
        raise TilesimError(
            f"{option(next(iter(settings)))} is of tilesim's own films; {file} holds another scene"
        )
    if request.form in PAGES and not getattr(act, "default", None):
        pages = ", ".join(name for name in declared() if scene_class(name).default)
        raise TilesimError(
            f"{request.scene.label} shows no traces that a page could play; these films do: {pages}; "
            f"as .html it can be slides, with --format {SLIDES}"
        )
    keep = tuple(name for name in ("fps", "size") if name in request.asked)
    form = request.format("mp4" if request.form in PAGES else request.form)
    order = render_request(act, file, form, settings=settings, keep=keep)
    return replace(request, orders=[order.between(request.asked.get("from", 0.0), request.asked.get("to"))])


def make(
    request: ExportRequest, jobs: int, progress: Callable[[int], object] = lambda frames: None,
    workers: Executor | None = None,
) -> Made:  # fmt: skip
    """Write what was `planned`; raises TilesimError where it cannot be drawn or written."""
    first, output = request.orders[0], request.output
    moments = load("scenes", "render.files.moments")
    if request.form in STILLS:
        moments.save(first, request.at, output)
        made = Made([(output, _pixels(first.format))], {})
    elif request.form in PAGES:
        made = _page_of_film(request, first)
    else:
        of_course = request.scene.is_course
        module = "course" if of_course else "talk" if request.form == SLIDES else "export"
        export = load("scenes", f"render.{module}").export
        film = export(request.orders if of_course else first, output, jobs, progress, workers)
        written = [(output, film.about)]
        if request.captions_file:
            load("scenes", "render.files.joining").save_captions(film.extras.cues, request.captions_file)
            written.append((request.captions_file, plural(len(film.extras.cues), "caption")))
        made = Made(written, {"film": str(output), **film.figures}, film.note)
    if request.poster is None:
        return made
    card = type(first)(first.scene, first.file, request.format("png"), settings=first.settings)
    moments.save(card, request.at, request.poster)
    return replace(made, files=[*made.files, (request.poster, _pixels(card.format))])


def _check(scene: Any, settings: Mapping[str, Any]) -> None:
    scene.checked(settings)
    if scene.default:
        load("scenes", "film.traces").traces_for(scene.default, settings)


def _kinds(schema: Any) -> dict[str, Any]:
    number, name = schema.NUMBER, schema.NAME
    return {
        "scene": schema.Kind(lambda one: isinstance(one, targets.Target) or name.fits(one), "a text"),
        "output": schema.FILE,
        "format": schema.one_of(targets.FORMATS),
        "size": name,
        "fps": schema.whole(1, 120),
        "transparent": schema.BOOL,
        "from": number,
        "to": number,
        "at": schema.Kind(
            lambda at: isinstance(at, tuple) or number.fits(at) or name.fits(at),
            "a second, or a text such as 12.5us",
        ),
        "poster": schema.FILE,
        "captions": schema.BOOL,
        "films": schema.Kind(partial(are, str), "a list of films, and at least one"),
    }


def _check_form(scene: targets.Target, form: str, asked: Mapping[str, Any], at: Any) -> None:
    """Raise TilesimError where a course is asked for what one film has, a still for what a film has, ..."""
    given = [name for name in asked if name in LEFT_OUT or asked[name] is not False]
    if scene.is_course and form not in COURSE_FORMATS:
        tip = "; as slides, films are written by: tilesim present TALK.html FILM..." * (form == SLIDES)
        raise TilesimError(f"a course is written as .{', .'.join(COURSE_FORMATS)}, not as {shown(form)}{tip}")
    for name in given if scene.is_course else ():
        if name not in ("scene", "output", *OF_A_COURSE):
            takes = ", ".join(map(option, OF_A_COURSE))
            raise TilesimError(f"{option(name)} is of one film; a course takes {takes}")
    if "films" in given and not scene.is_course:
        raise TilesimError(f"--films is of a course; write: tilesim export {COURSE} --films ...")
    for forms, names, reason in REFUSED:
        for name in names:
            if form in forms and name in given:
                raise TilesimError(f"{option(name)} {reason}")
    if at and form in PAGES and not at[1]:
        raise TilesimError(f"--at {at[0]:g} is a second of a film; a page opens at an instant such as 12.5us")


def _course(request: ExportRequest, render_request: Any) -> list[Any]:
    known, none = declared(), load("scenes", "film.settings").NO_FILM
    form, made = request.format(request.form), []
    # The next film begins at once, so none is announced.
    settings = {**request.settings, "next": none, "work": False}
    for name in request.films or course(known):
        act = scene_class(name)
        if not hasattr(act, "checked"):
            raise TilesimError(f"{name} is another scene, and a course is of tilesim's own films")
        try:
            _check(act, settings)
        except TilesimError as error:
            raise TilesimError(f"{name}: {error}") from None
        made.append(render_request(act, known[name].file, form, settings=settings))
    return made


def page_of(traces: Sequence[Trace], output: Path, asked: Mapping[str, Any], title: str, **said: Any) -> Made:
    """Write a page of traces, in the theme and language and at the instant `asked` for, that says `said`."""
    look = {"theme": asked.get("theme") or "", **targets.spoken(asked.get("lang"))}
    text = player.page(traces, at=asked["at"] and asked["at"][0], **look, **said)
    files.write(output, lambda stream: stream.write(text.encode()))
    return Made([(output, plural(len(traces), "trace"))], {"page": str(output)}, title=title)


def _page_of_film(request: ExportRequest, film: Any) -> Made:
    moments, runs = load("scenes", "render.files.moments"), load("scenes", "film.runs")
    with scratch.folder() as folder:
        scene = moments.played(film, folder)
    card, traces, title = scene.card, scene.traces, scene.chapters[0][1]
    alike = len({trace.schedule for trace in traces}) < len(traces)
    said = {"story": player.Story(title, card.sentence, card.number, card.aside)}
    said |= {} if alike else {"names": runs.names(traces)}
    made = page_of(traces, request.output, {**request.settings, "at": request.at}, title, **said)
    return replace(made, figures={**made.figures, "finding": [card.sentence]})


def _pixels(form: Any) -> str:
    return "x".join(map(str, form.size))


def are(kind: type, values: Any) -> bool:
    """Whether they are a list of some values of that type."""
    return isinstance(values, list) and bool(values) and all(isinstance(one, kind) for one in values)
