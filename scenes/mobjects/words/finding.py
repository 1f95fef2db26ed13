"""Caption: the sentence that a film says. Finding: the card that it ends on, and its poster."""

import numpy as np
from manim import DOWN, Group, Mobject, VGroup, config

from tilesim_scenes.look.text import fit, label, lines, px, width
from tilesim_scenes.look.theme import theme_now
from tilesim_scenes.mobjects.drawing.quads import rectangle
from tilesim_scenes.mobjects.drawing.raster import Panel
from tilesim_scenes.mobjects.words.badge import Badge

ROOM = 0.9
"""Share of the frame's width and height that the card takes at most."""
SMALL, GAP, EDGE = 42, 56, 54
"""Pixels: of the aside's letters, between rows, and that stay free below the card."""
SIZE, SMALLER, BASELINE, MARGIN = 62, 54, 1006, 0.05
"""Pixels of a 1080-row frame: of its letters in one line and in several, and from the frame's top to its
lowest baseline; and the share of the frame's width that stays free on both sides."""
GROUND = 0.8
"""Opacity of the ground that captions stand on, in the colour of the background."""


class Finding(Panel):
    """`sentence`, the `number` that it is about, a chart of `bars`, a badge, and an `aside` in small.

    All but the sentence may be left out. `number` is large, `bars` any mobject.
    """

    def __init__(
        self,
        sentence: str,
        number: str = "",
        bars: Mobject | None = None,
        badge: Badge | None = None,
        aside: str = "",
    ) -> None:
        room = ROOM * config.frame_width
        self.sentence, self.number, self.bars, self.badge = sentence, number, bars, badge
        self.aside = aside
        rows: list[Mobject] = []
        if number:
            rows.append(label(number, 150, bold=True))
        if bars is not None:
            rows.append(bars)
        rows.append(lines(sentence, 62, room, most=4, bold=True))
        self.small = lines(aside, SMALL, room, most=3, color=theme_now().quiet) if aside else None
        if self.small is not None:
            rows.append(self.small)
        for row in rows:
            fit(row, room)
        super().__init__(*rows)
        self.arrange(DOWN, buff=px(GAP))
        top = config.frame_height / 2
        if badge is not None:
            # Where all films have it.
            badge.move_to([room / 2 - badge.width / 2, top - px(EDGE + 32), 0])
        ceiling = top - px(EDGE + 80)
        most = ceiling + top - px(EDGE)
        fit(self, np.inf, most)
        self.move_to([0, (ceiling - top + px(EDGE)) / 2, 0])
        if badge is not None:
            self.add(badge)

    def instead_of_aside(self, text: str) -> VGroup:
        """`text` in the look and place of the aside; where there is none, below the other rows."""
        line = lines(text, SMALL, ROOM * config.frame_width, most=1, color=theme_now().quiet)
        if self.small is not None:
            return line.move_to(self.small)
        line.next_to(Group(*(row for row in self if row is not self.badge)), DOWN, px(GAP)).set_x(0)
        floor = px(EDGE) - config.frame_height / 2
        return line.shift([0, max(0.0, floor - line.get_bottom()[1]), 0])


class Caption(VGroup):
    """`text`, bold and centred at the foot of the frame, in two lines where one is too narrow."""

    def __init__(self, text: str) -> None:
        room = config.frame_width * (1 - 2 * MARGIN)
        one_line = px(width(text, SIZE, bold=True)) <= room
        words = lines(text, SIZE if one_line else SMALLER, room, most=3, bold=True)
        # Where a camera has come near, the picture reaches below the words.
        wide, high = words.width + px(SIZE), words.height + px(0.6 * SIZE)
        ground = rectangle(wide, high, theme_now().background, GROUND).move_to(words)
        super().__init__(ground, *words)
        self.text = text
        foot = config.frame_height / 2 - px(1080 - BASELINE)
        self.move_to([0, words.height / 2 - foot, 0])


def reading_time(text: str) -> float:
    """Seconds to notice a caption and read it aloud: 1, and 0.33 a word, or two letters without spaces.

    >>> reading_time("Each tick counts.")
    1.99
    """
    words = len(text.split()) if " " in text or text.isascii() else len(text) / 2
    return 1 + 0.33 * words
