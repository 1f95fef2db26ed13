"""What is in a film's file: its frames, chapters, and captions."""

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

av = pytest.importorskip("av", reason="films need av")


def frames(film: str | Path | bytes, form: str = "rgba") -> list[np.ndarray]:
    """The pixels of each frame of a file, or of what is in one."""
    with av.open(BytesIO(film) if isinstance(film, bytes) else str(film)) as source:
        return [frame.to_ndarray(format=form) for frame in source.decode(video=0)]


def marks(path: str | Path) -> list[tuple[float, str]]:
    """(second, title) of each chapter."""
    with av.open(str(path)) as film:
        return [
            (float(mark["start"] * mark["time_base"]), mark["metadata"]["title"]) for mark in film.chapters()
        ]


def captions(path: str | Path) -> list[tuple[float, float, str]]:
    """(start, end, text) of each caption, in s."""
    skipped = 0 if str(path).endswith("webm") else 2  # an MP4 begins each with its length
    found = []
    with av.open(str(path)) as film:
        base = film.streams.subtitles[0].time_base
        for packet in film.demux(film.streams.subtitles[0]):
            if packet.pts is not None and packet.size > skipped:
                until = packet.pts + packet.duration
                found.append(
                    (float(packet.pts * base), float(until * base), bytes(packet)[skipped:].decode())
                )
    return found
