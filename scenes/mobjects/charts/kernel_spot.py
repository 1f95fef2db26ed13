"""KernelSpot: a kernel on a roofline, and how much of what its roof allows it reaches."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from manim import LEFT, VGroup, smoothstep

from tilesim.analysis.roofs import Spot
from tilesim_scenes.look.text import Figure, label, px
from tilesim_scenes.look.theme import theme_now
from tilesim_scenes.mobjects.charts.roofline import NAME, Roofline
from tilesim_scenes.mobjects.drawing.quads import EMPTY, HALF_DIGIT, segments, strokes

SHARE, GAP, THREAD = 60, 26, 4
"""Pixels: of the share's digits, from the dot to its words, and of the thread from the dot to the roof."""


class KernelSpot(VGroup):
    """A dot that goes along `path`, with a thread up to its roof, its name, and the share of that it reaches.

    Its time `t` is the spots that it has passed; until it is at the next, the share is the last one's.
    `gb_per_s`: of the memory whose bytes count; `peak`: TFLOP/s of arithmetic, the chart's by default.
    `beside`: words stand right of the dot; else below it. `own`: number of the first spot that is the
    kernel's; on its way there from another's it says no share.

        kernel = KernelSpot(chart, "sum", [slow, fast], gb_per_s=4500)
        self.play(PlayTrace(kernel, until=1, run_time=1))
    """

    def __init__(
        self,
        chart: Roofline,
        name: str,
        path: Sequence[Spot],
        gb_per_s: float,
        peak: float | None = None,
        beside: bool = False,
        own: int = 0,
    ) -> None:
        theme = theme_now()
        self.chart, self.path, self.t, self.beside, self.own = chart, tuple(path), 0.0, beside, own
        self.tb, self.peak = gb_per_s / 1000, peak or chart.peak
        self.dot = chart.dot(path[0].intensity, path[0].tflops)
        self.thread = strokes(theme.measured, THREAD)
        self.heading = label(name, NAME, bold=True)
        self.figure = Figure(size=SHARE, color=theme.measured)
        self.words = VGroup(self.thread, self.heading, self.figure)
        super().__init__(self.words, self.dot)
        self.show(0.0)

    @property
    def until(self) -> float:
        """Its time at the end of its path."""
        return len(self.path) - 1.0

    def at(self, t: float) -> tuple[float, float]:
        """FLOP a byte and TFLOP/s; between two spots, on a straight line of the chart."""
        before = min(int(t), len(self.path) - 1)
        after = min(before + 1, len(self.path) - 1)
        ends = np.log([self.path[before][1:], self.path[after][1:]])
        intensity, tflops = np.exp(ends[0] + smoothstep(t - before) * (ends[1] - ends[0]))
        return float(intensity), float(tflops)

    def share(self, t: float) -> float:
        """Of what its roof allows, how much it reaches."""
        intensity, tflops = self.at(t)
        return tflops / min(self.peak, intensity * self.tb)

    def show(self, t: float) -> Self:
        """Look as after `t` of its spots."""
        self.t = t
        (intensity, tflops), share = self.at(t), self.share(t)
        here = self.chart.at(intensity, tflops)
        self.dot.move_to(here)
        across = float(self.chart.share(intensity, 0))
        ends = (float(self.chart.share(height, 1)) for height in (tflops, tflops / share))
        low, high = ends
        self.thread.points = (
            segments(self.chart.ground, [[across, low, across, high]]) if share < 1 else EMPTY
        )
        passed = int(t)
        self.figure.write(_percent(self.share(passed)) if passed >= self.own else "")
        self._place(here, across)
        return self

    def _place(self, here: np.ndarray, across: float) -> None:
        """Name and share beside the dot; or below it and its roof, so far left that they stay in it."""
        between = px(0.5 * GAP)
        digits = self.figure.get_right()[0] - self.figure.submobjects[0].points[0][0]
        wide = self.heading.width + between + digits
        room = (1 - across) * self.chart.ground.width
        offset = [px(GAP), 0, 0] if self.beside else [min(0, room - wide), -px(GAP + 0.5 * SHARE), 0]
        left = here + np.array(offset)
        if not self.beside:
            # Where they reach left of the ridge, the roof is lower than above the dot.
            low, high = self.chart.x
            x = low * (high / low) ** (across + offset[0] / self.chart.ground.width)
            left[1] = min(left[1], self.chart.at(x, min(self.peak, x * self.tb))[1] - px(SHARE))
        self.heading.move_to(left, LEFT)
        baseline = left + np.array([self.heading.width + between, -HALF_DIGIT * px(SHARE), 0])
        self.figure.shift(baseline - self.figure.submobjects[0].points[0])


def _percent(share: float) -> str:
    """A share as people read it: two digits below 1 %.

    >>> _percent(0.553), _percent(0.00042)
    ('55%', '0.042%')
    """
    return f"{share:.0%}" if share >= 0.01 else f"{100 * share:.2g}%"
