"""WarpWays: several warps whose lanes take ways in turn, and beside each warp the ways that it goes."""

from collections.abc import Iterator

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Animation, ManimColor, VGroup

from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import mixed, sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import rectangle
from tilesim_scenes.mobjects.hardware.warp import THREADS, Warp

LIGHTEST = 0.45
"""Share of its colour in the last way."""
APART = 8
"""Pixels between ways."""


class WarpWays(VGroup):
    """`count` warps, of which each has lanes in `count` ways, shades of one hue; and a bar for each way.

    `width`, `height`: units. `stacked`: bars below the warps, not beside them.

        ways = WarpWays(4, width=10, height=5)
        self.add(ways)
        self.play(*ways.sort())
        self.play(FadeOut(*ways.gone()))
        self.play(*ways.close_up())
    """

    def __init__(self, count: int, width: float, height: float, stacked: bool = False) -> None:
        hue, ground = sm_colour(0, 4), theme_now().background
        shades = [mixed(ground, hue, 1 - (1 - LIGHTEST) * way / max(1, count - 1)) for way in range(count)]
        self.count = count
        self.capsules, self.dots, self.bars = VGroup(), VGroup(), VGroup()
        room, row = width / (1 if stacked else 2), height / count
        aside = 0.18 * row * UP if stacked else np.zeros(3)
        for number in range(count):
            middle = number * row * DOWN
            warp = Warp(spacing=0.9 * room / (THREADS + 2)).move_to(middle + aside, LEFT)
            self.capsules.add(warp.capsule)
            self.dots.add(*warp.dots)
            track = rectangle(room, min(0.3 * row, px(90)))
            track.move_to(middle - aside + (0 if stacked else room) * RIGHT, LEFT)
            bar = VGroup()
            for way, shade in enumerate(shades):
                part = rectangle(room / count - px(APART), track.height, shade)
                bar.add(part.move_to(track.get_left() + room * way / count * RIGHT, LEFT))
            self.bars.add(bar)
        for lane, dot in enumerate(self.dots):
            dot.set_fill(ManimColor(shades[lane % count]))
        super().__init__(self.capsules, self.bars, self.dots)  # no capsule lies on a dot that comes
        self.move_to(np.zeros(3))

    def sort(self) -> Iterator[Animation]:
        """Lanes change places until each warp has one way."""
        places = [dot.get_center() for dot in self.dots]
        order = np.argsort(np.arange(len(places)) % self.count, kind="stable").tolist()
        return (self.dots[lane].animate.move_to(place) for lane, place in zip(order, places, strict=True))

    def gone(self) -> Iterator[VGroup]:
        """Of each warp, the ways that it need not go once it is sorted."""
        return (VGroup(*bar[:own], *bar[own + 1 :]) for own, bar in enumerate(self.bars))

    def close_up(self) -> Iterator[Animation]:
        """The way that each warp still goes comes first."""
        return (bar[own].animate.move_to(bar[0], LEFT) for own, bar in enumerate(self.bars))
