from manim import Scene

from tilesim import Device, Problem, simulate
from tilesim_scenes import Bars, Lanes
from tilesim_scenes.animations.tip import Tip

trace = simulate("naive", Problem(4096, 4096, 512), Device.named("h200"))


class LanesBecomeABar(Scene):
    def construct(self):
        lanes = Lanes(trace, width=12, height=5).show(trace.makespan)
        bars = Bars([("Naive", trace.makespan / 1000, "simulated")], unit="µs", width=12)
        bars.reach(0, 0.0)
        self.add(lanes)
        self.play(Tip(lanes, bars.grounds[0]))
        self.add(bars)
