"""LagStrip: by how much one run is behind another, drawn as the clock passes, with the figure of now."""

from typing import Self

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Line, ManimColor, VGroup, VMobject

from tilesim_scenes.look.text import Figure, label, px
from tilesim_scenes.look.theme import theme_now
from tilesim_scenes.mobjects.drawing.quads import EMPTY, axes_of, rectangle, stroke_width

MOST_POINTS = 400
"""Of the curve, which is a few pixels to each."""


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
        self.times, self.lags, self.longest, self.t = times, lags, longest, 0.0
        self.most = max(1.0, float(np.abs(lags).max()))
        self.ground = rectangle(width, height, theme.panel)
        left, right = self.ground.get_left(), self.ground.get_right()
        self.zero = Line(left, right, stroke_color=ManimColor(theme.quiet), stroke_width=stroke_width(3))
        self.curve = VMobject(stroke_color=ManimColor(theme.text), stroke_width=stroke_width(6))
        self.figure, self.title = Figure(size=size, align=1.0), label(name, 0.8 * size, theme.quiet)
        self.add(self.ground, self.zero, self.curve, self.figure, self.title)
        if above:
            self.figure.shift(self.ground.get_corner(UP + RIGHT) + px(24) * UP)
            self.title.next_to(self.ground.get_corner(UP + LEFT), UP + RIGHT, px(20)).align_to(left, LEFT)
        else:
            self.figure.shift(self.ground.get_corner(DOWN + LEFT) + px(30) * LEFT + px(10) * UP)
            self.title.next_to(self.ground.get_corner(UP + LEFT), DOWN + LEFT, 0).shift(px(30) * LEFT)
        self.show(0.0)

    def show(self, t: float) -> Self:
        """Look as at `t`, ns since the first multiply."""
        self.t = t
        reached = min(max(t, 0.0), float(self.times[-1]))
        now = float(np.interp(reached, self.times, self.lags))
        self.figure.write(f"{now / 1000:+.2f} µs".replace("-", "−"))
        if reached <= 0:
            self.curve.points = EMPTY
            return self
        at = np.linspace(0.0, float(self.times[-1]), MOST_POINTS)
        at = np.append(at[at < reached], reached)
        origin, right, up = axes_of(self.ground)
        high = 0.5 + 0.45 * np.interp(at, self.times, self.lags) / self.most
        self.curve.set_points_as_corners(origin + (at / self.longest)[:, None] * right + high[:, None] * up)
        return self
