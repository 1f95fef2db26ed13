"""SharedBlocks: A, B and C in blocks, and what of A and B some tiles of C need."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from manim import LEFT, UP, VGroup, VMobject, smoothstep

from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import Colour, mixed, sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import EMPTY, quad, rectangle, segments, shape, strokes

GAP, LIT, LINES = 0.1, 0.6, 3
"""Share of a block's side that stays free; of the hue in a block that is needed; lines of its hatch."""


class SharedBlocks(VGroup):
    """A at the left of C, B above it, each of `count` x `count` blocks. `show(t)`: `t` of `tiles` are done.

    A tile takes a block of A and one of B at a time, and each stays lit. Beyond the last tile, while `t` goes
    on by 1, the tiles move to the places of `into`, and so does what they need. `side`: units of a matrix.
    `needed`: blocks of A, and of B, that are lit.

        blocks = SharedBlocks(9, side=3, tiles=range(9), into=[0, 9, 18, 1, 10, 19, 2, 11, 20])
        self.play(PlayTrace(blocks, until=9, run_time=3))
    """

    def __init__(
        self,
        count: int,
        side: float,
        tiles: Sequence[int],
        into: Sequence[int] = (),
        colour: Colour | None = None,
    ) -> None:
        theme, hue = theme_now(), colour or sm_colour(0, 4)
        self.count, self.hue, self.t = count, hue, 0.0
        self.stands = np.stack(np.divmod(np.asarray(tiles), count), axis=1)
        self.moved = np.stack(np.divmod(np.asarray(into or tiles), count), axis=1)
        self.c = rectangle(side, side)
        self.a = rectangle(side, side).next_to(self.c, LEFT, px(36))
        self.b = rectangle(side, side).next_to(self.c, UP, px(36))
        every = np.stack(np.divmod(np.arange(count * count), count), axis=1)
        self.idle = VGroup(*(shape(theme.idle) for _ in range(3)))
        for ground, idle in zip((self.a, self.b, self.c), self.idle, strict=True):
            idle.points = self._cells(ground, every)
        pale = mixed(theme.background, hue, LIT)
        self.lit = VGroup(shape(pale), shape(pale), shape(hue))
        along = np.arange(0.5, LINES * count) / (LINES * count)
        none, whole = np.zeros(len(along)), np.ones(len(along))
        self.hatches = VGroup(*(strokes(theme.background, 2, 0.6) for _ in range(2)))
        self.hatches[0].points = segments(self.a, np.stack([none, along, whole, along], axis=1))
        self.hatches[1].points = segments(self.b, np.stack([along, none, along, whole], axis=1))
        self.names = VGroup(label("A", 48, bold=True), label("B", 48, bold=True))
        self.names[0].next_to(self.a, UP, px(16))
        self.names[1].next_to(self.b, LEFT, px(20))
        super().__init__(self.a, self.b, self.c, self.idle, self.lit, self.hatches, self.names)
        self.needed = 0, 0
        self.show(0.0)

    def show(self, t: float) -> Self:
        """Look as when `t` tiles are done, or beyond the last, as they move."""
        self.t = t
        last = len(self.stands)
        if t > last:
            return self._move(float(smoothstep(min(1.0, t - last))))
        done, steps = int(t), int((t % 1) * self.count)
        rows, columns = (np.unique(self.stands[:done, axis]) for axis in (0, 1))
        k = np.arange(self.count)
        of_a = {(int(row), int(step)) for row in rows for step in k}
        of_b = {(int(step), int(column)) for column in columns for step in k}
        tiles = self.stands[:done].astype(float)
        self.lit[2].points = self._cells(self.c, tiles)
        if done < last:
            row, column = self.stands[done].tolist()
            of_a |= {(row, step) for step in range(steps)}
            of_b |= {(step, column) for step in range(steps)}
            if steps:
                part = self._cells(self.c, self.stands[done : done + 1], steps / self.count)
                self.lit[2].points = np.concatenate([self.lit[2].points, part])
        for lit, ground, cells in zip(self.lit, (self.a, self.b), (of_a, of_b), strict=False):
            lit.points = self._cells(ground, np.array(sorted(cells), float).reshape(-1, 2))
        self.needed = len(of_a), len(of_b)
        return self

    def tile(self, number: int) -> VMobject:
        """The place of a tile of C, as an outline that can be pointed at."""
        place = rectangle(1, 1)
        place.points = self._cells(self.c, np.array([divmod(number, self.count)], float))
        return place

    def _move(self, share: float) -> Self:
        """The tiles, and the rows and columns of what they need, on their way to their other places."""
        self.lit[2].points = self._cells(self.c, (1 - share) * self.stands + share * self.moved)
        for axis, (lit, ground) in enumerate(zip(self.lit, (self.a, self.b), strict=False)):
            old, new = np.unique(self.stands[:, axis]), np.unique(self.moved[:, axis])
            since = old[np.abs(new[:, None] - old).argmin(axis=1)]
            at = (1 - share) * since + share * new
            gone = np.setdiff1d(old, new)
            lit.points = np.concatenate(
                [self._strips(ground, axis, at, 1.0), self._strips(ground, axis, gone, 1 - share)]
            )
        ends = self.moved if share == 1 else self.stands
        self.needed = tuple(self.count * len(np.unique(ends[:, axis])) for axis in (0, 1))
        return self

    def _strips(self, ground: VMobject, axis: int, at: np.ndarray, wide: float) -> np.ndarray:
        """Rows (axis 0) or columns of blocks at some places, of which a share of their width is seen."""
        if wide <= 0 or not len(at):
            return EMPTY
        k = np.arange(self.count, dtype=float)
        place, step = (values.ravel() for values in np.meshgrid(at, k, indexing="ij"))
        cells = np.stack([place, step] if axis == 0 else [step, place], axis=1)
        across, down = (1.0, wide) if axis == 0 else (wide, 1.0)
        return self._cells(ground, cells, across, down)

    def _cells(
        self, ground: VMobject, cells: np.ndarray, across: float = 1.0, down: float = 1.0
    ) -> np.ndarray:
        """The points of blocks at (row, column), which need not be whole, as far as they are filled."""
        if not len(cells):
            return EMPTY
        free, count = GAP / 2, self.count
        quads = [
            quad(
                ground,
                (column + free) / count,
                (column + free + (1 - GAP) * across) / count,
                1 - (row + free + (1 - GAP) * down) / count,
                1 - (row + free) / count,
            )
            for row, column in np.asarray(cells, float).tolist()
        ]
        return np.concatenate(quads)
