"""TileGrid: the output matrix, tile by tile, each in the colour of the SM that computes it."""

from functools import lru_cache
from typing import Self

import numpy as np
from manim import Mobject, VGroup, VMobject

from tilesim import Problem, Trace, WorkItems
from tilesim.view import multiplied
from tilesim_scenes.look.text import advance, px
from tilesim_scenes.look.theme import ink_on, sm_colour, sm_colours, theme_now
from tilesim_scenes.mobjects.drawing.quads import extent, figure, nothing, quad, rectangle, shape, strokes
from tilesim_scenes.mobjects.drawing.raster import Raster, packed, unpacked
from tilesim_scenes.mobjects.drawing.redrawn import Redrawn, one_of

MOST_TILES = 500
"""Up to which tiles are vectors; beyond they are an image."""
LEAST_GAP = 6
"""Pixels of a tile's shorter side, below which tiles are not set apart."""
ITEM_HEIGHT = 0.09
"""Of a row of a list of work items, as a share of its width."""
GAP, EDGE, MOST_GAP = 0.06, 6.0, 8.0
"""Between tiles: share of a tile's shorter side; pixels of an edge; and at most so many between tiles."""
LEAST_NUMBER = 16
"""Pixels of a number that is written."""
LONGEST_ITEM = 18
"""Characters of a work item's name that are written."""


class TileGrid(Mobject):
    """The tiles of C, or a list of work items: vectors where they are few, and one image where they are many.

    They are hollow at first, filled from the left by K-steps, and edged in white while written. `run`: a
    trace, or a problem whose tiles stay hollow. `width`, `height`: units that it may take at most, in the
    true proportions of C. `numbers`: of tiles, where there is room. A tile in several segments is filled by
    each, in its SM's colour, from its first K-step on.

    A subclass of it is as well one of TileVectors or TileImage, whichever its tiles need.
    """

    t: float

    def __init__(
        self,
        run: Trace | Problem | WorkItems,
        width: float | None = None,
        height: float | None = None,
        numbers: bool = True,
    ) -> None:
        self.trace = run if isinstance(run, Trace) else None
        self.problem = run.problem if isinstance(run, Trace) else run
        if not isinstance(self, TileVectors | TileImage):
            few = self.problem.tiles <= MOST_TILES
            self.__class__ = one_of(type(self), TileVectors if few else TileImage)
        self._build(*extent_of(self.problem, width, height), numbers)

    def show(self, t: float) -> Self:
        """Look as at `t`, ns of the trace."""
        return super().show(t)

    def tile(self, number: int) -> VMobject:
        """A tile, whatever it shows; in an image, its outline.

        Raises IndexError where there is none.
        """
        if not 0 <= number < self.problem.tiles:
            raise IndexError(f"there is no tile {number}; the last is {self.problem.tiles - 1}")
        return self._tile(number)


