from manim import PI, RIGHT, Scene, VGroup

from tilesim_scenes import Warp


class TwoWarps(Scene):
    def construct(self):
        flat, upright = Warp(spacing=0.3), Warp(spacing=0.2).rotate(-PI / 2)
        self.add(VGroup(flat, upright).arrange(RIGHT, buff=1))
        self.play(*(flat.thread(n).animate.set_opacity(0.2) for n in range(1, 32, 2)))
