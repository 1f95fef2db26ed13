"""OpenBarrier and CloseBarrier: a barrier lets somebody through, and stops the next."""

from typing import Any

from manim import smoothstep

from tilesim_scenes.animations.direct import Direct
from tilesim_scenes.mobjects.hardware.barrier import Barrier


class OpenBarrier(Direct):
    """Opens a barrier, in 0.2 s."""

    until = 1.0

    def __init__(self, barrier: Barrier, run_time: float = 0.2, **kwargs: Any) -> None:
        self.barrier = barrier
        super().__init__(barrier, run_time=run_time, **{"rate_func": smoothstep} | kwargs)

    def begin(self) -> None:
        self.since = self.barrier.opened
        super().begin()

    def interpolate_mobject(self, alpha: float) -> None:
        self.barrier.open(self.since + self.rate_func(alpha) * (self.until - self.since))


class CloseBarrier(OpenBarrier):
    """Lowers a barrier, in 0.2 s."""

    until = 0.0
