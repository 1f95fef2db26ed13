"""Planes: a frame in an encoder's format, converted only where it changes."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import av
import numpy as np
from av.video.reformatter import ColorRange, Colorspace, Interpolation, VideoReformatter

from tilesim_scenes.render.pixels import Pixels

PIXEL_FORMAT = "yuv420p"
"""What encoders take: brightness, and two colours for each 2 x 2 pixels."""
SIZES = (32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)
"""Pixels: sides of the parts that are converted, but for what is around them, so that there are few sizes."""
Part = tuple[Pixels, np.ndarray]
"""A rectangle of a frame, and its pixels: uint8, [height, width, 4]."""


class Conversion(NamedTuple):
    """How FFmpeg's scaler makes YUV of RGBA.

    `reach`: pixels, at most, that a pixel changes numbers around it, and that these are taken from.
    """

    reach: int
    options: Mapping[str, Any]


AS_MANIM = Conversion(4, {})
"""The numbers that Manim's encoder makes of a whole frame, as PyAV sets the scaler."""
HDTV = Conversion(
    0,
    {
        "interpolation": Interpolation.POINT,
        "dst_colorspace": Colorspace.ITU709,
        "dst_color_range": ColorRange.MPEG,
    },
)
"""In BT.709. What becomes of a pixel depends on its block of 2 x 2 pixels alone."""


def parts(picture: np.ndarray, changed: Iterable[Pixels], reach: int) -> Iterator[Part]:
    """What `Planes` needs of a picture (uint8, [height, width, 4]) that changed there: views of it."""
    height, width = picture.shape[:2]
    for place in changed:
        around = _stretched(place, width, height, reach)
        yield around, picture[around.rows, around.columns]


class Planes:
    """A `frame` in an encoder's pixel format, into which parts of an RGBA one are converted.

    YUV has an even width and height. Encoders copy what they keep, so one frame is enough.
    """

    def __init__(self, width: int, height: int, pixels: str, conversion: Conversion) -> None:
        self.width, self.height, self.pixels, self.conversion = width, height, pixels, conversion
        self.frame = av.VideoFrame(width, height, pixels)
        self.planar, self.empty = pixels.startswith("yuv"), True
        if self.planar:
            options = conversion.options
            self.frame.colorspace = options.get("dst_colorspace", self.frame.colorspace)
            self.frame.color_range = options.get("dst_color_range", self.frame.color_range)
            self.planes = [_pixels(plane) for plane in self.frame.planes]
        # One for each of the latest sizes: to change the size of one takes longer than to convert, and 2 MB.
        self._reformatter = lru_cache(maxsize=8)(lambda width, height: VideoReformatter())

    def convert(self, picture: np.ndarray, changed: Iterable[Pixels]) -> None:
        """Take over what `picture` (uint8, [height, width, 4]) shows there; all of the first one."""
        if self.empty:
            changed, self.empty = [Pixels(0, 0, self.width, self.height)], False
        for part in parts(picture, changed, self.conversion.reach):
            if not self.planar:
                self.frame = av.VideoFrame.from_ndarray(picture, format="rgba").reformat(format=self.pixels)
                return
            self.take(part)

    def take(self, part: Part) -> None:
        """Take over a part of a picture; of its edges, only those that are the picture's."""
        place, pixels = part
        made = self._reformatter(place.width, place.height).reformat(
            av.VideoFrame.from_numpy_buffer(pixels, format="rgba"),
            format=self.pixels,
            threads=1,
            **self.conversion.options,
        )
        reach = self.conversion.reach
        left, top = place.left + reach * (place.left > 0), place.top + reach * (place.top > 0)
        right, bottom = place.left + place.width, place.top + place.height
        right, bottom = right - reach * (right < self.width), bottom - reach * (bottom < self.height)
        for plane, source in zip(self.planes, made.planes, strict=True):
            halves = self.width // plane.shape[1]
            rows, columns = slice(top // halves, bottom // halves), slice(left // halves, right // halves)
            y, x = (top - place.top) // halves, (left - place.left) // halves
            plane[rows, columns] = _pixels(source)[
                y : y + rows.stop - rows.start, x : x + columns.stop - columns.start
            ]


def _stretched(place: Pixels, width: int, height: int, reach: int) -> Pixels:
    """A rectangle with all around it that its numbers depend on, in a frame of that size.

    >>> _stretched(Pixels(32, 0, 64, 40), 1920, 1080, 4), _stretched(Pixels(0, 0, 100, 100), 110, 110, 4)
    (Pixels(left=24, top=0, width=80, height=72), Pixels(left=0, top=0, width=110, height=110))
    """
    left, across = _stretch(place.left, place.width, width, reach)
    top, down = _stretch(place.top, place.height, height, reach)
    return Pixels(left, top, across, down)


def _stretch(start: int, length: int, limit: int, reach: int) -> tuple[int, int]:
    even = start - start % 2
    size = next((size for size in SIZES if size >= length + start % 2), limit)
    first, last = max(0, even - 2 * reach), min(limit, even + size + 2 * reach)
    return first, last - first


def _pixels(plane: av.video.plane.VideoPlane) -> np.ndarray:
    """A plane's memory: uint8, shape [height, width]."""
    return np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)[: plane.height, : plane.width]
