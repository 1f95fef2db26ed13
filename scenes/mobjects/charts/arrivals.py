"""Arrivals: bars that grow side by side at one rate; each stops at its value, and says it."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from manim import LEFT, RIGHT, VGroup

from tilesim_scenes.look.text import Figure, px
from tilesim_scenes.look.theme import Colour, mixed, theme_now
from tilesim_scenes.mobjects.drawing.quads import EMPTY, HALF_DIGIT, quad, rectangle, shape

BODY, END, THICK = 0.45, 8.0, 70
"""Share of its colour in a bar, whose end has all of it; pixels of that end, and of its height at most."""


class Arrivals(VGroup):
    """A bar for each of `values`, one below the other, `apart` units from one to the next. `show(t)`: at `t`.

    `figures`: what is written at the end of each bar that has arrived. `width`: units of the longest bar, and
    of the longest figure beyond it.

        bars = Arrivals([23, 283, 686], ["23 cycles", "283 cycles", "686 cycles"], width=8, apart=1.2)
        self.play(PlayTrace(bars, until=686, run_time=3))
    """

    def __init__(
        self,
        values: Sequence[float],
        figures: Sequence[str],
        width: float,
        apart: float,
        colour: Colour | None = None,
        size: float = 48,
    ) -> None:
        theme = theme_now()
        ink = colour or theme.operand
        self.values, self.t = values, 0.0
        self.written = [Figure(text, size) for text in figures]
        longest, gap = max(values), px(0.5 * size)
        room = width - max(figure.width for figure in self.written) - gap
        self._edges: list[float] = []
        self.grounds, self.bodies, self.ends = VGroup(), VGroup(), VGroup()
        for number, (value, figure) in enumerate(zip(values, self.written, strict=True)):
            ground = rectangle(max(room * value / longest, px(1)), min(px(THICK), 0.36 * apart))
            ground.move_to([0, -number * apart, 0], LEFT)
            self.grounds.add(ground)
            self._edges.append(min(1.0, px(END) / ground.width))
            self.bodies.add(shape(mixed(theme.background, ink, BODY)))
            self.ends.add(shape(ink))
            figure.shift(ground.get_right() + gap * RIGHT - [0, HALF_DIGIT * px(size), 0])
        self.figures = VGroup(*self.written)
        super().__init__(self.grounds, self.bodies, self.ends, self.figures)
        self.show(0.0)

    def show(self, t: float) -> Self:
        """Look as when all have come as far as `t`, or to their values."""
        self.t = t
        for value, edge, ground, body, end, figure in zip(
            self.values, self._edges, self.grounds, self.bodies, self.ends, self.figures, strict=True
        ):
            share = float(np.clip(t / value, 0, 1)) if value else 0.0
            body.points = quad(ground, 0, share) if share else EMPTY
            end.points = quad(ground, (1 - edge) * share, share) if share else EMPTY
            figure.set_fill(opacity=float(t >= value))
        return self
