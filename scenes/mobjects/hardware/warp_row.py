"""WarpRow: the warps of a thread block, each filled by how many of its lanes are at work."""

from typing import Self

import numpy as np
from manim import ManimColor, RoundedRectangle, VGroup

from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import Colour, mixed, sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import EMPTY, quad, rectangle, shape, stroke_width

LANES = 32
"""Of a warp."""
FAINT = 0.45
"""Share of the hue in lanes at work whose warp is not the one that issues."""


class WarpRow(VGroup):
    """`warps` capsules side by side, `width` by `height` units. The first threads of the block are at work.

    row = WarpRow(8).work(80)  # two warps, and half of the third
    self.play(FadeIn(row))
    """

    def __init__(
        self,
        warps: int,
        width: float | None = None,
        height: float | None = None,
        colour: Colour | None = None,
    ) -> None:
        theme = theme_now()
        self.colour = colour = colour or sm_colour(0, 4)
        width, height = width or px(1200), height or px(48)
        gap = min(px(12), 0.2 * width / warps)
        each = (width + gap) / warps - gap
        self.capsules, self.grounds, self.lanes = VGroup(), VGroup(), VGroup()
        for number in range(warps):
            middle = [(number + 0.5) * (each + gap) - (width + gap) / 2, 0, 0]
            capsule = RoundedRectangle(
                corner_radius=min(height, each) / 2.01,
                width=each,
                height=height,
                stroke_color=ManimColor(colour),
                stroke_width=stroke_width(3),
                fill_color=ManimColor(theme.idle),
                fill_opacity=1.0,
            )
            self.capsules.add(capsule.move_to(middle))
            self.grounds.add(rectangle(0.86 * each, 0.5 * height).move_to(middle))
            self.lanes.add(shape(colour))
        super().__init__(self.capsules, self.grounds, self.lanes)
        self.work(0)

    def work(self, lanes: int, issuing: int | None = None) -> Self:
        """Have the block's first `lanes` at work; of a warp that is `issuing` they are lit, else of all."""
        theme = theme_now()
        for number, (ground, drawn) in enumerate(zip(self.grounds, self.lanes, strict=True)):
            share = float(np.clip(lanes / LANES - number, 0.0, 1.0))
            lit = issuing is None or number == issuing
            drawn.points = quad(ground, 0, share) if share else EMPTY
            drawn.set_fill(ManimColor(self.colour if lit else mixed(theme.idle, self.colour, FAINT)))
        return self

    def places(self, warp: int, lanes: int) -> np.ndarray:
        """Where the first lanes of a warp are: float64, shape [lanes, 3]."""
        ground = self.grounds[warp]
        left, right = ground.get_left(), ground.get_right()
        return left + ((np.arange(lanes) + 0.5) / LANES)[:, None] * (right - left)
