"""Images on a frame: what Manim warps an image into, kept, and made again only where its pixels change.

Pixels are packed here: uint32, one number for each RGBA pixel, as in `array.view(np.uint32)[..., 0]`.
"""

from collections.abc import Callable

import numpy as np
from PIL import Image

from tilesim_scenes.render.dirty import TILE, Pixels

Warp = Callable[[np.ndarray], tuple[Pixels, np.ndarray]]
"""Of an image of such pixels (uint8, [h, w, 4]), where on a frame Manim lays it, and what (the same)."""
OPAQUE = np.uint32(0xFF000000)
"""The bits of a packed pixel's opacity, where bytes are stored lowest first."""
MOST = 2**24 - 1
"""Pixels of an image that three bytes can number."""


def packed(pixels: np.ndarray) -> np.ndarray:
    """The same pixels, one number each; writing to them writes to the others."""
    return pixels.view(np.uint32)[..., 0]


class Overlay:
    """An image as it lies on a frame at one place: `pixels` at `place`, transparent elsewhere.

    Where the image is sampled by its nearest pixels, each of the overlay is one of the image. Which one is
    found by warping an image of numbers, once it changes; otherwise any change of it warps all of it again.
    """

    def __init__(self, image: np.ndarray, warp: Warp, nearest: bool) -> None:
        self.image, self.warp = packed(image).copy(), warp
        self.rows: np.ndarray | None = None
        self.columns: np.ndarray | None = None
        self.countable = nearest and self.image.size <= MOST
        self._lay(image)

    def _lay(self, image: np.ndarray) -> None:
        self.place, pixels = self.warp(image)
        self.pixels = packed(pixels)
        self.opaque = bool((self.pixels & OPAQUE == OPAQUE).all())

    def _number(self) -> None:
        """Find which row and column of the image each row and column of the overlay shows."""
        self.countable = False
        numbers = np.arange(1, self.image.size + 1, dtype=np.uint32).reshape(self.image.shape) | OPAQUE
        place, warped = self.warp(numbers.view(np.uint8).reshape(*self.image.shape, 4))
        index = (packed(warped) & ~OPAQUE).astype(np.int64) - 1
        shown = index >= 0
        down, across = _extent(shown.any(1)), _extent(shown.any(0))
        index = index[down, across]
        if not index.size or (index < 0).any():
            return
        rows, columns = np.divmod(index, self.image.shape[1])
        if (rows == rows[:, :1]).all() and (columns == columns[:1]).all():
            self.rows, self.columns = rows[:, 0], columns[0]
            self.place = Pixels(place.left + across.start, place.top + down.start, *index.shape[::-1])
            self.pixels = self.pixels[down, across].copy()

    def update(self, image: np.ndarray, dirty: np.ndarray) -> bool:
        """Follow the image (uint8, of the same shape), mark the tiles in which it changed; whether it did."""
        now = packed(image)
        different = now != self.image
        changed_rows = np.flatnonzero(different.any(1))
        if not changed_rows.size:
            return False
        rows = slice(changed_rows[0], changed_rows[-1] + 1)
        changed_columns = np.flatnonzero(different[rows].any(0))
        columns = slice(changed_columns[0], changed_columns[-1] + 1)
        self.image[rows, columns] = now[rows, columns]
        if self.countable:
            self._number()
        if self.rows is None or self.columns is None:
            _mark(dirty, self.place)
            self._lay(image)
            _mark(dirty, self.place)
            return True
        down, across = _showing(self.rows, rows), _showing(self.columns, columns)
        if down.start == down.stop or across.start == across.stop:
            return False
        fresh = _sampled(self.image, self.rows[down], self.columns[across])
        self.pixels[down, across] = fresh
        self.opaque = bool(self.opaque and (fresh & OPAQUE == OPAQUE).all())
        changed = _sampled(different, self.rows[down], self.columns[across])
        _mark_changed(dirty, changed, self.place.left + across.start, self.place.top + down.start)
        return True

    def draw(self, frame: np.ndarray, part: Pixels) -> None:
        """Lay on a part of a frame (uint8, [height, width, 4]) what of this image is there."""
        shared = self.place.shared(part)
        if shared is None:
            return
        top, left = shared.top - self.place.top, shared.left - self.place.left
        over = self.pixels[top : top + shared.height, left : left + shared.width]
        under = packed(frame)[shared.rows, shared.columns]
        if self.opaque:
            under[...] = over
        else:
            under[...] = packed(np.array(Image.alpha_composite(_picture(under), _picture(over))))


def _sampled(pixels: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """`pixels[rows[:, None], columns]`, in the time of a copy where those follow each other."""
    if _consecutive(rows) and _consecutive(columns):
        return pixels[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return pixels[rows].take(columns, axis=1)


def _consecutive(numbers: np.ndarray) -> bool:
    return bool(numbers[-1] - numbers[0] + 1 == len(numbers) and (np.diff(numbers) == 1).all())


def _showing(indices: np.ndarray, wanted: slice) -> slice:
    """Where rising or falling indices are those of a range."""
    return _extent((indices >= wanted.start) & (indices < wanted.stop))


def _extent(flags: np.ndarray) -> slice:
    """From the first flag that is set to the last."""
    found = np.flatnonzero(flags)
    return slice(int(found[0]), int(found[-1]) + 1) if found.size else slice(0, 0)


def _picture(pixels: np.ndarray) -> Image.Image:
    pixels = np.ascontiguousarray(pixels)
    return Image.fromarray(pixels.view(np.uint8).reshape(*pixels.shape, 4), mode="RGBA")


def _mark(dirty: np.ndarray, place: Pixels) -> None:
    bottom, right = place.top + place.height, place.left + place.width
    dirty[place.top // TILE : -(-bottom // TILE), place.left // TILE : -(-right // TILE)] = True


def _mark_changed(dirty: np.ndarray, changed: np.ndarray, left: int, top: int) -> None:
    """Mark the tiles that hold a changed pixel; `changed` (bool, [h, w]) lies at (left, top) of the frame."""
    height, width = changed.shape
    rows = np.arange(top // TILE, -(-(top + height) // TILE))
    columns = np.arange(left // TILE, -(-(left + width) // TILE))
    lines = np.logical_or.reduceat(changed, np.maximum(rows * TILE - top, 0), axis=0)
    found = np.logical_or.reduceat(lines, np.maximum(columns * TILE - left, 0), axis=1)
    dirty[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] |= found
