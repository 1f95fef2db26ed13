"""ThreadBlock: a token. Queue: those that wait. Warp: 32 threads. Barrier: between groups of warps."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from manim import DOWN, RIGHT, Circle, Dot, Line, ManimColor, VGroup

from tilesim_scenes.animations.direct import Direct
from tilesim_scenes.look.text import Figure, advance, px
from tilesim_scenes.look.theme import AnyColour, mix, mixed, sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import disc, rectangle, rounded, stroke_width

PIPS = 8
SIDE, LEAST, GAP = 84.0, 64.0, 10.0
"""Pixels of a block, the least of one whose number can be read, and between two."""
THREADS = 32
RAISED = np.radians(55.0)
"""How far an open bar stands up from a shut one."""
POST, BAR = 8.0, 10.0
"""Pixels: a post's width, and a bar's."""


class ThreadBlock(VGroup):
    """A block by its number, edged in orange while it waits; `side` is its width in units."""

    def __init__(self, number: int, side: float | None = None) -> None:
        theme, side = theme_now(), side or px(SIDE)
        self.number = number
        self.token = rounded(side, side, 0.2 * side, theme.launch, 5, theme.panel)
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
        dot = disc(radius, colour)
        self.dots = VGroup(*(dot.copy() for _ in range(threads)))
        for number, dot in enumerate(self.dots):
            dot.shift(number * spacing * RIGHT)
        tall = max(2 * spacing, 4 * radius) if spacing < px(24) else 1.6 * spacing
        fill = mixed(theme_now().background, colour, 0.14)
        self.capsule = rounded((threads - 1) * spacing + tall, tall, tall / 2, colour, 4, fill)
        self.capsule.move_to(self.dots)
        super().__init__(self.capsule, self.dots)
        self.move_to(np.zeros(3))

    def thread(self, number: int) -> Circle:
        """The dot of a thread."""
        return self.dots[number]


class Barrier(VGroup):
    """Two posts and a bar, `width` units apart, which stands open to a share: 0 is shut, 1 is open.

    It opens upwards around its left post, whichever way it has been turned since.

    Raises ValueError for a width that is not above 0.
    """

    def __init__(self, width: float | None = None, opened: float = 0.0) -> None:
        super().__init__()
        width = px(160) if width is None else width
        if not width > 0:
            raise ValueError(f"a barrier is {width} wide; it must be wider than 0")
        post = rectangle(px(POST), 0.22 * width, theme_now().quiet)
        sides = (-width / 2, width / 2)
        self.posts = VGroup(*(post.copy().move_to([x, -post.height / 2, 0]) for x in sides))
        self.bar = Line(stroke_width=stroke_width(BAR))
        self.add(self.posts, self.bar)
        self.open(opened)

    def open(self, share: float) -> Self:
        """Stand open to `share`, 0 to 1; return it."""
        share = float(np.clip(share, 0.0, 1.0))
        stands = share, self.posts[0].points.tobytes(), self.posts[1].points.tobytes()
        if getattr(self, "_stands", None) == stands:
            return self
        self._stands, self.opened = stands, share
        # Of a Rectangle, points 0 and 4 are the upper corners, so a post's head lies between them.
        hinge, end = (post.points[[0, 4]].mean(axis=0) for post in self.posts)
        foot = self.posts[0].points[[8, 12]].mean(axis=0)
        along, up = end - hinge, hinge - foot
        up = up * np.linalg.norm(along) / np.linalg.norm(up)
        angle = share * RAISED
        self.bar.set_points_by_ends(hinge, hinge + np.cos(angle) * along + np.sin(angle) * up)
        theme = theme_now()
        self.bar.set_stroke(ManimColor(mix(theme.wait, theme.quiet, share)), family=False)
        return self


class OpenBarrier(Direct):
    """Opens a barrier, in 0.2 s."""

    until = 1.0

    def __init__(self, barrier: Barrier, run_time: float = 0.2, **kwargs: Any) -> None:
        self.barrier = barrier
        super().__init__(barrier, run_time=run_time, **kwargs)

    def begin(self) -> None:
        self.since = self.barrier.opened
        super().begin()

    def interpolate_mobject(self, alpha: float) -> None:
        self.barrier.open(self.since + self.rate_func(alpha) * (self.until - self.since))


class CloseBarrier(OpenBarrier):
    """Lowers a barrier, in 0.2 s."""

    until = 0.0
