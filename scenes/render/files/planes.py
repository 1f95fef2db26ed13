"""Planes: a frame in an encoder's format, converted only where it changes."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import av
import numpy as np
from av.video.reformatter import ColorRange, Colorspace, Interpolation, VideoReformatter

from tilesim_scenes.render.dirty import Pixels

PIXEL_FORMAT = "yuv420p"
"""What encoders take: brightness, and two colours for each 2 x 2 pixels."""
SIZES = (32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)
"""Pixels: sides of the parts that are converted, but for what is around them, so that there are few sizes."""
Patch = tuple[Pixels, list[np.ndarray]]
"""A rectangle of a frame, and what each plane has there: uint8, shape [height, width] or half of both."""


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

    def convert(self, picture: np.ndarray, changed: Iterable[Pixels]) -> list[Pixels]:
        """Take over what `picture` (uint8, [height, width, 4]) shows there; all of the first one.

        Return the rectangles in which the frame may differ now, with even sides.
        """
        whole = Pixels(0, 0, self.width, self.height)
        if self.empty:
            changed, self.empty = [whole], False
        if self.planar:
            return [self._take(picture, place) for place in changed]
        self.frame = av.VideoFrame.from_ndarray(picture, format="rgba").reformat(format=self.pixels)
        return [whole]

    def cut(self, place: Pixels) -> Patch:
        """A copy of what a rectangle with even sides shows."""
        return place, [part.copy() for part in _parts(self.planes, place)]

    def paste(self, patch: Patch) -> None:
        """Show what was cut from other planes of this size."""
        place, cuts = patch
        for part, pixels in zip(_parts(self.planes, place), cuts, strict=True):
            part[...] = pixels

    def _take(self, picture: np.ndarray, changed: Pixels) -> Pixels:
        """Convert a rectangle, with all that it changes around it; return which rectangle that is."""
        reach = self.conversion.reach
        left, across = _stretch(changed.left, changed.width, self.width, reach)
        top, down = _stretch(changed.top, changed.height, self.height, reach)
        place = Pixels(left, top, across, down)
        made = self._reformatter(place.width, place.height).reformat(
            av.VideoFrame.from_numpy_buffer(picture[place.rows, place.columns], format="rgba"),
            format=self.pixels,
            threads=1,
            **self.conversion.options,
        )
        left, top = place.left + reach * (place.left > 0), place.top + reach * (place.top > 0)
        right, bottom = place.left + place.width, place.top + place.height
        right, bottom = right - reach * (right < self.width), bottom - reach * (bottom < self.height)
        inner = Pixels(left, top, right - left, bottom - top)
        inside = Pixels(left - place.left, top - place.top, inner.width, inner.height)
        converted = [_pixels(plane) for plane in made.planes]
        for part, pixels in zip(_parts(self.planes, inner), _parts(converted, inside), strict=True):
            part[...] = pixels
        return inner


def _parts(planes: list[np.ndarray], place: Pixels) -> Iterator[np.ndarray]:
    """What each plane has where a rectangle with even sides lies."""
    for plane in planes:
        halves = planes[0].shape[1] // plane.shape[1]
        yield plane[
            place.top // halves : (place.top + place.height) // halves,
            place.left // halves : (place.left + place.width) // halves,
        ]


def _stretch(start: int, length: int, limit: int, reach: int) -> tuple[int, int]:
    """Where a side begins, and its length, with all around it that its numbers depend on."""
    even = start - start % 2
    size = next((size for size in SIZES if size >= length + start % 2), limit)
    first, last = max(0, even - 2 * reach), min(limit, even + size + 2 * reach)
    return first, last - first


def _pixels(plane: av.video.plane.VideoPlane) -> np.ndarray:
    """A plane's memory: uint8, shape [height, width]."""
    return np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)[: plane.height, : plane.width]
