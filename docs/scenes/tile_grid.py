from manim import RIGHT, Indicate, Scene

from tilesim import Device, Problem, simulate
from tilesim_scenes import PlayTrace, TileGrid

trace = simulate("naive", Problem(384, 1536, 512), Device.named("h200", sms=4))


class Grids(Scene):
    def construct(self):
        grid = TileGrid(trace, width=12)
        self.add(grid)
        self.play(PlayTrace(grid, until=20_000, run_time=1))
        self.play(grid.animate.scale(0.7).shift(RIGHT))
        self.play(Indicate(grid.tile(7)), PlayTrace(grid, until=trace.makespan, run_time=1))
