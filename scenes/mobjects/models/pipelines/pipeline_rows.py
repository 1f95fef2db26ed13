"""PipelineRows: when K-steps are loaded, in a row for each buffer, and multiplied, in one below them."""

from typing import Self

import numpy as np
from manim import Line, ManimColor, VGroup, VMobject

from tilesim.ideas.pipelining import Pipeline
from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import Colour, ink_on, mix, sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import (
    EMPTY,
    axes_of,
    diagonals,
    extent,
    figure,
    quad,
    rectangle,
    segments,
    shape,
    stroke_width,
    strokes,
)

MULTIPLY, LOADS = (0.0, 0.46), (0.54, 1.0)
"""Shares of the height, from below, that both have."""
HATCH = 9.0
"""Pixels between the lines of a load's hatch."""
BUBBLE = 6
"""Pixels of a bubble's edge, which has the brighter crimson: it is to be seen by whoever sees no red."""


class PipelineRows(VGroup):
    """A pipeline's loads, hatched, its multiplications, solid, and crimson outlines where nothing multiplies.

    `until`: ns at the right end. `width`, `height`: units.

        rows = PipelineRows(pipeline(6, stages=2, load=15, multiply=10), until=100, width=8, height=1.5)
        self.add(rows)
        self.play(PlayTrace(rows, until=100, run_time=3))
    """

    def __init__(
        self, pipeline: Pipeline, until: float, width: float, height: float, colour: Colour | None = None
    ) -> None:
        self.pipeline, self.until, self.t = pipeline, until, 0.0
        self.colour = colour or sm_colour(0, 4)
        theme, steps = theme_now(), range(len(pipeline.steps))
        self.ground = rectangle(width, height)
        self._hatch = px(HATCH) / height
        self.loads = VGroup(*(shape(tuple(mix(theme.idle, self.colour, 0.3).tolist())) for _ in steps))
        for load in self.loads:
            load.add(strokes(self.colour, 2.5))
        self.multiplies = VGroup(*(shape(self.colour).add(shape(ink_on(self.colour))) for _ in steps))
        self.bubbles = VGroup(*(strokes(theme.wait_text, BUBBLE) for _ in steps))
        self.cursor = Line(stroke_color=ManimColor(theme.cursor), stroke_width=stroke_width(4))
        super().__init__(self.ground, self.loads, self.multiplies, self.bubbles, self.cursor)
        self.show(0)

    def show(self, t: float) -> Self:
        """Look as at `t`, ns."""
        self.t = t
        steps = self.pipeline.steps
        before = np.append(0, steps["done"][:-1])
        for i, (load, loaded, multiply, done) in enumerate(steps.tolist()):
            self._show_load(i, load, min(t, loaded))
            self._show_multiply(i, multiply, done, t)
            self.bubbles[i].points = self._box(before[i], min(t, multiply), *MULTIPLY)
        share = t / self.until
        self.cursor.points = EMPTY
        if 0 < share <= 1:
            self.cursor.set_points_by_ends(
                *segments(self.ground, np.array([share, -0.06, share, 1.06]))[[0, -1]]
            )
        return self

    def x(self, t: float) -> float:
        """The scene's x of an instant."""
        origin, right, _ = axes_of(self.ground)
        return float((origin + t / self.until * right)[0])

    def band(self, multiply: bool) -> VMobject:
        """A mobject as large as the loads' rows, or as the multiplications', to stand beside."""
        found = rectangle(1, 1)
        found.points = quad(self.ground, 0, 1, *(MULTIPLY if multiply else LOADS))
        return found

    def _box(self, begin: float, end: float, low: float, high: float) -> np.ndarray:
        if end <= begin:
            return EMPTY
        return quad(self.ground, begin / self.until, end / self.until, low, high)

    def _show_load(self, i: int, begin: float, end: float) -> None:
        """A load, in the row of the buffer that it fills; the first buffer's is on top."""
        low, high = LOADS
        each = (high - low) / self.pipeline.stages
        top = high - i % self.pipeline.stages * each
        rows = top - 0.88 * each, top
        load = self.loads[i]
        load.points = self._box(begin, end, *rows)
        x0, x1 = begin / self.until, end / self.until
        gap = self._hatch * extent(self.ground)[1]
        load.submobjects[0].points = diagonals(self.ground, x0, x1, gap, *rows) if end > begin else EMPTY

    def _show_multiply(self, i: int, begin: float, end: float, t: float) -> None:
        """A multiplication, a little apart from the next, with its number once there is room."""
        apart = min(0.1 * (end - begin), 0.002 * self.until)
        box, number = self.multiplies[i], self.multiplies[i].submobjects[0]
        box.points = self._box(begin, min(t, end - apart), *MULTIPLY)
        number.points = EMPTY
        width, height = extent(self.ground)
        em = min(0.6 * (MULTIPLY[1] - MULTIPLY[0]) * height, 0.8 * (end - begin) / self.until * width)
        if t >= (begin + end) / 2 + 0.4 * em / width * self.until and em >= px(24):
            middle = (begin + end) / 2 / self.until
            number.points = figure(self.ground, str(i), em, middle, sum(MULTIPLY) / 2)
