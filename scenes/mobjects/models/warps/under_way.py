"""UnderWay: threads, and what they have asked memory for that has not come yet."""

from manim import LEFT, VGroup

from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import Colour
from tilesim_scenes.mobjects.drawing.quads import rectangle
from tilesim_scenes.mobjects.hardware.warp import Warp

ROW = 16
"""Lines of memory that stand in a row."""
DOTS = 8
"""Threads that a warp's capsule shows."""


class UnderWay(VGroup):
    """`threads` on the left: a dot for one thread, or a capsule for each of some warps; `lines` beside them.

    `count`: lines of memory, a square each, in rows of ROW. `size`: units from one square to the next.

        self.add(UnderWay(warps=16, count=256, size=0.25, hue=sm_colour(0, 4)))
    """

    def __init__(self, warps: int, count: int, size: float, hue: Colour) -> None:
        self.lines = VGroup(*(rectangle(0.78 * size, 0.78 * size, hue) for _ in range(count)))
        rows = max(1, -(-count // ROW))
        for number, line in enumerate(self.lines):
            line.move_to([(number % ROW) * size, ((rows - 1) / 2 - number // ROW) * size, 0])
        if warps:
            each = rows / warps
            self.threads = VGroup(*(Warp(DOTS, px(18), hue) for _ in range(warps)))
            for number, warp in enumerate(self.threads):
                warp.scale(min(1, 3.6 * size / warp.width, 0.8 * each * size / warp.height))
                warp.move_to([0, ((warps - 1) / 2 - number) * each * size, 0])
        else:
            self.threads = Warp(1, px(40), hue)
        super().__init__(self.threads.next_to(self.lines, LEFT, 0.6 * size), self.lines)
