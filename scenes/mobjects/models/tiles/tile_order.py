"""TileOrder: a run's tiles in C as its waves roll over it, and at the edges what of A and B is in use."""

import numpy as np
from manim import VMobject

from tilesim import Trace
from tilesim.orders import rasterize
from tilesim.view import multiplied
from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import Colour, mixed, sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import strokes
from tilesim_scenes.mobjects.drawing.raster import Raster, packed, unpacked

EDGE, GAP = 26, 10
"""Pixels: how thick what is seen of A and B is, and from there to C."""
DONE, USED = 0.28, 0.3
"""Share of its colour in a tile that is done or has begun; of the operands' colour in what was in use."""
LEAST = 6
"""Pixels of a tile's side, below which tiles are not set apart."""


class TileOrder(Raster):
    """C of a run in its true proportions, rows of A at its left and columns of B above.

    At `t` ns, tiles at work fill from the left, and pale when they are done. Of A and B lights what tiles at
    work need; what others needed before is dim. `width`, `height`: units that all may take at most.

        order = TileOrder(simulate("persistent", problem, device), width=4, height=4)
        self.play(Run(order, until=trace.makespan, run_time=6))
    """

    def __init__(self, trace: Trace, width: float, height: float, colour: Colour | None = None) -> None:
        self.trace, self.problem = trace, trace.problem
        edge = px(EDGE + GAP)
        ratio = self.problem.m / self.problem.n
        wide = min(width - edge, (height - edge) / ratio)
        self.edge = edge / (wide + edge), edge / (wide * ratio + edge)
        self._share = EDGE / (EDGE + GAP)
        theme, hue = theme_now(), colour or sm_colour(0, 4)
        inks = (
            theme.background, theme.idle, hue, mixed(theme.background, hue, DONE),
            theme.operand, mixed(theme.background, theme.operand, USED),
        )  # fmt: skip
        self._ground, self._idle, self._bright, self._pale, self._operand, self._dim = map(packed, inks)
        self._row, self._column = np.divmod(trace.spans["tile"], self.problem.tiles_n)
        super().__init__(wide + edge, wide * ratio + edge)

    def paint(self, rows: int, columns: int) -> np.ndarray:
        problem, spans = self.problem, self.trace.spans
        begun, done = spans["issue"] <= self.t, spans["done"] <= self.t
        picture = np.full((rows, columns), self._ground)
        left, top = round(self.edge[0] * columns), round(self.edge[1] * rows)
        down, _ = _places(rows - top, problem.tiles_m)
        across, within = _places(columns - left, problem.tiles_n)
        tile = down[:, None] * problem.tiles_n + across
        # Before and after a tile's K-steps have come so far to the right.
        rest, filled, share = (np.full(problem.tiles, of) for of in (self._idle, self._idle, 0.0))
        rest[spans["tile"][begun]] = self._pale
        filled[spans["tile"][begun]] = np.where(done[begun], self._pale, self._bright)
        share[spans["tile"]] = multiplied(spans["start"], spans["drain"], self.t)
        picture[top:, left:] = np.where(within < share[tile], filled[tile], rest[tile])
        thick = round(left * self._share), round(top * self._share)
        picture[top:, : thick[0]] = self._in_use(self._row, problem.tiles_m, begun, done)[down][:, None]
        picture[: thick[1], left:] = self._in_use(self._column, problem.tiles_n, begun, done)[across]
        if min(len(down) / problem.tiles_m, len(across) / problem.tiles_n) >= LEAST:
            picture[top:][1:][np.diff(down) > 0] = self._ground
            picture[:, left:][:, 1:][:, np.diff(across) > 0] = self._ground
        return unpacked(picture)

    def path(self, first: int, count: int, width: float = 4.0) -> VMobject:
        """The line through tiles, in their order, from the `first` on."""
        points = [self.centre(int(tile)) for tile in rasterize(self.problem)[first : first + count]]
        return strokes(theme_now().text, width).set_points_as_corners(points)

    def centre(self, tile: int) -> np.ndarray:
        """The middle of a tile: shape [3]."""
        row, column = divmod(tile, self.problem.tiles_n)
        x = self.edge[0] + (1 - self.edge[0]) * (column + 0.5) / self.problem.tiles_n
        return self.at(x, self.edge[1] + (1 - self.edge[1]) * (row + 0.5) / self.problem.tiles_m)

    def _in_use(self, of: np.ndarray, count: int, begun: np.ndarray, done: np.ndarray) -> np.ndarray:
        """The colour of each row of A, or column of B: uint32 [count]."""
        colours = np.full(count, self._idle)
        colours[of[begun]] = self._dim
        colours[of[begun & ~done]] = self._operand
        return colours


def _places(pixels: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """In which of `count` places each pixel is, and how far into it: int64 and float64 [pixels]."""
    at = (np.arange(pixels) + 0.5) * count / pixels
    return at.astype(np.int64), at % 1
