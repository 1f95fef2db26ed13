"""TileVectors: tiles of which each is a mobject."""

from functools import lru_cache

import numpy as np
from manim import ManimColor, VGroup, VMobject

from tilesim import Problem, Trace, WorkItems
from tilesim.view import multiplied
from tilesim_scenes.look.text import advance, px
from tilesim_scenes.look.theme import ink_on, sm_colour, theme_now
from tilesim_scenes.mobjects.drawing import quads
from tilesim_scenes.mobjects.drawing.quads import figure, nothing, quad, rectangle, shape, stroke_width
from tilesim_scenes.mobjects.drawing.redrawn import Redrawn
from tilesim_scenes.mobjects.traces.tile_grid import TileGrid
from tilesim_scenes.mobjects.traces.tile_image import extent

GAP, EDGE, MOST_GAP = 0.06, 6.0, 8.0
"""Between tiles: share of a tile's shorter side; pixels of an edge; and at most so many between tiles."""
LEAST_NUMBER = 16
"""Pixels of a number that is written."""
LONGEST_ITEM = 18
"""Characters of a work item's name that are written."""


class Tile(VGroup):
    """A tile: its ground, a fill for each segment, its edge and its number on the ground and on the fill."""


class TileVectors(TileGrid, Redrawn):
    """A few tiles, each a mobject of this group."""

    def __init__(
        self,
        run: Trace | Problem | WorkItems,
        width: float | None = None,
        height: float | None = None,
        numbers: bool = True,
    ) -> None:
        Redrawn.__init__(self)
        self.trace = run if isinstance(run, Trace) else None
        self.problem = problem = run.problem if isinstance(run, Trace) else run
        wide, high = extent(problem, width, height)
        cell = wide / problem.tiles_n, high / problem.tiles_m
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
            x, y = (column + 0.5) * cell[0] - wide / 2, high / 2 - (row + 0.5) * cell[1]
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
            edge = VMobject(stroke_color=ManimColor(theme_now().write), stroke_width=stroke_width(EDGE))
            self._edges.append(edge)
            tile.add(edge)

    def tile(self, number: int) -> Tile:
        """A tile, whatever it shows.

        Raises IndexError where there is none.
        """
        if not 0 <= number < self.problem.tiles:
            raise IndexError(f"there is no tile {number}; the last is {self.problem.tiles - 1}")
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
        size = number_size(self.problem, *quads.extent(ground))
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
