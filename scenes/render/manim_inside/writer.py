"""Manim's file writer and encoder, fed with what changed. The files are those that Manim writes."""

from __future__ import annotations

import ctypes
import os
from dataclasses import replace
from pathlib import Path
from threading import Semaphore
from typing import Any

import numpy as np
from manim.scene.scene_file_writer import SceneFileWriter
from manim.scene.video_segment_encoder import VideoSegmentEncoder

from tilesim_scenes.render.files.planes import AS_MANIM, PIXEL_FORMAT, Part, Planes, parts
from tilesim_scenes.render.pixels import Pixels

CODECS = ("libx264", "libvpx-vp9")
"""Those that copy what they keep of a frame, so that one frame is enough."""
RETURN_MEMORY = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
"""The C library's call that gives memory back to the system, where it has one."""


class Encoder(VideoSegmentEncoder):
    """Manim's encoder of a segment, fed with parts of frames; those of the first frame are all of it.

    It begins when it is its turn: `turns` says how many work at a time, as each holds some 200 MB.
    """

    def __init__(self, turns: Semaphore, **settings: Any) -> None:
        super().__init__(**settings)
        self._turns = turns
        self._planes: Planes | None = None

    def write_frame(self, changed: list[Part], *, repeat: int = 1) -> None:
        if self._planes is None:
            self._turns.acquire()
            self._planes = Planes(self.spec.width, self.spec.height, PIXEL_FORMAT, AS_MANIM)
        try:
            for part in changed:
                self._planes.take(part)
            frame = self._planes.frame
            frame.time_base = 1 / self.spec.frame_rate
            for _ in range(repeat):
                frame.pts = self._next_pts
                self._next_pts += 1
                self._container.mux(self._stream.encode(frame))
        except Exception as error:
            raise self._operation_error("encode", error) from error

    def finish(self) -> None:
        try:
            super().finish()
        finally:
            self._end_turn()

    def abort(self) -> None:
        try:
            super().abort()
        finally:
            self._end_turn()

    def _end_turn(self) -> None:
        # What x264 holds is given back with the last name for it, and the C library keeps that in pieces that
        # the next play's encoder does not fit in.
        began, self._planes, self._stream = self._planes is not None, None, None
        if RETURN_MEMORY:
            RETURN_MEMORY(0)
        if began:
            self._turns.release()


class Writer(SceneFileWriter):
    """Manim's file writer, with `write_changes`.

    Manim draws no further while the encoder of a play writes what it still holds. Here the next play is drawn
    meanwhile, and its first frames wait for their encoder's turn.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._segment: Any = None
        super().__init__(*args, **kwargs)
        at_once, waiting = self.settings.max_inflight_encoders, self.settings.encoder_queue_size
        self._turns = Semaphore(at_once)
        if self._takes_parts:
            # One more waits, and holds frames meanwhile: together half as many as those of Manim do.
            self.settings = replace(
                self.settings,
                max_inflight_encoders=at_once + 1,
                encoder_queue_size=max(1, waiting * at_once // (at_once + 1) // 2),
            )

    @property
    def _takes_parts(self) -> bool:
        encoder = self.video_encoder
        return encoder is not None and encoder.pixel_format == PIXEL_FORMAT and encoder.codec in CODECS

    def _create_segment_encoder(self, target: Path) -> VideoSegmentEncoder:
        if not self._takes_parts:
            return super()._create_segment_encoder(target)
        return Encoder(self._turns, target=target, spec=self.video_encoder)

    def write_changes(self, picture: np.ndarray, changed: list[Pixels], *, repeat: int = 1) -> None:
        """Write a frame (uint8, [height, width, 4]) that differs from the last one there."""
        if not self._takes_parts:
            self.write_frame(picture.copy(), repeat=repeat)
            return
        if self._segment is not self._current_encode_job:
            self._segment = self._current_encode_job
            changed = [Pixels(0, 0, picture.shape[1], picture.shape[0])]
        # The encoder works in a thread of its own, and this one goes on drawing into `picture`.
        kept = [(place, pixels.copy()) for place, pixels in parts(picture, changed, AS_MANIM.reach)]
        self.write_frame(kept, repeat=repeat)
