from manim import UP, Scene

from tilesim import Problem
from tilesim_scenes import Operands, SplitIntoTiles, TileGrid

BLUE = (86, 180, 233)
problem = Problem(384, 1536, 512)


class TwoPanels(Scene):
    def construct(self):
        operands = Operands(problem, width=12, height=6, names=False)
        grid = TileGrid(problem, width=operands.c.width).move_to(operands.c)
        self.add(operands)
        self.play(SplitIntoTiles(operands.c, grid))
        self.add(operands.row_panel(8, BLUE), operands.column_panel(8, BLUE))
        self.play(grid.tile(8).animate.shift(0.1 * UP))
