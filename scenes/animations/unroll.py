"""Unroll and Thin: an SM becomes its lane, few lanes become many. SplitIntoTiles: C falls into tiles."""

from typing import Any

import numpy as np
from manim import VMobject, linear, smoothstep

from tilesim_scenes.animations.direct import Direct
from tilesim_scenes.mobjects.drawing.quads import UNIT
from tilesim_scenes.mobjects.hardware.sm import SM
from tilesim_scenes.mobjects.traces.lane_image import LaneImage
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors
from tilesim_scenes.mobjects.traces.lanes import Lanes
from tilesim_scenes.mobjects.traces.tile_grid import TileGrid

UNROLL, THIN, CUT = 0.8, 1.2, 0.6
"""Seconds."""


class Unroll(Direct):
    """The boxes of SMs flatten into the grounds of their lanes, and their names go to where these are named.

    Lanes must be of as many SMs, in the same order.
    """

    def __init__(self, sms: list[SM], lanes: Lanes, run_time: float = UNROLL, **kwargs: Any) -> None:
        self.sms, self.lanes = sms, lanes
        super().__init__(*sms, run_time=run_time, rate_func=linear, **kwargs)

    def begin(self) -> None:
        self._boxes = [(sm.box.get_corner([-1, -1, 0]), sm.box.get_corner([1, 1, 0])) for sm in self.sms]
        self._looks = [sm.box.copy() for sm in self.sms]
        self._names = [
            (sm.heading.get_center(), [one.points.copy() for one in sm.heading.get_family()])
            for sm in self.sms
        ]
        super().begin()

    def interpolate_mobject(self, alpha: float) -> None:
        share = smoothstep(alpha)
        for number, sm in enumerate(self.sms):
            ground = self.lanes.lane(self.lanes.sms[number])
            (low, high), points = self._boxes[number], UNIT
            # It goes to where its lane begins, and unrolls rightwards from there.
            there, unrolled = smoothstep(min(1.0, 2 * alpha)), smoothstep(max(0.0, 2 * alpha - 1))
            left = low + there * (ground.get_corner([-1, -1, 0]) - low)
            end = ground.get_corner([1, 1, 0])
            short = np.array([ground.get_left()[0] + min(high[0] - low[0], ground.width), end[1], 0.0])
            right = high + there * (short - high) + unrolled * (end - short)
            sm.box.points = left + np.pad(points, ((0, 0), (0, 1))) * (right - left)
            sm.box.interpolate_color(self._looks[number], ground[0], unrolled)
            home, letters = self._names[number]
            if len(self.lanes.names):
                end = self.lanes.names[number].get_center()
                for one, own in zip(sm.heading.get_family(), letters, strict=True):
                    one.points = own + share * (end - home)

    def clean_up_from_scene(self, scene: Any) -> None:
        """The lanes take the place of the boxes."""
        super().clean_up_from_scene(scene)
        scene.remove(*self.sms)
        scene.add(self.lanes)


class Thin(Direct):
    """A few lanes shrink to the height that they have among many, which fan out from behind them."""

    def __init__(self, few: LaneVectors, many: LaneImage, run_time: float = THIN, **kwargs: Any) -> None:
        self.few, self.many = few, many
        super().__init__(few, many, run_time=run_time, rate_func=smoothstep, **kwargs)

    def _setup_scene(self, scene: Any) -> None:
        super()._setup_scene(scene)
        scene.bring_to_front(self.few)

    def begin(self) -> None:
        self._few = [(one, one.points.copy()) for one in self.few.get_family()]
        self._many = self.many.points.copy()
        grounds = self.few.grounds
        self._from = (grounds.get_corner([-1, 1, 0]), grounds.width, grounds.height)
        super().begin()

    def interpolate_mobject(self, alpha: float) -> None:
        share = self.rate_func(alpha)
        corner, width, height = self._from
        upper_left, upper_right, lower_left = self._many[:3]
        wide = float(np.linalg.norm(upper_right - upper_left))
        high = float(np.linalg.norm(lower_left - upper_left))
        few_high = high * len(self.few.slots) / len(self.many.slots)
        now = corner + share * (upper_left - corner)
        scale = np.array([1 + share * (wide / width - 1), 1 + share * (few_high / height - 1), 1.0])
        for one, points in self._few:
            one.points = (points - corner) * scale + now
        # The many begin as high as the few, and grow downwards from the same corner.
        grown = np.array([scale[0] * width / wide, (height + share * (high - height)) / high, 1.0])
        self.many.points = (self._many - upper_left) * grown + now
        opened = min(1.0, 4 * share)
        self.many.opacity = opened
        for name in self.few.names:
            name.set_opacity(1 - opened)

    def clean_up_from_scene(self, scene: Any) -> None:
        """The many take the place of the few."""
        super().clean_up_from_scene(scene)
        scene.remove(self.few)


class Place(Direct):
    """The ground of a single lane moves to another, and becomes as large; its parts follow."""

    def __init__(self, lane: LaneVectors, ground: VMobject, run_time: float = UNROLL, **kwargs: Any) -> None:
        self.lane, self.target = lane, ground
        super().__init__(lane, run_time=run_time, rate_func=smoothstep, **kwargs)

    def begin(self) -> None:
        self._from, self._to = self.lane.grounds[0].points.copy(), self.target.get_family()[-1].points.copy()
        super().begin()

    def interpolate_mobject(self, alpha: float) -> None:
        share = self.rate_func(alpha)
        self.lane.grounds[0].points = (1 - share) * self._from + share * self._to
        self.lane.show(self.lane.t)


class SplitIntoTiles(Direct):
    """A matrix falls into its tiles: gaps open between them, from the centre outwards."""

    def __init__(self, whole: VMobject, grid: TileGrid, run_time: float = CUT, **kwargs: Any) -> None:
        self.whole, self.grid = whole, grid
        super().__init__(grid, run_time=run_time, **kwargs)

    def begin(self) -> None:
        problem = self.grid.problem
        self._cells = self.whole.width / problem.tiles_n, self.whole.height / problem.tiles_m
        middle = self.whole.get_center()
        far = max(self.whole.width, self.whole.height) / 2
        self._tiles = [
            (
                tile[0],
                tile[0].points.copy(),
                tile.get_center(),
                float(np.linalg.norm(tile.get_center() - middle) / far),
            )
            for tile in self.grid
        ]
        super().begin()

    def interpolate_mobject(self, alpha: float) -> None:
        self.whole.set_opacity(0.0)
        for ground, points, centre, far in self._tiles:
            share = smoothstep(float(np.clip(2 * alpha - min(far, 1.0), 0, 1)))
            size = np.ptp(points, axis=0)[:2]
            closed = np.array([self._cells[0] / size[0], self._cells[1] / size[1], 1.0])
            ground.points = (points - centre) * (closed + share * (1 - closed)) + centre
