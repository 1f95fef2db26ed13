"""Lane words: labels in a lane between two instants, or below it."""

from manim import DOWN, Mobject

from tilesim_scenes.look.text import fit, label, px
from tilesim_scenes.look.theme import Colour, ink_on
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors


def in_lane(
    lane: LaneVectors, begin: float, end: float, text: str, fill: Colour, size: float = 44
) -> Mobject:
    """A label in a single lane between two instants, in ns, in an ink that can be read on `fill`."""
    word = label(text, size, ink_on(fill), bold=True)
    fit(word, 0.92 * (lane.x(end) - lane.x(begin)))
    return word.move_to([(lane.x(begin) + lane.x(end)) / 2, lane.grounds.get_y(), 0])


def below_lane(lane: LaneVectors, begin: float, end: float, word: Mobject, gap: float = 36) -> Mobject:
    """Put a word below the lane, `gap` pixels under the middle of two instants, in ns."""
    return word.next_to([lane.x((begin + end) / 2), lane.get_bottom()[1], 0], DOWN, px(gap))
