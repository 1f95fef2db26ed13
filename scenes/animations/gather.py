"""Gather: the parts of lanes line up by kind in one bar, so that a share is seen to be a sum."""

from typing import Any

import numpy as np
from manim import VMobject, smoothstep

from tilesim_scenes.animations.direct import Direct
from tilesim_scenes.animations.fade import opacities, set_opacities
from tilesim_scenes.mobjects.charts.share_bar import ShareBar
from tilesim_scenes.mobjects.drawing.quads import quad
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors

GATHER, GOES, APART = 1.8, 0.17, 0.5
"""Seconds; the share of them in which all goes that is not gathered; and that of the rest by which the last
kind sets out after the first."""


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
        self._goes = [(one, opacities(one)) for each in goes for one in each.get_family()]
        for number, kind in enumerate(kinds):
            ground, rows = bar.grounds[kind], of_kind[kind]
            ground = self._with_slowed(kind) or ground
            whole, low = sum(length for _, length in rows), 0.0
            for drawn, length in rows:
                target = quad(ground, low / whole, (low + length) / whole)
                self._moves.append((drawn, drawn.points.copy(), target, number / len(kinds)))
                low += length
        # An edge would hide what is narrow.
        self._edges = [(drawn, drawn.stroke_width) for drawn, *_ in self._moves]
        super().begin()

    def _with_slowed(self, kind: str) -> VMobject | None:
        """Main loops hold what they are slowed by, too."""
        slowed = self.bar.grounds.get("slowed by a write")
        if kind != "multiply" or slowed is None:
            return None
        whole = self.bar.grounds[kind].copy()
        wide = (slowed.get_right() - whole.get_left())[0] / whole.width
        whole.points = quad(whole, 0, wide)
        return whole

    def interpolate_mobject(self, alpha: float) -> None:
        stays = 1 - smoothstep(min(1.0, alpha / GOES))
        for one, own in self._goes:
            set_opacities(one, own, stays)
        for drawn, width in self._edges:
            drawn.set_stroke(width=stays * width, family=False)
        moved = max(0.0, (alpha - GOES) / (1 - GOES))
        for drawn, start, end, late in self._moves:
            share = smoothstep(float(np.clip((moved - APART * late) / (1 - APART), 0, 1)))
            drawn.points = (1 - share) * start + share * end if len(start) else start
