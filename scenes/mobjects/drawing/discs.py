"""Discs: many circles as one mobject's points."""

import numpy as np
from manim import Circle, VMobject

from tilesim_scenes.mobjects.drawing.quads import EMPTY, axes_of

DISC = Circle(1.0).points
"""The points of Manim's Circle around 0: shape [n, 3]."""


def discs_at(centres: np.ndarray, radii: np.ndarray | float) -> np.ndarray:
    """The points of circles around `centres`, shape [circles, 3], with `radii`, one or one each."""
    radii = np.broadcast_to(np.asarray(radii, float), len(centres))
    return (centres[:, None] + radii[:, None, None] * DISC).reshape(-1, 3) if len(centres) else EMPTY


def discs(ground: VMobject, at: np.ndarray, radius: float) -> np.ndarray:
    """The same around shares of a ground's width and height, shape [circles, 2]."""
    origin, right, up = axes_of(ground)
    return discs_at(origin + at[:, :1] * right + at[:, 1:] * up, radius)
