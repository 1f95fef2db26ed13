from manim import DOWN, Group, Scene

from tilesim import Device, Problem, simulate
from tilesim_scenes import GrowFromLane, PlayTrace, RunPanel, SmLane

problem, device = Problem(384, 1536, 512), Device.named("h200", sms=4)
naive, persistent = (simulate(name, problem, device) for name in ("naive", "persistent"))


class TwoRuns(Scene):
    def construct(self):
        panels = [
            RunPanel(run, name, width=12, height=3, longest=naive.makespan, side=2)
            for run, name in ((naive, "Naive"), (persistent, "Persistent"))
        ]
        self.add(Group(*panels).arrange(DOWN))
        self.play(PlayTrace(*panels, until=20_000, run_time=2))
        close = SmLane(naive, 1, "Naive", width=12, height=1, side=2).show(20_000)
        self.play(GrowFromLane(close, panels[0].lanes.lane(1)))
