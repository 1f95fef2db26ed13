from manim import DOWN, UP, Scene

from tilesim_scenes import Buffers, KPair

BLUE = (86, 180, 233)


class ThreeStages(Scene):
    def construct(self):
        ring = Buffers(3, width=3, height=2, colour=BLUE)
        pair = KPair(BLUE).put(ring.slot(0).get_center() + 2.5 * UP, width=1.2)
        self.add(ring, pair)
        self.play(pair.animate.shift(2.5 * DOWN))
        self.play(pair.copy().animate.move_to(ring.slot(4)))  # the fifth K-step takes the second slot
