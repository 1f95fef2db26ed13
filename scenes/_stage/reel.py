"""Reel: a film ready to be shown, as plain data. What is on screen is a function of the film's second.

A frame need not be drawn from nothing: where it shows the film at one second, `paint` draws only what is
different at another. Needs no Manim, so that other processes can draw a reel as soon as they have read it.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .pace import Pace, fade
from .raster import Painter, Pixels, mix_in, outermost, packed


class Sprite(NamedTuple):
    """A picture that covers a place from `start` to `end`, film seconds, fading in and out."""

    picture: np.ndarray
    place: Pixels
    start: float
    end: float


@dataclass(frozen=True, slots=True, eq=False)
class Reel:
    """`painters` draw at the instant that `pace` says on the `ground`, a frame, and `sprites` cover that.

    No two painters' places overlap.
    """

    ground: np.ndarray
    painters: tuple[Painter, ...]
    sprites: tuple[Sprite, ...]
    pace: Pace
    seconds: float

    def paint(self, frame: np.ndarray, second: float, since: float | None = None) -> list[Pixels]:
        """Draw the film as it is at `second` into `frame`, and return the rectangles that changed.

        The frame shows the film at `since`, or anything where that is None.
        """
        changed: list[Pixels] = []
        if since is None:
            frame[...] = self.ground
            changed.append(Pixels(0, 0, frame.shape[1], frame.shape[0]))
        now = self._opacities(second)
        then = now if since is None else self._opacities(since)
        anew = [since is None or old != new or 0 < new < 1 for old, new in zip(then, now, strict=True)]
        bare = [sprite.place for sprite, fresh in zip(self.sprites, anew, strict=True) if fresh]
        for place in bare:
            self._lay_bare(frame, place)
        changed += bare
        t, before = self.pace.at(second), None if since is None else self.pace.at(since)
        for painter in self.painters:
            if any(painter.place.shared(place) for place in bare):
                self._lay_bare(frame, painter.place)
                changed += painter(frame, t)
            else:
                changed += painter(frame, t, before)
        for sprite, fresh, opacity in zip(self.sprites, anew, now, strict=True):
            if opacity > 0:
                for place in [sprite.place] if fresh else _meetings(sprite.place, changed):
                    _cover(frame, sprite, place, opacity)
        return outermost(changed) if bare else changed

    def still(self, second: float) -> np.ndarray:
        """The film at `second`: a frame, uint8 of shape [height, width, 4]."""
        frame = np.empty_like(self.ground)
        self.paint(frame, second)
        return frame

    def _opacities(self, second: float) -> list[float]:
        """Of the sprites."""
        return [fade(second, sprite.start, sprite.end) for sprite in self.sprites]

    def _lay_bare(self, frame: np.ndarray, place: Pixels) -> None:
        """Show the ground again."""
        packed(frame)[place.rows, place.columns] = packed(self.ground)[place.rows, place.columns]


def _meetings(place: Pixels, others: list[Pixels]) -> list[Pixels]:
    return [shared for other in others if (shared := place.shared(other))]


def _cover(frame: np.ndarray, sprite: Sprite, place: Pixels, opacity: float) -> None:
    """Lay the part of a sprite that is at `place` over the frame."""
    top, left = place.top - sprite.place.top, place.left - sprite.place.left
    over = sprite.picture[top : top + place.height, left : left + place.width]
    if opacity < 1:
        mix_in(frame[place.rows, place.columns], over, opacity)
    else:
        frame[place.rows, place.columns] = over
