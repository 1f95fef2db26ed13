"""Coding: from frames to an encoded segment of a film.

A film is cut into segments of fixed length, each encoded on its own, by one thread, from its first frame on.
So it does not matter which process encodes which segment, and the film is joined without encoding again: any
number of processes gives the same file.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import av
from av.video.reformatter import ColorRange

X264 = {"bframes": 7, "b-adapt": 0, "scenecut": 0, "weightp": 0, "me": "dia", "subme": 1, "no-deblock": 1}
"""Nothing looks ahead, and one quantiser stands for all: films of flat colours that move little gain less
from either than it costs. Rate control looks at each frame in half its size, which alone takes 2 ms. A filter
that smooths the edges of blocks would smooth sharp edges: without it films are closer and smaller, too."""
BT709 = 1
"""The matrix, primaries and transfer of HDTV, as H.264 (table E-3) numbers them."""


@dataclass(frozen=True, slots=True)
class Codec:
    """An encoder of FFmpeg's, the pixel format it takes, and the container that holds a segment."""

    name: str
    pixels: str
    container: str
    options: dict[str, str] = field(default_factory=dict)
    ahead: int = 0
    """Frames by which they are decoded before they are shown, as those that refer to later ones need."""

    @property
    def suffix(self) -> str:
        return f".{self.container}"


_VP9 = {"deadline": "good", "cpu-used": "5", "crf": "31", "row-mt": "0"}
CODECS = {
    # Against x264's defaults (medium, crf 23), a quarter of the time at the same size: see benchmarks.
    "h264": Codec(
        "libx264",
        "yuv420p",
        "mp4",
        {"preset": "veryfast", "qp": "28", "x264-params": ":".join(f"{k}={v}" for k, v in X264.items())},
        ahead=2,
    ),
    # For a GIF or slides to be made of: losses that the eye does not see make it four times as large.
    "lossless": Codec("libx264", "yuv420p", "mp4", {"preset": "ultrafast", "qp": "0"}),
    "vp9": Codec("libvpx-vp9", "yuv420p", "webm", _VP9),
    "vp9 with alpha": Codec("libvpx-vp9", "yuva420p", "webm", _VP9 | {"auto-alt-ref": "0"}),
    # Manim's own for transparent films, and without loss.
    "animation": Codec("qtrle", "argb", "mov"),
}


class SegmentEncoder:
    """Writes frames, each with the rectangles in which it differs from the last, to a file of their own."""

    def __init__(self, path: Path, codec: Codec, width: int, height: int, fps: Fraction) -> None:
        self.container = av.open(path, "w", format=codec.container)
        self.stream = self.container.add_stream(codec.name, rate=fps, options=dict(codec.options))
        self.stream.width, self.stream.height, self.stream.pix_fmt = width, height, codec.pixels
        context = self.stream.codec_context
        context.thread_count = 1
        if codec.name == "libvpx-vp9":
            context.bit_rate = 0  # Constant quality.
        if codec.pixels.startswith("yuv"):
            _tag(context)
        self.time_base, self.frames = 1 / fps, 0

    def write(self, frame: av.VideoFrame, repeat: int = 1) -> None:
        """Encode a frame, to be shown `repeat` times."""
        for _ in range(repeat):
            frame.pts, frame.time_base = self.frames, self.time_base
            self.frames += 1
            self.container.mux(self.stream.encode(frame))

    def close(self) -> None:
        """Write what the encoder still holds."""
        try:
            self.container.mux(self.stream.encode())
        finally:
            self.container.close()


def _tag(context: av.VideoCodecContext) -> None:
    """Have an encoder say which colours its numbers are: BT.709."""
    context.colorspace = context.color_primaries = context.color_trc = BT709
    context.color_range = ColorRange.MPEG
