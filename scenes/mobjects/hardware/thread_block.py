"""ThreadBlock: a token with pips for its warps, and its number. Queue: those that wait. Warp: 32 threads."""

from collections.abc import Iterable
from typing import Self

import numpy as np
from manim import DOWN, RIGHT, Circle, Dot, ManimColor, VGroup

from tilesim_scenes.look.text import Figure, advance, px
from tilesim_scenes.look.theme import AnyColour, mixed, sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import rounded

PIPS = 8
SIDE, LEAST, GAP = 84.0, 64.0, 10.0
"""Pixels of a block, the least of one whose number can be read, and between two."""
THREADS = 32


class ThreadBlock(VGroup):
    """A block by its number, edged in orange while it waits; `side` is its width in units."""

    def __init__(self, number: int, side: float | None = None) -> None:
        theme, side = theme_now(), side or px(84)
        self.number = number
        self.token = rounded(side, side, 0.2 * side, theme.panel, theme.launch, 5)
        text = str(number)
        figure = Figure(text, min(0.44 * side, 0.8 * side / advance(text)) / px(1), align=0.5)
        figure.shift(DOWN * 0.04 * side)
        self.pips = VGroup(*(Dot(radius=0.035 * side, color=ManimColor(theme.launch)) for _ in range(PIPS)))
        self.pips.arrange(RIGHT, buff=0.03 * side).move_to(self.token).shift(DOWN * 0.3 * side)
        super().__init__(self.token, figure, self.pips)

    def resident(self, colour: AnyColour) -> Self:
        """In the hue of the SM that it runs on."""
        self.token.set_stroke(ManimColor(colour))
        self.pips.set_fill(ManimColor(colour))
        return self

    def waits(self) -> Self:
        """Edged in orange: no SM has it yet."""
        return self.resident(theme_now().launch)


class Queue(VGroup):
    """ThreadBlocks by their numbers, `width` units wide at most: smaller at first, then in several rows."""

    def __init__(self, blocks: Iterable[int], width: float | None = None) -> None:
        numbers = list(blocks)
        gap, side, columns = px(GAP), px(SIDE), len(numbers)
        if width is not None:
            most = max(1, int((width + gap) / (px(LEAST) + gap)))
            # Rows of about one length.
            columns = -(-columns // -(-columns // most))
            side = min(side, (width + gap) / columns - gap)
        super().__init__(*(ThreadBlock(number, side) for number in numbers))
        for place, block in enumerate(self):
            row, column = divmod(place, columns)
            # It winds, so that whoever moves up goes to the place beside its own.
            column = columns - 1 - column if row % 2 else column
            block.move_to(np.array([column, -row, 0.0]) * (side + gap))

    def block(self, number: int) -> ThreadBlock:
        """A block that waits here, by its number.

        Raises KeyError where it does not.
        """
        for block in self:
            if block.number == number:
                return block
        raise KeyError(f"block {number} is not in this queue")


class Warp(VGroup):
    """A capsule with a dot for each thread, from thread 0 on the left.

    `threads`: 32, or fewer where it is small. `spacing`: units between two dots. `colour`: its SM's hue.
    Turned by `rotate(-PI / 2)` it stands upright, thread 0 on top.
    """

    def __init__(
        self, threads: int = THREADS, spacing: float | None = None, colour: AnyColour | None = None
    ) -> None:
        spacing = spacing or px(36)
        self.colour = colour = colour or sm_colour(0, 4)
        radius = min(0.3 * spacing, px(16))
        dot = Circle(radius, stroke_width=0.0, fill_color=ManimColor(colour), fill_opacity=1.0)
        self.dots = VGroup(*(dot.copy() for _ in range(threads)))
        for number, dot in enumerate(self.dots):
            dot.shift(number * spacing * RIGHT)
        tall = max(2 * spacing, 4 * radius) if spacing < px(24) else 1.6 * spacing
        fill = mixed(theme_now().background, colour, 0.14)
        self.capsule = rounded((threads - 1) * spacing + tall, tall, tall / 2, fill, colour, 4)
        self.capsule.move_to(self.dots)
        super().__init__(self.capsule, self.dots)
        self.move_to(np.zeros(3))

    def thread(self, number: int) -> Circle:
        """The dot of a thread."""
        return self.dots[number]
