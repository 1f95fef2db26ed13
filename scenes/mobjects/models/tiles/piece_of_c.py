"""PieceOfC: a piece of a product's C that grows from one element, and what of A and B it reads."""

from typing import Self

from manim import VGroup

from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import Colour
from tilesim_scenes.mobjects.drawing.quads import quad, shape
from tilesim_scenes.mobjects.hardware.operands import Operands

LEAST = 7.0
"""Pixels of an element, which would be too small to be seen to scale."""


class PieceOfC(VGroup):
    """At `show(t)`, t from 0 to 1: from one element to a tile of `operands`' problem, evenly.

    `size(t)` is (rows, columns). Its upper left corner is that of the tile in a row and column of tiles.
    """

    def __init__(self, operands: Operands, row: int, column: int, colour: Colour) -> None:
        self.operands, self.t = operands, 0.0
        problem = operands.problem
        self._top, self._left = row * problem.tile_m, column * problem.tile_n
        self.piece, self.rows, self.columns = shape(colour), shape(colour, 0.55), shape(colour, 0.55)
        super().__init__(self.rows, self.columns, self.piece)
        self.show(0.0)

    def size(self, t: float) -> tuple[float, float]:
        """(rows, columns) at t."""
        problem = self.operands.problem
        return 1 + t * (problem.tile_m - 1), 1 + t * (problem.tile_n - 1)

    def show(self, t: float) -> Self:
        """Look as at t."""
        self.t = t
        operands, problem = self.operands, self.operands.problem
        unit = operands.c.width / problem.n
        least = px(LEAST) / unit
        high, wide = (max(least, side) for side in self.size(t))
        x0, x1 = self._left / problem.n, (self._left + wide) / problem.n
        y0, y1 = 1 - (self._top + high) / problem.m, 1 - self._top / problem.m
        self.piece.points = quad(operands.c, x0, x1, y0, y1)
        self.rows.points = quad(operands.a, 0, 1, y0, y1)
        self.columns.points = quad(operands.b, x0, x1, 0, 1)
        return self
