"""Key: which colour is what, in a quiet row of swatches and words."""

from collections.abc import Sequence
from typing import NamedTuple

from manim import DOWN, LEFT, RIGHT, VGroup

from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import Colour, mixed, theme_now
from tilesim_scenes.mobjects.drawing.quads import diagonals, quad, rectangle, strokes

MOST = 6
"""Entries that can be kept in mind."""
SIZE, SWATCH, HATCH, PALE = 34.0, 60.0, 9.0, 0.3
"""Pixels of a word, of a swatch's width and between lines of a hatch; share of a colour beneath a hatch."""


class Entry(NamedTuple):
    """A `word`, and the colours that it stands for, side by side in one swatch."""

    word: str
    colours: Sequence[Colour]
    hatched: bool = False


class Key(VGroup):
    """At most six entries in one row, or in several of about one length where `width` units are too few.

        self.add(Key([Entry("multiply", [(86, 180, 233)]), Entry("write", [theme_now().write])], width=12))

    Raises ValueError for more entries.
    """

    def __init__(self, entries: Sequence[Entry], width: float, size: float = SIZE) -> None:
        if len(entries) > MOST:
            raise ValueError(f"a key has {len(entries)} entries; people keep at most {MOST} in mind")
        items = [_item(entry, size) for entry in entries]
        gap = px(1.4 * size)
        whole = sum(item.width + gap for item in items) - gap
        rows = max(1, int(-(-whole // width)))
        each = -(-len(items) // rows)
        super().__init__(
            *(VGroup(*items[at : at + each]).arrange(RIGHT, buff=gap) for at in range(0, len(items), each))
        )
        self.arrange(DOWN, buff=px(0.5 * size))
        self.scale(min(1.0, width / max(self.width, 1e-9)))


def _item(entry: Entry, size: float) -> VGroup:
    """A swatch and its word."""
    swatch = VGroup()
    whole, count = rectangle(px(SWATCH), px(0.8 * size)), len(entry.colours)
    for number, colour in enumerate(entry.colours):
        fill = mixed(theme_now().idle, colour, PALE) if entry.hatched else colour
        part = rectangle(1, 1, fill)
        part.points = quad(whole, number / count, (number + 1) / count)
        swatch.add(part)
        if entry.hatched:
            hatch = strokes(colour, 2.5)
            hatch.points = diagonals(part, 0, 1, px(HATCH))
            swatch.add(hatch)
    # The middle of its line does not depend on which letters have descenders.
    word = label(entry.word, size, theme_now().quiet).next_to(swatch, RIGHT, px(0.4 * size))
    return VGroup(swatch, word).align_to([0, 0, 0], LEFT)
