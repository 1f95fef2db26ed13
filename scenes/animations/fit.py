"""Fit: a mobject, images in it too, is moved and stretched from one rectangle into another."""

from typing import Any

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Mobject, smoothstep

from tilesim_scenes.animations.direct import Direct


class Fit(Direct):
    """All points of `one` go from their places in the rectangle `since` to the same places in `into`."""

    def __init__(
        self, one: Mobject, since: Mobject, into: Mobject, run_time: float = 0.8, **kwargs: Any
    ) -> None:
        self.one, self.since, self.into = one, since, into
        super().__init__(one, **({"run_time": run_time, "rate_func": smoothstep} | kwargs))

    def begin(self) -> None:
        (low, high), (into_low, into_high) = (
            (place.get_corner(DOWN + LEFT), place.get_corner(UP + RIGHT)) for place in (self.since, self.into)
        )
        scale = np.append(((into_high - into_low)[:2] / (high - low)[:2]), 1.0)
        self._ends = [
            (member, member.points.copy(), into_low + (member.points - low) * scale)
            for member in self.one.get_family()
            if len(member.points)
        ]
        super().begin()

    def interpolate_mobject(self, alpha: float) -> None:
        share = self.rate_func(alpha)
        for member, home, end in self._ends:
            member.points = (1 - share) * home + share * end
