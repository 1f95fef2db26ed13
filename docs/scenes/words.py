from manim import UP, FadeIn, Scene

from tilesim_scenes import Badge, Caption


class Words(Scene):
    def construct(self):
        badge = Badge("measured on an H200", kind="measured").to_edge(UP)
        self.play(FadeIn(badge))
        self.play(FadeIn(Caption("Between two tiles, an SM stops multiplying")))
