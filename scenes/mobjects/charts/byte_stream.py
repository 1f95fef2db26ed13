"""ByteStream: the bytes that pass each level of memory, as a stream that narrows, in which bytes flow."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from manim import VGroup, smoothstep

from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import Colour, mixed, theme_now
from tilesim_scenes.mobjects.drawing.quads import EMPTY, axes_of, quad, rectangle, shape

POST, SIZE = 30, 20
"""Pixels: width of a post, and a byte's side."""
PALE, POINTS = 0.3, 24
"""Share of its colour in the stream between posts; points of its edge from one post to the next."""
LINES, LEG, EVERY = 24, 1.2, 0.4
"""Lines along which bytes flow at the widest post; seconds from post to post, and from a byte to the next."""


class ByteStream(VGroup):
    """A post for each of `amounts`, the first at the left, as high as that is, and a stream between them.

    `show(t)`: until 1 the first post grows, until 2 the stream reaches the second, and so on. After the last,
    `t` counts seconds in which bytes flow back from the last post to the first: one byte that leaves a post
    becomes as many as there is room for at the next. `width`, `height`: units.

        stream = ByteStream([1611, 838, 187], width=10, height=5)
        self.play(PlayTrace(stream, until=3, run_time=4))
        self.play(PlayTrace(stream, until=7, run_time=4))
    """

    def __init__(
        self, amounts: Sequence[float], width: float, height: float, colour: Colour | None = None
    ) -> None:
        theme = theme_now()
        hue = colour or theme.operand
        self.t = 0.0
        self.shares = np.asarray(amounts, float) / max(amounts)
        self.ground = rectangle(width, height)
        self._post = px(POST) / width
        self._byte = px(SIZE) / width, px(SIZE) / height
        self.stream = shape(mixed(theme.background, hue, PALE))
        self.posts = VGroup(*(shape(hue) for _ in amounts))
        self.bytes = shape(theme.operand)
        super().__init__(self.ground, self.stream, self.posts, self.bytes)
        self.show(0.0)

    @property
    def drawn_at(self) -> float:
        """The `t` at which all posts stand, and bytes begin to flow."""
        return float(len(self.shares))

    def show(self, t: float) -> Self:
        """Look as at `t`."""
        self.t = t
        half = self._post / 2
        for number, (post, share) in enumerate(zip(self.posts, self.shares, strict=True)):
            grown = float(np.clip(t - number, 0, 1)) if number == 0 else float(t >= number + 1)
            x, tall = self._across(number), share * grown
            post.points = (
                quad(self.ground, x - half, x + half, 0.5 - tall / 2, 0.5 + tall / 2) if tall else EMPTY
            )
        self._draw_stream(float(np.clip(t - 1, 0, len(self.shares) - 1)))
        self._draw_bytes(t - self.drawn_at)
        return self

    def top(self, number: int) -> np.ndarray:
        """The middle of a post's upper edge: shape [3]."""
        return self._at(self._across(number), 0.5 + self.shares[number] / 2)

    def foot(self, number: int) -> np.ndarray:
        """The point at the foot of the whole below a post: shape [3]."""
        return self._at(self._across(number), 0.0)

    def _across(self, number: float) -> float:
        return number / max(1, len(self.shares) - 1)

    def _height(self, at: np.ndarray) -> np.ndarray:
        """The stream's height at post 0, 0.5, 1 ...: shares of the first's."""
        left = (
            np.clip(at.astype(int), 0, len(self.shares) - 2)
            if len(self.shares) > 1
            else np.zeros(len(at), int)
        )
        right = np.minimum(left + 1, len(self.shares) - 1)
        part = np.array([smoothstep(float(one)) for one in at - left])
        return (1 - part) * self.shares[left] + part * self.shares[right]

    def _draw_stream(self, legs: float) -> None:
        self.stream.points = EMPTY
        if legs <= 0:
            return
        at = np.linspace(0, legs, max(2, int(np.ceil(POINTS * legs))))
        half = self._height(at) / 2
        edge = [self._at(self._across(x), 0.5 + h) for x, h in zip(at, half, strict=True)]
        edge += [self._at(self._across(x), 0.5 - h) for x, h in zip(at[::-1], half[::-1], strict=True)]
        self.stream.set_points_as_corners([*edge, edge[0]])

    def _draw_bytes(self, seconds: float) -> None:
        """A byte sets off on each line every EVERY seconds, from the last post; lines part at each post."""
        self.bytes.points = EMPTY
        last = len(self.shares) - 1
        if seconds <= 0 or not last:
            return
        ages = seconds - EVERY * np.arange(int(seconds / EVERY) + 1)
        at = last - ages / LEG
        at = at[at > 0]
        places = {(round(float(x), 9), round(y, 9)) for x in at for y in self._lines(float(x))}
        box = self._byte
        quads = [
            quad(
                self.ground,
                self._across(x) - box[0] / 2,
                self._across(x) + box[0] / 2,
                y - box[1] / 2,
                y + box[1] / 2,
            )
            for x, y in sorted(places)
        ]
        self.bytes.points = np.concatenate(quads) if quads else EMPTY

    def _lines(self, at: float) -> list[float]:
        """Where lines are between two posts, as shares of the height; lines that part later lie together."""
        left = min(int(at), len(self.shares) - 2)
        part = float(smoothstep(at - left))
        counts = np.maximum(1, np.rint(LINES * self.shares)).astype(int)
        near = np.arange(counts[left])
        far = near * counts[left + 1] // counts[left]
        ends = (
            0.5 + self.shares[post] * ((line + 0.5) / counts[post] - 0.5)
            for post, line in ((left, near), (left + 1, far))
        )
        one, other = ends
        return ((1 - part) * one + part * other).tolist()

    def _at(self, x: float, y: float) -> np.ndarray:
        origin, right, up = axes_of(self.ground)
        return origin + x * right + y * up
