"""Operands: A, B and C of a product in their true proportions, and what of them a tile needs."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from manim import LEFT, UP, VGroup, VMobject

from tilesim import Problem
from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import AnyColour, mixed, theme_now
from tilesim_scenes.mobjects.drawing.quads import edged, levels, quad, rectangle, strokes, uprights

HATCH, LINE = 14.0, 2.0
"""Pixels: between the lines of a hatch, and of one."""
GROUND, LINES = 0.16, 0.45
"""Shares of the operands' colour in a matrix, and of its opacity in its hatch."""


class Operands(VGroup):
    """A at the left of C, B above it: `a`, `b` and `c`, A hatched along its rows and B along its columns.

    `width`, `height`: units that all three may take at most, `gap` between them, `names` whether they have
    letters.
    """

    def __init__(
        self,
        problem: Problem,
        width: float | None = None,
        height: float | None = None,
        gap: float | None = None,
        names: bool = True,
    ) -> None:
        super().__init__()
        self.problem = problem
        # Where the parts of a side begin and end, as shares of it; the last may be cut.
        self._m, self._n, self._k = (
            np.minimum(np.arange(-(-size // step) + 1) * step, size) / size
            for size, step in zip((problem.m, problem.n, problem.k), problem.tile, strict=True)
        )
        gap = px(30) if gap is None else gap
        rooms = (width or px(1700), problem.k + problem.n), (height or px(760), problem.k + problem.m)
        scale = min((room - gap) / size for room, size in rooms)
        m, n, k = (size * scale for size in (problem.m, problem.n, problem.k))
        theme = theme_now()
        dim = mixed(theme.background, theme.operand, GROUND)
        self.c = rectangle(n, m, theme.idle)
        self.a = rectangle(k, m, dim).next_to(self.c, LEFT, gap)
        self.b = rectangle(n, k, dim).next_to(self.c, UP, gap)
        rows, columns = strokes(theme.operand, LINE, LINES), strokes(theme.operand, LINE, LINES)
        rows.points = _hatch(self.a, upright=False)
        columns.points = _hatch(self.b, upright=True)
        self.hatches = VGroup(rows, columns)
        self.add(self.c, self.a, self.b, self.hatches)
        self.names = VGroup()
        if names:
            for name, matrix in (("A", self.a), ("B", self.b), ("C", self.c)):
                size = min(90, 0.5 * min(matrix.width, matrix.height) / px(1))
                self.names.add(label(name, size, bold=True).move_to(matrix))
            self.add(self.names)
        self.move_to(np.zeros(3))

    def tile(self, number: int, colour: AnyColour) -> VMobject:
        """A tile of C, filled with a colour."""
        row, column = divmod(number, self.problem.tiles_n)
        return self._part(self.c, self._n[column : column + 2], self._m[row : row + 2], colour)

    def row_panel(self, number: int, colour: AnyColour) -> VGroup:
        """The K-chunks of A that a tile needs, from left to right."""
        row = number // self.problem.tiles_n
        down = self._m[row : row + 2]
        return VGroup(*(self._part(self.a, across, down, colour, False) for across in pairwise(self._k)))

    def column_panel(self, number: int, colour: AnyColour) -> VGroup:
        """The K-chunks of B that a tile needs, from top to bottom."""
        column = number % self.problem.tiles_n
        across = self._n[column : column + 2]
        return VGroup(*(self._part(self.b, across, down, colour, True) for down in pairwise(self._k)))

    def _part(
        self,
        matrix: VMobject,
        across: Sequence[float],
        down: Sequence[float],
        colour: AnyColour,
        upright: bool | None = None,
    ) -> VMobject:
        """A part of a matrix, hatched where it is of an operand; shares are from its left and its top."""
        theme = theme_now()
        fill = colour if upright is None else mixed(theme.background, colour, 0.3)
        part = rectangle(1, 1, fill)
        part.points = quad(matrix, across[0], across[1], 1 - down[1], 1 - down[0])
        edged(part, colour, 2.5)
        if upright is not None:
            hatch = strokes(colour, LINE)
            hatch.points = _hatch(part, upright)
            part.add(hatch)
        return part


def _hatch(ground: VMobject, upright: bool) -> np.ndarray:
    """Lines through a rectangle: along its columns, or its rows."""
    length = ground.width if upright else ground.height
    count = max(2, round(length / px(HATCH)))
    at = np.arange(1, count) / count
    return uprights(ground, at) if upright else levels(ground, at)
