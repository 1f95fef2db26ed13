"""Unroll: an SM becomes its lane. SplitIntoTiles: C falls into tiles."""

from typing import Any

import numpy as np
from manim import VMobject, smoothstep

from tilesim_scenes.animations.direct import Direct, corners
from tilesim_scenes.mobjects.drawing.quads import UNIT
from tilesim_scenes.mobjects.hardware.memory import SM
from tilesim_scenes.mobjects.traces.lanes import Lanes
from tilesim_scenes.mobjects.traces.tile_grid import TileGrid

UNROLL, CUT = 0.8, 0.6
"""Seconds."""


class Unroll(Direct):
    """The boxes of SMs flatten into the grounds of their lanes, and their names go to where these are named.

    Lanes must be of as many SMs, in the same order.
    """

    def __init__(self, sms: list[SM], lanes: Lanes, run_time: float = UNROLL, **kwargs: Any) -> None:
        self.sms, self.lanes = sms, lanes
        super().__init__(*sms, run_time=run_time, **kwargs)

    def begin(self) -> None:
        self._boxes = [corners(sm.box) for sm in self.sms]
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
            (low, high), (begin, end) = self._boxes[number], corners(ground)
            # It goes to where its lane begins, and unrolls rightwards from there.
            there, unrolled = smoothstep(2 * alpha), smoothstep(2 * alpha - 1)
            left = low + there * (begin - low)
            short = np.array([ground.get_left()[0] + min(high[0] - low[0], ground.width), end[1], 0.0])
            right = high + there * (short - high) + unrolled * (end - short)
            sm.box.points = left + np.pad(UNIT, ((0, 0), (0, 1))) * (right - left)
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


class SplitIntoTiles(Direct):
    """A matrix falls into its tiles: gaps open between them, from the centre outwards."""

    def __init__(self, whole: VMobject, grid: TileGrid, run_time: float = CUT, **kwargs: Any) -> None:
        self.whole, self.grid = whole, grid
        super().__init__(grid, run_time=run_time, **kwargs)

    def begin(self) -> None:
        problem = self.grid.problem
        self._cells = self.whole.width / problem.tiles_n, self.whole.height / problem.tiles_m
        middle = self.whole.get_center()
        reach = max(self.whole.width, self.whole.height) / 2
        self._tiles = []
        for tile in self.grid:
            far = float(np.linalg.norm(tile.get_center() - middle) / reach)
            self._tiles.append((tile[0], tile[0].points.copy(), tile.get_center(), far))
        super().begin()

    def interpolate_mobject(self, alpha: float) -> None:
        self.whole.set_opacity(0.0)
        for ground, points, centre, far in self._tiles:
            share = smoothstep(2 * alpha - min(far, 1.0))
            size = np.ptp(points, axis=0)[:2]
            closed = np.array([self._cells[0] / size[0], self._cells[1] / size[1], 1.0])
            ground.points = (points - centre) * (closed + share * (1 - closed)) + centre
