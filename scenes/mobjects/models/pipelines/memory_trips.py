"""MemoryTrips: a tensor goes from memory through functions and back, once for each kernel."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from manim import DOWN, RIGHT, UP, Group, ManimColor, VGroup

from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import mixed, theme_now
from tilesim_scenes.mobjects.drawing.quads import (
    axes_of,
    quad,
    rectangle,
    shape,
    stroke_width,
    strokes,
    uprights,
)
from tilesim_scenes.mobjects.hardware.memory_level import MemoryLevel
from tilesim_scenes.mobjects.hardware.sm import SM
from tilesim_scenes.mobjects.models.pipelines.flight import smooth

CHUNKS = 6
"""Of the tensor, that travel one after the other."""
HBM, L2, SMS, GAP = 0.2, 0.14, 0.6, 0.03
"""Shares of the width: of the shelves, of the SMs, and between two of them."""
NAME = 44
"""Pixels of letters."""
CHUNK, ROW = 0.6, 0.62
"""Of a chunk: share of a shelf's width, and of the height of a row."""
LATE = 0.06
"""Share of a kernel's time by which each chunk leaves after the one before."""
OUT, BACK = 0.36, 0.64
"""Shares of a chunk's trip: until it is at the functions, and from which on it goes back."""
COME = 0.06
"""Share of a kernel's time in which its functions come, and go."""


class MemoryTrips(VGroup):
    """`functions` on a tensor, in `kernels` one after the other, each of which takes `each` ns.

    The tensor's chunks stand in HBM, pass the L2, go through the functions of a kernel on the SMs, and are
    written back. A function is orange while its kernel is launched. A chunk is filled by as many cells as
    functions were applied to it. `names`: of HBM, L2 and SMs. `width`, `height`: units. `stays`: written
    chunks stay in the L2, where the next kernel finds them. `shown`: numbers of the functions whose names are
    shown, from 0; all by default.

        trips = MemoryTrips(("HBM", "L2", "SMs"), functions=8, kernels=8, each=130_000)
        self.play(PlayTrace(trips, until=8 * 130_000, run_time=8))
    """

    def __init__(
        self,
        names: tuple[str, str, str],
        functions: int,
        kernels: int,
        each: float,
        width: float | None = None,
        height: float | None = None,
        stays: bool = False,
        shown: Sequence[int] | None = None,
    ) -> None:
        theme, width, height = theme_now(), width or px(1700), height or px(480)
        self.functions, self.kernels, self.each, self.stays, self.t = functions, kernels, each, stays, 0.0
        self._launch, self._ink = theme.launch, theme.text
        self.hbm = MemoryLevel(names[0], HBM * width, height, NAME)
        self.l2 = MemoryLevel(names[1], L2 * width, height, NAME)
        self.sms = SM(names[2], theme.quiet, SMS * width, height, NAME)
        Group(self.hbm, self.l2, self.sms.box).arrange(RIGHT, buff=GAP * width)
        self.sms.heading.shift(self.sms.box.get_top() - self.sms.heading.get_top() + px(20) * DOWN)
        self.sms.heading.align_to(self.sms.box, [-1, 0, 0]).shift(px(24) * RIGHT)
        # Below the headings, and above what is written at the shelves' feet.
        top, foot = 1 - px(2.1 * NAME) / height, px(90) / height
        self.rows = [top - (top - foot) * (number + 0.5) / CHUNKS for number in range(CHUNKS)]
        self.gates = VGroup(*(self._gate(number, top, foot) for number in range(functions)))
        named = range(functions) if shown is None else [number % functions for number in shown]
        for number, gate in enumerate(self.gates):
            if number not in named:
                gate.remove(gate[1])
        self.chunks = VGroup(*(self._chunk() for _ in range(CHUNKS)))
        super().__init__(self.hbm, self.l2, self.sms, self.gates, self.chunks)
        self.show(0.0)

    @property
    def until(self) -> float:
        """ns until the last kernel ends."""
        return self.kernels * self.each

    def show(self, t: float) -> Self:
        """Look as at `t`, ns."""
        self.t = t
        kernel = min(int(t / self.each), self.kernels - 1)
        part = min(t / self.each - kernel, 1.0)
        first = kernel * self.functions // self.kernels
        last = (kernel + 1) * self.functions // self.kernels - 1
        there = smooth(min(part, 1 - part) / COME) if self.kernels > 1 else 1.0
        for number, gate in enumerate(self.gates):
            gate.set_opacity(there if first <= number <= last else 0.0)
            gate[0].set_fill(ManimColor(self._launch if self.kernels > 1 and part < COME else self._ink))
        for number, chunk in enumerate(self.chunks):
            gone = (part - COME - number * LATE) / (1 - 2 * COME - (CHUNKS - 1) * LATE)
            self._show_chunk(chunk, number, kernel, (first, last), min(max(gone, 0.0), 1.0))
        return self

    def _show_chunk(
        self, chunk: VGroup, row: int, kernel: int, functions: tuple[int, int], gone: float
    ) -> None:
        """Draw a chunk that has gone a share of its trip."""
        first, last = functions
        start = self.l2 if self.stays and kernel else self.hbm
        end = self.l2 if self.stays else self.hbm
        through = min(max((gone - OUT) / (BACK - OUT), 0.0), 1.0)
        at = self._x(first) + through * (self._x(last) - self._x(first))
        x = start.shelf.get_center()[0]
        x += smooth(gone / OUT) * (at - x)
        x += smooth((gone - BACK) / (1 - BACK)) * (end.shelf.get_center()[0] - x)
        origin, right, up = axes_of(self.hbm.shelf)
        width, height = np.linalg.norm(right), np.linalg.norm(up)
        high = ROW * height * (self.rows[0] - self.rows[1])
        place = rectangle(CHUNK * width, high).move_to([x, (origin + self.rows[row] * up)[1], 0])
        done = first + through * (last - first + 1)
        body, filled, ticks = chunk
        body.points = quad(place, 0, 1)
        filled.points = quad(place, 0, done / self.functions)
        ticks.points = uprights(place, np.arange(1, self.functions) / self.functions)

    def _chunk(self) -> VGroup:
        """A chunk with nothing drawn as yet: its body, what of it is filled, and lines between its cells."""
        theme = theme_now()
        body = shape(mixed(theme.background, theme.operand, 0.3))
        body.set_stroke(ManimColor(theme.operand), stroke_width(3))
        return VGroup(body, shape(theme.operand), strokes(theme.background, 2, 0.6))

    def _gate(self, number: int, top: float, foot: float) -> VGroup:
        """A function: a post that chunks pass, with its name on top."""
        box = self.sms.box
        post = rectangle(px(14), (top - foot) * box.height, self._ink)
        x = box.get_left()[0] + self._share(number) * box.width
        post.move_to([x, box.get_bottom()[1] + (top + foot) / 2 * box.height, 0])
        name = label("f" + str(number + 1).translate(SUBSCRIPT), NAME, bold=True)
        return VGroup(post, name.next_to(post, UP, px(8)))

    def _x(self, number: int) -> float:
        """Where a function is, from left to right."""
        return float(self.gates[number][0].get_center()[0])

    def _share(self, number: int) -> float:
        """The same as a share of the width of the SMs."""
        return 0.5 if self.functions == 1 else 0.3 + 0.58 * number / (self.functions - 1)


SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
