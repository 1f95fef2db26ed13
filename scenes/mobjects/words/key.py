"""Key: what the colors on screen mean."""

from collections.abc import Sequence

from manim import DOWN, LEFT, RIGHT, UP, ManimColor, VGroup

from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import Colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import rectangle, stroke_width

SWATCH, GAP, BETWEEN = 36, 14, 46
"""Pixels: of a swatch, from it to its word, and from one entry to the next."""
ROW, RISE = 56, 5
"""Pixels from one row to the next, and from a swatch's foot to the baseline of its word."""
DESCENT = 0.22
"""Ems that letters reach below the baseline."""


class Key(VGroup):
    """A swatch and a word for each (word, color), in as many centered rows as `width` units need.

    A tuple of colors makes a swatch of several, for what has each SM's own color.

    `size`: pixels of the words.
    """

    def __init__(
        self,
        entries: Sequence[tuple[str, Colour | tuple[Colour, ...]]],
        width: float | None = None,
        size: float = 38,
    ) -> None:
        super().__init__()
        theme, room = theme_now(), width or px(1728)
        row, rows = VGroup(), VGroup()
        for word, color in entries:
            hues = color if isinstance(color[0], tuple) else (color,)
            swatch = rectangle(px(SWATCH), px(SWATCH))
            for number, hue in enumerate(hues):
                part = rectangle(px(SWATCH) / len(hues), px(SWATCH), hue)
                swatch.add(part.align_to(swatch, LEFT).shift(number * part.width * RIGHT))
            swatch.set_stroke(ManimColor(theme.quiet), stroke_width(1.5), 0.6, family=False)
            entry = VGroup(swatch, label(word, size, theme.quiet))
            entry[1].next_to(swatch, RIGHT, px(GAP))
            # Letters with and without descenders stand on one line.
            drop = DESCENT * size if set(word) & set("gjpqy") else 0.0
            entry[1].align_to(swatch, DOWN).shift(px(RISE - drop) * UP)
            used = sum(one.width + px(BETWEEN) for one in row)
            if row and used + entry.width > room:
                rows.add(row)
                row = VGroup()
            row.add(entry)
        rows.add(row)
        for number, line in enumerate(rows):
            left = -sum(entry.width + px(BETWEEN) for entry in line) / 2 + px(BETWEEN) / 2
            for entry in line:
                entry.shift([left - entry.get_left()[0], -number * px(ROW) - entry[0].get_y(), 0])
                left += entry.width + px(BETWEEN)
        self.rows = rows
        self.add(*rows)
        self.move_to([0, 0, 0])
