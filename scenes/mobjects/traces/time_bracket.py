"""TimeBracket: a span of trace time over lanes, with its measured length."""

import numpy as np
from manim import Mobject

from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import Figure, advance, px
from tilesim_scenes.look.theme import AnyColour, theme_now
from tilesim_scenes.mobjects.drawing.quads import strokes
from tilesim_scenes.mobjects.drawing.redrawn import Redrawn

TICK, AWAY, THICK, ABOVE = 0.33, 0.29, 0.1, 0.25
"""Ems of its figure: its ticks, between it and its lane, its line, and from that to the figure."""
CAP, DESCENT = 0.75, 0.2
"""Ems of its figure, above and below the baseline: µ reaches below it."""


def length(ns: float) -> str:
    """A span as people read it: two decimals below 10 µs.

    >>> length(3391), length(40000)
    ('3.39 µs', '40.0 µs')
    """
    return tr("{us:.2f} µs", us=ns / 1000) if ns < 10_000 else tr("{us:.1f} µs", us=ns / 1000)


class TimeBracket(Redrawn):
    """Time from `begin` to `end`, ns, in the lane of one SM of `lanes`, or over all of them.

    It grows with the clock. At its end it says `text`, in which `{length}` stands for how long it is: no
    length runs by that nothing has. `below` puts it under the lane. It follows the lanes wherever they stand
    when it is shown.
    """

    over = ("lanes",)

    def __init__(
        self,
        lanes: Mobject,
        begin: float,
        end: float,
        sm: int | None = None,
        text: str = "{length}",
        below: bool = False,
        size: float = 48,
        color: AnyColour | None = None,
    ) -> None:
        super().__init__()
        self.lanes, self.sm, self.begin, self.end, self.t = lanes, sm, begin, end, begin
        self.text, self.below = text, below
        ink = color or theme_now().text
        self._size = size
        self.line, self.figure = strokes(ink, THICK * size), Figure(size=size, color=ink, align=0.5)
        self.add(self.line, self.figure)
        self.show(begin)

    def draw(self, was: float) -> None:
        """Draw nothing before its begin, all from its end on."""
        left, right = self._edge(self.begin), self._edge(min(self.t, self.end))
        lane = self.lanes if self.sm is None else self.lanes.lane(self.sm)
        sign = -1 if self.below else 1
        y = (lane.get_bottom() if self.below else lane.get_top())[1] + sign * AWAY * px(self._size)
        far = y + sign * TICK * px(self._size)
        corners = np.array([[left, y, 0], [left, far, 0], [right, far, 0], [right, y, 0]])
        begun = self.t > self.begin and right > left
        if begun:
            self.line.set_points_as_corners(corners)
        else:
            self.line.points = corners[[0, 0, 0, 0]]
        self.points = corners[[0, 0, 0, 0]]
        text = self.text.format(length=length(self.end - self.begin)) if begun and self.t >= self.end else ""
        self._place((left + right) / 2, far + sign * ABOVE * px(self._size), text)

    def _edge(self, t: float) -> float:
        low, high = self.lanes.window
        return self.lanes.x(min(max(t, low), high))

    def _place(self, x: float, y: float, text: str) -> None:
        """The figure, centred on x, its foot on y, or its head where the bracket is below."""
        # Within the lanes, or, where it is wider than they are, up to their right end.
        half = advance(text) * px(self._size) / 2
        low, high = (self.lanes.x(t) for t in self.lanes.window)
        x = min(max(x, low + half), high - half)
        foot = y + (-CAP if self.below else DESCENT) * px(self._size)
        self.figure.shift(np.array([x, foot, 0.0]) - self.figure.submobjects[0].points[0])
        self.figure.write(text)
