"""Quads: rectangles and lines inside another rectangle, at shares of its width and height.

A mobject that changes with time is drawn on a ground that stands still. What is drawn takes its place from
the ground's points as they are, so it follows whenever somebody has moved, scaled or turned the whole.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
from manim import Circle, Line, ManimColor, RoundedRectangle, VGroup, VMobject

from tilesim_scenes.look.text import advance, outline, px
from tilesim_scenes.look.theme import AnyColour, mixed, theme_now

_CORNERS = np.array([[1, 1], [0, 1], [0, 0], [1, 0], [1, 1]], float)
_THIRDS = np.linspace(0, 1, 4)[:, None]
UNIT = np.concatenate([(1 - _THIRDS) * start + _THIRDS * end for start, end in pairwise(_CORNERS)])
"""The points of Manim's Rectangle on the unit square, from its upper right corner on: shape [16, 2]."""
EMPTY = np.zeros((0, 3))
"""Points of what is not there at all."""
HALF_DIGIT = 0.36
"""Ems from the baseline to the middle of a digit."""


def rectangle(width: float, height: float, fill: AnyColour | None = None, opacity: float = 1.0) -> VMobject:
    """A rectangle without an edge, filled with a colour, or not at all."""
    box = shape(fill, opacity if fill else 0.0)
    box.points = np.pad((UNIT - 0.5) * [width, height], [(0, 0), (0, 1)])
    return box


def disc(radius: float, fill: AnyColour) -> Circle:
    """A disc without an edge."""
    return Circle(radius, stroke_width=0.0, fill_color=ManimColor(fill), fill_opacity=1.0)


def shape(fill: AnyColour | None, opacity: float = 1.0, of: type[VMobject] = VMobject) -> VMobject:
    """A mobject, of a class, with a fill and no points as yet."""
    return of(fill_color=ManimColor(fill), fill_opacity=opacity, stroke_width=0.0)


def strokes(colour: AnyColour, width: float, opacity: float = 1.0) -> VMobject:
    """A mobject of lines with no points as yet; `width` in pixels, as `px` has them."""
    return VMobject(
        stroke_color=ManimColor(colour),
        stroke_width=stroke_width(width),
        stroke_opacity=opacity,
        fill_opacity=0.0,
    )


def edged(mobject: VMobject, colour: AnyColour, pixels: float) -> VMobject:
    """A mobject whose edge, or whose lines, have a colour and a width."""
    return mobject.set_stroke(ManimColor(colour), stroke_width(pixels))


def rounded(
    width: float, height: float, radius: float, edge: AnyColour, pixels: float, fill: AnyColour | None = None
) -> RoundedRectangle:
    """A rectangle with round corners and an edge `pixels` wide, filled with a colour, or not at all."""
    box = edged(_rounded(width, height, radius).copy(), edge, pixels)
    return box.set_fill(ManimColor(fill), 1.0) if fill else box


@lru_cache(maxsize=64)
def _rounded(width: float, height: float, radius: float) -> RoundedRectangle:
    """A box to copy, which takes a tenth of the time that Manim takes to round its corners."""
    return RoundedRectangle(width=width, height=height, corner_radius=radius)


def bracket(left: float, right: float, y: float, colour: AnyColour, pixels: float = 4.0) -> VGroup:
    """A level line, with a tick at each end."""
    ticks = (Line([x, y - px(14), 0], [x, y + px(14), 0]) for x in (left, right))
    return edged(VGroup(Line([left, y, 0], [right, y, 0]), *ticks), colour, pixels)


def stroke_width(pixels: float) -> float:
    """Manim's stroke width of so many pixels, as `px` has them: it counts hundredths of a unit."""
    return 100 * px(pixels)


def axes_of(ground: VMobject) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(origin, right, up): a rectangle's lower left corner, and the vectors along its width and height."""
    points = ground.points
    if len(points) <= 12:
        # Manim has drawn only a part of it as yet.
        return points[0], np.zeros(3), np.zeros(3)
    return points[8], points[12] - points[8], points[4] - points[8]


