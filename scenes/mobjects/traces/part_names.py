"""Part names: what the parts of one lane are called, in them or beneath."""

from itertools import pairwise

import numpy as np
from manim import RIGHT, UP, Mobject, VGroup

from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import Colour, ink_on, readable, theme_now
from tilesim_scenes.mobjects.drawing.quads import rectangle
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors
from tilesim_scenes.mobjects.traces.parts import parts

SIZE = 46.0
"""Pixels of the letters of a part's name."""


def part_names(lanes: LaneVectors, sm: int, begin: float, end: float, size: float = SIZE) -> VGroup:
    """The names of the parts of an SM's lane that begin between two instants, ns, main loops left out.

    `size`: pixels. A name stands in its part, or below where that is narrow.
    """
    theme, named = theme_now(), VGroup()
    words = {
        "write": tr("write"),
        "write under": tr("write"),
        "launch": tr("launch"),
        "first load": tr("first load"),
        "hand over": tr("hand over"),
        "wait": tr("wait"),
        "fix up": tr("add"),
    }
    inks = {"launch": theme.launch, "wait": theme.wait_text, "fix up": theme.partial}
    ground, below, em = lanes.lane(sm)[0], [], size / SIZE
    slot = sm * lanes.trace.device.ctas_per_sm
    every = parts(lanes.trace)
    shown = (every.slot == slot) & (every.begin >= begin) & (every.begin < end)
    for part in every.chosen(np.flatnonzero(shown)).each():
        if part.kind not in words:
            continue
        fill, text = theme.fill(part.kind), words[part.kind]
        x0, x1, foot = lanes.x(part.begin), lanes.x(part.end), ground.get_bottom()[1]
        high = ground.height / 3 if part.kind == "write under" else ground.height
        word = label(text, size, fill and ink_on(fill), bold=True)
        if word.width <= 0.92 * (x1 - x0) and word.height <= 0.92 * high:
            word.move_to([(x0 + x1) / 2, foot + high / 2, 0])
            if part.kind == "first load":
                back = rectangle(word.width + px(24) * em, word.height + px(24) * em, theme.idle, 0.85)
                word = VGroup(back.move_to(word), label(text, size, bold=True).move_to(word))
        else:
            word = name_below(ground, (x0 + x1) / 2, text, inks.get(part.kind, theme.quiet), size)
            below.append(word)
        named.add(word)
    _apart(sorted(below, key=lambda word: word.get_center()[0]), px(24) * em)
    return named


def name_below(ground: Mobject, x: float, text: str, colour: Colour, size: float = SIZE) -> Mobject:
    """`text` under a lane, in the middle of which `x` is."""
    foot = ground.get_bottom()[1] - px(16) * size / SIZE
    return label(text, size, readable(colour), bold=True).move_to([x, foot, 0], UP)


def _apart(words: list[Mobject], gap: float) -> None:
    """Move words that would meet, from left to right, to either side of where they are."""
    before = [word.get_center()[0] for word in words]
    for one, following in pairwise(words):
        meet = one.get_right()[0] + gap - following.get_left()[0]
        following.shift(max(0.0, meet) * RIGHT)
    moved = max((word.get_center()[0] - x for word, x in zip(words, before, strict=True)), default=0.0)
    for word in words:
        word.shift(-moved / 2 * RIGHT)
