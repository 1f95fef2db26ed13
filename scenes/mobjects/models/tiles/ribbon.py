"""Ribbon: tiles laid end to end as K-steps, whole or as they are shared out."""

from collections.abc import Sequence
from typing import NamedTuple

from manim import ManimColor, Rectangle, VGroup

from tilesim_scenes.look.text import Figure, px
from tilesim_scenes.look.theme import Colour, ink_on, theme_now

GAP = 4.0
"""Pixels between two pieces."""


class Piece(NamedTuple):
    """K-steps from `begin` to `end` of a ribbon, and what stands on them."""

    begin: int
    end: int
    text: str
    colour: Colour | None = None


class Ribbon(VGroup):
    """`pieces` of a ribbon of `steps` K-steps, to scale, `width` by `height` units.

    tiles = Ribbon([Piece(0, 64, "0"), Piece(64, 128, "1")], steps=128)
    shares = Ribbon([Piece(0, 80, "80", blue), Piece(80, 128, "48", green)], steps=128)
    self.play(TransformFromCopy(tiles, shares.next_to(tiles, DOWN)))
    """

    def __init__(
        self,
        pieces: Sequence[Piece],
        steps: int,
        width: float | None = None,
        height: float | None = None,
        size: float = 48,
    ) -> None:
        super().__init__()
        self.steps = steps
        width, height, theme = width or px(1600), height or px(110), theme_now()
        for piece in pieces:
            share = (piece.end - piece.begin) / steps
            colour = piece.colour or theme.idle
            box = Rectangle(
                width=max(px(2), share * width - px(GAP)),
                height=height,
                stroke_width=0,
                fill_color=ManimColor(colour),
                fill_opacity=1,
            )
            box.move_to([((piece.begin + piece.end) / 2 / steps - 0.5) * width, 0, 0])
            text = Figure(piece.text, size, ink_on(colour))
            if text.width > 0.8 * box.width:
                text.scale(0.8 * box.width / text.width)
            self.add(VGroup(box, text.shift(box.get_center() - text.get_center())))
