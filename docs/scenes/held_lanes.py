from manim import Scene

from tilesim import Device, Problem, simulate
from tilesim_scenes import PlayTrace
from tilesim_scenes.mobjects.traces.held_lanes import HeldLanes

problem, device = Problem(4224, 4096, 4096), Device.named("h200", busy_sms=20)
trace = simulate("persistent", problem, device)


class Held(Scene):
    def construct(self):
        lanes = HeldLanes(trace, width=10, height=5, named=True)
        self.add(lanes)
        self.play(PlayTrace(lanes, until=trace.makespan, run_time=2))
