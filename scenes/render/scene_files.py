"""Scene files: the scene that FILE.py:Name means, and the line of the file where something went wrong."""

import traceback
from pathlib import Path

from manim import Scene
from manim.utils.module_ops import scene_classes_from_file

from tilesim.errors import TilesimError, shown, unknown


class SceneError(TilesimError):
    """A scene that fails, or that cannot be drawn as asked for."""


class NoSceneError(SceneError):
    """A scene that does not exist."""


def load(file: Path, name: str = "") -> type[Scene]:
    """The scene `name` of a Python file, or its only one; raises SceneError where there is none."""
    if not file.is_file():
        raise NoSceneError(f"there is no file {shown(str(file))}")
    try:
        scenes = {scene.__name__: scene for scene in scene_classes_from_file(file, full_list=True)}
    except Exception as error:
        raise failure(error, file) from error
    if not scenes:
        raise NoSceneError(f"{file} defines no scene: no class in it is derived from Manim's Scene")
    if name and name not in scenes:
        raise NoSceneError(f"{file}: {unknown('scene', name, scenes)}")
    if not name and len(scenes) > 1:
        named = ", ".join(f"{file}:{name}" for name in scenes)
        raise NoSceneError(f"{file} defines {len(scenes)} scenes; name one of them: {named}")
    return scenes[name or next(iter(scenes))]


def failure(error: BaseException, file: Path) -> TilesimError:
    """What went wrong in a scene file, with the line of the file where it did; errors of ours as they are."""
    if isinstance(error, TilesimError):
        return error
    if isinstance(error, SystemExit) and str(error).startswith("error: "):  # As our films say what is wrong.
        return SceneError(str(error).removeprefix("error: "))
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).resolve() == file.resolve()
    ]
    if isinstance(error, SyntaxError) and error.lineno:
        lines.append(error.lineno)
    place = f"{file}, line {lines[-1]}" if lines else str(file)
    said = " ".join(str(error).split())
    return SceneError(f"{place}: {type(error).__name__}{': ' * bool(said)}{said}")
