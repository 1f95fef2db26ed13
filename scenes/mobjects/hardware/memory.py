"""Memory: its levels, buffers, and chunks that travel between them. SM: a box, with room for blocks."""

from typing import Self

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, ManimColor, Rectangle, VGroup, VMobject

from tilesim_scenes.look.text import label, lines, px
from tilesim_scenes.look.theme import AnyColour, mixed, readable, theme_now
from tilesim_scenes.mobjects.drawing.quads import EMPTY, edged, levels, rectangle, rounded, strokes, uprights

LINES = 5
"""Of a hatch, over the longer side of a chunk."""


class MemoryLevel(VGroup):
    """A shelf with its name on top: `shelf` is where things stand."""

    def __init__(
        self, name: str, width: float | None = None, height: float | None = None, size: float = 46
    ) -> None:
        theme, width = theme_now(), width or px(300)
        self.shelf = rectangle(width, height or px(600), theme.panel)
        self.heading = lines(name, size, width - px(10), color=theme.quiet, bold=True)
        self.heading.next_to(self.shelf.get_top(), DOWN, px(20))
        super().__init__(self.shelf, self.heading)


class Buffers(VGroup):
    """`count` slots in a row. Each takes one pair of K-chunks; after the last comes the first again.

    `width`, `height`: units of a slot. `gap`: between two. `colour`: of their edges, such as their SM's.
    """

    def __init__(
        self,
        count: int,
        width: float | None = None,
        height: float | None = None,
        gap: float | None = None,
        colour: AnyColour | None = None,
    ) -> None:
        slot = rectangle(width or px(230), height or px(150), theme_now().idle)
        edged(slot, colour or theme_now().quiet, 3)
        super().__init__(*(slot.copy() for _ in range(count)))
        self.arrange(RIGHT, buff=px(16) if gap is None else gap)

    def slot(self, k_step: int) -> VMobject:
        """The slot that a K-step's pair goes through."""
        return self[k_step % len(self)]


class Chunk(Rectangle):
    """A chunk of A where it is upright, of B where it is flat, in the hue of the SM that works on it."""

    def __init__(self, width: float, height: float, colour: AnyColour) -> None:
        super().__init__(
            width=width,
            height=height,
            fill_color=ManimColor(mixed(theme_now().background, colour, 0.3)),
            fill_opacity=1.0,
        )
        edged(self, colour, 3)
        at = np.arange(1, LINES) / LINES
        hatch = strokes(colour, 3)
        hatch.points = levels(self, at) if height > width else uprights(self, at)
        self.add(hatch)


class KPair(VGroup):
    """Two chunks beside each other, one unit wide together, in the hue of whose work they are."""

    def __init__(self, colour: AnyColour) -> None:
        super().__init__(Chunk(0.26, 0.52, colour), Chunk(0.52, 0.26, colour))
        self.arrange(RIGHT, buff=0.08).move_to(np.zeros(3))
        self.scale(1 / self.width)
        self._shapes = [piece.points.copy() for piece in self.get_family()]

    def put(self, at: np.ndarray, width: float, shown: bool = True) -> Self:
        """Stand at a point, so wide, wherever it was before; or nowhere."""
        for piece, points in zip(self.get_family(), self._shapes, strict=True):
            piece.points = at + width * points if shown else EMPTY
        return self


class SM(VGroup):
    """A rounded box in the hue of the SM: `box`, and `heading` above its upper left corner."""

    def __init__(
        self,
        name: str,
        colour: AnyColour,
        width: float | None = None,
        height: float | None = None,
        size: float = 48,
    ) -> None:
        theme = theme_now()
        fill = mixed(theme.background, theme.panel, 0.8)
        self.box = rounded(width or px(360), height or px(300), px(20), colour, 6, fill)
        self.heading = label(name, size, readable(colour), bold=True)
        self.heading.next_to(self.box.get_corner(UP + LEFT), RIGHT, px(24)).shift(-UP * px(14 + size / 2))
        self.colour = colour
        super().__init__(self.box, self.heading)
