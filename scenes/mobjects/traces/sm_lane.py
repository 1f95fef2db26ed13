"""SmLane: the lane of one SM, close up, with the names of its parts."""

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Mobject, VGroup

from tilesim import Trace
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import cut, label, lines, px
from tilesim_scenes.look.theme import readable, sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.redrawn import Redrawn
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors
from tilesim_scenes.mobjects.traces.lanes import parts
from tilesim_scenes.mobjects.traces.part_names import name_below, part_names

SM_NAME = 230
"""Pixels that the SM's name takes beside the run's, with the space between them."""


class SmLane(Redrawn):
    """One SM's lane of a run called `name`, `width` by `height` units, on a lane that shows `longest` ns.

    `side`: units of a column on the left for the names, 0 where they stand above. `named`: whether the SM's
    stands there too.
    """

    def __init__(
        self,
        trace: Trace,
        sm: int,
        name: str,
        width: float,
        height: float,
        longest: float | None = None,
        side: float = 0.0,
        named: bool = True,
        window: tuple[float, float] | None = None,
    ) -> None:
        super().__init__()
        self.trace, self.sm = trace, sm
        window = window or (0.0, float(longest or trace.makespan))
        self.lane = LaneVectors(trace, [sm], window, width - side, height, labels=False)
        colour = sm_colour(sm, trace.device.sms)
        # Beside the lane a name breaks between words; above it, it shares a line with the SM's.
        room = side - px(24) if side else width - px(SM_NAME) * named
        shown = cut(name, room, bold=True)
        whose = VGroup(*lines(shown, 50, room, 2 if side and " " in shown else 1, bold=True))
        if named:
            whose.add(label(f"SM {sm}", 46, readable(colour), bold=True))
        if side:
            whose.arrange(np.array([0, -1, 0]), buff=px(16), aligned_edge=LEFT)
            if whose.width > side - px(24):
                whose.scale((side - px(24)) / whose.width)
            whose.next_to(self.lane.grounds, LEFT, px(24)).align_to(
                self.lane.grounds.get_left() - np.array([side, 0, 0]), LEFT
            )
        else:
            whose.arrange(buff=px(30)).next_to(self.lane.grounds, UP, px(110), aligned_edge=LEFT)
        self.whose = whose
        self.add(self.lane, whose)
        self.stand_on(self.lane.grounds[0])

    @property
    def window(self) -> tuple[float, float]:
        """The ns that it shows."""
        return self.lane.window

    @window.setter
    def window(self, window: tuple[float, float]) -> None:
        self.lane.window = window

    def x(self, t: float) -> float:
        """The scene's x of an instant."""
        return self.lane.x(t)

    def draw(self, was: float) -> None:
        """Draw its lane at `t`."""
        self.lane.show(self.t)

    def names_of(self, begin: float, end: float) -> VGroup:
        """The names of the parts that begin between two instants, in them, or below where they are narrow.

        Below them it is said where a recorded launch has its length from, as stamps do not show that.
        """
        named = part_names(self.lane, self.sm, begin, end)
        note = self.launch_source(begin, end)
        return named.add(note.shift(px(62) * DOWN)) if note is not None else named

    def launch_source(self, begin: float, end: float) -> Mobject | None:
        """Where the first launch between two instants has its length from, under it; None if simulated."""
        mine = (part for part in parts(self.trace).each() if part.slot == self.lane.slots[0])
        first = next((part for part in mine if part.kind == "launch" and begin <= part.begin < end), None)
        if first is None or self.trace.origin != "measured":
            return None
        x, text = self.x((first.begin + first.end) / 2), tr("launch: turnaround benchmark")
        note = name_below(self.lane.grounds, x, text, theme_now().launch)
        low, high = self.lane.grounds.get_left()[0], self.lane.grounds.get_right()[0]
        within = min(max(low, note.get_left()[0]), high - note.width)
        return note.shift((within - note.get_left()[0]) * RIGHT)
