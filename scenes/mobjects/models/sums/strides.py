"""Strides: one wave of thread blocks goes over an input in turns, to scale."""

from typing import Self

from manim import VGroup

from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import mixed, sm_colours, theme_now
from tilesim_scenes.mobjects.drawing.quads import EMPTY, quad, rectangle, shape

HUES, READ = 24, 0.3
"""Pieces in which the wave's blocks are shown, and the share of their hue that what they have read keeps."""


class Strides(VGroup):
    """An input of `waves` full waves, of which `t` of `turns` have been read; the last may be a part of one.

    A wave is a row, from left to right block by block. `width` by `height` units.

        strides = Strides(turns=125, waves=124.1)
        self.add(strides)
        self.play(PlayTrace(strides, until=125, run_time=3))
    """

    def __init__(
        self, turns: int, waves: float, width: float | None = None, height: float | None = None
    ) -> None:
        theme = theme_now()
        self.turns, self.waves, self.t = turns, waves, 0.0
        self.ground = rectangle(width or px(1600), height or px(500), theme.idle)
        hues = [(int(red), int(green), int(blue)) for red, green, blue in sm_colours(HUES)]
        self.read = VGroup(*(shape(mixed(theme.idle, hue, READ)) for hue in hues))
        self.reading = VGroup(*(shape(hue) for hue in hues))
        super().__init__(self.ground, self.read, self.reading)
        self.show(0)

    def show(self, t: float) -> Self:
        """Look as after `t` turns; a row is lit while its values are read."""
        self.t = t
        thick = max(1.0, self.turns / 60)
        for number, (read, reading) in enumerate(zip(self.read, self.reading, strict=True)):
            left, right = number / HUES, (number + 1) / HUES
            # The last turn may be too short for these blocks.
            rows = self.turns - (self.turns - 1 + left >= self.waves)
            top, front = min(t, rows), min(t + thick, rows)
            read.points = quad(self.ground, left, right, 1 - top / self.turns, 1)
            lit = t < self.turns and front > top
            band = 1 - front / self.turns, 1 - top / self.turns
            reading.points = quad(self.ground, left, right, *band) if lit else EMPTY
        return self
