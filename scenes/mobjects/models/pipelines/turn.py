"""Turn: the ring that passes between groups of consumers, at the clock, in the row of whose turn it is."""

from collections.abc import Sequence
from typing import Self

from manim import Circle, ManimColor

from tilesim.ideas.warp_specialization import Timeline
from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import theme_now
from tilesim_scenes.mobjects.drawing.quads import stroke_width
from tilesim_scenes.mobjects.models.pipelines.flight import share, smooth
from tilesim_scenes.mobjects.models.pipelines.phase_rows import PhaseRows

PASSING = 250
"""ns before a group's last K-step ends in which the turn goes to the next group."""


def holder(timeline: Timeline, t: float) -> float:
    """Whose turn it is at `t`: 0 is the first group's, 1 the second's, and between them it passes.

    >>> from tilesim.ideas.warp_specialization import Times, timeline
    >>> made = timeline(Times(0, k_step=1000, write=500), tiles=3, k_steps=1, stages=2, groups=2)
    >>> [holder(made, t) for t in (0, 875, 1500, 2500)]
    [0.0, 0.5, 1.0, 0.0]
    """
    last = timeline.steps["empty"][timeline.k_steps - 1 :: timeline.k_steps].tolist()
    return float(
        sum((-1) ** tile * smooth(share(t, end - PASSING, end)) for tile, end in enumerate(last[:-1]))
    )


class Turn(Circle):
    """Hops between the rows of two groups, by their `names`, as a timeline says."""

    def __init__(self, rows: PhaseRows, names: Sequence[str], timeline: Timeline) -> None:
        super().__init__(px(20), stroke_color=ManimColor(theme_now().text), stroke_width=stroke_width(6))
        self.rows, self.between, self.timeline = rows, tuple(names), timeline
        self.show(rows.t)

    def show(self, t: float) -> Self:
        """Stand at the clock, in the row of the group whose turn it is at `t`, ns."""
        self.t = t
        first, second = (self.rows.lane(name).get_center()[1] for name in self.between)
        y = first + holder(self.timeline, t) * (second - first)
        low, high = self.rows.window
        x = self.rows.x(max(low, min(t, high, self.timeline.makespan))) + self.width
        self.move_to([x, y, 0])
        return self
