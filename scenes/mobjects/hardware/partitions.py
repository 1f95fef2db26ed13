"""Partitions: the inside of an SM, four parts with a row of 32 lanes each."""

import numpy as np
from manim import UP, ManimColor, RoundedRectangle, VGroup

from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import Colour, mixed, theme_now
from tilesim_scenes.mobjects.drawing.quads import rectangle, stroke_width

COUNT, LANES, ROW = 4, 32, 8


class Partitions(VGroup):
    """Four boxes, `columns` of them side by side, in `width` x `height` units; each has LANES lanes below.

    `boxes[p]` is the box of a partition and `lanes[p]` its lanes, ROW in a row. `place(p, slot, slots)` is
    the middle of one of the places for warps above its lanes.

        inside = Partitions(px(1500), px(600), colour=BLUE)
        self.add(inside, Warp(spacing=px(8)).move_to(inside.place(2, slot=0, slots=2)))
    """

    def __init__(self, width: float, height: float, colour: Colour, columns: int = COUNT) -> None:
        theme, gap, rows = theme_now(), px(24), COUNT // columns
        self.wide = (width - (columns - 1) * gap) / columns
        self.high = (height - (rows - 1) * gap) / rows
        self.boxes, self.lanes = VGroup(), VGroup()
        side = min(0.9 * self.wide / ROW, 0.42 * self.high / (LANES // ROW))
        for part in range(COUNT):
            row, column = divmod(part, columns)
            box = RoundedRectangle(
                width=self.wide, height=self.high, corner_radius=px(14),
                stroke_color=ManimColor(colour), stroke_width=stroke_width(3),
                fill_color=ManimColor(mixed(theme.background, theme.panel, 0.5)), fill_opacity=1.0,
            )  # fmt: skip
            box.move_to([column * (self.wide + gap), -row * (self.high + gap), 0])
            self.boxes.add(box)
            lanes = VGroup(*(rectangle(0.8 * side, 0.8 * side, theme.idle) for _ in range(LANES)))
            lanes.arrange_in_grid(LANES // ROW, ROW, buff=0.2 * side)
            lanes.move_to(box.get_bottom() + (lanes.height / 2 + 0.06 * self.high) * UP)
            self.lanes.add(lanes)
        super().__init__(self.boxes, self.lanes)
        self.move_to(np.zeros(3))

    def place(self, part: int, slot: int, slots: int) -> np.ndarray:
        """Where a warp stands in a partition, in one of so many slots above its lanes: float64, shape [3]."""
        top, foot = self.boxes[part].get_top(), self.lanes[part].get_top()
        return top + (slot + 0.5) / slots * (foot[1] - top[1]) * UP
