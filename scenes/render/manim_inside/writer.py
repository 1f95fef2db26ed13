"""Manim's file writer and encoder, fed with what changed. The files are those that Manim writes."""

from __future__ import annotations

import ctypes
import os
import sys
from collections import deque
from dataclasses import replace
from pathlib import Path
from threading import Condition, Event
from typing import Any

import numpy as np
from manim.scene.scene_file_writer import SceneFileWriter
from manim.scene.video_segment_encoder import VideoSegmentEncoder

from tilesim_scenes.render.dirty import Pixels
from tilesim_scenes.render.files.planes import AS_MANIM, PIXEL_FORMAT, Patch, Planes

CODECS = ("libx264", "libvpx-vp9")
"""Those that copy what they keep of a frame, so that one frame is enough."""
AHEAD = 4
"""Plays that may be drawn while an earlier one is encoded."""
MALLOPT = getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
"""The C library's call that sets how it allocates memory, where it has one."""
MMAP_THRESHOLD, LARGE = -3, 4 * 2**20
"""Of MALLOPT, as malloc.h numbers it: the bytes from which on memory is given back to the system once it is
free. Else the C library keeps an encoder's in pieces that the next one does not fit in."""


class Room:
    """Room for so many bytes of what is drawn and not yet encoded."""

    def __init__(self, size: int) -> None:
        self.size, self.used, self.changed = size, 0, Condition()

    def take(self, size: int) -> None:
        """Wait until there is room, or nothing in it."""
        with self.changed:
            self.changed.wait_for(lambda: not self.used or self.used + size <= self.size)
            self.used += size

    def give(self, size: int) -> None:
        with self.changed:
            self.used -= size
            self.changed.notify()

    def open(self) -> None:
        """Let nobody wait any more."""
        with self.changed:
            self.size = 2**62
            self.changed.notify()


class Encoder(VideoSegmentEncoder):
    """Manim's encoder of a segment, fed with patches; the first frame's is all of it.

    It gives back what a frame took of `room`, and begins after `before`, as each holds some 200 MB.
    """

    def __init__(self, room: Room, before: Event | None, **settings: Any) -> None:
        super().__init__(**settings)
        self.ended, self._room, self._before = Event(), room, before
        self._planes: Planes | None = None

    def write_frame(self, patches: list[Patch], *, repeat: int = 1) -> None:
        if self._planes is None:
            if self._before is not None:
                self._before.wait()
            self._planes = Planes(self.spec.width, self.spec.height, PIXEL_FORMAT, AS_MANIM)
        self._room.give(_size(patches))
        try:
            for patch in patches:
                self._planes.paste(patch)
            frame = self._planes.frame
            frame.time_base = 1 / self.spec.frame_rate
            for _ in range(repeat):
                frame.pts = self._next_pts
                self._next_pts += 1
                self._container.mux(self._stream.encode(frame))
        except Exception as error:
            self._room.open()  # Manim gives the frames that follow to nobody.
            raise self._operation_error("encode", error) from error

    def finish(self) -> None:
        try:
            super().finish()
        finally:
            self._end()

    def abort(self) -> None:
        try:
            super().abort()
        finally:
            self._end()

    def _end(self) -> None:
        # What x264 holds is free with the last name for it.
        self._planes = self._stream = self._container = None
        self.ended.set()


class Writer(SceneFileWriter):
    """Manim's file writer, with `write_changes`.

    Manim draws no further than a few frames ahead of the encoder, and not while that writes what it holds at
    a play's end. Here several plays may be drawn meanwhile: what changed, in the encoder's format, takes at
    most half the memory of Manim's few frames.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._segment: Any = None
        super().__init__(*args, **kwargs)
        if self._takes_patches:
            at_once, waiting = self.settings.max_inflight_encoders, self.settings.encoder_queue_size
            encoder = self.video_encoder
            if MALLOPT:
                MALLOPT(MMAP_THRESHOLD, LARGE)
            self._latest: deque[Event] = deque(maxlen=at_once)
            self._room = Room(waiting * 4 * encoder.width * encoder.height // 2)
            self._planes = Planes(encoder.width, encoder.height, PIXEL_FORMAT, AS_MANIM)
            self.settings = replace(
                self.settings, max_inflight_encoders=at_once + AHEAD, encoder_queue_size=sys.maxsize
            )

    @property
    def _takes_patches(self) -> bool:
        encoder = self.video_encoder
        return encoder is not None and encoder.pixel_format == PIXEL_FORMAT and encoder.codec in CODECS

    def _create_segment_encoder(self, target: Path) -> VideoSegmentEncoder:
        if not self._takes_patches:
            return super()._create_segment_encoder(target)
        before = self._latest[0] if len(self._latest) == self._latest.maxlen else None
        encoder = Encoder(self._room, before, target=target, spec=self.video_encoder)
        self._latest.append(encoder.ended)
        return encoder

    def write_changes(self, picture: np.ndarray, changed: list[Pixels], *, repeat: int = 1) -> None:
        """Write a frame (uint8, [height, width, 4]) that differs from the last one there."""
        if not self._takes_patches:
            self.write_frame(picture.copy(), repeat=repeat)
            return
        places = self._planes.convert(picture, changed)
        if self._current_encode_job is None:
            return
        if self._segment is not self._current_encode_job:
            self._segment = self._current_encode_job
            places = [Pixels(0, 0, picture.shape[1], picture.shape[0])]
        patches = [self._planes.cut(place) for place in places]
        self._room.take(_size(patches))
        self.write_frame(patches, repeat=repeat)


def _size(patches: list[Patch]) -> int:
    """Bytes."""
    return sum(plane.nbytes for _, planes in patches for plane in planes)
