"""Count: words and figures that change with a clock."""

from collections.abc import Callable
from typing import Any, Self

from manim import Mobject

from tilesim_scenes.look.text import Figure
from tilesim_scenes.look.theme import Colour


class Count(Figure):
    """`text(t)`, whatever it says at an instant, on its own baseline.

    threads = Count("{:.0f} threads".format)
    self.add(threads)
    self.play(PlayTrace(threads, until=32, run_time=2))
    """

    def __init__(
        self,
        text: Callable[[float], str],
        size: float = 48,
        color: Colour | None = None,
        bold: bool = True,
        mono: bool = True,
        align: float = 0.0,
    ) -> None:
        self.t, self._text = 0.0, text
        super().__init__(text(0.0), size, color, bold, mono, align)

    def show(self, t: float) -> Self:
        """Look as at `t`."""
        self.t = t
        self.write(self._text(t))
        return self

    def interpolate(self, mobject1: Mobject, mobject2: Mobject, alpha: float, *args: Any) -> Self:
        """As Manim's, and the instant with the look."""
        begin, end = (getattr(mobject, "t", self.t) for mobject in (mobject1, mobject2))
        if begin != end:
            self.t = (1 - alpha) * begin + alpha * end
        self._text = getattr(mobject2 if alpha > 0.5 else mobject1, "_text", self._text)
        return super().interpolate(mobject1, mobject2, alpha, *args)

    def become(self, mobject: Mobject, *args: Any, **how: Any) -> Self:
        """As Manim's, and the instant with the look."""
        self.t, self._text = getattr(mobject, "t", self.t), getattr(mobject, "_text", self._text)
        return super().become(mobject, *args, **how)
