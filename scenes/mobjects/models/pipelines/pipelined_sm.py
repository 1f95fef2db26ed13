"""PipelinedSM: an SM whose K-steps go from memory through its buffers to its tensor core."""

from typing import Self

from manim import DOWN, RIGHT, ManimColor, VGroup, VMobject, smoothstep

from tilesim.ideas.pipelining import Pipeline
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import lines, px
from tilesim_scenes.look.theme import Colour, mix, sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import EMPTY, quad, rectangle, shape, stroke_width
from tilesim_scenes.mobjects.hardware.buffer import Buffers
from tilesim_scenes.mobjects.hardware.k_pair import KPair
from tilesim_scenes.mobjects.hardware.sm import SM

INTO_CORE = 0.25
"""Share of a multiplication in which its pair is seen to go to the tensor core."""
USED = 0.35
"""How much of its hue a pair has in its buffer while it is multiplied: it still holds the buffer."""
PAIR = 0.8
"""Of a buffer's width."""


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
