"""The ground that all rasters share: where pixels go, who draws them, and how one lies on another.

A frame is RGBA bytes, shape [height, width, 4], as Manim has it; `packed` shows it with one number a pixel,
which NumPy fills and copies ten times as fast as four bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True)
class Pixels:
    """A rectangle of whole pixels in a frame."""

    left: int
    top: int
    width: int
    height: int

    @property
    def rows(self) -> slice:
        return slice(self.top, self.top + self.height)

    @property
    def columns(self) -> slice:
        return slice(self.left, self.left + self.width)

    def shared(self, other: Pixels) -> Pixels | None:
        """What this rectangle and another have in common, None where nothing.

        >>> Pixels(0, 0, 4, 4).shared(Pixels(2, 3, 9, 9)), Pixels(0, 0, 4, 4).shared(Pixels(4, 0, 9, 9))
        (Pixels(left=2, top=3, width=2, height=1), None)
        """
        left, top = max(self.left, other.left), max(self.top, other.top)
        right = min(self.left + self.width, other.left + other.width)
        bottom = min(self.top + self.height, other.top + other.height)
        return Pixels(left, top, right - left, bottom - top) if left < right and top < bottom else None


class Painter(Protocol):
    """Draws one thing that moves, always inside `place`."""

    place: Pixels

    def __call__(self, frame: np.ndarray, t: float, since: float | None = None) -> list[Pixels]:
        """Draw into `frame` what there is to see at `t`, and say which rectangles changed.

        The frame shows this thing as it was at `since`, or what stands still where that is None. What it
        shows afterwards depends on `t` alone.
        """


def packed(frame: np.ndarray) -> np.ndarray:
    """The same pixels as numbers: uint32, shape [height, width]; writing to them writes to the frame."""
    return frame.view(np.uint32)[..., 0]


def pack(colours: ArrayLike) -> np.ndarray:
    """Opaque colours (bytes, shape [..., 3]) as such numbers: uint32, shape [...].

    >>> packed(np.array([[[1, 2, 3, 255]]], np.uint8)) == pack((1, 2, 3))
    array([[ True]])
    """
    colours = np.ascontiguousarray(colours, np.uint8)
    opaque = np.full((*colours.shape[:-1], 1), 255, np.uint8)
    return np.concatenate([colours, opaque], axis=-1).view(np.uint32)[..., 0]


def outermost(rectangles: list[Pixels]) -> list[Pixels]:
    """Those of some rectangles that no other one holds; of equal ones, one.

    >>> outermost([Pixels(0, 0, 4, 4), Pixels(1, 1, 2, 2), Pixels(3, 3, 2, 2), Pixels(0, 0, 4, 4)])
    [Pixels(left=0, top=0, width=4, height=4), Pixels(left=3, top=3, width=2, height=2)]
    """
    kept: list[Pixels] = []
    for one in sorted(set(rectangles), key=lambda place: -place.width * place.height):
        if not any(one.shared(other) == one for other in kept):
            kept.append(one)
    return kept


def around(rectangles: Iterable[tuple[int, int, int, int]]) -> Pixels:
    """The smallest rectangle that holds all of some, each (top, bottom, left, right).

    >>> around([(2, 4, 0, 5), (3, 9, 1, 7)])
    Pixels(left=0, top=2, width=7, height=7)
    """
    tops, bottoms, lefts, rights = zip(*rectangles, strict=True)
    return Pixels(min(lefts), min(tops), max(rights) - min(lefts), max(bottoms) - min(tops))


def paste(pixels: np.ndarray, part: np.ndarray, left: int, top: int) -> None:
    """Put packed pixels over others, both uint32 of shape [height, width]; what sticks out is cut off."""
    shared = Pixels(left, top, part.shape[1], part.shape[0]).shared(Pixels(0, 0, *pixels.shape[::-1]))
    if shared:
        y, x = shared.top - top, shared.left - left
        pixels[shared.rows, shared.columns] = part[y : y + shared.height, x : x + shared.width]


def blend(frame: np.ndarray, coverage: np.ndarray, colour: np.ndarray, left: int, top: int) -> None:
    """Lay `colour` ([3]) on `frame` as far as `coverage` (uint8, [height, width]) says.

    What sticks out of the frame is cut off.
    """
    height, width = coverage.shape
    y0, y1 = max(0, top), min(frame.shape[0], top + height)
    x0, x1 = max(0, left), min(frame.shape[1], left + width)
    if y0 >= y1 or x0 >= x1:
        return
    alpha = coverage[y0 - top : y1 - top, x0 - left : x1 - left, None].astype(np.uint16)
    under = frame[y0:y1, x0:x1, :3]
    under[...] = (under * (255 - alpha) + colour.astype(np.uint16) * alpha + 127) // 255


def mix_in(frame: np.ndarray, over: np.ndarray, share: float) -> None:
    """Make of every byte of `frame` what lies at `share`, from 0 to 1, of the way to that of `over`."""
    weight = np.uint16(round(256 * share))
    rest = np.uint16(256) - weight
    # A few rows at a time stay in the processor's cache, which makes it twice as fast.
    for top in range(0, len(frame), 32):
        rows = slice(top, top + 32)
        mixed, part = frame[rows].astype(np.uint16), over[rows].astype(np.uint16)
        mixed *= rest
        part *= weight
        mixed += part
        mixed >>= np.uint16(8)
        frame[rows] = mixed
