"""Key: what the colors on screen mean."""

from collections.abc import Sequence

from manim import DOWN, LEFT, RIGHT, ManimColor, VGroup

from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import Colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import rectangle, stroke_width

SWATCH, GAP, BETWEEN = 36, 14, 46
"""Pixels: of a swatch, from it to its word, and from one entry to the next."""
ROW = 56


class Key(VGroup):
    """A swatch and a word for each (word, color), in as many centered rows as `width` units need.

    `size`: pixels of the words.
    """

    def __init__(
        self, entries: Sequence[tuple[str, Colour]], width: float | None = None, size: float = 38
    ) -> None:
        super().__init__()
        theme, room = theme_now(), width or px(1728)
        row, rows = VGroup(), VGroup()
        for word, color in entries:
            swatch = rectangle(px(SWATCH), px(SWATCH), color)
            swatch.set_stroke(ManimColor(theme.quiet), stroke_width(1.5), 0.6)
            entry = VGroup(swatch, label(word, size, theme.quiet)).arrange(RIGHT, buff=px(GAP))
            # Letters with and without descenders stand on one line.
            entry[1].align_to(swatch, DOWN).shift(px(0.16 * size) * DOWN * any(c in "gjpqy" for c in word))
            used = sum(one.width + px(BETWEEN) for one in row)
            if row and used + entry.width > room:
                rows.add(row)
                row = VGroup()
            row.add(entry)
        rows.add(row)
        for number, line in enumerate(rows):
            line.arrange(RIGHT, buff=px(BETWEEN), center=False, aligned_edge=DOWN)
            line.move_to([0, -number * px(ROW), 0])
        self.rows = rows
        self.add(*rows)
        self.move_to([0, 0, 0]).align_to(self, LEFT)
