"""Zoom: lanes show less of their time, larger, or all of it again."""

from collections.abc import Callable, Sequence
from typing import Any

from manim import smoothstep

from tilesim_scenes.animations.direct import Direct
from tilesim_scenes.mobjects.traces.timed import Timed

CAMERA = 1.2
"""Seconds, as a camera's move."""


class Zoom(Direct):
    """Moves the window of `lanes`, ns, to `window`; what is timed and stands over them follows.

    Only time is stretched: lanes and their names stay where they are.

        lanes = Lanes(trace, sms=[1])
        self.play(Zoom(lanes, window=(6000, 12_000)))
    """

    def __init__(
        self,
        *lanes: Timed,
        window: tuple[float, float],
        over: Sequence[Timed] = (),
        run_time: float = CAMERA,
        rate_func: Callable[[float], float] = smoothstep,
        **kwargs: Any,
    ) -> None:
        self.lanes, self.over, self.window = lanes, tuple(over), window
        super().__init__(*lanes, *over, run_time=run_time, rate_func=rate_func, **kwargs)

    def begin(self) -> None:
        self._from = [lane.window for lane in self.lanes]
        super().begin()

    def interpolate_mobject(self, alpha: float) -> None:
        for lane, before in zip(self.lanes, self._from, strict=True):
            lane.window = between(before, self.window, self.rate_func(alpha))
            lane.show(lane.t)
        for one in self.over:
            one.show(one.t)


def between(before: tuple[float, float], after: tuple[float, float], share: float) -> tuple[float, float]:
    """A window on the way from one to another: its length changes by equal ratios in equal shares.

    >>> [tuple(map(round, between((0, 100), (40, 41), share))) for share in (0, 0.5, 1)]
    [(0, 100), (36, 46), (40, 41)]
    """
    lengths = before[1] - before[0], after[1] - after[0]
    if lengths[0] == lengths[1]:
        begin = before[0] + share * (after[0] - before[0])
        return begin, begin + lengths[0]
    length = lengths[0] * (lengths[1] / lengths[0]) ** share
    # An instant that does not move, where there is one, keeps still all the way.
    part = (length - lengths[0]) / (lengths[1] - lengths[0])
    begin = before[0] + part * (after[0] - before[0])
    return begin, begin + length
