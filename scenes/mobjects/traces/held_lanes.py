"""HeldLanes: the lanes of the SMs that a run had, and below them those that another kernel held."""

from typing import Self

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Group, ManimColor, Rectangle, VGroup

from tilesim import Trace
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import Colour, mixed, theme_now
from tilesim_scenes.mobjects.drawing.panel import Panel
from tilesim_scenes.mobjects.drawing.quads import diagonals, rectangle, strokes
from tilesim_scenes.mobjects.traces.lanes import MOST_LANES, Lanes

GAP, HATCH, NAME = 8.0, 16.0, 40.0
"""Pixels: between lanes that are few, between the lines of a hatch, and of the word on what is held."""
LEAST = 44.0
"""Pixels of what is held, below which no word fits."""


def held_ground() -> Colour:
    """Behind the hatch of what another kernel holds."""
    theme = theme_now()
    return mixed(theme.background, theme.quiet, 0.35)


def hatched(block: Rectangle) -> VGroup:
    """A place as it looks while another kernel holds it."""
    ground = block.copy().set_fill(ManimColor(held_ground()), opacity=1.0)
    lines = strokes(theme_now().quiet, 2.5)
    lines.points = diagonals(ground, 0, 1, px(HATCH))
    return VGroup(ground, lines)


class HeldLanes(Panel):
    """Lanes of a run, `width` by `height` units, that show `longest` ns: by SM, those held at the foot.

    `named`: where there is room, the held part says what it is; that is `said`. `window` and `x(t)` are those
    of the lanes. `strip(sm)` is where any SM's lane is, held or not.
    """

    def __init__(
        self, trace: Trace, width: float, height: float, longest: float | None = None, named: bool = False
    ) -> None:
        self.trace, self.t = trace, 0.0
        device = trace.device
        free = sorted(device.free_sms)
        self.held = tuple(sm for sm in range(device.sms) if sm not in set(free))
        self.window = (0.0, float(longest or trace.makespan))
        few = len(free) * device.ctas_per_sm <= MOST_LANES
        row = height / device.sms
        gap = min(px(GAP), 0.3 * row) * few
        shape = (
            {"lane_height": row - gap, "gap": gap, "labels": False} if few else {"height": row * len(free)}
        )
        self.lanes = Lanes(trace, free, window=self.window, width=width, **shape)
        top = self.lanes.get_top()[1]
        left = self.lanes.grounds.get_left()[0]
        self.band = Group()
        block = rectangle(width, row * len(self.held) - gap)
        block.move_to([left, top - row * len(free), 0], LEFT + UP)
        self.band.add(*hatched(block))
        # How many times as high as the held part all of them are, gaps counted.
        self._times = height / block.height
        self.said = VGroup()
        if named and block.height > px(LEAST):
            said = label(tr("held by another kernel"), NAME, theme_now().text)
            paper = rectangle(said.width + px(NAME), min(1.3 * px(NAME), block.height), held_ground())
            self.said.add(paper.move_to(block), said.move_to(block))
        self._rows = {sm: number for number, sm in enumerate((*free, *self.held))}
        super().__init__(self.lanes, self.band, self.said)

    @property
    def ground(self) -> Rectangle:
        """The rectangle of all lanes, as it stands."""
        low, high = self.band[0].get_corner(DOWN + LEFT), self.band[0].get_corner(UP + RIGHT)
        block = rectangle(high[0] - low[0], (high[1] - low[1]) * self._times)
        return block.move_to(low, DOWN + LEFT)

    def show(self, t: float) -> Self:
        """Look as at `t`, ns of the trace."""
        self.t = t
        self.lanes.show(t)
        return self

    def x(self, t: float) -> float:
        """The scene's x of an instant."""
        return self.lanes.x(t)

    def lane(self, sm: int) -> Rectangle:
        """Where an SM's lane is."""
        return self.strip(sm)

    def strip(self, sm: int) -> Rectangle:
        """The ground of an SM's lane, held or not, in the colour of nothing done."""
        ground, row = self.ground, self._rows[sm]
        height = ground.height / len(self._rows)
        colour = held_ground() if sm in self.held else theme_now().idle
        one = rectangle(ground.width, height, colour)
        return one.move_to(ground.get_corner(UP + LEFT) + row * height * DOWN, UP + LEFT)

    def place_of(self, t: float) -> np.ndarray:
        """Halfway down the lanes, at an instant: shape [3]."""
        return np.array([self.x(t), self.ground.get_center()[1], 0.0])

    def place(self, sm: int, t: float) -> np.ndarray:
        """Where an SM's lane is at an instant: shape [3]."""
        return np.array([self.x(t), self.strip(sm).get_center()[1], 0.0])
