from manim import Scene

from tilesim import Device, Problem, simulate
from tilesim_scenes import Lanes
from tilesim_scenes.animations.unroll import Thin

few = simulate("naive", Problem(384, 1536, 512), Device.named("h200", sms=4))
many = simulate("naive", Problem(4096, 4096, 512), Device.named("h200"))


class FourBecomeMany(Scene):
    def construct(self):
        lanes = Lanes(few, width=10).show(few.makespan)
        self.add(lanes.center())
        self.play(Thin(lanes, Lanes(many, width=12, height=6).show(many.makespan)))
