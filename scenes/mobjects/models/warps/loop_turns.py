"""LoopTurns: the instructions of a loop, a row a turn, which become those of one turn when it is unrolled."""

import numpy as np
from manim import DOWN, RIGHT, Animation, FadeOut, LaggedStart, ManimColor, VGroup, rush_into

from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import mixed, sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import rectangle, stroke_width

LOAD, ADD, OWN = 0, 1, 2
"""Places in a turn: the load, the addition, and the first of the loop's own instructions."""
FALL = 260
"""Pixels that what is saved falls."""


class LoopTurns(VGroup):
    """`turns` rows, each of a load (outlined), an addition (solid) and `own` instructions of the loop (grey).

    `width`: units that the one turn takes which is left. `height`: of all rows.

        turns = LoopTurns(8, own=6, width=12, height=4)
        self.add(turns)
        self.play(*turns.unroll())
    """

    def __init__(self, turns: int, own: int, width: float, height: float) -> None:
        theme, self.colour = theme_now(), sm_colour(0, 4)
        grey = mixed(theme.background, theme.quiet, 0.35)
        fills = [mixed(theme.idle, self.colour, 0.3), self.colour, *[grey] * own]
        self.pitch = min(width / (OWN * turns + own), width / 20)
        row = min(height / turns, 1.2 * self.pitch)
        super().__init__()
        for number in range(turns):
            turn = VGroup(*(rectangle(0.88 * self.pitch, 0.8 * row, fill) for fill in fills))
            turn[LOAD].set_stroke(ManimColor(self.colour), stroke_width(3))
            for place, one in enumerate(turn):
                one.shift(place * self.pitch * RIGHT)
            self.add(turn.shift(number * row * DOWN))
        self.move_to(np.zeros(3))

    def unroll(self) -> list[Animation]:
        """Loads come together, then additions, then what one turn of the loop takes; the rest falls away."""
        turns = len(self)
        rows = [*(turn[LOAD] for turn in self), *(turn[ADD] for turn in self), *self[0][OWN:]]
        start = np.array([self.get_x() - (len(rows) - 1) / 2 * self.pitch, self[0].get_y(), 0])
        moves = [one.animate.move_to(start + place * self.pitch * RIGHT) for place, one in enumerate(rows)]
        saved = [one for turn in self[1:turns] for one in turn[OWN:]]
        gone = [FadeOut(one, shift=px(FALL) * DOWN, rate_func=rush_into) for one in saved]
        return [*moves, LaggedStart(*gone, lag_ratio=0.02)]

    @property
    def left(self) -> VGroup:
        """What is left once it is unrolled."""
        return VGroup(*(one for turn in self for one in turn[:OWN]), *self[0][OWN:])
