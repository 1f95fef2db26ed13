"""Formats: frame sizes and kinds of file that a scene can be exported as, and how each is encoded.

A film is cut into segments of fixed length, each encoded on its own, by one thread, from its first frame on.
So it does not matter which process encodes which segment, and the film is joined without encoding again: any
number of processes gives the same file.
"""

import re
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import av
from av.video.reformatter import ColorRange

from tilesim.errors import TilesimError, shown

SIZES = {
    "4k": (3840, 2160),
    "1080p": (1920, 1080),
    "720p": (1280, 720),
    "480p": (854, 480),
    "square": (1080, 1080),
    "vertical": (1080, 1920),
}
"""Width and height of frames, in pixels."""
SMALLEST, LARGEST = 64, 7680
STILLS = ("png", "svg", "pdf")
SLIDES = "slides"
"""A film that is to be cut where a talk stops."""
SHORTER_SIDE = 8.0
"""Manim's units that the shorter side of our films' frames has, as the height of Manim's own frame."""
MAX_FPS = {"gif": 50}
"""GIF counts in hundredths of a second, and browsers slow down whatever is faster than this."""
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


class FormatError(TilesimError):
    """A size, a rate or a kind of file that no film can have."""


def frame_size(text: str) -> tuple[int, int]:
    """Width and height, in pixels, of a size by name or as WIDTHxHEIGHT; raises FormatError for any other."""
    if text in SIZES:
        return SIZES[text]
    found = re.fullmatch("([0-9]{1,6})x([0-9]{1,6})", text)
    allowed = f"{', '.join(SIZES)} or WIDTHxHEIGHT, both even and from {SMALLEST} to {LARGEST}"
    if not found:
        raise FormatError(f"there is no size {shown(text)}; it must be {allowed}")
    width, height = int(found[1]), int(found[2])
    if any(side % 2 or not SMALLEST <= side <= LARGEST for side in (width, height)):
        raise FormatError(f"the size is {width}x{height}; it must be {allowed}")
    return width, height


def frame_units(size: tuple[int, int]) -> dict[str, float]:
    """Manim's settings for a frame as wide as so many pixels by so many, in which our films fit."""
    unit = SHORTER_SIDE / min(size)
    return {"frame_width": size[0] * unit, "frame_height": size[1] * unit}


@dataclass(frozen=True, slots=True)
class Format:
    """How a film is written: the kind of file, width and height in pixels, frames/s, and its background."""

    form: str = "mp4"
    size: tuple[int, int] = SIZES["1080p"]
    fps: int = 30
    transparent: bool = False

    def __post_init__(self) -> None:
        if self.fps > MAX_FPS.get(self.form, self.fps):
            most = MAX_FPS[self.form]
            raise FormatError(
                f"a {self.form} with {self.fps} frames/s cannot be shown; at most {most} are allowed"
            )
        if self.transparent and self.form in ("mp4", "gif", SLIDES):
            raise FormatError(f"a film in {self.form} cannot be transparent; write a .mov, .webm or .png")

    @property
    def container(self) -> str:
        """What FFmpeg calls the kind of file."""
        return "mp4" if self.form == SLIDES else self.form

    @property
    def rate(self) -> Fraction:
        return Fraction(self.fps)

    @property
    def codec(self) -> Codec:
        if self.form in ("gif", SLIDES):
            return CODECS["lossless"]
        if self.form == "webm":
            return CODECS["vp9 with alpha" if self.transparent else "vp9"]
        return CODECS["animation" if self.transparent else "h264"]


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
            context.colorspace = context.color_primaries = context.color_trc = BT709
            context.color_range = ColorRange.MPEG
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
