from manim import Scene

from tilesim import Device, Problem, simulate
from tilesim_scenes import Lanes, PlayTrace, TimeBracket, Zoom

trace = simulate("naive", Problem(384, 1536, 512), Device.named("h200", sms=4))
drain, start = int(trace.spans["drain"][1]), int(trace.spans["start"][5])


class Pause(Scene):
    def construct(self):
        lanes = Lanes(trace, sms=[1])
        bracket = TimeBracket(lanes, drain, start, sm=1)
        self.add(lanes)
        self.play(PlayTrace(lanes, until=drain, run_time=1))
        self.play(Zoom(lanes, window=(drain - 2000, start + 2000)))
        self.play(PlayTrace(lanes, bracket, until=start + 2000, run_time=2))
