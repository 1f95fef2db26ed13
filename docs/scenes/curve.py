from manim import Scene

from tilesim_scenes import Curve, PlayTrace, Plot


class RateByTiles(Scene):
    def construct(self):
        plot = Plot((0, 264), (0, 900), x_ticks=[132, 264], y_ticks=[400, 800], width=10, height=5)
        curve = Curve(plot, [(0, 0), (132, 797), (144, 449), (264, 815)])
        self.add(plot)
        self.play(PlayTrace(curve, until=264, run_time=3))
