"""Pixels of a frame: rectangles, and the squares of it that have to be drawn again.

A grid is bool, shape [rows, columns], one element for each square of TILE pixels; the last ones may stick out
of the frame. A range of tiles is (top, bottom, left, right), in tiles, the ends not included.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor

import numpy as np

TILE = 32
"""Pixels. Smaller squares are many to copy; larger ones are much to draw for a small change."""
Range = tuple[int, int, int, int]
NOTHING: Range = (0, 0, 0, 0)


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


def grid(width: int, height: int) -> np.ndarray:
    """The tiles of a frame of that size, none of them dirty."""
    return np.zeros((-(-height // TILE), -(-width // TILE)), bool)


def tiles(left: float, top: float, right: float, bottom: float, shape: tuple[int, ...]) -> Range:
    """The tiles of a grid of that shape that a rectangle, in pixels, touches; all where it is not finite."""
    rows, columns = shape
    if not -1e6 < left <= right < 1e6 or not -1e6 < top <= bottom < 1e6:
        # Cairo's coordinates overflow far outside, so nobody knows where that is drawn.
        return (0, rows, 0, columns)
    above, below = max(0, floor(top / TILE)), min(rows, ceil(bottom / TILE))
    before, after = max(0, floor(left / TILE)), min(columns, ceil(right / TILE))
    return (above, below, before, after) if above < below and before < after else NOTHING


def meeting(dirty: np.ndarray, ranges: np.ndarray) -> np.ndarray:
    """Which of some ranges (int, [n, 4]) hold a dirty tile: their indices, in order."""
    sums = np.zeros((dirty.shape[0] + 1, dirty.shape[1] + 1), np.int64)
    sums[1:, 1:] = dirty.cumsum(0).cumsum(1)
    top, bottom, left, right = ranges.T
    return np.flatnonzero(sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left])


def rectangles(dirty: np.ndarray, width: int, height: int) -> list[Pixels]:
    """The dirty tiles of a frame of that size as few rectangles that do not overlap.

    >>> dirty = np.array([[1, 1, 0], [1, 1, 0], [0, 1, 1]], bool)
    >>> for place in rectangles(dirty, 90, 90): print(place)
    Pixels(left=0, top=0, width=64, height=64)
    Pixels(left=32, top=64, width=58, height=26)
    """
    open_runs: dict[tuple[int, int], int] = {}
    found = []
    # Where a row is no longer as it was is a run's start, then its end.
    rows, edges = (each.tolist() for each in np.nonzero(np.diff(np.pad(dirty, ((0, 0), (1, 1))), axis=1)))
    lines: dict[int, list[tuple[int, int]]] = {}
    for row, start, end in zip(rows[::2], edges[::2], edges[1::2], strict=True):
        lines.setdefault(row, []).append((start, end))
    for row in range(min(lines, default=0), max(lines, default=-1) + 2):
        runs = lines.get(row, ())
        for run in [run for run in open_runs if run not in runs]:
            found.append((open_runs.pop(run), row, *run))
        for run in runs:
            open_runs.setdefault(run, row)
    return [
        Pixels(
            left * TILE,
            top * TILE,
            min(right * TILE, width) - left * TILE,
            min(bottom * TILE, height) - top * TILE,
        )
        for top, bottom, left, right in sorted(found)
    ]
