"""Restack: rows of runs that stand one below the other take other heights."""

from collections.abc import Sequence
from typing import Any

from manim import smoothstep

from tilesim_scenes.animations.direct import Direct
from tilesim_scenes.mobjects.traces.run_row import RunRow

RESTACK = 0.7
"""Seconds."""


class Restack(Direct):
    """Each of `rows` from its place, (top, height), of `before` to that of `after`."""

    def __init__(
        self,
        rows: Sequence[RunRow],
        before: Sequence[tuple[float, float]],
        after: Sequence[tuple[float, float]],
        **kwargs: Any,
    ) -> None:
        self.rows, self.before, self.after = rows, before, after
        super().__init__(*rows, **({"run_time": RESTACK, "rate_func": smoothstep} | kwargs))

    def interpolate_mobject(self, alpha: float) -> None:
        share = self.rate_func(alpha)
        for row, old, new in zip(self.rows, self.before, self.after, strict=True):
            row.place(*(a + share * (b - a) for a, b in zip(old, new, strict=True)))


def stacked(
    count: int, top: float, height: float, gap: float, large: int | None = None, share: float = 0.42
) -> list[tuple[float, float]]:
    """(top, height) of each of `count` rows, `gap` apart; one that is `large` takes a share of the height.

    >>> stacked(3, top=0.0, height=10.0, gap=1.0, large=0, share=0.5)
    [(0.0, 4.0), (-5.0, 2.0), (-8.0, 2.0)]
    """
    room = height - gap * (count - 1)
    small = room / count if large is None else (1 - share) * room / max(1, count - 1)
    found = []
    for number in range(count):
        tall = share * room if number == large else small
        found.append((top, tall))
        top -= tall + gap
    return found
