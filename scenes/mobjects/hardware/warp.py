"""Warp: 32 threads that execute one instruction at a time, as a capsule of dots."""

import numpy as np
from manim import RIGHT, Circle, ManimColor, VGroup

from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import AnyColour, mixed, sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import rounded

THREADS = 32


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
