"""What `tilesim export` films: a film by name, a scene of a Python file, or a file that holds a trace."""

from pathlib import Path
from typing import Any, NamedTuple

import click

from tilesim.cli.arguments.parameter_types import or_file, starting_with
from tilesim.cli.arguments.schedule_files import file_and_name
from tilesim.cli.packages import COURSE, declared, load, scene_class, scene_file
from tilesim.errors import unknown


class Target(NamedTuple):
    """A film by `name`, or the scene `name` of a Python `file`, its only one where the name is empty.

    The name COURSE without a file is that of several films as one, which have no scene.
    """

    name: str
    file: Path | None = None
    trace: str | None = None
    """A file that the film shows."""

    @property
    def label(self) -> str:
        """What a file of it is called."""
        if self.trace:
            return Path(self.trace).stem
        return self.name or (self.file.stem if self.file else "film")

    @property
    def is_course(self) -> bool:
        return self.name == COURSE and self.file is None

    def scene(self) -> tuple[Any, Path]:
        """The class of the scene, and the file that defines it; raises TilesimError where there is none."""
        if self.file is None:
            return scene_class(self.name), scene_file(self.name)
        return load("scenes", "render.scene_files").load(self.file, self.name), self.file


class FilmTarget(click.ParamType):
    """SCENE, FILE.py:Scene or a trace's file as a Target."""

    name = "SCENE"

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> Any:
        return or_file(incomplete, [*declared(), COURSE])

    def convert(self, value: Any, param: Any, ctx: Any) -> Target:
        if isinstance(value, Target):
            return value
        if found := file_and_name(value):
            return Target(found[1], Path(found[0]))
        if (name := value.replace("_", "-")) in declared() or name == COURSE:
            return Target(name)
        if "trace" in declared() and Path(value).is_file():
            return Target("trace", trace=value)
        self.fail(unknown("scene", value, [*declared(), COURSE]), param, ctx)


class CourseFilm(click.ParamType):
    """The name of a film, spelled with - or _."""

    name = "NAME"

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> Any:
        return starting_with(incomplete, declared())

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        name, names = value.replace("_", "-"), declared()
        if name not in names:
            self.fail(unknown("film", value, names), param, ctx)
        return name
