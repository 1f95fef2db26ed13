"""Key: which colour is what, in a quiet row of swatches and words."""

from collections.abc import Sequence
from typing import NamedTuple

from manim import DOWN, RIGHT, UP, VGroup

from tilesim_scenes.look.text import SANS, label, outline, px
from tilesim_scenes.look.theme import Colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import rectangle, striped

MOST = 6
"""Entries that can be kept in mind."""
SIZE, SWATCH, HATCH, PALE, HALF_CAPITAL = 34.0, 60.0, 9.0, 0.3, 0.36
"""Pixels of a word, of a swatch and between lines of a hatch; share of a colour under a hatch; and ems."""


class Entry(NamedTuple):
    """A `word`, and the colours that it stands for, side by side in one swatch."""

    word: str
    colours: Sequence[Colour]
    hatched: bool = False


class Key(VGroup):
    """At most six entries in one row, or in several of about one length where `width` units are too few.

    Raises ValueError for more entries.
    """

    def __init__(self, entries: Sequence[Entry], width: float) -> None:
        if len(entries) > MOST:
            raise ValueError(f"a key has {len(entries)} entries; people keep at most {MOST} in mind")
        items = [_item(entry) for entry in entries]
        gap = px(1.4 * SIZE)
        whole = sum(item.width + gap for item in items) - gap
        rows = max(1, int(-(-whole // width)))
        each = -(-len(items) // rows)
        super().__init__()
        for at in range(0, len(items), each):
            row, right = VGroup(), 0.0
            for item in items[at : at + each]:
                row.add(item.shift((right - item.get_left()[0]) * RIGHT))
                right = item.get_right()[0] + gap
            self.add(row.shift(len(self) * 1.5 * px(SIZE) * DOWN).set_x(0))
        self.scale(min(1.0, width / max(self.width, 1e-9)))


def _item(entry: Entry) -> VGroup:
    """A swatch and its word."""
    whole = rectangle(px(SWATCH), px(0.8 * SIZE))
    swatch = striped(whole, entry.colours, HATCH if entry.hatched else 0.0, PALE)
    word = label(entry.word, SIZE, theme_now().quiet).next_to(swatch, RIGHT, px(0.4 * SIZE))
    # Words stand on one baseline, whichever letters they have.
    foot = (outline(entry.word, SANS, bold=False)[:, 1].min() - HALF_CAPITAL) * px(SIZE)
    return VGroup(swatch, word.shift((swatch.get_y() + foot - word.get_bottom()[1]) * UP))
