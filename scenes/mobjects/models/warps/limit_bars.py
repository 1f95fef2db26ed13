"""LimitBars: what the thread blocks of an SM take of its four limits."""

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np
from manim import LEFT, RIGHT, ManimColor, VGroup

from tilesim.devices.occupancy import Use
from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import Colour, mixed, theme_now
from tilesim_scenes.mobjects.drawing.quads import EMPTY, quad, rectangle, shape, stroke_width

BODY = 0.6
"""Share of its hue in every other block."""
MOST_OVER = 0.4
"""Share of a bar's length by which a block that does not fit reaches beyond it at most."""


class LimitBars(VGroup):
    """A bar for each of `uses` with its name and what there is; its time `t` is how many blocks have come.

    `names`: of limits, as they are to be read, which stand `above` the bars where these have no room beside
    them. After `residents` blocks one more comes: an outline that reaches beyond the bars where it does not
    fit.
    """

    def __init__(
        self,
        uses: Sequence[Use],
        names: Mapping[str, str],
        colour: Colour,
        width: float,
        height: float,
        residents: int,
        size: float = 46,
        above: bool = False,
    ) -> None:
        super().__init__()
        theme = theme_now()
        self.uses, self.residents, self.t = tuple(uses), residents, 0.0
        self.names = VGroup(*(label(names[use.limit], size) for use in uses))
        self.amounts = VGroup(*(label(amount(use), size, theme.quiet, mono=True) for use in uses))
        row, gap = height / len(uses), px(28)
        left = 0 if above else max(name.width for name in self.names) + gap
        right = 0 if above else max(one.width for one in self.amounts) + 2 * gap
        over = max(use.of_block * (residents + 1) / use.of_sm - 1 for use in uses if use.blocks == residents)
        room = (width - left - right) / (1 + min(max(over, 0.0), MOST_OVER))
        self.grounds, self.parts, self.beyond = VGroup(), VGroup(), VGroup()
        for number, (name, one) in enumerate(zip(self.names, self.amounts, strict=True)):
            high = row - px(size) - 2 * gap if above else 0.5 * row
            ground = rectangle(room, high, theme.idle).move_to([left, -number * row, 0], LEFT)
            self.grounds.add(ground)
            if above:
                lift = (high + px(size)) / 2 + px(8)
                name.move_to([0, lift - number * row, 0], LEFT)
                one.move_to([width, lift - number * row, 0], RIGHT)
            else:
                name.next_to(ground, LEFT, gap)
                one.move_to([width, -number * row, 0], RIGHT)
            self.parts.add(*(shape(self._hue(colour, block)) for block in range(residents)))
            over = shape(theme.wait, 0.35)
            over.set_stroke(ManimColor(theme.wait), stroke_width(5))
            self.beyond.add(over)
        self.add(self.grounds, self.parts, self.beyond, self.names, self.amounts)
        self.move_to(np.zeros(3))

    def show(self, t: float) -> Self:
        """Look as when `t` blocks have come, the last of them in part."""
        self.t = t
        for number, (use, ground) in enumerate(zip(self.uses, self.grounds, strict=True)):
            each = use.of_block / use.of_sm
            for block in range(self.residents):
                share = min(1.0, max(0.0, t - block))
                part = self.parts[number * self.residents + block]
                start = block * each
                part.points = (
                    quad(ground, start, start + share * each - 0.004, 0.06, 0.94) if share else EMPTY
                )
            self.beyond[number].points = self._one_too_many(
                use, ground, min(1.0, max(0.0, t - self.residents))
            )
        return self

    def _one_too_many(self, use: Use, ground: VGroup, share: float) -> np.ndarray:
        """The next block's part of a limit that it does not fit; nothing where it would."""
        if not share or use.blocks > self.residents:
            return EMPTY
        start = self.residents * use.of_block / use.of_sm
        end = min(start + share * use.of_block / use.of_sm, 1 + MOST_OVER)
        return quad(ground, start, end, 0.06, 0.94)

    @staticmethod
    def _hue(colour: Colour, block: int) -> Colour:
        theme = theme_now()
        return mixed(theme.background, colour, BODY if block % 2 else 0.85)


def amount(use: Use) -> str:
    """What an SM has of a limit.

    >>> amount(Use("shared memory", 99328, 233472, 2)), amount(Use("threads", 128, 2048, 16))
    ('228 KB', '2,048')
    """
    return f"{use.of_sm // 1024} KB" if use.limit == "shared memory" else f"{use.of_sm:,}"
