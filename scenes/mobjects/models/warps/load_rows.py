"""LoadRows: the loads of a warp over time, a row for each, from when it leaves until its value is there."""

from typing import Self

import numpy as np
from manim import Line, ManimColor, VGroup, smoothstep

from tilesim_scenes.animations.direct import Direct
from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import Colour, mixed, sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import (
    EMPTY,
    axes_of,
    diagonals,
    extent,
    quad,
    rectangle,
    segments,
    shape,
    stroke_width,
    strokes,
)

HATCH = 9.0
"""Pixels between the lines of a load's hatch."""
TALL = 0.78
"""Share of a row that its load is high."""


class LoadRows(VGroup):
    """Loads as hatched bars, the first on top, each with a solid end once its value has come.

    `flights`: FLIGHT of tilesim.ideas.loop_unrolling. `until`: at the right end, in the same unit. `width`,
    `height`: units.

        rows = LoadRows(flights(8, factor=8, latency=686), until=900, width=8, height=2)
        self.add(rows)
        self.play(PlayTrace(rows, until=720, run_time=3))
        self.play(rows.stretch(6000))
    """

    def __init__(
        self, flights: np.ndarray, until: float, width: float, height: float, colour: Colour | None = None
    ) -> None:
        self.flights, self.until, self.t = flights, until, 0.0
        self.colour = colour or sm_colour(0, 4)
        theme = theme_now()
        self.ground = rectangle(width, height)
        self._hatch = px(HATCH) / width
        self._end = min(px(14), width / 40) / width
        self.loads = VGroup(*(shape(mixed(theme.idle, self.colour, 0.3)) for _ in flights))
        for load in self.loads:
            load.add(strokes(self.colour, 2.5))
        self.values = VGroup(*(shape(self.colour) for _ in flights))
        self.cursor = Line(stroke_color=ManimColor(theme.cursor), stroke_width=stroke_width(4))
        super().__init__(self.ground, self.loads, self.values, self.cursor)
        self.show(0)

    def show(self, t: float) -> Self:
        """Look as at `t`."""
        self.t = t
        row = 1 / len(self.flights)
        gap = self._hatch * extent(self.ground)[0]
        for number, (left, come, _) in enumerate(self.flights.tolist()):
            top = 1 - (number + (1 - TALL) / 2) * row
            low, high = top - TALL * row, top
            load, value = self.loads[number], self.values[number]
            hatch = load.submobjects[0]
            load.points = hatch.points = value.points = EMPTY
            if t > left:
                x0, x1 = left / self.until, min(t, come) / self.until
                load.points = quad(self.ground, x0, x1, low, high)
                hatch.points = diagonals(self.ground, x0, x1, gap, low, high)
            if t >= come:
                end = come / self.until
                value.points = quad(self.ground, end, end + self._end, low, high)
        share = t / self.until
        self.cursor.points = EMPTY
        if 0 < share <= 1:
            self.cursor.set_points_by_ends(
                *segments(self.ground, np.array([share, -0.04, share, 1.04]))[[0, -1]]
            )
        return self

    def at(self, t: float, row: float = 0.5) -> np.ndarray:
        """Where an instant is, at a share of the height: [3]."""
        origin, right, up = axes_of(self.ground)
        return origin + t / self.until * right + row * up

    def stretch(self, until: float, **kwargs: float) -> "Stretch":
        """An animation in which the right end becomes another instant."""
        return Stretch(self, until, **kwargs)

    def under_way(self, t: float) -> int:
        """Loads that have left and not come."""
        return int(((self.flights["left"] < t) & (t < self.flights["come"])).sum())


class Stretch(Direct):
    """The time that LoadRows show becomes longer or shorter; what has happened moves with it."""

    def __init__(self, rows: LoadRows, until: float, run_time: float = 0.8) -> None:
        self.rows, self.ends = rows, (rows.until, until)
        super().__init__(rows, run_time=run_time, rate_func=smoothstep)

    def interpolate_mobject(self, alpha: float) -> None:
        since, until = self.ends
        self.rows.until = since * (until / since) ** self.rate_func(alpha)
        self.rows.show(self.rows.t)