def places(ground: VMobject, at: np.ndarray) -> np.ndarray:
    """Points at shares of a ground's width and height, shape [n, 2]: float64, shape [n, 3]."""
    origin, right, up = axes_of(ground)
    return origin + at[:, :1] * right + at[:, 1:] * up


def place(ground: VMobject, x: float, y: float = 0.0) -> np.ndarray:
    """The point at shares of a ground's width and height: float64, shape [3]."""
    return places(ground, np.array([[x, y]]))[0]


def nothing(ground: VMobject, x: float | None = None) -> np.ndarray:
    """Points of what shows nothing: four in one place of a ground, so that it is moved along.

    It is the ground's first point, or lies at a share `x` of its width.
    """
    at = ground.points[0] if x is None else place(ground, x)
    return np.repeat(at[None], 4, axis=0)


def quad(ground: VMobject, x0: float, x1: float, y0: float = 0.0, y1: float = 1.0) -> np.ndarray:
    """The points of a rectangle from (x0, y0) to (x1, y1), shares of the ground's: float64, shape [16, 3]."""
    return places(ground, UNIT * [x1 - x0, y1 - y0] + [x0, y0])


def segments(ground: VMobject, ends: np.ndarray) -> np.ndarray:
    """The points of lines, each (x0, y0, x1, y1) in shares of the ground's: float64, shape [4 · lines, 3]."""
    ends = np.reshape(ends, (-1, 2, 2))
    return places(ground, (ends[:, :1] + (ends[:, 1:] - ends[:, :1]) * _THIRDS[None]).reshape(-1, 2))


def uprights(ground: VMobject, at: np.ndarray) -> np.ndarray:
    """The points of lines through a ground's whole height, at shares of its width: [4 · lines, 3]."""
    none = np.zeros(len(at))
    return segments(ground, np.stack([at, none, at, none + 1], axis=1)) if len(at) else nothing(ground)


def levels(ground: VMobject, at: np.ndarray) -> np.ndarray:
    """The points of level lines across a ground, at shares of its height: [4 · lines, 3]."""
    none = np.zeros(len(at))
    return segments(ground, np.stack([none, at, none + 1, at], axis=1)) if len(at) else nothing(ground)


def striped(ground: VMobject, colours: Sequence[AnyColour], hatch: float, pale: float) -> VGroup:
    """A ground in equal parts, one a colour; hatched, so many pixels apart, on a `pale` share of it."""
    stripes = VGroup()
    for number, colour in enumerate(colours):
        part = rectangle(1, 1, mixed(theme_now().idle, colour, pale) if hatch else colour)
        part.points = quad(ground, number / len(colours), (number + 1) / len(colours))
        stripes.add(part)
        if hatch and part.width > px(hatch):
            lines = strokes(colour, 2.5)
            lines.points = diagonals(part, 0, 1, px(hatch))
            stripes.add(lines)
    return stripes


def extent(ground: VMobject) -> tuple[float, float]:
    """How wide and high a ground is, however it was turned."""
    _, right, up = axes_of(ground)
    return max(float(np.linalg.norm(right)), 1e-9), max(float(np.linalg.norm(up)), 1e-9)


def figure(ground: VMobject, text: str, em: float, x: float = 0.5) -> np.ndarray:
    """The points of digits, `em` units high, centred at a share of a ground's width: shape [n, 3]."""
    glyphs = outline(text) - [advance(text) / 2, HALF_DIGIT, 0]
    return places(ground, glyphs[:, :2] * em / extent(ground) + [x, 0.5])


def diagonals(ground: VMobject, x0: float, x1: float, gap: float) -> np.ndarray:
    """Lines that rise at 45° through part of a ground, `gap` units apart: points, shape [4 · lines, 3].

    They keep their places while x1 grows.
    """
    width, height = extent(ground)
    low, high = x0 * width, x1 * width
    if high <= low:
        return nothing(ground)
    foot = np.arange(low - height + gap / 2, high, gap)
    start, end = np.maximum(foot, low), np.minimum(foot + height, high)
    ends = np.stack([start / width, (start - foot) / height, end / width, (end - foot) / height])
    return segments(ground, ends.T)
