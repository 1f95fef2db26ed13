from manim import Scene

from tilesim.ideas.thread_indexing import Launch, cells, warps
from tilesim_scenes import ElementGrid, PlayTrace
from tilesim_scenes.mobjects.models.tiles.cell_sweep import CellSweep


class Taken(Scene):
    def construct(self):
        rows, columns = (warps(one) for one in cells(Launch(grid=(2, 2), block=(16, 4))))
        sweep = CellSweep(ElementGrid(8, 32, 12, 3), rows, columns)
        self.add(sweep)
        self.play(PlayTrace(sweep, until=len(rows), run_time=2))