def extent_of(problem: Problem | WorkItems, width: float | None, height: float | None) -> tuple[float, float]:
    """How large C is, in its true proportions, inside `width` by `height` units: at most both.

    A list of work items takes all of `width`, and rows of a height that fits a name.

    >>> extent_of(Problem(512, 1024, 64), width=4.0, height=None)
    (4.0, 2.0)
    >>> extent_of(WorkItems(["attention", "project"]), width=4.0, height=3.0)
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

    def _build(self, width: float, height: float, numbers: bool) -> None:
        self._theme = theme_now()
        self._stills: tuple[tuple[int, int], np.ndarray, np.ndarray, np.ndarray] | None = None
        Raster.__init__(self, width, height)

    def _tile(self, number: int) -> VMobject:
        problem = self.problem
        row, column = divmod(number, problem.tiles_n)
        ways = (column, problem.tiles_n), (row, problem.tiles_m)
        return self.outline(*((place / count, (place + 1) / count) for place, count in ways))

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


class Tile(VGroup):
    """A tile: its ground, a fill for each segment, its edge and its number on the ground and on the fill."""


class TileVectors(TileGrid, Redrawn):
    """A few tiles, each a mobject of this group."""

    def _build(self, width: float, height: float, numbers: bool) -> None:
        Redrawn.__init__(self)
        problem = self.problem
        cell = width / problem.tiles_n, height / problem.tiles_m
        gap = min(GAP * min(cell), px(MOST_GAP))
        theme = theme_now()
        self._numbered = numbers and number_size(problem, *cell) >= px(LEAST_NUMBER)
        self._numbers: list[tuple[VMobject, VMobject]] = []
        self._fills: list[VMobject] = []
        self._stood: tuple[bytes, bytes] | None = None
        self._tiles: list[Tile] = []
        for tile in range(problem.tiles):
            row, column = divmod(tile, problem.tiles_n)
            ground = rectangle(cell[0] - gap, cell[1] - gap, theme.idle)
            x, y = (column + 0.5) * cell[0] - width / 2, height / 2 - (row + 0.5) * cell[1]
            self._tiles.append(Tile(ground.move_to([x, y, 0])))
        self.add(*self._tiles)
        self.stand_on(self._tiles[0][0])
        self._inks = [theme.text] * problem.tiles
        if self.trace is not None:
            self._dress(self.trace)
        for tile, ink in zip(self._tiles, self._inks, strict=True) if self._numbered else ():
            numbers_of_tile = shape(theme.text), shape(ink)
            self._numbers.append(numbers_of_tile)
            tile.add(*numbers_of_tile)
        self.show(0.0 if self.trace is None else -1.0)

    def _dress(self, trace: Trace) -> None:
        """Give each segment a fill and an edge, above its tile's ground."""
        spans = trace.spans
        for row in range(len(spans)):
            colour = sm_colour(int(spans["sm"][row]), trace.device.sms)
            fill = shape(colour)
            self._fills.append(fill)
            self._tiles[int(spans["tile"][row])].add(fill)
        self._edges = []
        self._along = tuple(spans[edge] / self.problem.k_steps for edge in ("k0", "k1"))
        middle = _middles(trace)
        self._inks = [ink_on(sm_colour(int(sm), trace.device.sms)) for sm in spans["sm"][middle]]
        self._turns = _turns(trace, middle)
        for tile in self._tiles:
            edge = strokes(theme_now().write, EDGE)
            self._edges.append(edge)
            tile.add(edge)

    def _tile(self, number: int) -> Tile:
        return self._tiles[number]

    def draw(self, was: float) -> None:
        """Draw `t`; only what looks different than at `was` where the tiles stand as they did."""
        t = self.t
        now = self._tiles[0][0].points.tobytes(), self._tiles[-1][0].points.tobytes()
        moved, self._stood = now != self._stood, now
        if self.trace is None:
            for tile in range(self.problem.tiles) if moved else ():
                self._write(tile, False)
            return
        spans = self.trace.spans
        before, share = (multiplied(spans["start"], spans["drain"], instant) for instant in (was, t))
        begin, end = self._along
        filled = begin + share * (end - begin)
        for row in range(len(spans)) if moved else np.flatnonzero(share != before).tolist():
            ground = self._tiles[int(spans["tile"][row])][0]
            points = quad(ground, begin[row], filled[row]) if share[row] > 0 else nothing(ground)
            self._fills[row].points = points
        turned = ((self._turns <= was) != (self._turns <= t)).any(axis=0)
        for tile in range(self.problem.tiles) if moved else np.flatnonzero(turned).tolist():
            self._finish(tile, t)

    def forget(self) -> None:
        self._stood = None

    def _finish(self, tile: int, t: float) -> None:
        """The edge and the number of a tile."""
        inked, written, done = (self._turns[:, tile] <= t).tolist()
        ground = self._tiles[tile][0]
        self._edges[tile].points = quad(ground, 0, 1) if written and not done else nothing(ground)
        self._write(tile, inked)

    def _write(self, tile: int, on_fill: bool) -> None:
        """The number of a tile: in the theme's ink, or in one that stands out from its fill."""
        if not self._numbered:
            return
        hollow, filled = self._numbers[tile]
        ground = self._tiles[tile][0]
        size = number_size(self.problem, *extent(ground))
        points = figure(ground, called(self.problem, tile), size)
        hollow.points = nothing(ground) if on_fill else points
        filled.points = points if on_fill else nothing(ground)


def number_size(problem: Problem | WorkItems, width: float, height: float) -> float:
    """The em of a tile's number in a tile of that size: the same for all tiles of a problem."""
    if isinstance(problem, WorkItems):
        return min(0.6 * height, 0.9 * width / _longest(problem))
    return min(0.45 * height, 0.7 * width / advance("0" * len(str(problem.tiles - 1))))


@lru_cache(maxsize=16)
def _longest(problem: Problem | WorkItems) -> float:
    """How far the longest name of a work item advances, in ems."""
    return max(advance(called(problem, tile)) for tile in range(problem.tiles))


def called(problem: Problem | WorkItems, tile: int) -> str:
    """What is written into a tile: its number, or a work item's name, cut where it is long.

    >>> called(Problem(128, 512, 64), 1), called(WorkItems(["x", "a megakernel's last task"]), 1)
    ('1', "a megakernel's la…")
    """
    name = problem.called(tile)
    return name if len(name) <= LONGEST_ITEM else f"{name[: LONGEST_ITEM - 1].rstrip()}…"


def _middles(trace: Trace) -> np.ndarray:
    """The segment in the middle of each tile, where its number stands: shape [tiles]."""
    spans = trace.spans
    aside = np.abs(spans["k0"] + spans["k1"] - trace.problem.k_steps)
    nearest = np.lexsort((aside, spans["tile"]))
    return nearest[np.unique(spans["tile"][nearest], return_index=True)[1]]


def _turns(trace: Trace, middle: np.ndarray) -> np.ndarray:
    """When, ns, each tile's number comes to stand on its fill, its write begins, and ends: [3, tiles]."""
    spans = trace.spans
    start, drain = (spans[name][middle] for name in ("start", "drain"))
    turns = np.zeros((3, trace.problem.tiles))
    turns[0] = start + 0.6 * (drain - start)
    for turn, name in zip(turns[1:], ("fixup", "done"), strict=True):
        np.maximum.at(turn, spans["tile"], spans[name])
    return turns
