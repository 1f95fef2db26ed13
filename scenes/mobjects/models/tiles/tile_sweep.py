"""TileSweep: a warp loads a tile, load after load, and the sectors that move pile up beside it."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from manim import DOWN, LEFT, RIGHT, VGroup

from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import Figure, px
from tilesim_scenes.look.theme import mix, theme_now
from tilesim_scenes.mobjects.drawing.quads import quad, rectangle, shape
from tilesim_scenes.mobjects.hardware.element_grid import ElementGrid

WASTED = 0.35
"""How much of grey ink is seen of bytes that nobody asked for."""


class TileSweep(VGroup):
    """`t` sectors have moved: as many elements of `grid` have come as they brought, and a bar has grown.

    `places`: (row, column, rows, columns) of each load's elements, in order. `sectors`: of each load. `used`:
    the share of the moved bytes that a thread asked for; it is the lit part of the bar's height, the rest
    grey. The figure below it counts whole loads' sectors. `width`: units of a bar of `most` sectors.

        sweep = TileSweep(grid, [(row, 0, 1, 8) for row in range(8)], sectors=8, used=0.5, most=64)
        self.play(PlayTrace(sweep, until=64, run_time=3))
    """

    def __init__(
        self,
        grid: ElementGrid,
        places: Sequence[tuple[int, int, int, int]],
        sectors: int,
        used: float,
        most: int,
        width: float | None = None,
        height: float | None = None,
    ) -> None:
        theme = theme_now()
        self.grid, self.places, self.sectors, self.used, self.most = grid, places, sectors, used, most
        self.t = 0.0
        self.track = rectangle(width or px(1000), height or px(150))
        self.track.next_to(grid, RIGHT, px(48))
        self.come = shape(tuple(mix(theme.idle, grid.colour, 0.45).tolist()))
        self.coming, self.lit = shape(grid.colour), shape(grid.colour)
        self.wasted = shape(tuple(mix(theme.background, theme.quiet, WASTED).tolist()))
        self.count = Figure(size=56, mono=False)
        self.count.shift(self.track.get_corner(DOWN + LEFT) + px(72) * DOWN)
        super().__init__(grid, self.track, self.come, self.coming, self.wasted, self.lit, self.count)
        self.show(0)

    def show(self, t: float) -> Self:
        """Look as when `t` sectors have moved, or all that there are."""
        self.t = t
        moved = min(t, len(self.places) * self.sectors)
        loads = int(moved // self.sectors)
        here = [self.grid.place(*place) for place in self.places[:loads]]
        self.come.points = np.concatenate([np.zeros((0, 3)), *here])
        ended = loads == len(self.places)
        self.coming.points = np.zeros((0, 3)) if ended else self.grid.place(*self.places[loads])
        share = moved / self.most
        self.wasted.points = quad(self.track, 0, share, self.used, 1)
        self.lit.points = quad(self.track, 0, share, 0, self.used)
        self.count.write(tr("{sectors:,.0f} sectors", sectors=loads * self.sectors))
        return self
