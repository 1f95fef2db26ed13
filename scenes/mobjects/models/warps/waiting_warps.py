"""WaitingWarps: warps that ask memory and wait, a lane each, and below them what arrives for all of them."""

from typing import Self

import numpy as np
from manim import LEFT, Rectangle, VGroup

from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import Colour, sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import EMPTY, axes_of, quad, rectangle, segments, shape, strokes
from tilesim_scenes.mobjects.hardware.warp import Warp

DOTS = 8
"""Threads that a warp's capsule shows."""
DASH = 14.0
"""Pixels of a wait's dashes, and between them."""
SUM = 0.16
"""Share of the height that the lane of all has, and half as much is free above it."""
FALL = 0.07
"""Share of the shown time that an answer takes from its lane to the lane of all."""


class WaitingWarps(VGroup):
    """A capsule and a lane for each warp: a dashed thread while it waits, a box where its answer arrives.

    `asked`, `came`: cycles, int [warps, requests]. `arriving`: how many of them an answer's bytes take at the
    rate that memory has at most; its box is so wide and ends when it has come, and then falls into the lane
    of all, where it takes the first free place from there on. `until`: cycles that are shown. `width`,
    `height`: units, of all. `lanes[warp]`, `all` and `capsules[warp]` are what stands still.

        lanes = WaitingWarps(asked, came, arriving=100, until=2400, width=12, height=5)
        self.add(lanes)
        self.play(PlayTrace(lanes, until=2400, run_time=3))
    """

    def __init__(
        self,
        asked: np.ndarray,
        came: np.ndarray,
        arriving: float,
        until: float,
        width: float,
        height: float,
        colour: Colour | None = None,
    ) -> None:
        super().__init__()
        self.t, self.until, self.arriving = 0.0, until, arriving
        self.asked, self.came = np.asarray(asked), np.asarray(came)
        self._places = places(self.came, arriving)
        theme, colour = theme_now(), colour or sm_colour(0, 4)
        warps = len(self.asked)
        head, each = px(190), (1 - 1.5 * SUM) * height / warps
        tall = min(0.72 * each, px(90))
        self.lanes, self.capsules = VGroup(), VGroup()
        for warp in range(warps):
            lane = rectangle(width - head, tall, theme.idle, 0.55)
            lane.move_to([head, -(warp + 0.5) * each, 0], LEFT)
            capsule = Warp(DOTS, px(18), colour)
            capsule.scale(min(1, tall / capsule.height)).next_to(lane, LEFT, px(24))
            self.lanes.add(lane)
            self.capsules.add(capsule)
        self.all = rectangle(width - head, SUM * height, theme.idle)
        self.all.move_to([head, (SUM / 2 - 1) * height, 0], LEFT)
        self.waits = strokes(theme.wait_text, 4)
        self.answers = shape(colour)
        self.add(self.lanes, self.capsules, self.all, self.waits, self.answers)
        self.show(0)

    def show(self, t: float) -> Self:
        """Look as at `t`, cycles."""
        self.t = t
        waits, boxes = [], []
        for warp, lane in enumerate(self.lanes):
            each = zip(self.asked[warp], self.came[warp], self._places[warp], strict=True)
            for begin, end, place in each:
                if begin < min(t, self.until) and end > 0:
                    waits += self._dashes(lane, begin, min(t, end - self.arriving))
                    boxes += self._answer(lane, end, place, t)
        self.waits.points = np.concatenate(waits) if waits else EMPTY
        self.answers.points = np.concatenate(boxes) if boxes else EMPTY
        return self

    def x(self, t: float) -> float:
        """The scene's x of an instant."""
        origin, right, _ = axes_of(self.all)
        return float((origin + t / self.until * right)[0])

    @property
    def window(self) -> tuple[float, float]:
        """The cycles that are shown, as a TimeBracket asks for them."""
        return 0.0, self.until

    def lane(self, warp: int) -> Rectangle:
        """The lane of a warp."""
        return self.lanes[warp]

    def _dashes(self, lane: Rectangle, begin: float, end: float) -> list[np.ndarray]:
        """The thread of a wait, whose dashes stand where they are while it grows."""
        begin, end = max(0.0, begin), min(end, self.until)
        if end <= begin:
            return []
        _, right, _ = axes_of(lane)
        step = 2 * px(DASH) / float(np.linalg.norm(right)) * self.until
        starts = np.arange(np.floor(begin / step), end / step) * step
        ends = np.minimum(starts + step / 2, end)
        starts = np.maximum(starts, begin)
        keep = ends > starts
        x = np.stack([starts[keep], ends[keep]]) / self.until
        half = np.full(keep.sum(), 0.5)
        return [segments(lane, np.stack([x[0], half, x[1], half], axis=1))] if keep.any() else []

    def _answer(self, lane: Rectangle, end: float, place: float, t: float) -> list[np.ndarray]:
        """An answer as it arrives, and the same on its way to where it stays in the lane of all."""
        box = self._box(lane, end - self.arriving, min(t, end))
        fallen = min(1.0, (t - end) / (FALL * self.until))
        landed = self._box(self.all, place, place + self.arriving)
        if fallen <= 0 or not box or not landed:
            return box
        return [*box, box[0] + fallen**2 * (landed[0] - box[0])]

    def _box(self, lane: Rectangle, begin: float, end: float) -> list[np.ndarray]:
        low, high = max(0.0, begin), min(end, self.until)
        return [quad(lane, low / self.until, high / self.until)] if high > low else []


def places(came: np.ndarray, arriving: float) -> np.ndarray:
    """Where each answer begins in one lane that takes them one after the other: float64, as `came`.

    Answers that come from 0 on begin when they arrive, or when the one before them has ended.

    >>> places(np.array([[100, 300], [120, 310]]), 50).tolist()
    [[50.0, 250.0], [100.0, 300.0]]
    """
    found = np.zeros(came.shape)
    free = 0.0
    for index in np.argsort(came, axis=None, kind="stable"):
        at = np.unravel_index(index, came.shape)
        found[at] = max(free, came[at] - arriving) if came[at] > 0 else came[at] - arriving
        free = max(free, found[at] + arriving)
    return found
