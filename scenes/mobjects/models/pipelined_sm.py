"""A pipeline: an SM whose K-steps go through its buffers, and when each is loaded and multiplied, in rows."""

from typing import Self

import numpy as np
from manim import DOWN, RIGHT, Line, ManimColor, VGroup, VMobject, smoothstep

from tilesim.ideas.pipelining import Pipeline
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import lines, px
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
from tilesim_scenes.mobjects.hardware.memory import Buffers, KPair
from tilesim_scenes.mobjects.hardware.sm import SM

INTO_CORE = 0.25
"""Share of a multiplication in which its pair is seen to go to the tensor core."""
USED = 0.35
"""How much of its hue a pair has in its buffer while it is multiplied: it still holds the buffer."""
PAIR = 0.8
"""Of a buffer's width."""
MULTIPLY, LOADS = (0.0, 0.46), (0.54, 1.0)
"""Shares of the height, from below, that both have."""
HATCH = 9.0
"""Pixels between the lines of a load's hatch."""
BUBBLE = 6
"""Pixels of a bubble's edge, which has the brighter crimson: it is to be seen by whoever sees no red."""


class PipelinedSM(VGroup):
    """Pairs of K-chunks fly from memory into an SM's buffers and are used up by its tensor core.

    `width`, `height`: units. `room_for`: buffers that the SM has room for, at least as many as there are
    stages. A pair is on its way as long as its load takes, and leaves its buffer when it is multiplied.

        sm = PipelinedSM(pipeline(6, stages=2, load=15, multiply=10), width=10, height=3)
        self.add(sm)
        self.play(PlayTrace(sm, until=60, run_time=5))
    """

    def __init__(
        self, pipeline: Pipeline, width: float, height: float, room_for: int = 2, colour: Colour | None = None
    ) -> None:
        self.pipeline, self.t = pipeline, 0.0
        colour = colour or sm_colour(0, 4)
        theme = theme_now()
        size = min(48, 0.14 * height / px(1))
        low = -0.1 * height
        slot, gap = 0.42 * width / room_for, px(16)
        self.sm = SM(tr("processor"), colour, 0.78 * width, height, size).shift(0.11 * width * RIGHT)
        self.buffers = Buffers(pipeline.stages, slot, min(0.62 * slot, 0.5 * height), gap, colour)
        self.buffers.move_to([self.sm.get_left()[0] + 0.03 * width + (room_for * (slot + gap)) / 2, low, 0])
        self.core = rectangle(0.2 * width, 0.44 * height, theme.idle)
        self.core.set_stroke(ManimColor(colour), stroke_width(3))
        self.core.move_to([self.sm.get_right()[0] - 0.13 * width, low, 0])
        self.done = shape(colour)
        self.source = rectangle(0.18 * width, self.core.height).move_to([-0.41 * width, low, 0])
        named = (
            (tr("memory"), self.source),
            (tr("buffer") if pipeline.stages == 1 else tr("buffers"), self.buffers),
            (tr("tensor cores"), self.core),
        )
        top = max(self.core.get_top()[1], self.buffers.get_top()[1]) + px(16)
        self.words = VGroup()
        for word, place in named:
            written = lines(word, size, 1.1 * place.width, color=theme.quiet)
            self.words.add(written.move_to([place.get_center()[0], top, 0], DOWN))
        dim = tuple(mix(theme.background, colour, USED).tolist())
        self.supply = KPair(theme.operand)
        self.used = VGroup(*(KPair(dim) for _ in pipeline.steps))
        self.pairs = VGroup(*(KPair(colour) for _ in pipeline.steps))
        super().__init__(
            self.source,
            self.sm,
            self.words,
            self.supply,
            self.buffers,
            self.core,
            self.done,
            self.used,
            self.pairs,
        )
        self.show(0)

    def show(self, t: float) -> Self:
        """Look as at `t`, ns."""
        self.t = t
        steps = self.pipeline.steps.tolist()
        width = PAIR * self.buffers[0].width
        self.supply.put(self.source.get_center(), width)
        self.done.points = EMPTY
        for i, (load, loaded, multiply, done) in enumerate(steps):
            here, core = self.buffers.slot(i).get_center(), self.core.get_center()
            coming = smoothstep(min(1.0, max(0.0, t - load) / max(1, loaded - load)))
            going = smoothstep(min(1.0, max(0.0, t - multiply) / (INTO_CORE * (done - multiply))))
            source = self.source.get_center()
            at = source + coming * (here - source) + going * (core - here)
            self.pairs[i].put(at, (1 - going / 2) * width, load <= t < done and going < 1)
            self.used[i].put(here, width, multiply <= t < done)
            if multiply <= t < done:
                self.done.points = quad(self.core, 0, (t - multiply) / (done - multiply))
        return self

    def pair(self, k_step: int) -> VMobject:
        """The pair of a K-step, as it is now."""
        return self.pairs[k_step]


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
