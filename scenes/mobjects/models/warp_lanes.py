"""WarpLanes: what the lanes of a warp do over time, a row for each; the warp rides at the clock."""

from typing import Self

import numpy as np
from manim import PI, ManimColor, VGroup

from tilesim_scenes.look.theme import sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import EMPTY, UNIT, place, places, rectangle, shape
from tilesim_scenes.mobjects.hardware.thread_block import Warp

FILLED, WAITING = 0.8, 0.3
"""Shares of a row's height that are drawn where its lane is at work, and where it is masked."""


class WarpLanes(VGroup):
    """Rows that are filled where an instruction is for their lane, and a thin line where it is not.

    `masks`: bool [steps, lanes], lane 0 on top. `spans`: begin and end of each step, [steps, 2], ascending.
    `until`: at the right end, in the same unit. `width`, `height`: units. The `warp` stands upright at the
    clock, its masked lanes hollow.
    """

    def __init__(
        self, masks: np.ndarray, spans: np.ndarray, until: float, width: float, height: float
    ) -> None:
        theme = theme_now()
        self.masks, self.spans, self.until = np.asarray(masks, bool), np.asarray(spans, float), until
        self.colour = sm_colour(0, 4)
        self.t = 0.0
        lanes = self.masks.shape[1]
        self.ground = rectangle(width, height)
        self.waiting = shape(theme.quiet)
        self.work = shape(self.colour)
        self.warp = Warp(lanes, height / lanes, self.colour).rotate(-PI / 2)
        super().__init__(self.ground, self.waiting, self.work, self.warp)
        self.show(0)

    def show(self, t: float) -> Self:
        """Look as at `t`."""
        self.t = t
        begin, end = self.spans[:, :1], np.minimum(self.spans[:, 1:], t)
        here = begin < t
        self.work.points = self._boxes(self.masks & here, begin, end, FILLED)
        self.waiting.points = self._boxes(~self.masks & here, begin, end, WAITING)
        step = min(int(np.searchsorted(self.spans[:, 1], t, "right")), len(self.masks) - 1)
        self.warp.move_to(self.at(t))
        for dot, busy in zip(self.warp.dots, self.masks[step], strict=True):
            dot.set_fill(ManimColor(self.colour if busy else theme_now().background))
        return self

    def at(self, t: float, row: float = 0.5) -> np.ndarray:
        """Where an instant is, at a share of the height: [3]."""
        return place(self.ground, t / self.until, row)

    def _boxes(self, drawn: np.ndarray, begin: np.ndarray, end: np.ndarray, tall: float) -> np.ndarray:
        """The points of a bar for each step and lane that is `drawn`: [16 · bars, 3]."""
        steps, lanes = np.nonzero(drawn)
        if not len(steps):
            return EMPTY
        x0, x1 = (np.broadcast_to(edge, drawn.shape)[steps, lanes] / self.until for edge in (begin, end))
        row = 1 / drawn.shape[1]
        y0 = 1 - (lanes + 0.5 + tall / 2) * row
        size = np.stack([x1 - x0, np.full(len(steps), tall * row)], axis=1)
        at = UNIT[None] * size[:, None] + np.stack([x0, y0], axis=1)[:, None]
        return places(self.ground, at.reshape(-1, 2))
