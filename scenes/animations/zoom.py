"""Zoom: lanes show less of their time, larger; a lane, or the camera, comes nearer."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from manim import Mobject

from tilesim_scenes.animations.direct import Direct, fitted
from tilesim_scenes.animations.run import Timed
from tilesim_scenes.mobjects.traces.sm_lane import SmLane

CAMERA = 1.2
"""Seconds, as a camera's move."""


class Zoom(Direct):
    """Moves the window of `lanes`, ns, to `window`; what is timed and stands over them follows.

    Only time is stretched: lanes and their names stay where they are.
    """

    def __init__(
        self,
        *lanes: Timed,
        window: tuple[float, float],
        over: Sequence[Timed] = (),
        run_time: float = CAMERA,
        **kwargs: Any,
    ) -> None:
        self.lanes, self.over, self.window = lanes, tuple(over), window
        super().__init__(*lanes, *over, run_time=run_time, **kwargs)

    def begin(self) -> None:
        self._from = [lane.window for lane in self.lanes]
        super().begin()

    def interpolate_mobject(self, alpha: float) -> None:
        for lane, before in zip(self.lanes, self._from, strict=True):
            lane.window = between(before, self.window, self.rate_func(alpha))
            lane.show(lane.t)
        for one in self.over:
            one.show(one.t)


def between(before: tuple[float, float], after: tuple[float, float], share: float) -> tuple[float, float]:
    """A window on the way from one to another: its length changes by equal ratios in equal shares.

    >>> [tuple(map(round, between((0, 100), (40, 41), share))) for share in (0, 0.5, 1)]
    [(0, 100), (36, 46), (40, 41)]
    """
    lengths = before[1] - before[0], after[1] - after[0]
    length = lengths[0] * (lengths[1] / lengths[0]) ** share
    # An instant that does not move, where there is one, keeps still all the way.
    part = share if lengths[0] == lengths[1] else (length - lengths[0]) / (lengths[1] - lengths[0])
    begin = before[0] + part * (after[0] - before[0])
    return begin, begin + length


class GrowFromLane(Direct):
    """The lane of `one`, an SmLane, from the outline of its place, a rectangle, to where it stands."""

    def __init__(self, one: SmLane, outline: Mobject, run_time: float = 1.0, **kwargs: Any) -> None:
        self.one, self.outline = one, outline
        super().__init__(one, run_time=run_time, **kwargs)

    def begin(self) -> None:
        grounds = self.one.lane.grounds
        homes = [ground.points.copy() for ground in grounds]
        self._ends = [(home, fitted(home, grounds, self.outline)) for home in homes]
        super().begin()

    def interpolate_mobject(self, alpha: float) -> None:
        share = self.rate_func(alpha)
        for ground, (home, small) in zip(self.one.lane.grounds, self._ends, strict=True):
            ground.points = (1 - share) * small + share * home
        self.one.show(self.one.t)
        # Not before what stood in its place has gone.
        self.one.whose.set_opacity(max(0.0, 2 * share - 1))


class Look(Direct):
    """Brings a camera's frame to `center` and `width`, evenly on a log scale.

    `fixed`: a list of what stays in its place on the screen, read when the move begins.
    """

    def __init__(self, frame: Mobject, center: np.ndarray, width: float, fixed: list[Mobject]) -> None:
        self.frame, self.fixed = frame, fixed
        self.center, self.frame_width = np.array(center, float), width
        super().__init__(frame, run_time=CAMERA)

    def begin(self) -> None:
        self._from = self.frame.get_center(), self.frame.width
        members = {id(one): one for whole in (self.frame, *self.fixed) for one in whole.get_family()}
        self._stood = [(one, one.points.copy()) for one in members.values()]
        super().begin()

    def interpolate_mobject(self, alpha: float) -> None:
        (center, width), share = self._from, self.rate_func(alpha)
        scale = (self.frame_width / width) ** share
        # A point that does not move on the screen, where there is one, keeps still all the way.
        part = share if self.frame_width == width else (scale - 1) / (self.frame_width / width - 1)
        now = center + part * (self.center - center)
        for one, points in self._stood:
            one.points = (points - center) * scale + now
