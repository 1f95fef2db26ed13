from manim import DOWN, RIGHT, UP, Group, MovingCameraScene

from tilesim import Problem
from tilesim_scenes import Chunk, Fetch, KPair, MemoryLevel, Operands, SplitIntoTiles, TileGrid, WriteBack

BLUE = (86, 180, 233)


class TwoPanels(MovingCameraScene):
    def construct(self):
        problem = Problem(384, 1536, 512)
        operands = Operands(problem, width=9, height=4).to_edge(UP)
        grid = TileGrid(problem, width=operands.c.width).move_to(operands.c)
        self.add(operands)
        self.play(SplitIntoTiles(operands.c, grid))
        self.add(operands.row_panel(8, BLUE), operands.column_panel(8, BLUE))

        levels = [MemoryLevel(name, width=2.4, height=2.2) for name in ("HBM", "L2", "shared memory")]
        Group(*levels).arrange(RIGHT).to_edge(DOWN)
        pair = KPair(BLUE).put(levels[0].get_center(), width=1.2)
        self.add(*levels, pair)
        self.play(Fetch(pair, levels[1:]))

        tile = Chunk(1.0, 0.5, BLUE).move_to(levels[-1])
        self.play(WriteBack(tile, grid.tile(8)))
