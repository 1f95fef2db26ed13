"""Way: a point that goes from place to place, with the way behind it, drawn by Cairo between whole pixels."""

from dataclasses import dataclass
from math import tau

import cairo
import numpy as np

from tilesim_scenes._stage import glyphs
from tilesim_scenes._stage.bars import eased
from tilesim_scenes._stage.raster import Pixels
from tilesim_scenes._stage.theme import Colour, Theme

MOVES = 0.8
"""Of its step's time, in which a point moves; then it stands."""
LABEL_PX = 38
DOT, NOW, TRAIL = 11.0, 17.0, 4.0
"""Radii of a point where a step was and where it is, and the width of the way between, design pixels."""


@dataclass(frozen=True, slots=True)
class Point:
    """Where a step is in a plot, design pixels: made from the instant `at` on, and called `name`.

    It is a `ring` where its place was modelled, else a disc.
    """

    at: int
    x: float
    y: float
    colour: Colour
    name: str
    ring: bool


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """Draws `points`, of which those from `steps` on mark a place that nobody moves to, on `ground`.

    `ground` is a frame as large as `place`: uint8, shape [height, width, 4].
    """

    place: Pixels
    ground: np.ndarray
    points: tuple[Point, ...]
    steps: int
    scale: float
    theme: Theme

    def __call__(self, frame: np.ndarray, t: float, since: float | None = None) -> list[Pixels]:
        if since is not None and self._state(since) == self._state(t):
            return []
        canvas = self.ground.copy()
        surface = cairo.ImageSurface.create_for_data(
            canvas, cairo.FORMAT_RGB24, self.place.width, self.place.height
        )
        self._draw(cairo.Context(surface), t)
        surface.flush()
        canvas[..., 3] = 255
        frame[self.place.rows, self.place.columns] = canvas
        return [self.place]

    def _state(self, t: float) -> tuple[float, ...]:
        """How far each step is made."""
        return tuple(eased((t - point.at) / MOVES) for point in self.points if point.at < self.steps)

    def _draw(self, context: cairo.Context, t: float) -> None:
        context.translate(-self.place.left, -self.place.top)
        context.scale(self.scale, self.scale)
        context.set_line_cap(cairo.LINE_CAP_ROUND)
        for point in self.points:
            if point.at >= self.steps:
                self._diamond(context, point)
        made = [(p, share) for p, share in zip(self.points, self._state(t), strict=False) if share > 0]
        places = [self._at(number, share) for number, (_, share) in enumerate(made)]
        for (before, after), (point, _) in zip(zip(places, places[1:], strict=False), made[1:], strict=True):
            _ink(context, point.colour, 0.6)
            context.set_line_width(TRAIL)
            context.move_to(*before)
            context.line_to(*after)
            context.stroke()
        for number, ((point, share), place) in enumerate(zip(made, places, strict=True)):
            last = number == len(made) - 1
            size = (NOW if last else DOT) if number else NOW * share
            self._dot(context, point, place, size if last or share < 1 else self._shrunk(made, number))
        for number, ((point, _), place) in enumerate(zip(made, places, strict=True)):
            if number >= len(made) - 2:
                now = made[-1][1]
                self._label(
                    context, point, place, min(1.0, 4 * now) if number == len(made) - 1 else 1 - 4 * now
                )

    def _at(self, number: int, share: float) -> tuple[float, float]:
        """Where the point of a step is that is made so far."""
        point = self.points[number]
        before = self.points[number - 1] if number else point
        return before.x + share * (point.x - before.x), before.y + share * (point.y - before.y)

    def _shrunk(self, made: list[tuple[Point, float]], number: int) -> float:
        """A point that the next one leaves becomes smaller while it goes."""
        share = made[number + 1][1] if number + 1 < len(made) else 0.0
        return NOW + (DOT - NOW) * share

    def _dot(self, context: cairo.Context, point: Point, place: tuple[float, float], radius: float) -> None:
        context.new_sub_path()
        context.arc(*place, radius, 0, tau)
        _ink(context, self.theme.panel if point.ring else point.colour)
        context.fill_preserve()
        _ink(context, point.colour if point.ring else self.theme.panel)
        context.set_line_width(4 if point.ring else 2)
        context.stroke()

    def _diamond(self, context: cairo.Context, point: Point) -> None:
        _ink(context, point.colour)
        for x, y in ((0, -NOW), (NOW, 0), (0, NOW), (-NOW, 0)):
            context.line_to(point.x + 0.8 * x, point.y + 0.8 * y)
        context.close_path()
        context.set_line_width(4)
        context.stroke()

    def _label(
        self, context: cairo.Context, point: Point, place: tuple[float, float], opacity: float
    ) -> None:
        """The name below the point, to the side on which there is more room."""
        if opacity <= 0:
            return
        wide = glyphs.width(point.name, LABEL_PX, bold=True)
        middle = (self.place.left + self.place.width / 2) / self.scale
        x, y = place[0] + (-24 - wide if point.x > middle else 24), place[1] + 46
        _ink(context, self.theme.panel, 0.8 * opacity)
        context.rectangle(x - 8, y - 0.8 * LABEL_PX, wide + 16, 1.05 * LABEL_PX)
        context.fill()
        _ink(context, self.theme.text, opacity)
        context.select_font_face(glyphs.SANS, cairo.FONT_SLANT_NORMAL, cairo.FONT_WEIGHT_BOLD)
        context.set_font_size(LABEL_PX)
        context.move_to(x, y)
        context.show_text(point.name)


def _ink(context: cairo.Context, colour: Colour, opacity: float = 1.0) -> None:
    """A colour for a frame, whose bytes are red, green, blue where Cairo has blue, green, red."""
    red, green, blue = (channel / 255 for channel in colour)
    context.set_source_rgba(blue, green, red, opacity)
