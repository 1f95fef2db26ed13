"""LagStrip: by how much one run is behind another, drawn as the clock passes, with the figure of now."""

from typing import Self

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, ManimColor, VGroup

from tilesim_scenes.look.text import Figure, label, px
from tilesim_scenes.look.theme import theme_now
from tilesim_scenes.mobjects.charts.plot import Curve, Plot, line


class LagStrip(VGroup):
    """`lags`, ns, at `times`, ns, over `longest` ns; linear between two times. Above the middle is behind.

    `width`, `height`: units of the strip. `name`: what the figure is, in µs; both stand to its left, or
    `above` it.

        strip = LagStrip(*time_lag(simulated, measured), measured.makespan, width=10, height=1)
        self.add(strip)
        self.play(PlayTrace(strip, until=measured.makespan))
    """

    def __init__(
        self,
        times: np.ndarray,
        lags: np.ndarray,
        longest: float,
        width: float,
        height: float,
        name: str = "",
        above: bool = False,
        size: float = 54,
    ) -> None:
        super().__init__()
        theme = theme_now()
        self.times, self.lags, self.t = times, lags, 0.0
        most = max(1.0, float(np.abs(lags).max())) / 0.9
        self.plot = Plot((0.0, longest), (-most, most), width=width, height=height)
        self.ground = self.plot.ground.set_fill(ManimColor(theme.panel), 1.0)
        self.zero = line(self.plot, np.array([[0.0, 0.0], [longest, 0.0]]), theme.quiet)
        self.curve = Curve(self.plot, np.stack([times, lags], axis=1))
        self.figure, self.title = Figure(size=size, align=1.0), label(name, 0.8 * size, theme.quiet)
        self.add(self.plot, self.zero, self.curve, self.figure, self.title)
        left, right = self.ground.get_left(), self.ground.get_corner(UP + RIGHT)
        if above:
            self.figure.shift(right + px(24) * UP)
            self.title.next_to(self.ground.get_corner(UP + LEFT), UP + RIGHT, px(20)).align_to(left, LEFT)
        else:
            self.figure.shift(self.ground.get_corner(DOWN + LEFT) + px(30) * LEFT + px(10) * UP)
            self.title.next_to(self.ground.get_corner(UP + LEFT), DOWN + LEFT, 0).shift(px(30) * LEFT)
        self.show(0.0)

    def show(self, t: float) -> Self:
        """Look as at `t`, ns since the first multiply."""
        self.t = t
        self.curve.show(t)
        now = float(np.interp(t, self.times, self.lags))
        self.figure.write(f"{now / 1000:+.2f} µs".replace("-", "−"))
        return self
