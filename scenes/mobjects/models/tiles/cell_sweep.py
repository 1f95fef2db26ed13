"""CellSweep: the cells of a matrix that have been taken, step by step."""

from itertools import pairwise
from typing import Self

import numpy as np
from manim import VGroup

from tilesim_scenes.look.theme import mixed, theme_now
from tilesim_scenes.mobjects.drawing.quads import EMPTY, quad, shape
from tilesim_scenes.mobjects.hardware.element_grid import ElementGrid

TAKEN = 0.5
"""Share of the hue in cells that were taken before; those of the last step have all of it."""


class CellSweep(VGroup):
    """Cells of `grid`, of which step s takes those at `rows[s]`, `columns[s]`: int64 [steps, cells a step].

    In a unit of its time `t` there are `pace` steps. `values`, int64 [rows, columns]: what the cells hold, of
    which `sum` is the sum over those that were taken.

        sweep = CellSweep(ElementGrid(4, 8, 4, 2), rows=np.arange(4)[:, None], columns=np.zeros((4, 1), int))
        self.play(PlayTrace(sweep, until=4, run_time=2))
    """

    def __init__(
        self,
        grid: ElementGrid,
        rows: np.ndarray,
        columns: np.ndarray,
        values: np.ndarray | None = None,
        pace: float = 1.0,
    ) -> None:
        self.grid, self.rows, self.columns, self.pace, self.t = grid, rows, columns, pace, 0.0
        self.values = np.ones((grid.rows, grid.columns), int) if values is None else values
        self.before = shape(mixed(theme_now().idle, grid.colour, TAKEN))
        self.last = shape(grid.colour)
        super().__init__(grid, self.before, self.last)

    @property
    def steps(self) -> int:
        """Those that have been, of all."""
        return int(min(max(self.t * self.pace, 0), len(self.rows)))

    @property
    def sum(self) -> int:
        """Of the values of cells that were taken."""
        return int(self.values[self.rows[: self.steps], self.columns[: self.steps]].sum())

    def show(self, t: float) -> Self:
        """Look as at `t`."""
        self.t = t
        steps = self.steps
        done = steps == len(self.rows)
        self.before.points = self._drawn(slice(0, steps))
        self.last.points = EMPTY if done or not steps else self._drawn(slice(steps - 1, steps))
        return self

    def _drawn(self, steps: slice) -> np.ndarray:
        """The cells of some steps, in as few rectangles as rows that are alike allow."""
        taken = np.zeros((self.grid.rows, self.grid.columns + 2), bool)
        taken[self.rows[steps], self.columns[steps] + 1] = True
        high, wide, drawn, row = self.grid.rows, self.grid.columns, [], 0
        while row < high:
            end = row + 1
            while end < high and (taken[end] == taken[row]).all():
                end += 1
            edges = np.flatnonzero(taken[row, 1:] != taken[row, :-1]).tolist()
            for left, right in list(pairwise(edges))[::2]:
                drawn.append(
                    quad(self.grid.ground, left / wide, right / wide, 1 - end / high, 1 - row / high)
                )
            row = end
        return np.concatenate(drawn) if drawn else EMPTY
