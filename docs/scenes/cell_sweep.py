from manim import Scene

from tilesim.ideas.thread_indexing import Launch, cells, warps
from tilesim_scenes import CellSweep, ElementGrid, Run


class Taken(Scene):
    def construct(self):
        rows, columns = (warps(one) for one in cells(Launch(grid=(2, 2), block=(16, 4))))
        sweep = CellSweep(ElementGrid(8, 32, 12, 3), rows, columns)
        self.add(sweep)
        self.play(Run(sweep, until=len(rows), run_time=2))
