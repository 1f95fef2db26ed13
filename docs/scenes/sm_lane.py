from manim import DOWN, FadeOut, Scene

from tilesim import Device, Problem, simulate
from tilesim_scenes import GrowFromLane, Lanes, SmLane

trace = simulate("naive", Problem(384, 1536, 512), Device.named("h200", sms=4))


class CloseUp(Scene):
    def construct(self):
        lanes = Lanes(trace, width=11).show(trace.makespan)
        close = SmLane(trace, 1, "Naive", width=12, height=1.5, window=(0, 20_000)).show(20_000)
        self.add(lanes)
        self.play(GrowFromLane(close, lanes.lane(1)), FadeOut(lanes, shift=DOWN))
        self.add(close.names_of(5000, 18_000))
