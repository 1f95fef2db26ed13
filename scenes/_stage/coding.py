"""Coding: from a reel to an encoded segment of a film, and from segments to the film.

A film is cut into segments of fixed length, each encoded on its own, by one thread, from its first frame on.
So it does not matter which process encodes which segment, and the film is joined without encoding again: any
number of processes gives the same frames.

Only what changes from frame to frame is drawn, and only that is converted to the encoder's pixel format. What
becomes of a pixel depends on its block of 2 x 2 pixels alone, so it is the same whatever was drawn before.
"""

import io
import pickle
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil
from pathlib import Path

import av
import numpy as np
from av.video.reformatter import ColorRange, Colorspace, Interpolation, VideoReformatter

from .raster import Pixels
from .reel import Reel

SEGMENT = 3.75
"""Seconds of film in a segment. Each begins with a whole picture, so shorter ones make a larger file."""
X264 = {
    "bframes": 7, "b-adapt": 0, "rc-lookahead": 0, "scenecut": 0, "weightp": 0, "me": "dia", "mbtree": 0,
}  # fmt: skip
"""Nothing looks ahead: films of flat colours that move little gain less from it than it costs. And with its
macroblock tree, x264 made other bits of the same frames from one run to the next, where there was AVX-512."""
CODECS = {
    # Against x264's defaults (medium, crf 23), a third of the time at the same size: see tests/benchmarks.
    "h264": (
        "libx264",
        {"preset": "veryfast", "crf": "26", "x264-params": ":".join(f"{k}={v}" for k, v in X264.items())},
    ),
    # For a GIF to be made of: losses that the eye does not see make it four times as large.
    "lossless": ("libx264", {"preset": "ultrafast", "qp": "0"}),
    "vp9": ("libvpx-vp9", {"deadline": "good", "cpu-used": "5", "crf": "31", "row-mt": "0"}),
}
BLOCKS = (16, 64)
"""Pixels: narrow and wide parts of a frame are converted in multiples of these, so there are few sizes."""
PIXEL_FORMAT = "yuv420p"
"""What encoders take: brightness, and two colours for each 2 x 2 pixels."""
BT709 = 1
"""The matrix, primaries and transfer of HDTV, as H.264 (table E-3) numbers them."""


@dataclass(frozen=True, slots=True)
class Coding:
    """How to encode a film: frames/s, from and to in its seconds, and one of CODECS."""

    fps: int
    start: float
    end: float
    codec: str = "h264"

    @property
    def frames(self) -> int:
        """How many there are: one at the start, and then one every 1/fps s before the end."""
        return max(1, ceil(round((self.end - self.start) * self.fps, 6)))

    @property
    def length(self) -> str:
        """How long it is, as people read it.

        >>> Coding(fps=30, start=1.0, end=2.5).length
        '1.5 s'
        """
        return f"{self.frames / self.fps:.3g} s"

    def segments(self) -> list[range]:
        """The frames of each segment.

        >>> Coding(fps=60, start=1.0, end=10.0).segments()
        [range(0, 225), range(225, 450), range(450, 540)]
        """
        length = ceil(SEGMENT * self.fps)
        return [range(first, min(first + length, self.frames)) for first in range(0, self.frames, length)]


def pack(reel: Reel) -> bytes:
    """A reel as bytes, small enough to be sent along with each segment."""
    return zlib.compress(pickle.dumps(reel, pickle.HIGHEST_PROTOCOL), level=1)


@lru_cache(maxsize=1)
def _unpacked(packed: bytes) -> Reel:
    return pickle.loads(zlib.decompress(packed))


def encode_packed(packed: bytes, coding: Coding, frames: range) -> bytes:
    """`encode`, in a process that does not have the reel yet."""
    return encode(_unpacked(packed), coding, frames)


