"""The ground that all rasters share: where pixels go, who draws them, and how one lies on another."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Painter = Callable[[np.ndarray, float], None]
"""Draws into a frame (uint8, [height, width, 4]) what there is to see at an instant."""


@dataclass(frozen=True, slots=True)
class Pixels:
    """A rectangle of whole pixels in a frame."""

    left: int
    top: int
    width: int
    height: int

    @property
    def rows(self) -> slice:
        return slice(self.top, self.top + self.height)

    @property
    def columns(self) -> slice:
        return slice(self.left, self.left + self.width)


def blend(frame: np.ndarray, coverage: np.ndarray, colour: np.ndarray, left: int, top: int) -> None:
    """Lay `colour` ([3] or [height, width, 3]) on `frame` as far as `coverage` (uint8, [height, width]) says.

    What sticks out of the frame is cut off.
    """
    height, width = coverage.shape
    y0, y1 = max(0, top), min(frame.shape[0], top + height)
    x0, x1 = max(0, left), min(frame.shape[1], left + width)
    if y0 >= y1 or x0 >= x1:
        return
    part = np.s_[y0 - top : y1 - top, x0 - left : x1 - left]
    alpha = coverage[part][..., None].astype(np.uint16)
    over = (colour[part] if colour.ndim == 3 else colour).astype(np.uint16)
    under = frame[y0:y1, x0:x1, :3]
    under[...] = (under * (255 - alpha) + over * alpha + 127) // 255
