"""Manim's renderer, which draws and hands on what changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from manim import Camera, Mobject, Scene
from manim.renderer.cairo_renderer import CairoRenderer
from manim.scene.scene_file_writer import SceneFileWriter
from manim.utils.iterables import list_update

from tilesim_scenes.render.dirty import Pixels
from tilesim_scenes.render.manim_inside.camera import CAMERAS, Incremental
from tilesim_scenes.render.manim_inside.writer import Writer


class IncrementalRenderer(CairoRenderer):
    """Manim's renderer; `camera.pixel_array` is the frame, drawn over in place by the next one.

    `changed`: the rectangles in which it differs from the one handed on before. `frames`: how many were
    handed on or would have been, each as often as it is repeated. While `drawing` is False, mid play too,
    only what stands still at the start of each play is drawn, and nothing handed on; later frames stay alike.
    """

    def __init__(
        self,
        file_writer_class: type[SceneFileWriter] = Writer,
        camera_class: type[Camera] | None = None,
        skip_animations: bool = False,
    ) -> None:
        self.changed: list[Pixels] = []
        self.drawing = True
        self.frames = 0
        self._playing = self._saving = False
        wanted = camera_class or Camera
        super().__init__(file_writer_class, CAMERAS.get(wanted, wanted), skip_animations)

    def play(self, scene: Scene, *args: Any, **kwargs: Any) -> None:
        self._playing = True
        try:
            super().play(scene, *args, **kwargs)
        finally:
            self._playing = False

    def save_static_frame_data(self, scene: Scene, static_mobjects: Iterable[Mobject]) -> Any:
        if self.unseen:
            self.static_image = None
            return None
        self._saving = True
        try:
            return super().save_static_frame_data(scene, static_mobjects)
        finally:
            self._saving = False

    def update_frame(
        self,
        scene: Scene,
        mobjects: Iterable[Mobject] | None = None,
        include_submobjects: bool = True,
        ignore_skipping: bool = True,
        **kwargs: Any,
    ) -> None:
        if self._playing and not self._saving:
            if self.unseen:
                return
            still = scene.is_current_animation_frozen_frame()
            self.before(self._repeats(scene.duration) if still else 1)
            if not self.drawing:
                return
        camera = self.camera
        if not isinstance(camera, Incremental):
            super().update_frame(scene, mobjects, include_submobjects, ignore_skipping, **kwargs)
        elif ignore_skipping or not self.skip_animations:
            camera.show(
                camera.background if self.static_image is None else self.static_image,
                mobjects or list_update(scene.mobjects, scene.foreground_mobjects),
                include_submobjects=include_submobjects,
                **kwargs,
            )

    @property
    def unseen(self) -> bool:
        """Whether nobody sees what is drawn. Manim draws it, as some cameras need."""
        return self.skip_animations and isinstance(self.camera, Incremental)

    def render(self, scene: Scene, time: float, moving_mobjects: Iterable[Mobject] | None = None) -> None:
        self.update_frame(scene, moving_mobjects)
        self._next(1)

    def freeze_current_frame(self, duration: float) -> None:
        self._next(self._repeats(duration))

    def _repeats(self, duration: float) -> int:
        """How many frames Manim makes of a still that is shown so many seconds."""
        return int(duration / (1 / self.camera.frame_rate))

    def _next(self, repeat: int) -> None:
        if self.skip_animations:
            return
        self.time += repeat * (1 / self.camera.frame_rate)
        self.frames += repeat
        if self.drawing and repeat:
            camera = self.camera
            whole = [Pixels(0, 0, camera.pixel_width, camera.pixel_height)]
            self.changed = camera.changed() if isinstance(camera, Incremental) else whole
            self.hand_on(repeat)

    def before(self, repeat: int) -> None:
        """Called before a frame is drawn that is to be shown so many times; a subclass may set `drawing`."""

    def hand_on(self, repeat: int) -> None:
        """Give the frame that the camera shows to the file writer, to be shown so many times."""
        if isinstance(self.file_writer, Writer):
            self.file_writer.write_changes(self.camera.pixel_array, self.changed, repeat=repeat)
        else:
            self.file_writer.write_frame(self.get_frame(), repeat=repeat)
