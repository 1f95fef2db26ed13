"""Riders: warps at the clock of phase rows, each in the colour of what it does there."""

from collections.abc import Iterable
from typing import Self

from manim import ManimColor, VGroup

from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import Colour, theme_now
from tilesim_scenes.mobjects.hardware.warp import Warp
from tilesim_scenes.mobjects.models.pipelines.phase_rows import PhaseRows


class Riders(VGroup):
    """`warps`, the first in the first of `rows` and so on, `ahead` units before what their row has done."""

    def __init__(self, rows: PhaseRows, warps: Iterable[Warp], ahead: float | None = None) -> None:
        super().__init__(*warps)
        self.rows, self.t = rows, rows.t
        self.ahead = px(12) if ahead is None else ahead
        self.show(rows.t)

    def show(self, t: float) -> Self:
        """Stand where the clock is at `t`, ns."""
        self.t = t
        low, high = self.rows.window
        x = self.rows.x(min(max(t, low), high)) + self.ahead
        theme = theme_now()
        inks = {"wait": theme.wait_text, "write": theme.write}
        lanes = zip(self, self.rows.grounds, self.rows.rows.values(), self.rows.hues, strict=True)
        for warp, ground, bars, hue in lanes:
            capsule = warp.capsule
            warp.shift([x + capsule.width / 2, ground.get_y(), 0] - capsule.get_center())
            doing = next((bar.kind for bar in bars if bar.start <= t < bar.end), "")
            paint(warp, inks.get(doing, hue))
        return self


def paint(warp: Warp, ink: Colour) -> Warp:
    """`warp` with its dots and its edge in a colour."""
    colour = ManimColor(ink)
    if warp.capsule.get_stroke_color() != colour:
        warp.dots.set_fill(colour)
        warp.capsule.set_stroke(colour)
    return warp
