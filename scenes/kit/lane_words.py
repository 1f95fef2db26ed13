"""Lane words: what is written in a lane between two instants, and below it."""

from manim import DOWN, Mobject

from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import Colour, ink_on
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors


def in_lane(
    lane: LaneVectors, begin: float, end: float, text: str, fill: Colour, size: float = 44
) -> Mobject:
    """A word in a single lane between two instants, ns, on what is drawn there in `fill`."""
    word = label(text, size, ink_on(fill), bold=True)
    word.scale(min(1.0, 0.92 * (lane.x(end) - lane.x(begin)) / word.width))
    return word.move_to([(lane.x(begin) + lane.x(end)) / 2, lane.grounds.get_y(), 0])


def below_lane(lane: LaneVectors, begin: float, end: float, word: Mobject, gap: float = 36) -> Mobject:
    """The word so many pixels below the middle of two instants, ns."""
    return word.next_to([lane.x((begin + end) / 2), lane.get_bottom()[1], 0], DOWN, px(gap))
