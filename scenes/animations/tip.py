"""Tip: a run's lanes tip over into a bar, so that its length is seen to be their time."""

from typing import Any

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Mobject, smoothstep

from tilesim_scenes.animations.direct import Direct
from tilesim_scenes.mobjects.drawing.quads import EMPTY
from tilesim_scenes.mobjects.traces.lane_image import LaneImage
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors


class Tip(Direct):
    """`lanes`, from their begin to the end of their run, fill `bar`, a rectangle, and stay what it is of.

    What comes after the run's end is left out, and so are names, ticks and numbers, which would be squeezed.
    """

    def __init__(
        self, lanes: LaneVectors | LaneImage, bar: Mobject, run_time: float = 1.0, **kwargs: Any
    ) -> None:
        self.lanes, self.bar = lanes, bar
        super().__init__(lanes, run_time=run_time, **({"rate_func": smoothstep} | kwargs))

    def begin(self) -> None:
        lanes = self.lanes
        vectors = isinstance(lanes, LaneVectors)
        begin, end = lanes.window
        share = (lanes.trace.makespan - begin) / (end - begin)
        grounds = lanes.grounds
        left = grounds[0].get_left()
        for ground in grounds:
            ground.points = left + (ground.points - left) * [share, 1.0, 1.0]
        lanes.window = begin, float(lanes.trace.makespan)
        lanes.show(lanes.window[1])
        if vectors:
            lanes.names.set_opacity(0.0)
            for part in lanes.parts:
                part.set_stroke(width=0.0)
                for inner in part.submobjects:
                    inner.points = EMPTY
        self._from = [(one, one.points.copy()) for one in lanes.get_family()]
        self._box = grounds.get_corner(DOWN + LEFT), grounds.get_corner(UP + RIGHT)
        super().begin()

    def interpolate_mobject(self, alpha: float) -> None:
        share, (low, high) = self.rate_func(alpha), self._box
        there = self.bar.get_corner(DOWN + LEFT), self.bar.get_corner(UP + RIGHT)
        corner = low + share * (there[0] - low)
        scale = 1 + share * (np.divide(there[1] - there[0], high - low, where=high > low, out=np.ones(3)) - 1)
        for one, points in self._from:
            one.points = corner + (points - low) * scale
