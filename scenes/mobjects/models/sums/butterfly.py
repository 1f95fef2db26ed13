"""Butterfly: lanes exchange their sums in registers, round by round, until all of them have the whole."""

from typing import Self

import numpy as np
from manim import VGroup

from tilesim.ideas.reduction import WARP, exchanges
from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import Colour, sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.discs import discs
from tilesim_scenes.mobjects.drawing.quads import EMPTY, rectangle, segments, shape, strokes


class Butterfly(VGroup):
    """`t` rounds have passed: each lane's sum goes straight down, and a copy to another lane.

    `lanes`: a power of two up to 32, from lane 0 on the left; `width` by `height` units.

        butterfly = Butterfly()
        self.add(butterfly)
        self.play(PlayTrace(butterfly, until=butterfly.until, run_time=4))
    """

    def __init__(
        self,
        lanes: int = WARP,
        width: float | None = None,
        height: float | None = None,
        colour: Colour | None = None,
    ) -> None:
        width, height = width or px(1200), height or px(500)
        self.partners = exchanges(lanes)
        self.rounds, self.lanes = self.partners.shape
        self.t, self.until = 0.0, float(self.rounds)
        self.ground = rectangle(width, height)
        self.radius = 0.3 * min(width / lanes, height / (self.rounds + 1))
        colour = colour or sm_colour(0, 4)
        self.straight, self.across = strokes(theme_now().operand, 2, 0.35), strokes(colour, 2.5, 0.8)
        self.sums, self.moving = shape(colour), shape(colour)
        super().__init__(self.ground, self.straight, self.across, self.sums, self.moving)
        self.show(0)

    def show(self, t: float) -> Self:
        """Look as after `t` rounds."""
        self.t = t
        number = min(int(t), self.rounds)
        rows = [self._at(np.arange(self.lanes), row) for row in range(number + 1)]
        self.sums.points = self._discs(np.concatenate(rows))
        ways = [self._ways(row, 1.0) for row in range(number)]
        if number < self.rounds and t > number:
            ways.append(self._ways(number, t - number))
            heads = np.concatenate([ways[-1][0][:, 2:], ways[-1][1][:, 2:]])
            self.moving.points = self._discs(heads)
        else:
            self.moving.points = EMPTY
        for drawn, side in ((self.straight, 0), (self.across, 1)):
            ends = [pair[side] for pair in ways]
            drawn.points = segments(self.ground, np.concatenate(ends)) if ends else EMPTY
        return self

    def _at(self, lanes: np.ndarray, row: float) -> np.ndarray:
        """Shares of the ground's width and height: float64, shape [lanes, 2]."""
        down = 1 - (row + 0.5) / (self.rounds + 1)
        return np.stack([(lanes + 0.5) / self.lanes, np.full(len(lanes), down)], axis=1)

    def _ways(self, number: int, share: float) -> tuple[np.ndarray, np.ndarray]:
        """(straight, across) of a round, gone to a share of their way: float64, shape [lanes, 4] both."""
        lanes = np.arange(self.lanes)
        start = self._at(lanes, number)
        ends = self._at(lanes, number + 1), self._at(self.partners[number], number + 1)
        return tuple(np.concatenate([start, start + share * (end - start)], axis=1) for end in ends)

    def _discs(self, at: np.ndarray) -> np.ndarray:
        return discs(self.ground, at, self.radius)
