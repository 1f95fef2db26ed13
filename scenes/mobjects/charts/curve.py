"""Curve: a line through data that is drawn as the data comes."""

from collections.abc import Sequence

import numpy as np

from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import Colour, theme_now
from tilesim_scenes.mobjects.charts.plot import Plot
from tilesim_scenes.mobjects.drawing.quads import nothing, rectangle, shape, strokes
from tilesim_scenes.mobjects.drawing.redrawn import Redrawn


class Curve(Redrawn):
    """`points`, (x, y) by rising x, in a `plot`, up to `t` on its x axis: `show(t)`, so `PlayTrace` draws it.

    `width`: pixels. A square marks its head while it grows.
    """

    over = ("plot",)

    def __init__(
        self,
        plot: Plot,
        points: Sequence[tuple[float, float]],
        colour: Colour | None = None,
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
