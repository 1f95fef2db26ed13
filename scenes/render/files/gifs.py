"""GIF: a film as a moving image for a page, which begins with motion and is not larger than a page bears."""

from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import av
import numpy as np

MOST = 3_000_000
"""Bytes of a GIF whose rate and size are chosen here."""
CHOICES = ((20, 960), (20, 800), (10, 960), (10, 800), (10, 640), (10, 480), (5, 480), (5, 320))
"""Frames/s, which divide the first, so that all frames are shown equally long, and width in pixels."""
MOVED = 24
"""Levels of 255 by which a pixel that moves differs."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a GIF is made of a film: frames/s, size in pixels, and the first of the film's frames in it."""

    fps: int
    width: int
    height: int
    first: int

    @property
    def about(self) -> str:
        return f"{self.width}x{self.height} at {self.fps} frames/s"


def first_motion(film: Path) -> int:
    """The last frame of a film before anything in it moves; 0 where nothing ever does."""
    with av.open(film) as source:
        shown = (frame.to_ndarray(format="gray").astype(int) for frame in source.decode(video=0))
        for number, (one, other) in enumerate(pairwise(shown)):
            if (np.abs(one - other) > MOVED).any():
                return number
    return 0


def save(film: Path, target: Path, look: Look) -> None:
    """Write a film as a GIF of 256 colours, chosen from all its frames; only what changes is stored."""
    palette = _palette(film, look)
    with av.open(film) as source, av.open(target, "w", format="gif", options={"loop": "0"}) as out:
        graph, head, scaled = _scaled(source, look)
        colours = graph.add_buffer(
            width=palette.width, height=palette.height, format=palette.format, time_base=Fraction(1, look.fps)
        )
        apply, tail = graph.add("paletteuse", "dither=none:diff_mode=rectangle"), graph.add("buffersink")
        colours.link_to(apply, 0, 1)
        graph.link_nodes(scaled, apply, tail).configure()
        palette.pts = 0
        colours.push(palette)
        colours.push(None)
        coded = out.add_stream("gif", rate=look.fps)
        coded.width, coded.height, coded.pix_fmt = look.width, look.height, "pal8"
        for number, frame in enumerate(_filtered(_sampled(source, look), head, tail)):
            frame.pts, frame.time_base = number, Fraction(1, look.fps)
            out.mux(coded.encode(frame))
        out.mux(coded.encode())


def _palette(film: Path, look: Look) -> av.VideoFrame:
    """The 256 colours that come nearest to those of all frames."""
    with av.open(film) as source:
        graph, head, scaled = _scaled(source, look)
        tail = graph.add("buffersink")
        graph.link_nodes(scaled, graph.add("palettegen", "stats_mode=full"), tail).configure()
        (palette,) = _filtered(_sampled(source, look), head, tail)
        return palette


def _scaled(source: av.container.InputContainer, look: Look) -> tuple[av.filter.Graph, Any, Any]:
    """A graph of filters, the buffer that takes frames, and what gives them in the size of a GIF."""
    graph = av.filter.Graph()
    head = graph.add_buffer(template=source.streams.video[0])
    scaled = graph.add("scale", f"{look.width}:{look.height}:flags=area")
    head.link_to(scaled)
    return graph, head, scaled


def _filtered(frames: Iterable[av.VideoFrame], head: Any, tail: Any) -> Iterator[av.VideoFrame]:
    """What filters make of frames; they keep none that they no longer need."""
    for frame in chain(frames, [None]):
        head.push(frame)
        with suppress(BlockingIOError, EOFError):
            while True:
                yield tail.pull()


def _sampled(source: av.container.InputContainer, look: Look) -> Iterator[av.VideoFrame]:
    """Frames of a film from the first on, as many a second as asked for."""
    rate, due = source.streams.video[0].average_rate, 0
    for number, frame in enumerate(source.decode(video=0)):
        at = number - look.first
        if at >= 0 and at * look.fps >= due * rate:
            frame.pts = due
            due += 1
            yield frame


def chosen(film: Path, target: Path, keep: Container[str] = ()) -> Look:
    """Write a film as a GIF of at most MOST bytes, the best of CHOICES; `keep`: what stays, "fps" or "size".

    Where even the last choice is larger, that is what is written.
    """
    with av.open(film) as source:
        stream = source.streams.video[0]
        rate, size = int(stream.average_rate), (stream.width, stream.height)
    first, tried, made = first_motion(film), None, 0
    for fps, width in CHOICES:
        wide = size[0] if "size" in keep else min(width, size[0])
        look = Look(
            rate if "fps" in keep else min(fps, rate), wide, round(wide * size[1] / size[0] / 2) * 2, first
        )
        if tried:
            # As many bytes as there are pixels in all its frames.
            guess = made * (look.fps * look.width**2) / (tried.fps * tried.width**2)
            if look == tried or guess > 1.5 * MOST:
                continue
        save(film, target, look)
        tried, made = look, target.stat().st_size
        if made <= MOST:
            break
    return tried