def encode(
    reel: Reel, coding: Coding, frames: range, progress: Callable[[int], object] = lambda done: None
) -> bytes:
    """Some consecutive frames of a film as an MP4 file of their own; `progress` is told of each one."""
    height, width = reel.ground.shape[:2]
    file = io.BytesIO()
    codec, options = CODECS[coding.codec]
    with av.open(file, "w", format="mp4") as out:
        stream = out.add_stream(codec, rate=coding.fps, options=options)
        stream.width, stream.height, stream.pix_fmt = width, height, PIXEL_FORMAT
        context = stream.codec_context
        context.thread_count = 1
        tag(context)
        if coding.codec == "vp9":
            context.bit_rate = 0  # Constant quality.
        picture, planes, since = np.empty_like(reel.ground), Planes(width, height), None
        for number in frames:
            second = coding.start + number / coding.fps
            for place in reel.paint(picture, second, since):
                planes.convert(picture, place)
            since = second
            planes.frame.pts, planes.frame.time_base = number - frames.start, Fraction(1, coding.fps)
            out.mux(stream.encode(planes.frame))
            progress(1)
        out.mux(stream.encode())
    return file.getvalue()


def tag(context: av.VideoCodecContext) -> None:
    """Have an encoder say which colours its numbers are: those that `Planes` makes."""
    context.colorspace = context.color_primaries = context.color_trc = BT709
    context.color_range = ColorRange.MPEG


class Planes:
    """A `frame` in the encoder's format, YUV 4:2:0 in BT.709, into which parts of an RGBA one are converted.

    Width and height are even, as that format has it. Encoders copy what they keep, so one frame is enough.
    """

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.frame = av.VideoFrame(width, height, PIXEL_FORMAT)
        self.frame.colorspace, self.frame.color_range = Colorspace.ITU709, ColorRange.MPEG
        self.planes = [_pixels(plane) for plane in self.frame.planes]

    def convert(self, picture: np.ndarray, place: Pixels) -> None:
        """Take over what `picture` (uint8, [height, width, 4]) shows at `place`."""
        left, width = _stretch(place.left, place.width, self.width)
        top, height = _stretch(place.top, place.height, self.height)
        part = _reformatter(width, height).reformat(
            av.VideoFrame.from_numpy_buffer(picture[top : top + height, left : left + width], format="rgba"),
            format=PIXEL_FORMAT,
            interpolation=Interpolation.POINT,
            threads=1,
            dst_colorspace=Colorspace.ITU709,
            dst_color_range=ColorRange.MPEG,
        )
        for plane, source, halves in zip(self.planes, part.planes, (1, 2, 2), strict=True):
            y, x = top // halves, left // halves
            plane[y : y + source.height, x : x + source.width] = _pixels(source)


def _pixels(plane: av.video.plane.VideoPlane) -> np.ndarray:
    """A plane's memory: uint8, shape [height, width]."""
    return np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)[: plane.height, : plane.width]


def _stretch(start: int, length: int, limit: int) -> tuple[int, int]:
    """(start, length) of a stretch of whole blocks that holds another one, inside `limit` pixels.

    >>> _stretch(5, 64, 1080), _stretch(1079, 1, 1080), _stretch(3, 20, 25)
    ((4, 128), (1064, 16), (0, 25))
    """
    start, end = start // 2 * 2, start + length
    block = BLOCKS[end - start > BLOCKS[1]]
    length = -(-(end - start) // block) * block
    if length >= limit:
        return 0, limit
    return min(start, (limit - length) // 2 * 2), length


@lru_cache(maxsize=24)
def _reformatter(width: int, height: int) -> VideoReformatter:
    """One for each of the latest sizes: to change the size of one takes longer than to convert, and 2 MB."""
    return VideoReformatter()


def join(segments: Iterable[bytes], coding: Coding, form: str, target: Path) -> None:
    """Write segments, in order, into one film of the container format `form`, without encoding again."""
    # Bit by bit the same each time: else a WebM is given two random numbers.
    options = {"fflags": "+bitexact"}
    if form in ("mp4", "mov"):
        # A browser starts to play before it has the whole file if the index comes first.
        options["movflags"] = "faststart"
    with av.open(target, "w", format=form, options=options) as out:
        stream = None
        for frames, segment in zip(coding.segments(), segments, strict=True):
            with av.open(io.BytesIO(segment)) as part:
                source = part.streams.video[0]
                if stream is None:
                    stream = out.add_stream_from_template(source)
                begin = round(Fraction(frames.start, coding.fps) / source.time_base)
                for packet in part.demux(source):
                    if packet.dts is not None:
                        packet.pts, packet.dts, packet.stream = packet.pts + begin, packet.dts + begin, stream
                        out.mux(packet)
