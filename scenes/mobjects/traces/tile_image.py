"""Tiles of a large output matrix as one image."""

import numpy as np
from manim import Rectangle

from tilesim import Problem, Trace, WorkItems
from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import sm_colours, theme_now
from tilesim_scenes.mobjects.drawing.raster import Raster, packed, unpacked
from tilesim_scenes.mobjects.traces.tile_grid import TileGrid

LEAST_GAP = 6
"""Pixels of a tile's shorter side, below which tiles are not set apart."""


ITEM_HEIGHT = 0.09
"""Of a row of a list of work items, as a share of its width."""


def extent(problem: Problem | WorkItems, width: float | None, height: float | None) -> tuple[float, float]:
    """How large C is, in its true proportions, inside `width` by `height` units: at most both.

    A list of work items takes all of `width`, and rows of a height that fits a name.

    >>> extent(Problem(512, 1024, 64), width=4.0, height=None)
    (4.0, 2.0)
    >>> extent(WorkItems(["attention", "project"]), width=4.0, height=3.0)
    (4.0, 0.72)
    """
    if width is None and height is None:
        width = px(700)
    if isinstance(problem, WorkItems):
        rows = ITEM_HEIGHT * problem.tiles
        across = height / rows if width is None and height is not None else width
        return across, min(across * rows, height or across * rows)
    ratio = problem.m / problem.n
    if width is None or (height is not None and width * ratio > height):
        return height / ratio, height
    return width, width * ratio


class TileImage(TileGrid, Raster):
    """Many tiles as one image, without numbers."""

    def __init__(
        self,
        run: Trace | Problem | WorkItems,
        width: float | None = None,
        height: float | None = None,
        numbers: bool = True,
    ) -> None:
        self.trace = run if isinstance(run, Trace) else None
        self.problem = run.problem if isinstance(run, Trace) else run
        self._theme = theme_now()
        self._stills: tuple[tuple[int, int], np.ndarray, np.ndarray, np.ndarray] | None = None
        Raster.__init__(self, *extent(self.problem, width, height))

    def tile(self, number: int) -> Rectangle:
        """The outline of a tile, where it stands.

        Raises IndexError where there is none.
        """
        problem = self.problem
        if not 0 <= number < problem.tiles:
            raise IndexError(f"there is no tile {number}; the last is {problem.tiles - 1}")
        row, column = divmod(number, problem.tiles_n)
        corners = (
            self.at(column / problem.tiles_n, row / problem.tiles_m),
            self.at((column + 1) / problem.tiles_n, (row + 1) / problem.tiles_m),
        )
        size = np.abs(corners[1] - corners[0])
        outline = Rectangle(width=size[0], height=size[1], stroke_width=2)
        return outline.move_to((corners[0] + corners[1]) / 2)

    def paint(self, rows: int, columns: int) -> np.ndarray:
        hollow, filled, since = self._pixels(rows, columns)
        return unpacked(np.where(since < self.t, filled, hollow))

    def _pixels(self, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Each pixel before and after its segment reached it, as `packed` has them, and when that was, ns.

        Shapes [rows, columns]: uint32, uint32 and float64.
        """
        if self._stills is None or self._stills[0] != (rows, columns):
            problem, apart = self.problem, self._apart(rows, columns)
            down = (np.arange(rows) + 0.5) * problem.tiles_m / rows
            across = (np.arange(columns) + 0.5) * problem.tiles_n / columns
            hollow = np.full((rows, columns), packed(self._theme.idle))
            filled, since = hollow.copy(), np.full((rows, columns), np.inf)
            if self.trace is not None:
                spans = self.trace.spans
                tile = down.astype(np.int64)[:, None] * problem.tiles_n + across.astype(np.int64)
                by_k = np.lexsort((spans["k0"], spans["tile"]))
                begins = spans["tile"][by_k] + spans["k0"][by_k] / problem.k_steps
                within = across % 1
                segment = by_k[np.searchsorted(begins, tile + within, side="right") - 1]
                begin, end = (spans[name][segment] / problem.k_steps for name in ("k0", "k1"))
                start, drain = (spans[name][segment] for name in ("start", "drain"))
                since = start + (within - begin) / (end - begin) * (drain - start)
                filled = packed(sm_colours(self.trace.device.sms))[spans["sm"]][segment]
            hollow[apart] = filled[apart] = packed(self._theme.background)
            self._stills = (rows, columns), hollow, filled, since
        return self._stills[1:]

    def _apart(self, rows: int, columns: int) -> np.ndarray:
        """The pixels that part tiles, where these are large enough: bool, shape [rows, columns]."""
        apart = np.zeros((rows, columns), bool)
        problem = self.problem
        if min(rows / problem.tiles_m, columns / problem.tiles_n) >= LEAST_GAP:
            for pixels, tiles, line in ((rows, problem.tiles_m, apart), (columns, problem.tiles_n, apart.T)):
                line[np.ceil(np.arange(1, tiles) * pixels / tiles - 0.5).astype(int)] = True
        return apart
