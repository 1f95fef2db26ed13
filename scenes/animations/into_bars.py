"""Into bars: lanes, or their parts, become bars, so that a length is seen to be their time."""

from typing import Any

import numpy as np
from manim import Mobject, VMobject, smoothstep

from tilesim_scenes.animations.direct import Direct, corners, fitted
from tilesim_scenes.animations.fade import looks, show_share
from tilesim_scenes.mobjects.charts.share_bar import ShareBar
from tilesim_scenes.mobjects.drawing.quads import EMPTY, quad
from tilesim_scenes.mobjects.traces.lane_image import LaneImage
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors

GATHER, GOES, APART = 1.8, 0.17, 0.5
"""Seconds; the share of them in which all goes that is not gathered; and that of the rest by which the last
kind sets out after the first."""


class Fit(Direct):
    """All points of `one` go from their places in the rectangle `since` to the same places in `into`."""

    def __init__(
        self, one: Mobject, since: Mobject, into: Mobject, run_time: float = 0.8, **kwargs: Any
    ) -> None:
        self.one, self.since, self.into = one, since, into
        super().__init__(one, run_time=run_time, **kwargs)

    def begin(self) -> None:
        self._ends = [
            (member, member.points.copy(), fitted(member.points, self.since, self.into))
            for member in self.one.get_family()
            if len(member.points)
        ]
        super().begin()

    def interpolate_mobject(self, alpha: float) -> None:
        share = self.rate_func(alpha)
        for member, home, end in self._ends:
            member.points = (1 - share) * home + share * end


class Tip(Direct):
    """`lanes`, from their begin to the end of their run, fill `bar`, a rectangle, and stay what it is of.

    What comes after the run's end is left out, and so are names, ticks and numbers, which would be squeezed.
    """

    def __init__(
        self, lanes: LaneVectors | LaneImage, bar: Mobject, run_time: float = 1.0, **kwargs: Any
    ) -> None:
        self.lanes, self.bar = lanes, bar
        super().__init__(lanes, run_time=run_time, **kwargs)

    def begin(self) -> None:
        lanes = self.lanes
        begin, end = lanes.window
        share = (lanes.trace.makespan - begin) / (end - begin)
        grounds = lanes.grounds
        left = grounds[0].get_left()
        for ground in grounds:
            ground.points = left + (ground.points - left) * [share, 1.0, 1.0]
        lanes.window = begin, float(lanes.trace.makespan)
        lanes.show(lanes.window[1])
        if isinstance(lanes, LaneVectors):
            lanes.names.set_opacity(0.0)
            for part in lanes.parts:
                part.set_stroke(width=0.0)
                for inner in part.submobjects:
                    inner.points = EMPTY
        self._from = [(one, one.points.copy()) for one in lanes.get_family()]
        self._box = corners(grounds)
        super().begin()

    def interpolate_mobject(self, alpha: float) -> None:
        share, (low, high) = self.rate_func(alpha), self._box
        there = corners(self.bar)
        corner = low + share * (there[0] - low)
        scale = 1 + share * (np.divide(there[1] - there[0], high - low, where=high > low, out=np.ones(3)) - 1)
        for one, points in self._from:
            one.points = corner + (points - low) * scale


class Gather(Direct):
    """All that lanes show goes into `bar`, whose whole is the time of all of them.

    What takes w ns in one of n lanes takes w / n of the bar. First all else fades: ticks, numbers, edges, and
    parts of a kind that the bar does not have, such as a write under a main loop, which takes no time of its
    own.
    """

    def __init__(self, lanes: LaneVectors, bar: ShareBar, run_time: float = GATHER, **kwargs: Any) -> None:
        self.lanes, self.bar = lanes, bar
        super().__init__(lanes, run_time=run_time, **kwargs)

    def begin(self) -> None:
        bar, lanes = self.bar, self.lanes
        kinds = list(bar.grounds)
        of_kind: dict[str, list[tuple[VMobject, float]]] = {kind: [] for kind in kinds}
        self._moves: list[tuple[VMobject, np.ndarray, np.ndarray, float]] = []
        goes: list[VMobject] = [*lanes.grounds, *lanes.names, lanes.cursor]
        for part, drawn in zip(lanes.pieces, lanes.parts, strict=True):
            length = float(part.end - part.begin)
            if part.kind in of_kind:
                of_kind[part.kind].append((drawn, length))
            else:
                goes.append(drawn)
            goes += drawn.submobjects
        self._goes = [look for each in goes for look in looks(each)]
        for number, kind in enumerate(kinds):
            ground, rows = bar.grounds[kind], of_kind[kind]
            whole, low = sum(length for _, length in rows), 0.0
            for drawn, length in rows:
                target = quad(ground, low / whole, (low + length) / whole)
                self._moves.append((drawn, drawn.points.copy(), target, number / len(kinds)))
                low += length
        # An edge would hide what is narrow.
        self._edges = [(drawn, drawn.stroke_width) for drawn, *_ in self._moves]
        super().begin()

    def interpolate_mobject(self, alpha: float) -> None:
        stays = 1 - smoothstep(alpha / GOES)
        show_share(self._goes, stays)
        for drawn, width in self._edges:
            drawn.set_stroke(width=stays * width, family=False)
        moved = max(0.0, (alpha - GOES) / (1 - GOES))
        for drawn, start, end, late in self._moves:
            share = smoothstep((moved - APART * late) / (1 - APART))
            drawn.points = (1 - share) * start + share * end if len(start) else start
