"""Running: a scene's `construct`, under a configuration and a renderer of ours."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil, inf
from pathlib import Path
from typing import Any
from unittest.mock import patch

import manim
from manim import MovingCamera, Scene, config, tempconfig

from tilesim.errors import TilesimError
from tilesim_scenes.render import KNOWN, made
from tilesim_scenes.render.files.formats import Format, frame_units
from tilesim_scenes.render.scene_files import SceneError, failure
from tilesim_scenes.render.segments import SegmentRenderer
from tilesim_scenes.render.take import Part, Take

SEGMENT = 3.0
"""Seconds of film in a segment. Each begins with a whole picture, so shorter ones make a larger file."""
ENDLESS = 2**62


class OwnRenderer(TilesimError):
    """A scene that brings a renderer of its own, or that the configuration gives to OpenGL's."""


@dataclass(frozen=True, slots=True)
class RenderRequest:
    """What to export: a scene of a file, from and to in seconds, with settings if it is a film of ours."""

    scene: type[Scene]
    file: Path
    format: Format
    start: float = 0.0
    end: float | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    """What of a GIF is not chosen: "fps", "size"."""

    def between(self, start: float, end: float | None) -> "RenderRequest":
        """The part of this film from `start` to `end`, in its seconds; raises SceneError for none."""
        if not 0 <= start < (inf if end is None else end):
            until = "its end" if end is None else f"{end:g} s"
            raise SceneError(f"there is no part of a film from {start:g} s to {until}")
        return replace(self, start=start, end=end)

    @property
    def is_ours(self) -> bool:
        """Whether the scene is a film that takes settings and fits frames of any shape."""
        return hasattr(self.scene, "checked")

    @property
    def part(self) -> Part:
        """The frames asked for."""
        fps = self.format.fps
        first, length = round(self.start * fps), ceil(SEGMENT * fps)
        if self.end is None:
            return Part(first, ENDLESS, length)
        return Part(first, max(first + 1, ceil(round(self.end * fps, 6))), length)


@contextmanager
def manim_config(request: RenderRequest, folder: Path) -> Iterator[None]:
    """Manim's configuration for an export: it writes no film, other files to `folder`, and says nothing."""
    form, (width, height) = request.format, request.format.size
    settings = {
        "pixel_width": width, "pixel_height": height, "frame_rate": form.fps, "format": "auto",
        "media_dir": str(folder), "tex_dir": str(config.get_dir("tex_dir")),
        "input_file": request.file, "output_file": "", "write_all": False,
        "disable_caching": True, "dry_run": True, "save_sections": False, "preview": False,
        "live_preview": False, "show_in_file_browser": False, "log_to_file": False,
        "progress_bar": "none", "verbosity": "CRITICAL",
    }  # fmt: skip
    if form.transparent:
        settings["background_opacity"] = 0.0
    if request.is_ours:
        settings |= frame_units(form.size)
    with tempconfig(settings):
        yield


def ran(
    request: RenderRequest,
    folder: Path,
    renderer: Callable[..., SegmentRenderer],
    at_end: Callable[[SegmentRenderer], object] | None = None,
) -> Scene:
    """Run a request's scene with a renderer of that kind; `at_end` is given it with the last frame drawn.

    Raises SceneError where the scene fails or, without `at_end`, plays nothing.
    """
    with manim_config(request, folder), redirect_stdout(sys.stderr), ExitStack() as stack:
        if request.is_ours:
            stack.enter_context(patch.object(request.scene, "settings", dict(request.settings)))
        try:
            if request.is_ours:
                scene = request.scene(renderer=renderer(camera_class=MovingCamera))
            else:
                scene = made(request.scene, renderer)
            if not KNOWN or not isinstance(scene.renderer, SegmentRenderer):
                own = f"{request.scene.__name__} has a renderer of its own"
                raise OwnRenderer(own if KNOWN else f"the inside of Manim {manim.__version__} is not known")
            scene.render()
        except OwnRenderer:
            raise
        except (Exception, SystemExit) as error:
            raise failure(error, request.file) from error
        if at_end:
            scene.renderer.scene = scene
            scene.renderer.static_image = None
            scene.renderer.update_frame(scene)
            at_end(scene.renderer)
        elif not scene.renderer.frames:
            raise SceneError(f"{request.file}: {request.scene.__name__} plays nothing; write a .png of it")
    return scene


def played(
    request: RenderRequest, folder: Path, at_end: Callable[[SegmentRenderer], object] | None = None
) -> Scene:
    """The scene once it has been played without a frame drawn: what it says, and of which traces."""
    nothing = Take(Part(ENDLESS, ENDLESS, 1), lambda segment: None)
    return ran(request, folder, partial(SegmentRenderer, nothing), at_end)


def own_folders(folder: Path) -> None:
    """Let this process write texts and formulas into files of its own: Manim reads others' half written.

    The formulas that there are already it has, as they take long to make.
    """
    own, formulas = folder / str(os.getpid()), config.get_dir("tex_dir")
    if formulas.is_dir():
        shutil.copytree(formulas, own / "Tex", copy_function=os.link)
    config.text_dir, config.tex_dir = str(own / "texts"), str(own / "Tex")
