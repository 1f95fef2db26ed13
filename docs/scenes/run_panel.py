from manim import DOWN, Group, Scene

from tilesim import Device, Problem, simulate
from tilesim_scenes import PlayTrace, RunPanel

problem, device = Problem(384, 1536, 512), Device.named("h200", sms=4)
naive, persistent = (simulate(name, problem, device) for name in ("naive", "persistent"))


class TwoRuns(Scene):
    def construct(self):
        size = {"width": 13, "height": 3.4, "longest": naive.makespan, "side": 2.4}
        panels = RunPanel(naive, "Naive", **size), RunPanel(persistent, "Persistent", **size)
        self.add(Group(*panels).arrange(DOWN))
        self.play(PlayTrace(*panels, until=naive.makespan, run_time=2))
