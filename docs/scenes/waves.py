from manim import DOWN, UP, Scene

from tilesim_scenes import Curve, PlayTrace, Plot
from tilesim_scenes.mobjects.models.tiles.wave_grid import WaveGrid


class Waves(Scene):
    def construct(self):
        grid = WaveGrid(tiles=264, rows=12, sms=132, width=10).shift(2 * UP)
        plot = Plot((0, 264), (0, 900), [132, 264], [400, 800], width=10, height=3).shift(1.5 * DOWN)
        curve = Curve(plot, [(0, 0), (132, 797), (144, 449), (264, 815)])
        self.add(plot)
        self.play(PlayTrace(grid, curve, until=264, run_time=3))
