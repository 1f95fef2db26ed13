"""ByteFlow: bytes that go up the roof of a memory, as far as they are asked for."""

from collections.abc import Callable
from typing import Self

import numpy as np
from manim import VGroup

from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import theme_now
from tilesim_scenes.mobjects.charts.roofline import Roofline
from tilesim_scenes.mobjects.drawing.quads import EMPTY, quad, rectangle, shape

SIZE, APART, SPEED = 24, 150, 600
"""Pixels of a byte's side, from one to the next, and that each goes in a second."""
SWELL = 60
"""Pixels of way over which a byte grows where it comes from, and shrinks where it ends."""


class ByteFlow(VGroup):
    """Squares on a roof of `chart`: up the slope of a memory that gives `gb_per_s`, then along the flat.

    Its time `t` is the seconds since the first byte left; `show(t)` draws it, so `PlayTrace` moves it.
    `reach()`: FLOP a byte where they end. `peak`: TFLOP/s of the flat, the chart's by default.

        flow = ByteFlow(chart, 4500, lambda: kernel.at(kernel.t)[0])
        self.play(PlayTrace(flow, until=2, run_time=2))
    """

    def __init__(
        self, chart: Roofline, gb_per_s: float, reach: Callable[[], float], peak: float | None = None
    ) -> None:
        self.chart, self.reach, self.t = chart, reach, 0.0
        self.tb, self.peak = gb_per_s / 1000, peak or chart.peak
        longest = chart.ground.width + chart.ground.height
        self.bytes = VGroup(*(shape(theme_now().operand) for _ in range(int(longest / px(APART)) + 2)))
        super().__init__(self.bytes)
        self.show(0.0)

    @property
    def corners(self) -> np.ndarray:
        """Of its way, from the chart's edge to where it ends: shape [2 or 3, 3]."""
        start = max(self.chart.x[0], self.chart.y[0] / self.tb)
        end, ridge = max(self.reach(), start), self.peak / self.tb
        way = [start, *([ridge] if start < ridge < end else []), end]
        return np.array([self.chart.at(x, min(self.peak, x * self.tb)) for x in way])

    def show(self, t: float) -> Self:
        """Look as `t` seconds after the first byte left."""
        self.t = t
        corners = self.corners
        gone = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(corners, axis=0), axis=1)))
        # As many as there are follow each other round, so that each keeps its distance to the next.
        way = px(SPEED) * t - px(APART) * np.arange(len(self.bytes))
        way = np.where(way > 0, way % (px(APART) * len(self.bytes)), -1.0)
        for byte, at in zip(self.bytes, way.tolist(), strict=True):
            size = px(SIZE) * min(1.0, at / px(SWELL), (gone[-1] - at) / px(SWELL))
            byte.points = EMPTY
            if size > 0:
                place = [np.interp(at, gone, corners[:, axis]) for axis in range(3)]
                byte.points = quad(rectangle(size, size).move_to(place), 0, 1)
        return self
