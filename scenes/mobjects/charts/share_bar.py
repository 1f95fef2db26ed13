"""ShareBar shows what a total consists of, Balance what a run gains and loses on the scale of its lanes."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, ManimColor, VGroup, VMobject

from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import keep_apart, label, px
from tilesim_scenes.look.theme import Colour, ink_on, theme_now
from tilesim_scenes.mobjects.drawing.quads import edged, quad, rectangle, striped

HATCH, PALE = 12.0, 0.4
"""Pixels between the lines of a hatch, and the share of a colour beneath it."""
INSIDE, LEAST = 0.3, 0.005
"""Shares from which a part has room for its name, and from which it has one."""
SIZE, ENTRY_SIZE = 46, 48
"""Pixels of letters in a ShareBar, and in a Balance."""


class ShareBar(VGroup):
    """A bar of `shares`, which add up to 1, from left to right: by name the part of the whole.

    `fills`: by name one colour or several, which share its part; hatched where the name is in `hatched`.
    Shares below 0.5 % have no name.
    `grounds[name]` is a part's rectangle, `parts[name]` what is drawn in it, `names[name]` what is written.
    """

    def __init__(
        self,
        shares: Mapping[str, float],
        fills: Mapping[str, Sequence[Colour]],
        titles: Mapping[str, str],
        width: float,
        height: float,
        hatched: Sequence[str] = (),
    ) -> None:
        super().__init__()
        whole = rectangle(width, height)
        self.grounds: dict[str, VMobject] = {}
        self.parts: dict[str, VGroup] = {}
        self.names: dict[str, VGroup] = {}
        ends, percent = np.cumsum([0.0, *shares.values()]), percents(shares)
        for name, (low, high) in zip(shares, pairwise(ends.tolist()), strict=True):
            ground = rectangle(1, 1)
            ground.points = quad(whole, low, high)
            self.grounds[name] = ground
            self.parts[name] = striped(ground, fills[name], HATCH if name in hatched else 0.0, PALE)
            if shares[name] >= LEAST:
                self.names[name] = self._named(name, titles[name], percent[name], fills[name])
        self._keep_apart()
        self.add(*self.grounds.values(), *self.parts.values(), *self.names.values())

    def _named(self, name: str, title: str, percent: int, colours: Sequence[Colour]) -> VGroup:
        """A name over its share: in the part where there is room, else below it."""
        ground, theme = self.grounds[name], theme_now()
        inside = percent > 100 * INSIDE
        ink = ink_on(colours[0]) if inside and len(colours) == 1 else theme.text
        words = VGroup(
            label(title, SIZE, ink, bold=inside), label(f"{percent}%", SIZE, ink, bold=True, mono=True)
        ).arrange(DOWN, buff=px(10))
        if not inside:
            return words.next_to(ground, DOWN, px(20))
        words.move_to(ground)
        if len(colours) == 1:
            return words
        # On several colours, no ink stands out from all.
        back = rectangle(words.width + px(24), words.height + px(16), theme.idle, 0.9)
        return VGroup(back.move_to(words), *words)

    def _keep_apart(self) -> None:
        """Every other name below goes above the bar if they would meet; then they move aside."""
        below = [name for name, words in self.names.items() if words.get_top()[1] < 0]
        words = [self.names[name] for name in below]
        if any(one.get_right()[0] + px(24) > other.get_left()[0] for one, other in pairwise(words)):
            for name in below[1::2]:
                self.names[name].next_to(self.grounds[name], UP, px(20))
        ends = [ground.get_corner(side)[0] for ground in self.grounds.values() for side in (LEFT, RIGHT)]
        for row in (words[::2], words[1::2]):
            keep_apart(row, px(24), min(ends), max(ends))


def percents(shares: Mapping[str, float]) -> dict[str, int]:
    """Shares in whole percents that add up to 100: what is cut off most is rounded up.

    >>> percents({"multiply": 0.546, "write": 0.176, "idle": 0.278})
    {'multiply': 55, 'write': 17, 'idle': 28}
    """
    whole = {name: int(100 * share) for name, share in shares.items()}
    most = sorted(shares, key=lambda name: whole[name] - 100 * shares[name])
    for name in most[: 100 - sum(whole.values())]:
        whole[name] += 1
    return whole


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

    def __init__(self, entries: Sequence[Entry], per_us: float, row: float, room: float) -> None:
        super().__init__()
        gains = [entry for entry in entries if entry.ns > 0]
        losses = [entry for entry in entries if entry.ns < 0]
        left_over = sum(entry.ns for entry in entries)
        if not gains or left_over <= 0:
            raise ValueError("nothing is left of these entries; a balance shows what a faster run wins")
        theme = theme_now()
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
            words = label(text, ENTRY_SIZE, theme.text if entry.ns > 0 else theme.quiet)
            words.next_to(block, LEFT, px(20))
            if words.get_left()[0] < -room and entry.ns > 0:
                words.set_color(ManimColor(ink_on(colour))).move_to(block)
            elif words.get_left()[0] < -room:
                words.next_to(block, RIGHT, px(20))
            self.rows.add(VGroup(block, words))
        rest = edged(rectangle(left_over * scale, 0.72 * row), theme.text, 5)
        rest.move_to([0, -len(self.rows) * row, 0], RIGHT)
        total = label(tr("{us:.1f} µs", us=left_over / 1000), ENTRY_SIZE, bold=True, mono=True)
        self.result = VGroup(rest, total.next_to(rest, LEFT, px(20)))
        self.add(self.rows, self.result)
