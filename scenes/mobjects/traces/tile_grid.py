"""TileGrid: the output matrix, tile by tile, each in the colour of the SM that computes it."""

from typing import Any, Self

from manim import Mobject, VMobject

from tilesim import Problem, Trace, WorkItems
from tilesim_scenes.mobjects.drawing.kinds import one_of

MOST_TILES = 500
"""Up to which tiles are vectors; beyond they are an image."""


class TileGrid(Mobject):
    """The tiles of C, or a list of work items: vectors where they are few, and one image where they are many.

    They are hollow at first, filled from the left by K-steps, and edged in white while written. `run`: a
    trace, or a problem whose tiles stay hollow. `width`, `height`: units that it may take at most, in the
    true proportions of C. `numbers`: of tiles, where there is room. A tile in several segments is filled by
    each, in its SM's colour, from its first K-step on.

        grid = TileGrid(trace, height=4)
        self.play(PlayTrace(grid, until=12_000), Indicate(grid.tile(7)))

    A subclass of it is as well one of TileVectors or TileImage, whichever its tiles need.
    """

    trace: Trace | None
    problem: Problem | WorkItems
    t: float

    def __init__(
        self,
        run: Trace | Problem | WorkItems,
        width: float | None = None,
        height: float | None = None,
        numbers: bool = True,
    ) -> None:
        # Both are tiles, so neither can be read before this class is.
        from tilesim_scenes.mobjects.traces.tile_image import TileImage
        from tilesim_scenes.mobjects.traces.tile_vectors import TileVectors

        problem = run if isinstance(run, Problem) else run.problem
        kind: Any = TileVectors if problem.tiles <= MOST_TILES else TileImage
        self.__class__ = one_of(type(self), kind)
        kind.__init__(self, run, width, height, numbers)

    def show(self, t: float) -> Self:
        """Look as at `t`, ns of the trace."""
        return super().show(t)

    def tile(self, number: int) -> VMobject:
        """A tile, whatever it shows; in an image, its outline.

        Raises IndexError where there is none.
        """
        raise NotImplementedError
