"""Amounts: bars whose names stand above them, so that long names have room in a frame of any shape."""

from collections.abc import Sequence
from typing import NamedTuple

from manim import DOWN, LEFT, RIGHT, UP, Animation, GrowFromEdge, LaggedStart, VGroup

from tilesim_scenes.animations.fade import FadeIn
from tilesim_scenes.look.text import fit, label, px
from tilesim_scenes.look.theme import Colour, mixed, theme_now
from tilesim_scenes.mobjects.drawing.quads import edged, rectangle

FAINT = 0.25
"""Share of its color in a bar that is outlined, as it was computed and not measured."""


class Amount(NamedTuple):
    """A bar in parts, each a value and a color, with its name and figure; a `computed` one is outlined."""

    name: str
    parts: Sequence[tuple[float, Colour]]
    figure: str
    computed: bool = False


class Amounts(VGroup):
    """A row for each amount, to one scale: its name, and below it a bar with its figure.

    `width`: units for bars and figures together. `bar`: pixels of a bar's height. `gap`: between two rows.
    """

    def __init__(
        self, amounts: Sequence[Amount], width: float, bar: float = 84, size: float = 46, gap: float = 44
    ) -> None:
        super().__init__()
        theme = theme_now()
        figures = [label(one.figure, 54, bold=True, mono=True) for one in amounts]
        room = width - max(figure.width for figure in figures) - px(24)
        self.scale_of = room / max(sum(value for value, _ in one.parts) for one in amounts)
        self.bars = VGroup()
        for one, figure in zip(amounts, figures, strict=True):
            name = label(one.name, size)
            fit(name, width)
            parts = VGroup()
            for value, color in one.parts:
                fill = mixed(theme.background, color, FAINT) if one.computed else color
                part = rectangle(value * self.scale_of, px(bar), fill)
                if one.computed:
                    edged(part, color, 4)
                parts.add(part)
            parts.arrange(RIGHT, buff=0)
            # Names stand on lines of one height, whichever letters they have.
            line = rectangle(width, px(1.2 * size)).next_to(parts, UP, px(8)).align_to(parts, LEFT)
            name.move_to(line).align_to(line, LEFT)
            figure.next_to(parts, RIGHT, px(24))
            self.bars.add(parts)
            self.add(VGroup(line, name, parts, figure))
        self.arrange(DOWN, buff=px(gap), aligned_edge=LEFT)

    def come(self, *numbers: int) -> Animation:
        """The rows come one after the other, each with its bar growing and then its figure."""
        rows = []
        for _, name, bar, figure in (self[number] for number in (numbers or range(len(self)))):
            appear = [FadeIn(word, run_time=0.3) for word in (name, figure)]
            appear.insert(1, GrowFromEdge(bar, LEFT, run_time=0.9))
            rows.append(LaggedStart(*appear, lag_ratio=0.6))
        return LaggedStart(*rows, lag_ratio=0.7)
