"""WaveGrid: the tiles of a product that grows, in waves of as many as there are SMs."""

from typing import Self

import numpy as np
from manim import VGroup, VMobject

from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import EMPTY, axes_of, quad, rectangle, shape, strokes

GAP, FLIGHT, HEIGHT = 0.12, 4, 0.5
"""Share of a cell's sides that stays free; tiles that start meanwhile; how far one falls, in grids."""
EDGE = 9
"""Pixels of an outline around places where no tile has landed."""


class WaveGrid(VGroup):
    """`rows` of tiles and as many columns as `tiles` need. `show(t)`: `t` of them have landed.

    A wave is `sms` tiles, whole columns of them. Each SM's tiles have its colour. `width`: units; tiles are
    twice as wide as high, as those of 128 × 256 are.

    Raises ValueError where a wave is not whole columns.
    """

    def __init__(self, tiles: int, rows: int, sms: int, width: float | None = None) -> None:
        super().__init__()
        if sms % rows:
            raise ValueError(f"waves of {sms} tiles are no whole columns of {rows}")
        self.tiles, self.tile_rows, self.sms, self.t = tiles, rows, sms, 0.0
        self.columns = -(-tiles // rows)
        wide = width or px(1600)
        self.ground = rectangle(wide, wide / self.columns / 2 * rows)
        self.waves = VGroup()
        for first in range(0, self.columns, sms // rows):
            last = min(first + sms // rows, self.columns)
            box = shape(theme_now().idle)
            box.points = quad(self.ground, (first + 0.04) / self.columns, (last - 0.04) / self.columns)
            self.waves.add(box)
        self.cells = VGroup(*(shape(sm_colour(sm, sms)) for sm in range(sms)))
        self.add(self.ground, self.waves, self.cells)
        self.show(0.0)

    def show(self, t: float) -> Self:
        """Look as when `t` tiles have landed."""
        self.t = t
        tile = np.arange(min(self.tiles, int(np.ceil(t)) + FLIGHT))
        column, row = np.divmod(tile, self.tile_rows)
        launched = np.maximum(column * self.tile_rows, tile + 1 - FLIGHT)
        part = np.clip((t - launched) / (tile + 1 - launched), 0, 1)
        seen = part > 0
        above = HEIGHT * (1 - part**2)
        x0, y1 = (column + GAP / 2) / self.columns, 1 - (row + GAP / 2) / self.tile_rows + above
        x1, y0 = x0 + (1 - GAP) / self.columns, y1 - (1 - GAP) / self.tile_rows
        for sm, cell in enumerate(self.cells):
            own = np.flatnonzero(seen[sm :: self.sms]) * self.sms + sm
            quads = [quad(self.ground, x0[i], x1[i], y0[i], y1[i]) for i in own]
            cell.points = np.concatenate(quads) if quads else EMPTY
        return self

    def tile(self, number: int) -> VMobject:
        """An outline at the place of a tile.

        Raises IndexError where there is none.
        """
        if not 0 <= number < self.tiles:
            raise IndexError(f"there is no tile {number}; the last is {self.tiles - 1}")
        return self.span(number, number + 1)

    def span(self, first: int, end: int) -> VMobject:
        """An outline around the places of tiles from `first` up to, not including, `end`, by whole columns.

        A place within one column is itself.
        """
        column, row = divmod(first, self.tile_rows)
        last = -(-end // self.tile_rows)
        top, bottom = (row, row + 1) if end - first == 1 else (0, self.tile_rows)
        outline = strokes(theme_now().wait_text, EDGE)
        outline.points = quad(
            self.ground,
            column / self.columns,
            last / self.columns,
            1 - bottom / self.tile_rows,
            1 - top / self.tile_rows,
        )
        return outline

    def place(self, tiles: float, up: float = 0.0) -> np.ndarray:
        """A point of the grid: after so many tiles, by columns, and that share of its height: shape [3]."""
        origin, right, rise = axes_of(self.ground)
        return origin + tiles / self.tile_rows / self.columns * right + up * rise
