from manim import LEFT, PI, RIGHT, Scene

from tilesim.ideas.coalescing import strided
from tilesim_scenes import ElementGrid, MemoryLines, PlayTrace, Warp
from tilesim_scenes.mobjects.models.warps.warp_load import WarpLoad


class DownAColumn(Scene):
    def construct(self):
        matrix = ElementGrid(rows=32, columns=32, width=5, height=5).shift(3 * LEFT)
        memory = MemoryLines(range(32), width=4, height=0.1, gap=0.06).shift(3 * RIGHT)
        warp = Warp(spacing=5 / 32).rotate(-PI / 2).next_to(matrix, LEFT)
        load = WarpLoad(matrix, memory, strided(128), width=4, element=4, pitch=128)
        self.add(matrix, memory, warp, load)
        self.play(PlayTrace(load, until=32, run_time=3))
