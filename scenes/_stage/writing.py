"""Writing: how `manim render` writes a film. Its own encoder does that, in its own settings.

Manim copies every frame and converts all of it to the encoder's pixel format, which takes a third as long
as to encode it. Here only what changed is converted, and to the colours that the file says it has.
"""

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from manim import Mobject, Scene
from manim.renderer.cairo_renderer import CairoRenderer
from manim.scene.scene_file_writer import SceneFileWriter
from manim.scene.video_segment_encoder import VideoSegmentEncoder

from .coding import PIXEL_FORMAT, Planes, tag


class PlanesEncoder(VideoSegmentEncoder):
    """Manim's encoder, fed with frames in its own format: uint8, shape [height * 3 / 2, width]."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        tag(self._stream.codec_context)

    def write_frame(self, pixels: np.ndarray, *, repeat: int = 1) -> None:
        for _ in range(repeat):
            frame = av.VideoFrame.from_ndarray(pixels, format=PIXEL_FORMAT)
            frame.pts, frame.time_base = self._next_pts, Fraction(1) / self.spec.frame_rate
            self._next_pts += 1
            self._container.mux(self._stream.encode(frame))


class Writer(SceneFileWriter):
    """Manim's writer; `planar` is whether it writes a film in the format that `Planes` makes."""

    @property
    def planar(self) -> bool:
        return self.video_encoder is not None and self.video_encoder.pixel_format == PIXEL_FORMAT

    def _create_segment_encoder(self, target: Path) -> VideoSegmentEncoder:
        if not self.planar:
            return super()._create_segment_encoder(target)
        return PlanesEncoder(target=target, spec=self.video_encoder)


class FilmRenderer(CairoRenderer):
    """Manim's renderer of what a CanvasCamera sees."""

    def __init__(self) -> None:
        super().__init__(file_writer_class=Writer)
        self._planes: Planes | None = None
        self._frame = np.empty(0)

    def render(self, scene: Scene, time: float, moving_mobjects: Iterable[Mobject] | None = None) -> None:
        self.update_frame(scene, moving_mobjects)
        changed, self.camera.changed = self.camera.changed, []
        if not self.file_writer.planar:
            self.add_frame(self.get_frame())
            return
        if self._planes is None:
            self._planes = Planes(self.camera.pixel_width, self.camera.pixel_height)
        for place in changed:
            self._planes.convert(self.camera.pixel_array, place)
        if changed:
            # Frames wait to be encoded, so each is a copy; one that is like the last is the same.
            self._frame = self._planes.frame.to_ndarray()
        self.add_frame(self._frame)
