"""Plot: two axes with round figures. Curve and Roofline: what is drawn between them."""

from collections.abc import Sequence

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Dot, ManimColor, Text, VGroup, VMobject

from tilesim_scenes.look.text import Figure, label, px
from tilesim_scenes.look.theme import AnyColour, theme_now
from tilesim_scenes.mobjects.drawing.quads import (
    HALF_DIGIT,
    nothing,
    place,
    rectangle,
    segments,
    shape,
    strokes,
)
from tilesim_scenes.mobjects.drawing.redrawn import Redrawn

TICK_SIZE = 32
LINE, DOT, NAME, TICK = 6, 18, 48, 40
"""Pixels: of a line and of a dot's radius, and in a Roofline of a name's letters and the axes' figures."""
ALLOWED = 0.5
"""Opacity of the ground below a roof."""


class Plot(VGroup):
    """Axes from `x` to `y`, each (low, high), with lines and figures at `x_ticks` and `y_ticks`.

    `width`, `height`: units of the field between the axes; figures of `size` pixels stand left of it and
    below. `log`: both axes are logarithmic.

    Raises ValueError where an axis has no length, or a logarithmic one does not begin above 0.
    """

    def __init__(
        self,
        x: tuple[float, float],
        y: tuple[float, float],
        x_ticks: Sequence[float] = (),
        y_ticks: Sequence[float] = (),
        width: float | None = None,
        height: float | None = None,
        log: bool = False,
        size: float = TICK_SIZE,
    ) -> None:
        super().__init__()
        if x[0] >= x[1] or y[0] >= y[1] or (log and min(*x, *y) <= 0):
            raise ValueError(
                f"an axis must run from low to high, and above 0 where logarithmic; got {x}, {y}"
            )
        self.log, self._ends = log, np.array([x, y], float)
        theme = theme_now()
        self.ground = rectangle(width or px(1400), height or px(600))
        self.lines = strokes(theme.idle, 2)
        across, up = self.share(np.array(x_ticks, float), 0), self.share(np.array(y_ticks, float), 1)
        ends = [(share, 0.0, share, 1.0) for share in across] + [(0.0, share, 1.0, share) for share in up]
        if ends:
            self.lines.points = segments(self.ground, np.array(ends))
        self.figures = VGroup()
        for value, share in zip(x_ticks, across, strict=True):
            figure = Figure(f"{value:,g}", size, theme.quiet, bold=False, align=0.5)
            self.figures.add(figure.next_to(place(self.ground, share, 0), DOWN, px(16)))
        for value, share in zip(y_ticks, up, strict=True):
            figure = Figure(f"{value:,g}", size, theme.quiet, bold=False)
            # The middle of its digits is not that of its em.
            figure.next_to(place(self.ground, 0, share), LEFT, px(16))
            self.figures.add(figure.shift((0.5 - HALF_DIGIT) * px(size) * UP))
        self.add(self.ground, self.lines, self.figures)

    def at(self, x: float, y: float) -> np.ndarray:
        """Where a point of data is, wherever and however large the plot is by now: shape [3]."""
        return place(self.ground, float(self.share(x, 0)), float(self.share(y, 1)))

    def path(self, points: np.ndarray) -> np.ndarray:
        """A line through data, shape [points, 2], as Manim's curves have it: shape [4 · (points − 1), 3]."""
        points = np.asarray(points, float)
        shares = np.stack([self.share(points[:, 0], 0), self.share(points[:, 1], 1)], axis=1)
        return segments(self.ground, np.concatenate([shares[:-1], shares[1:]], axis=1))

    def share(self, value: float | np.ndarray, axis: int) -> np.ndarray:
        """How far along an axis (0: x, 1: y) values are, 0 to 1 between its ends."""
        low, high = self._ends[axis]
        if self.log:
            return np.log(np.asarray(value, float) / low) / np.log(high / low)
        return (np.asarray(value, float) - low) / (high - low)


def line(plot: Plot, points: np.ndarray, colour: AnyColour) -> VMobject:
    """A line through data in a plot."""
    drawn = strokes(colour, LINE)
    drawn.points = plot.path(points)
    return drawn


