from manim import RIGHT, FadeIn, Scene, VGroup

from tilesim_scenes import Barrier, CloseBarrier, OpenBarrier


class Crossing(Scene):
    def construct(self):
        empty, full = Barrier(2, opened=1), Barrier(2)
        self.play(FadeIn(VGroup(empty, full).arrange(RIGHT, buff=1)))
        self.play(OpenBarrier(full), CloseBarrier(empty))
