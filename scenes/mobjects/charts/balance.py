"""Balance: what a run wins and what it gives back, laid out to the scale of the lanes above it."""

from collections.abc import Sequence
from typing import NamedTuple

from manim import LEFT, RIGHT, ManimColor, VGroup

from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import ink_on, theme_now
from tilesim_scenes.mobjects.drawing.quads import rectangle, stroke_width

SIZE = 48
"""Pixels of letters."""


class Entry(NamedTuple):
    """What something wins, or gives back where it is negative, ns."""

    text: str
    ns: float


class Balance(VGroup):
    """Rows of blocks, `per_us` units for a µs, the first ending at x = 0: a row an entry, then what is left.

    `room`: units left of 0 that may be taken; what is said of a block that leaves no room stands in it, or
    right of it. Gains come first and are laid end to end leftwards from 0; what is given back covers them
    again from the left, and what nothing covers is left: the last row, a frame around the rest.

    Raises ValueError where nothing is gained, or nothing is left.
    """

    def __init__(
        self, entries: Sequence[Entry], per_us: float, row: float | None = None, room: float = float("inf")
    ) -> None:
        super().__init__()
        gains = [entry for entry in entries if entry.ns > 0]
        losses = [entry for entry in entries if entry.ns < 0]
        left_over = sum(entry.ns for entry in entries)
        if not gains or left_over <= 0:
            raise ValueError("nothing is left of these entries; a balance shows what a faster run wins")
        row, theme = row or px(62), theme_now()
        self.rows, scale = VGroup(), per_us / 1000
        at = -sum(entry.ns for entry in gains) * scale
        gain_ends, begin = 0.0, at
        for number, entry in enumerate([*gains, *losses]):
            length = abs(entry.ns) * scale
            low = gain_ends - length if entry.ns > 0 else begin
            gain_ends, begin = (low, begin) if entry.ns > 0 else (gain_ends, low + length)
            colour = theme.operand if entry.ns > 0 else theme.hand_over
            block = rectangle(length, 0.72 * row, colour).move_to([low, -number * row, 0], LEFT)
            text = tr("{what} {us:+.1f} µs", what=entry.text, us=entry.ns / 1000).replace("-", "−")
            words = label(text, SIZE, theme.text if entry.ns > 0 else theme.quiet)
            words.next_to(block, LEFT, px(20))
            if words.get_left()[0] < -room and entry.ns > 0:
                words.set_color(ManimColor(ink_on(colour))).move_to(block)
            elif words.get_left()[0] < -room:
                words.next_to(block, RIGHT, px(20))
            self.rows.add(VGroup(block, words))
        rest = rectangle(left_over * scale, 0.72 * row).set_stroke(ManimColor(theme.text), stroke_width(5))
        rest.move_to([0, -len(self.rows) * row, 0], RIGHT)
        total = label(tr("{us:.1f} µs", us=left_over / 1000), SIZE, bold=True, mono=True)
        self.result = VGroup(rest, total.next_to(rest, LEFT, px(20)))
        self.add(self.rows, self.result)