class Curve(Redrawn):
    """`points`, (x, y) by rising x, in a `plot`, up to `t` on its x axis: `show(t)`, so `PlayTrace` draws it.

    `width`: pixels. A square marks its head while it grows.
    """

    over = ("plot",)

    def __init__(
        self,
        plot: Plot,
        points: Sequence[tuple[float, float]],
        colour: AnyColour | None = None,
        width: float = 7,
    ) -> None:
        super().__init__()
        self.plot, self.data = plot, np.array(points, float)
        ink = colour or theme_now().text
        self.stroke, self.head = strokes(ink, width), shape(ink)
        self._size = px(2.6 * width)
        self.add(self.stroke, self.head)
        self.stand_on(plot.ground)
        self.show(float(self.data[0, 0]))

    def draw(self, was: float) -> None:
        """Draw the data up to `t`."""
        t = self.t
        x, y = self.data.T
        drawn = self.data[x < t]
        if not len(drawn):
            self.stroke.points = self.head.points = np.repeat([self.plot.at(*self.data[0])], 4, axis=0)
            return
        head = np.array([min(t, x[-1]), np.interp(t, x, y)])
        self.stroke.points = self.plot.path(np.vstack([drawn, head]))
        square = rectangle(self._size, self._size).move_to(self.plot.at(*head))
        self.head.points = square.points if t < x[-1] else nothing(square)


class Roofline(Plot):
    """A plot of `intensity`, FLOP a byte, and `tflops`, each (low, high), under a flat roof of `peak`.

    `peak`: TFLOP/s. `width`, `height`: units of its field.
    """

    def __init__(
        self,
        intensity: tuple[float, float],
        tflops: tuple[float, float],
        peak: float,
        width: float | None = None,
        height: float | None = None,
    ) -> None:
        self.peak, self.x, self.y = peak, intensity, tflops
        ticks = _decades(*intensity), _decades(*tflops)
        super().__init__(intensity, tflops, *ticks, width, height, log=True, size=TICK)

    def slope(self, gb_per_s: float, colour: AnyColour | None = None) -> VMobject:
        """The roof of a memory that gives so many bytes a second, from the plot's edge up to the peak."""
        tb = gb_per_s / 1000
        start = max(self.x[0], self.y[0] / tb)
        return line(
            self, np.array([[start, start * tb], [self.peak / tb, self.peak]]), colour or theme_now().text
        )

    def flat(self, since: float, peak: float | None = None, colour: AnyColour | None = None) -> VMobject:
        """The roof of arithmetic, from an intensity on: of `peak` TFLOP/s where that is not the chart's."""
        height = peak or self.peak
        return line(self, np.array([[since, height], [self.x[1], height]]), colour or theme_now().text)

    def dot(self, intensity: float, tflops: float, colour: AnyColour | None = None) -> Dot:
        """A kernel, measured."""
        ink = ManimColor(colour or theme_now().measured)
        return Dot(self.at(intensity, tflops), radius=px(DOT), color=ink)

    def tag(
        self, text: str, dot: VMobject, side: np.ndarray = RIGHT, colour: AnyColour | None = None
    ) -> Text:
        """A name on one side of a dot."""
        return label(text, NAME, colour, bold=True).next_to(dot, side, px(14))

    def allowed(self, gb_per_s: float) -> VMobject:
        """All that a memory and the flat roof allow, as a ground below them."""
        tb = gb_per_s / 1000
        (left, right), (low, _) = self.x, self.y
        start = max(left, low / tb)
        corners = [
            (start, low),
            (start, start * tb),
            (self.peak / tb, self.peak),
            (right, self.peak),
            (right, low),
        ]
        ground = shape(theme_now().idle, ALLOWED)
        return ground.set_points_as_corners([self.at(*corner) for corner in (*corners, corners[0])])


def _decades(low: float, high: float) -> list[float]:
    """The powers of ten between two values.

    >>> _decades(0.05, 20)
    [0.1, 1.0, 10.0]
    """
    return [10.0**power for power in range(int(np.ceil(np.log10(low))), int(np.floor(np.log10(high))) + 1)]
