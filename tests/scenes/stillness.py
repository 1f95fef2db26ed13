"""Stillness: where a film that is played shows the same picture for a while, and which figures run in it."""

import re
from collections.abc import Callable, Iterator
from itertools import islice, pairwise
from math import ceil
from typing import Any

import numpy as np
from manim import Mobject, VMobject
from manim.mobject.types.image_mobject import AbstractImageMobject

from tilesim_scenes.look.text import Figure
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.count import Clock

RATE = 4
"""Pictures that are compared in a second of film."""
RUNS = 3
"""A quantity that shows so many values within a second runs."""
UNIT = re.compile(r"\d ?(?:[nµm]?s\b|[KMGT]?B\b|bytes|TFLOP|%)")
"""What makes a number a quantity."""


class Pictures:
    """What a scene shows at each quarter of a second while it is played without drawing.

    `of`: numbers for the pictures, equal for equal ones, and the seconds from which on they are shown.
    `figures`: what each figure said while a badge called it measured or counted, and when; but for clocks,
    and for strips, which read a curve off at the clock.
    """

    def __init__(self, scene: Any) -> None:
        self.scene = scene
        self._kept: list[Mobject] = []
        self.of: list[tuple[float, int]] = []
        self.figures: dict[int, list[tuple[float, str]]] = {}
        self.next = 0
        self._to_time: Callable[[float], None] = scene.update_to_time
        scene.update_to_time = self._to

    def _to(self, end: float) -> None:
        """Show what is to be compared on the way to the end of a play, then that."""
        start = self.scene.now
        while self.next / RATE < start + end:
            self._to_time(max(self.next / RATE - start, 0.0))
            self._look()
        self._to_time(end)

    def rest(self) -> None:
        """The play that has ended showed one picture, if nobody asked how it looked on the way."""
        if self.next / RATE < self.scene.now:
            self._look()
            self.next = ceil(self.scene.now * RATE)

    def _look(self) -> None:
        shown = [one for mobject in self.scene.mobjects for one in mobject.get_family()]
        self.of.append((self.next / RATE, picture(self.scene.camera.frame, shown)))
        if any(isinstance(one, Badge) and one.kind in ("measured", "counted") for one in shown):
            for one in shown:
                if isinstance(one, Figure) and not isinstance(one, Clock):
                    # Kept, as another might get its number once it is gone.
                    self._kept.append(one)
                    self.figures.setdefault(id(one), []).append((self.next / RATE, one.text))
        self.next += 1


def picture(view: Mobject, shown: list[Mobject]) -> int:
    """A number for what a view shows of mobjects: equal where all that can be seen of it is equal."""
    low, high = (view.get_corner([side, side, 0]) for side in (-1, 1))
    parts = [view.points.tobytes()]
    drawn = [one for one in shown if len(one.points) and one is not view]
    for image in (one for one in drawn if isinstance(one, AbstractImageMobject)):
        begin, end, pixels = image.points.min(0), image.points.max(0), image.get_pixel_array()
        if pixels[..., 3].any() and (begin < high)[:2].all() and (end > low)[:2].all():
            parts += [image.points.tobytes(), pixels.tobytes()]
    shapes = [one for one in drawn if isinstance(one, VMobject)]
    if shapes:
        points = Pieces([one.points for one in shapes])
        fills, strokes = (
            Pieces([getattr(one, name) for one in shapes]) for name in ("fill_rgbas", "stroke_rgbas")
        )
        widths = np.array([one.stroke_width for one in shapes]) * (strokes.each(np.maximum)[:, 3] > 0)
        within = (points.each(np.minimum) < high) & (points.each(np.maximum) > low)
        seen = within[:, 0] & within[:, 1] & ((fills.each(np.maximum)[:, 3] > 0) | (widths > 0))
        parts += [widths[seen].tobytes(), *(pieces.of(seen) for pieces in (points, fills, strokes))]
    return hash(tuple(parts))


class Pieces:
    """Arrays one after the other, asked all at once, as asking each of hundreds takes long."""

    def __init__(self, arrays: list[np.ndarray]) -> None:
        self.whole, self.lengths = np.concatenate(arrays), np.array([len(one) for one in arrays])

    def each(self, reduce: np.ufunc) -> np.ndarray:
        """What each array is reduced to."""
        return reduce.reduceat(self.whole, self.lengths.cumsum() - self.lengths)

    def of(self, chosen: np.ndarray) -> bytes:
        """Those that are chosen, and how long each is."""
        return self.whole[chosen.repeat(self.lengths)].tobytes() + self.lengths[chosen].tobytes()


def running(said: list[tuple[float, str]]) -> Iterator[tuple[float, str]]:
    """From which second on, and with which text, a quantity shows RUNS values or more within a second.

    What has no unit is a tally of what is drawn, and cycles are a clock's.

    >>> list(running([(0.1 * tenth, f"{tenth} GB") for tenth in range(5)]))
    [(0.0, '0 GB')]
    >>> list(running([(second, f"{second} GB") for second in range(5)]))
    []
    """
    changes = [now for before, now in pairwise([(0.0, ""), *said]) if now[1] != before[1]]
    values = [(at, text) for at, text in changes if UNIT.search(text)]
    runs = (first for first, last in zip(values, values[RUNS - 1 :], strict=False) if last[0] - first[0] < 1)
    yield from islice(runs, 1)


def stretches(pictures: list[tuple[float, int]], end: float) -> list[tuple[float, float]]:
    """From and to which second nothing moves, longer than a picture lasts.

    >>> stretches([(0.0, 7), (0.5, 7), (1.0, 8), (1.1, 9)], 2.0)
    [(0.0, 1.0), (1.1, 2.0)]
    """
    changes = [0.0, *(at for (_, last), (at, now) in pairwise(pictures) if now != last), end]
    return [(since, until) for since, until in pairwise(changes) if until - since > 1.5 / RATE]
