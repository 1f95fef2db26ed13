"""What `tilesim export` films: a film by name, a scene of a Python file, or a file that holds a trace."""

from pathlib import Path
from typing import Any, NamedTuple

import click

from tilesim.cli.arguments.parameter_types import Name
from tilesim.cli.arguments.schedule_files import file_and_name
from tilesim.cli.packages import COURSE, declared, load, scene_class
from tilesim.errors import TilesimError, nearest, shown, unknown

FORMATS = ("mp4", "webm", "gif", "png", "mov", "svg", "pdf", "html", "slides")
COURSE_FORMATS = ("mp4", "webm", "mov")
MOVING = (*COURSE_FORMATS, "gif")
STILLS = ("png", "svg", "pdf")
PAGES = ("html",)
SLIDES, SLIDES_IN = "slides", (".html", ".pptx")


def chosen(output: str | None, form: str | None, label: str) -> tuple[str, str]:
    """The file to write, and what it is; raises TilesimError where what was asked for does not say."""
    output = output or f"{label}.{'html' if form == SLIDES else form or 'mp4'}"
    ending = Path(output).suffix.lower()
    form = form or (SLIDES if ending == ".pptx" else ending.lstrip("."))
    if form == SLIDES and ending not in SLIDES_IN:
        raise TilesimError(f"slides are written as {' or '.join(SLIDES_IN)}, not as {shown(output)}")
    if form not in FORMATS:
        endings = [f".{name}" for name in FORMATS if name != SLIDES] + [".pptx"]
        raise TilesimError(f"{shown(output)} ends in no format of a film; {nearest(ending, endings)}")
    return output, form


class Target(NamedTuple):
    """A film by `name`, or the scene `name` of a Python `file`, its only one where the name is empty. The
    name COURSE without a file is that of several films as one, which have no scene."""

    name: str
    file: Path | None = None
    trace: str | None = None
    """A file that the film shows."""

    @property
    def label(self) -> str:
        if self.trace:
            return Path(self.trace).stem
        return self.name or (self.file.stem if self.file else "film")

    @property
    def is_course(self) -> bool:
        return self.name == COURSE and self.file is None

    def scene(self) -> tuple[Any, Path]:
        """The class of the scene, and the file that defines it; raises TilesimError where there is none."""
        if self.file is None:
            return scene_class(self.name), declared()[self.name].file
        return load("scenes", "render.scene_files").load(self.file, self.name), self.file


class FilmTarget(Name):
    """SCENE, FILE.py:Scene or a trace's file as a Target."""

    name = "SCENE"

    def convert(self, value: Any, param: Any, ctx: Any) -> Target:
        if isinstance(value, Target):
            return value
        if found := file_and_name(value):
            return Target(found[1], Path(found[0]))
        if (name := value.replace("_", "-")) in declared() or name == COURSE:
            return Target(name)
        if Path(value).suffix.lower()[1:] in FORMATS:
            what = "a film's name, FILE.py:Name, or a file that holds a trace"
            self.fail(f"{shown(value)} is what `tilesim export` writes; give {what}", param, ctx)
        if "run" in declared() and Path(value).is_file():
            return Target("run", trace=value)
        if Path(value).suffix:
            self.fail(f"there is no file {shown(value)}", param, ctx)
        self.fail(unknown("film", value, [*declared(), COURSE]), param, ctx)


FILM_TARGET = FilmTarget(lambda: [*declared(), COURSE], files=True)


class CourseFilm(Name):
    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        name, names = value.replace("_", "-"), self.choices()
        if name not in names:
            self.fail(unknown("film", value, names), param, ctx)
        return name


COURSE_FILM = CourseFilm(lambda: declared())

LANGUAGES = ("en", "zh", "pt")
SOURCE = LANGUAGES[0]
THEMES = click.Choice(["dark", "light"])

theme_option = click.option("--theme", type=THEMES, default=THEMES.choices[0], help="Colours.  [dark]")
language_option = click.option("--lang", type=click.Choice(LANGUAGES), help=f"Language.  [{SOURCE}]")


def spoken(lang: str | None) -> dict[str, Any]:
    """The language, English where none is named, and its words by their English, as a page takes them."""
    lang = lang or SOURCE
    return {"lang": lang, "words": {} if lang == SOURCE else load("scenes", "look.language").catalogue(lang)}
