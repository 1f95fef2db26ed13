"""Clock: the instant of the trace that a scene shows, and by how much slow motion slows it."""

from typing import Self

from manim import RIGHT, config

from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import Figure, advance, px
from tilesim_scenes.look.theme import Colour, theme_now
from tilesim_scenes.mobjects.words.count import Count

FACTOR, AWAY = 0.72, 0.3
"""Of the clock's size: that of the factor beside it, and the space between them."""


class Clock(Count):
    """`t` in µs, with one decimal; `until`: ns up to which it keeps its width, so that digits do not jump.

    `factor` stands beside it while time passes at half the fastest pace so far, or slower.
    """

    def __init__(
        self, until: float = 99_900, size: float = 56, color: Colour | None = None, align: float = 0.0
    ) -> None:
        digits, self._fastest = len(f"{until / 1000:.1f}"), 0.0
        super().__init__(lambda t: f"{t / 1000:{digits}.1f} µs", size, color, align=align)
        self.factor = Figure(size=FACTOR * size, color=theme_now().quiet)
        self.factor.shift((advance(self.text) + AWAY) * px(size) * RIGHT)
        self.add(self.factor)

    @staticmethod
    def _slowed(times: int) -> str:
        """What slow motion is called; short where a badge stands near."""
        wide = config.frame_width > 1.3 * config.frame_height
        return tr("slow motion, 1/{times}", times=times) if wide else f"×1/{times}"

    def run_at(self, pace: float) -> Self:
        """Say how slow `pace` is, ns of the trace for each second of film; 0 says nothing, as time stands."""
        self._fastest = max(self._fastest, pace)
        times = round(self._fastest / pace) if pace else 1
        self.factor.write(self._slowed(times) if times > 1 else "")
        return self
