from manim import Scene

from tilesim_scenes import Count, PlayTrace


class Threads(Scene):
    def construct(self):
        threads = Count("{:.0f} threads".format, size=120, align=0.5)
        self.add(threads)
        self.play(PlayTrace(threads, until=32, run_time=2))
