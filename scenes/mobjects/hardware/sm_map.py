"""SMMap: all SMs of a GPU, a row a group, with the numbers of the thread blocks that they have."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from manim import ManimColor, Rectangle, VGroup

from tilesim_scenes.look.text import advance, px
from tilesim_scenes.look.theme import ink_on, mixed, sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import EMPTY, figure, quad, rectangle, shape, stroke_width

PAIR, BESIDE, BELOW = 0.2, 0.04, 0.22
"""Gaps as shares of a cell: between two pairs of SMs, inside a pair, and between two rows."""
BODY = 0.55
"""Share of an SM's hue in its cell."""
LEAST, MOST = 23.5, 34.0
"""Pixels of a block's number: with less room there is none."""


class SMMap(VGroup):
    """A row of cells for each of `groups` of SMs, in pairs; its time `t` is how many blocks have come.

    `order`: the SM of each block in turn, again and again for `rounds` of blocks, which share a cell. It is
    `width` x `height` units large.

        gpu = SMMap([[4, 5], [0, 1, 2, 3]], order=[4, 5, 0, 1, 2, 3])
        self.play(PlayTrace(gpu, until=6, run_time=2))
    """

    def __init__(
        self,
        groups: Sequence[Sequence[int]],
        order: Sequence[int],
        rounds: int = 1,
        width: float | None = None,
        height: float | None = None,
    ) -> None:
        super().__init__()
        width, height = width or px(1300), height or px(700)
        theme, sms = theme_now(), len(order)
        self.order, self.rounds, self.t = tuple(order), rounds, 0.0
        longest = max(map(len, groups))
        cell = width / (longest + (longest - 1) // 2 * PAIR + longest // 2 * BESIDE)
        row = height / (len(groups) + (len(groups) - 1) * BELOW)
        self.cells: dict[int, Rectangle] = {}
        for number, group in enumerate(groups):
            for place, sm in enumerate(group):
                pairs, second = divmod(place, 2)
                left = cell * (place + pairs * (PAIR + BESIDE) + second * BESIDE)
                one = rectangle(cell, row, theme.idle)
                one.set_stroke(ManimColor(sm_colour(sm, sms)), stroke_width(2), 0.7)
                self.cells[sm] = one.move_to([left + cell / 2, -(number * (1 + BELOW) + 0.5) * row, 0])
        hues = {sm: mixed(theme.background, sm_colour(sm, sms), BODY) for sm in self.cells}
        self.grounds = VGroup(*self.cells.values())
        self.fills = VGroup(*(shape(hues[order[block % sms]]) for block in range(rounds * sms)))
        self.numbers = VGroup(*(shape(ink_on(hues[order[block % sms]])) for block in range(rounds * sms)))
        super().add(self.grounds, self.fills, self.numbers)
        self.move_to(np.zeros(3))
        self._shown = 0
        longest_number = advance(str(rounds * sms - 1))
        self.em = min(0.88 * cell / longest_number, 0.8 * row / rounds, px(MOST))

    def cell(self, sm: int) -> Rectangle:
        """The place of an SM."""
        return self.cells[sm]

    def group(self, sms: Sequence[int]) -> VGroup:
        """The places of some SMs, as a group to point at."""
        return VGroup(*(self.cells[sm] for sm in sms))

    def show(self, t: float) -> Self:
        """Look as when the first `t` blocks have come."""
        self.t = t
        now = int(min(max(t, 0), len(self.fills)))
        for block in range(min(now, self._shown), max(now, self._shown)):
            self._show_block(block, block < now)
        self._shown = now
        return self

    def _show_block(self, block: int, there: bool) -> None:
        turn, place = divmod(block, len(self.order))
        ground, fill, number = self.cells[self.order[place]], self.fills[block], self.numbers[block]
        if not there:
            fill.points = number.points = EMPTY
            return
        high = 1 - turn / self.rounds
        low = high - 1 / self.rounds
        gap = 0.06 / self.rounds
        fill.points = quad(ground, 0.04, 0.96, low + gap, high - gap)
        if self.em >= px(LEAST):
            number.points = figure(ground, str(block), self.em, 0.5, (low + high) / 2)
