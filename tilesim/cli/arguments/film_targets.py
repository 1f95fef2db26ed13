"""What `tilesim export` films: a film by name, a scene of a Python file, or a file that holds a trace."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import click

from tilesim.cli.arguments.parameter_types import or_file
from tilesim.cli.arguments.schedule_files import file_and_name
from tilesim.cli.packages import load, scene_class, scene_file, scene_names
from tilesim.errors import unknown


class Target(NamedTuple):
    """A film by `name`, or the scene `name` of a Python `file`, its only one where the name is empty."""

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

    def scene(self) -> tuple[Any, Path]:
        """The class of the scene, and the file that defines it; raises TilesimError where there is none."""
        if self.file is None:
            return scene_class(self.name), scene_file(self.name)
        scene_files = load("scenes", "render.scene_files")
        try:
            return scene_files.load(self.file, self.name), self.file
        except scene_files.NoSceneError as error:
            raise click.UsageError(str(error)) from None


def is_film(scene: Any) -> bool:
    """Whether a scene is a film of ours, which takes settings."""
    return hasattr(scene, "checked")


def check(scene: Any, settings: Mapping[str, Any]) -> None:
    """Raise TilesimError where a film cannot be made of `settings`."""
    scene.checked(settings)
    if scene.default:
        load("scenes", "film.traces").traces_for(scene.default, settings)


class FilmTarget(click.ParamType):
    """SCENE, FILE.py:Scene or a trace's file as a Target."""

    name = "SCENE"

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> Any:
        return or_file(incomplete, scene_names())

    def convert(self, value: Any, param: Any, ctx: Any) -> Target:
        if isinstance(value, Target):
            return value
        if found := file_and_name(value):
            return Target(found[1], Path(found[0]))
        if (name := value.replace("_", "-")) in scene_names():
            return Target(name)
        if "trace" in scene_names() and Path(value).is_file():
            return Target("trace", trace=value)
        self.fail(unknown("scene", value, scene_names()), param, ctx)
