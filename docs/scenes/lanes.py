from manim import DOWN, Scene, Text, Write

from tilesim import Device, Problem, simulate
from tilesim_scenes import Lanes, PlayTrace

trace = simulate("persistent", Problem(384, 1536, 512), Device.named("h200", sms=4))


class FourLanes(Scene):
    def construct(self):
        lanes = Lanes(trace)
        self.add(lanes)
        self.play(PlayTrace(lanes, until=12_000, run_time=1))
        name = Text("written under the next tile").scale(0.6).next_to(lanes, DOWN)
        self.play(Write(name), lanes.span(tile=0, part="write").animate.set_color("RED"))
