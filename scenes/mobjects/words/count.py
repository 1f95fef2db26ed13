"""Count: words and figures that change with a clock. Clock: the instant of the trace that a scene shows."""

from collections.abc import Callable
from typing import Any, Self

from manim import RIGHT, Mobject, config

from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import Figure, advance, px
from tilesim_scenes.look.theme import AnyColour, theme_now
from tilesim_scenes.mobjects.drawing.raster import instant

FACTOR, AWAY = 0.72, 0.3
"""Of the clock's size: that of the factor beside it, and the space between them."""


class Count(Figure):
    """`text(t)`, whatever it says at an instant, on its own baseline."""

    def __init__(
        self,
        text: Callable[[float], str],
        size: float = 48,
        color: AnyColour | None = None,
        bold: bool = True,
        mono: bool = True,
        align: float = 0.0,
    ) -> None:
        self.t, self._text = 0.0, text
        super().__init__(text(0.0), size, color, bold, mono, align)

    def show(self, t: float) -> Self:
        """Look as at `t`."""
        self.t = instant(t)
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


class Clock(Count):
    """`t` in µs, with one decimal; `until`: ns up to which it keeps its width, so that digits do not jump.

    `factor` stands beside it while time passes at half the fastest pace so far, or slower.
    """

    def __init__(self, until: float = 99_900, size: float = 56) -> None:
        digits, self._fastest = len(f"{instant(until) / 1000:.1f}"), 0.0
        super().__init__(lambda t: f"{t / 1000:{digits}.1f} µs", size)
        self.factor = Figure(size=FACTOR * size, color=theme_now().quiet)
        self.factor.shift((advance(self.text) + AWAY) * px(size) * RIGHT)
        self.add(self.factor)

    def run_at(self, pace: float) -> Self:
        """Say how slow `pace` is, ns of the trace for each second of film; 0 says nothing, as time stands."""
        self._fastest = max(self._fastest, pace)
        times = round(self._fastest / pace) if pace else 1
        # Short where a badge stands near.
        wide = config.frame_width > 1.3 * config.frame_height
        slowed = tr("slow motion, 1/{times}", times=times) if wide else f"×1/{times}"
        self.factor.write(slowed if times > 1 else "")
        return self
