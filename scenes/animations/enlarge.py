"""GrowFromLane: a lane comes forward out of a place where it is small."""

from collections.abc import Callable
from typing import Any

import numpy as np
from manim import DOWN, LEFT, Mobject, smoothstep

from tilesim_scenes.animations.direct import Direct
from tilesim_scenes.mobjects.traces.sm_lane import SmLane


class GrowFromLane(Direct):
    """The lane of `one`, an SmLane, from the outline of its place, a rectangle, to where it stands.

    lane = SmLane(trace, 1, "Naive", width=10, height=1)
    self.play(GrowFromLane(lane, lanes.lane(1)))
    """

    def __init__(
        self,
        one: SmLane,
        outline: Mobject,
        run_time: float = 1.0,
        rate_func: Callable[[float], float] = smoothstep,
        **kwargs: Any,
    ) -> None:
        self.one, self.outline = one, outline
        super().__init__(one, run_time=run_time, rate_func=rate_func, **kwargs)

    def begin(self) -> None:
        grounds = self.one.lane.grounds
        corner, place = grounds.get_corner(DOWN + LEFT), self.outline.get_corner(DOWN + LEFT)
        scale = np.array([self.outline.width / grounds.width, self.outline.height / grounds.height, 1.0])
        homes = [ground.points.copy() for ground in grounds]
        self._ends = [(home, place + (home - corner) * scale) for home in homes]
        super().begin()

    def interpolate_mobject(self, alpha: float) -> None:
        share = self.rate_func(alpha)
        for ground, (home, small) in zip(self.one.lane.grounds, self._ends, strict=True):
            ground.points = (1 - share) * small + share * home
        self.one.show(self.one.t)
        # Not before what stood in its place has gone.
        self.one.whose.set_opacity(max(0.0, 2 * share - 1))
