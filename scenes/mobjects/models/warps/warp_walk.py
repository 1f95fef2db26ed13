"""WarpWalk: where each warp of a thread block is in its program, at an instant."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from manim import LEFT, ManimColor, VGroup

from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import Colour, mixed, theme_now
from tilesim_scenes.mobjects.drawing.quads import EMPTY, figure, quad, rectangle, segments, shape, strokes

BODY, LIFT = 0.45, 0.25
"""Share of its hue in the way that a warp has come; where it stands it has all of it. Share of the time from
the last one's coming to the end in which the barrier opens."""


class WarpWalk(VGroup):
    """A column for each warp, with the program's `parts` from top to bottom; its time `t` is in cycles.

    `cycles`: when each warp begins its program and is through with each part, [warps, parts + 1]. The last
    part is a barrier: who comes to it stands still until all have come.

        walk = WarpWalk(["load", "wait"], [[0, 90, 120], [2, 110, 120]], px(1500), px(600))
        self.play(PlayTrace(walk, until=120, run_time=3))
    """

    def __init__(
        self,
        parts: Sequence[str],
        cycles: Sequence[Sequence[int]],
        width: float,
        height: float,
        colour: Colour,
        size: float = 46,
    ) -> None:
        super().__init__()
        theme = theme_now()
        self.cycles, self.colour, self.t = np.array(cycles, float), colour, 0.0
        self.last = float(self.cycles[:, -2].max())
        self.names = VGroup(*(label(part, size, theme.quiet) for part in parts))
        left = max(name.width for name in self.names) + px(36)
        row, step = height / len(parts), (width - left) / len(cycles)
        # Its left edge is where the program's names end.
        self.ground = rectangle(width - left, height, theme.background, 0.0).move_to([left, 0, 0], LEFT)
        for number, name in enumerate(self.names):
            name.move_to([0, height / 2 - (number + 0.5) * row, 0], LEFT)
        self.tracks, self.ways, self.tokens, self.numbers = VGroup(), VGroup(), VGroup(), VGroup()
        for warp in range(len(cycles)):
            track = rectangle(0.7 * step, height, theme.idle)
            self.tracks.add(track.move_to([left + (warp + 0.5) * step, 0, 0]))
            self.ways.add(shape(mixed(theme.background, colour, BODY)))
            self.tokens.add(shape(colour))
            self.numbers.add(shape(theme.background))
        self.lines = strokes(theme.background, 6)
        ends = [(0, 1 - at / len(parts), 1, 1 - at / len(parts)) for at in range(1, len(parts))]
        self.lines.points = segments(self.ground, np.array(ends))
        self.bar = strokes(theme.wait, 10)
        self.add(
            self.ground, self.tracks, self.ways, self.lines, self.bar, self.tokens, self.numbers, self.names
        )
        self.move_to(np.zeros(3))
        self.show(0)

    def depth(self, warp: int, t: float) -> float:
        """How far a warp has come, in parts of the program.

        It stands before the barrier until the last one has come.
        """
        *marks, end = self.cycles[warp]
        parts = len(marks)
        return float(np.interp(t, [*marks, self.last, end], [*range(parts), parts - 1, parts]))

    def show(self, t: float) -> Self:
        """Look as at `t` cycles."""
        self.t = t
        parts = len(self.names)
        theme = theme_now()
        opens = LIFT * max(1.0, float(self.cycles[:, -1].max()) - self.last)
        lifted = float(np.clip((t - self.last) / opens, 0, 1))
        ink = ManimColor(mixed(theme.wait, self.colour, lifted))
        for warp, track in enumerate(self.tracks):
            depth = self.depth(warp, t)
            waits = depth >= parts - 1 and self.cycles[warp, -2] < self.last
            y = 1 - depth / parts
            high = min(0.5 / parts, 0.6 * track.width / track.height)
            foot = min(y, 1 - high)
            self.ways[warp].points = quad(track, 0.0, 1.0, y, 1.0) if y < 1 else EMPTY
            self.tokens[warp].points = quad(track, 0.0, 1.0, foot, foot + high)
            self.tokens[warp].set_fill(ink if waits else ManimColor(self.colour))
            em = 0.8 * high * track.height
            self.numbers[warp].points = figure(track, str(warp), em, 0.5, foot + high / 2)
        at = 1 - (parts - 1) / parts
        shut = segments(self.ground, np.array([(0, at, 1, at)]))
        self.bar.points = shut if lifted < 1 else EMPTY
        self.bar.set_stroke(ManimColor(mixed(theme.wait, theme.background, lifted)))
        return self
