"""LaneVectors: lanes in which every part is a mobject."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from manim import DOWN, LEFT, Line, ManimColor, VGroup, VMobject

from tilesim_scenes.look.text import advance, label, px
from tilesim_scenes.look.theme import AnyColour, Colour, ink_on, mixed, readable, sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import (
    axes_of,
    diagonals,
    extent,
    figure,
    nothing,
    place,
    quad,
    rectangle,
    segments,
    shape,
    stroke_width,
    strokes,
    uprights,
)
from tilesim_scenes.mobjects.drawing.redrawn import Redrawn
from tilesim_scenes.mobjects.traces.lane_image import UNDER
from tilesim_scenes.mobjects.traces.lanes import Lanes, Part, not_shown, parts

HATCH, TICK, LEAST_TICKS = 9.0, 3.0, 12.0
"""Pixels: between the lines of a hatch, of a tick's width, and between ticks that are drawn."""


class LaneVectors(Lanes, Redrawn):
    """A few lanes, in which every part can be pointed at: `pieces[n]` says what is drawn in `parts[n]`."""

    def _build(
        self, width: float, lane_height: float | None, height: float | None, gap: float | None, labels: bool
    ) -> None:
        Redrawn.__init__(self)
        trace, places = self.trace, self.trace.device.ctas_per_sm
        gap = px(24) if gap is None else gap
        each = None if height is None else (height + gap) / len(self.sms) - gap
        height = lane_height or each or px(90)
        theme, hues = theme_now(), {sm: sm_colour(sm, trace.device.sms) for sm in self.sms}
        self.grounds = VGroup()
        for row in range(len(self.slots)):
            space = gap if places == 1 else px(4)
            ground = rectangle(width, height / places, theme.idle)
            ground.shift((row // places * (height + gap) + row % places * (height / places + space)) * DOWN)
            self.grounds.add(ground)
        self.names = VGroup()
        if labels:
            for row, sm in enumerate(self.sms):
                size, ink = min(48, 0.6 * height / px(1)), readable(hues[sm])
                name = label(f"SM {sm}", size, ink, bold=True)
                mine = self.grounds[row * places : (row + 1) * places]
                self.names.add(name.next_to(mine, LEFT, px(24)))
        self._parts = parts(trace).shown(self.slots, self.window)
        lane_of = {slot: row for row, slot in enumerate(self.slots)}
        self.pieces = [part._replace(slot=lane_of[part.slot]) for part in self._parts.each()]
        sm_of = trace.spans["sm"]
        self.parts = VGroup(
            *(_drawn(part.kind, hues[int(sm_of[part.row])], self._fills) for part in self.pieces)
        )
        spans = trace.spans
        self._steps = (spans["k1"] - spans["k0"]).tolist()
        self._numbers = spans["tile"].tolist() if self._numbered else None
        self.cursor = Line(stroke_color=ManimColor(theme.cursor), stroke_width=stroke_width(4))
        self.stand_on(self.grounds[0])
        self.add(self.grounds, self.names, self.parts, self.cursor)
        self._before: tuple[Any, np.ndarray] | None = None
        self._edges = np.array([[part.begin, part.end] for part in self.pieces], float).reshape(-1, 2)
        self.show(self.window[0])

    def draw(self, was: float) -> None:
        """Draw what has happened by `t`."""
        t = self.t
        for number in np.flatnonzero(self._changing(was)):
            self._show_part(int(number), t)
        share = self._share(t)
        if self._cursor and 0 <= share <= 1:
            top, bottom = self.grounds[0], self.grounds[-1]
            over = 0.12 * np.linalg.norm(axes_of(top)[2]) / max(1e-9, np.linalg.norm(axes_of(bottom)[2]))
            begin = segments(top, np.array([share, 0, share, 1 + over]))[-1]
            end = segments(bottom, np.array([share, 0, share, -over]))[-1]
            self.cursor.set_points_by_ends(begin, end)
        else:
            self.cursor.points = nothing(self.grounds[0])

    def x(self, t: float) -> float:
        return float(place(self.grounds[0], self._share(t))[0])

    def lane(self, sm: int) -> VGroup:
        places = self.trace.device.ctas_per_sm
        row = self._row(sm) * places
        return VGroup(*self.grounds[row : row + places])

    def label(self, sm: int) -> VMobject:
        """The name of an SM."""
        return self.names[self._row(sm)]

    def span(self, tile: int, part: str = "multiply") -> VMobject:
        tiles = self.trace.spans["tile"]
        found = [
            self.parts[number]
            for number, one in enumerate(self.pieces)
            if tiles[one.row] == tile and one.kind in (part, f"{part} under")
        ]
        if not found:
            raise not_shown(tile, part)
        return found[0] if len(found) == 1 else VGroup(*found)

    def _changing(self, was: float) -> np.ndarray:
        """Which parts look otherwise at `t` than at `was`, when they last were shown: bool, shape [parts]."""
        t = self.t
        begin, end = self._edges.T
        seen = (begin < min(t, self.window[1])) & (end > self.window[0])
        stood = (self.window, self.grounds[0].points.tobytes(), self.grounds[-1].points.tobytes())
        before, self._before = self._before, (stood, seen)
        if before is None:
            return np.ones_like(seen)
        if before[0] != stood:
            return seen | before[1]
        low, high = sorted((was, t))
        return (begin <= high) & (end >= low) & (seen | before[1])

    def forget(self) -> None:
        self._before = None

    def _show_part(self, number: int, t: float) -> None:
        """Draw a part as far as it has come."""
        part, drawn = self.pieces[number], self.parts[number]
        ground = self.grounds[part.slot]
        x0 = max(0.0, self._share(part.begin))
        x1 = min(1.0, self._share(min(part.end, t)))
        if x1 <= x0:
            for piece in drawn.get_family():
                piece.points = nothing(ground, min(x0, 1.0))
            return
        y0, y1 = (0.0, UNDER) if part.kind == "write under" else (0.0, 1.0)
        drawn.points = quad(ground, x0, x1, y0, y1)
        if part.kind == "first load":
            drawn.submobjects[0].points = diagonals(ground, x0, x1, px(HATCH))
        if part.kind == "multiply":
            self._show_steps(part, drawn, ground, x0, x1)

    def _show_steps(self, part: Part, drawn: VMobject, ground: VMobject, x0: float, x1: float) -> None:
        """The ticks of a main loop, and its tile's number once there is room."""
        ticks, number = drawn.submobjects
        begin, end = self._share(part.begin), self._share(part.end)
        steps = self._steps[part.row]
        width, height = extent(ground)
        text = "" if self._numbers is None else str(self._numbers[part.row])
        em = min(0.5 * height, 0.8 * (min(1, end) - max(0, begin)) * width / advance(text or "0"))
        middle, half = (max(0.0, begin) + min(1.0, end)) / 2, 0.5 * em * advance(text) / width
        shown = bool(text) and em >= px(16) and x1 >= middle + half
        wide = self._ticks and (end - begin) * width >= steps * px(LEAST_TICKS)
        at = begin + np.arange(1, steps) / steps * (end - begin)
        # None through the number, which says more than one tick.
        at = at[(at <= x1) & (at >= x0) & ~(shown & (np.abs(at - middle) < 1.2 * half))]
        ticks.points = uprights(ground, at) if wide and len(at) else nothing(drawn)
        number.points = figure(ground, text, em, middle) if shown else nothing(drawn)


def _drawn(kind: str, colour: Colour, fills: Mapping[str, AnyColour]) -> VMobject:
    """What a part looks like, without its place."""
    theme = theme_now()
    if kind == "first load":
        part = shape(fills.get(kind, mixed(theme.idle, colour, 0.3)))
        return part.add(strokes(colour, 2.5, 0.0 if kind in fills else 1.0))
    if kind == "multiply":
        fill = fills.get(kind, colour)
        ticks = strokes(theme.background, TICK, 0.55)
        return shape(fill).add(ticks, shape(ink_on(fill)))
    part = shape(fills.get(kind, theme.fill(kind)))
    if kind == "launch":
        # So that those who see orange as another hue see where it ends.
        part.set_stroke(ManimColor(theme.background), stroke_width(3), 1.0)
    return part
