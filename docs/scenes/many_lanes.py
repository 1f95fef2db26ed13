from manim import DOWN, Group, Scene

from tilesim import Device, Problem, simulate
from tilesim_scenes import Clock, Lanes, PlayTrace, TileGrid

trace = simulate("stream-k", Problem(4096, 4096, 512), Device.named("h200"))


class ManyLanes(Scene):
    def construct(self):
        lanes, grid = Lanes(trace, width=6, height=3), TileGrid(trace, height=3)
        clock = Clock(until=trace.makespan)
        self.add(Group(Group(grid, lanes).arrange(), clock).arrange(DOWN))
        self.play(PlayTrace(grid, lanes, clock, until=trace.makespan, run_time=1))
