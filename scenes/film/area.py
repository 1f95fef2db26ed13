"""Area: where a film's picture goes, in Manim's units, for a frame of any shape."""

from typing import NamedTuple

import numpy as np
from manim import DOWN, Mobject, config

from tilesim_scenes.look.text import px

MARGIN, HEAD, FOOT, FOOT_TALL, TWO_LINES, THREE_LINES = 0.05, 90, 160, 250, 236, 318
"""Share of the frame that stays free on both sides; pixels for badge and clock, and for the caption, which
needs several lines in a frame that is not wide, and for captions of so many lines."""


class Area(NamedTuple):
    """A rectangle of the scene."""

    left: float
    right: float
    bottom: float
    top: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.top - self.bottom

    @property
    def center(self) -> np.ndarray:
        """Its middle: float64, shape [3]."""
        return np.array([(self.left + self.right) / 2, (self.bottom + self.top) / 2, 0.0])

    def over(self, foot: Mobject) -> "Area":
        """What is left above a mobject that is put at the foot, above captions of several lines."""
        high = TWO_LINES if config.frame_width > 1.3 * config.frame_height else THREE_LINES
        low = max(self.bottom, px(high) - config.frame_height / 2)
        foot.move_to([self.center[0], low, 0], DOWN)
        return self._replace(bottom=foot.get_top()[1] + px(28))


def picture_area() -> Area:
    """Between the margins, below badge and clock, above the caption."""
    wide, high = config.frame_width, config.frame_height
    edge = (1 / 2 - MARGIN) * wide
    foot = FOOT if wide > 1.3 * high else FOOT_TALL
    return Area(-edge, edge, px(foot) - high / 2, high / 2 - px(54 + HEAD))
