"""A pipeline: an SM whose K-steps go through its buffers, and when each is loaded and multiplied, in rows."""

from typing import Self

from manim import DOWN, RIGHT, Line, ManimColor, VGroup, smoothstep

from tilesim.ideas.pipelining import Pipeline
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, lines, px
from tilesim_scenes.look.theme import Colour, mixed, sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import EMPTY, edged, quad, rectangle, shape, stroke_width
from tilesim_scenes.mobjects.hardware.memory import SM, Buffers, KPair
from tilesim_scenes.mobjects.models.phase_rows import Bar, PhaseRows

PAIR = 0.8
"""Of a buffer's width."""
MULTIPLY, LOADS = (0.0, 0.46), (0.54, 1.0)
"""Shares of the height, from below, that both have."""


class PipelinedSM(VGroup):
    """Pairs of K-chunks fly from memory into an SM's buffers, where its tensor core reads them.

    `width`, `height`: units. `room_for`: buffers that the SM has room for, at least as many as there are
    stages. A pair is on its way as long as its load takes. While it is multiplied, its buffer is lit.
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
        self.core = edged(rectangle(0.2 * width, 0.44 * height, theme.idle), colour, 3)
        self.core.move_to([self.sm.get_right()[0] - 0.13 * width, low, 0])
        self.done, self.lit = (shape(mixed(theme.background, colour, 0.5)) for _ in range(2))
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
        self.supply = KPair(theme.operand).put(self.source.get_center(), PAIR * slot)
        for letter, chunk in zip("AB", self.supply, strict=True):
            under = self.supply.get_bottom() + px(12) * DOWN
            self.words.add(label(letter, size, theme.quiet).next_to(under, DOWN, 0).set_x(chunk.get_x()))
        self.pairs = VGroup(*(KPair(colour) for _ in pipeline.steps))
        super().__init__(self.source, self.sm, self.words, self.supply)
        self.add(self.buffers, self.core, self.done, self.lit, self.pairs)
        self.show(0)

    def show(self, t: float) -> Self:
        """Look as at `t`, ns."""
        self.t = t
        steps = self.pipeline.steps.tolist()
        width = PAIR * self.buffers[0].width
        self.done.points = self.lit.points = EMPTY
        source = self.source.get_center()
        for i, (load, loaded, multiply, done) in enumerate(steps):
            slot = self.buffers.slot(i)
            coming = smoothstep((t - load) / max(1, loaded - load))
            self.pairs[i].put(source + coming * (slot.get_center() - source), width, load <= t < done)
            if multiply <= t < done:
                self.done.points = quad(self.core, 0, (t - multiply) / (done - multiply))
                self.lit.points = quad(slot, 0, 1)
        return self


class PipelineRows(PhaseRows):
    """A pipeline's loads, in as many rows as can run at once, and below them multiplications and waits.

    `until`: ns at the right end. `width`, `height`: units of all rows together. `loads`, `multiplies` and
    `bubbles`, in which nothing is multiplied, have one for each K-step.
    """

    def __init__(
        self, pipeline: Pipeline, until: float, width: float, height: float, colour: Colour | None = None
    ) -> None:
        steps, stages, hue = pipeline.steps.tolist(), pipeline.stages, colour or sm_colour(0, 4)
        self.end = pipeline.makespan
        self.cursor = Line(stroke_color=ManimColor(theme_now().cursor), stroke_width=stroke_width(4))
        ahead = max(1, stages - 1)
        rows = {f"load {n}": [Bar("load", *step[:2]) for step in steps[n::ahead]] for n in range(ahead)}
        before = [0, *(done for *_, done in steps[:-1])]
        bubbles = [Bar("pause", end, step[2]) for end, step in zip(before, steps, strict=True)]
        products = []
        for i, (_, _, multiply, done) in enumerate(steps):
            apart = min(0.1 * (done - multiply), 0.002 * until)
            products.append(Bar("multiply", multiply, done - apart, str(i + 1)))
        rows["multiply"] = bubbles + products
        super().__init__(rows, (0.0, until), width, height, colours=dict.fromkeys(rows, hue), names=False)
        each = (LOADS[1] - LOADS[0]) / ahead
        shares = [(LOADS[1] - each * (n + 0.88), LOADS[1] - each * n) for n in range(ahead)]
        for ground, (low, high) in zip(self.grounds, [*shares, MULTIPLY], strict=True):
            ground.set_fill(opacity=0.0)
            ground.stretch_to_fit_height((high - low) * height).move_to([0, (low + high - 1) / 2 * height, 0])
        count = len(steps)
        self.loads = [self.bar(f"load {i % ahead}", "load", i // ahead) for i in range(count)]
        self.bubbles, self.multiplies = self.bars[count : 2 * count], self.bars[2 * count :]
        for load in self.loads:
            load.set_stroke(ManimColor(theme_now().background), stroke_width(4), 1.0, family=False)
        for wait in self.bubbles:
            wait.set_fill(ManimColor(theme_now().wait), 0.6, family=False)
        self.add(self.cursor)
        self.show(0.0)

    def show(self, t: float) -> Self:
        super().show(t)
        self.cursor.points = EMPTY
        top, foot = self.grounds[0], self.grounds[-1]
        if 0 < t < self.end:
            ends = [self.x(t), top.get_top()[1], 0], [self.x(t), foot.get_bottom()[1], 0]
            self.cursor.set_points_by_ends(*ends)
        return self
