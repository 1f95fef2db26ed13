"""K-steps of a tile: cut from a Loaf, laid out in a Ribbon, and their Partial sum on its way."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from manim import DashedVMobject, ManimColor, Polygon, VGroup

from tilesim_scenes.look.text import Figure, fit, label, px
from tilesim_scenes.look.theme import Colour, ink_on, mixed, theme_now
from tilesim_scenes.mobjects.drawing.quads import edged, rectangle, strokes

DEPTH = np.array([7.0, 3.2])
"""Pixels to the right and upwards that the loaf goes back with each slice."""
GAP = 4.0
"""Pixels between two pieces."""


class Loaf(VGroup):
    """A box whose front is a tile, `width` by `height` units, and whose depth is `slices` K-steps.

    Raises ValueError for a cut whose pieces are not all of its slices.
    """

    def __init__(
        self,
        slices: int,
        width: float,
        height: float,
        colour: Colour | None = None,
        step: Sequence[float] | None = None,
    ) -> None:
        self.slices, self.size = slices, (width, height)
        self.step = np.array([*(step if step is not None else DEPTH * px(1)), 0.0])
        colour = colour or theme_now().operand
        wide, high = self.size
        right, up = np.array([wide, 0, 0]), np.array([0, high, 0])
        back = slices * self.step
        corner = -(right + up + back) / 2
        dark = theme_now().background
        shades = (colour, mixed(dark, colour, 0.72), mixed(dark, colour, 0.45))
        front = [corner, corner + right, corner + right + up, corner + up]
        top = [corner + up, corner + up + right, corner + up + right + back, corner + up + back]
        side = [corner + right, corner + right + back, corner + right + up + back, corner + right + up]
        faces = [
            Polygon(*points, stroke_width=0, fill_color=ManimColor(shade), fill_opacity=1)
            for points, shade in zip((front, top, side), shades, strict=True)
        ]
        lines = strokes(dark, 2.0, 0.7)
        for number in range(1, slices):
            at = corner + number * self.step
            for begin, end in ((at + up, at + up + right), (at + right, at + right + up)):
                lines.start_new_path(begin)
                lines.add_line_to(end)
        super().__init__(*faces[1:], lines, faces[0])

    @property
    def front(self) -> Polygon:
        """The tile."""
        return self[-1]

    def cut(self, counts: Sequence[int], colours: Sequence[Colour]) -> VGroup:
        """Its pieces from front to back, where they lie in it: as many slices each as `counts` say."""
        if sum(counts) != self.slices:
            raise ValueError(f"the pieces have {sum(counts)} slices; the loaf has {self.slices}")
        pieces, before = VGroup(), 0
        foot = self.front.get_corner([-1, -1, 0])
        for count, colour in zip(counts, colours, strict=True):
            piece = Loaf(count, *self.size, colour, self.step[:2])
            piece.shift(foot + before * self.step - piece.front.get_corner([-1, -1, 0]))
            pieces.add(piece)
            before += count
        # What is in front is drawn last.
        for order, piece in enumerate(reversed(pieces)):
            piece.set_z_index(order)
        return pieces


class Piece(NamedTuple):
    """K-steps from `begin` to `end` of a ribbon, and what stands on them."""

    begin: int
    end: int
    text: str
    colour: Colour | None = None


class Ribbon(VGroup):
    """`pieces` of a ribbon of `steps` K-steps, to scale, `width` by `height` units."""

    def __init__(
        self, pieces: Sequence[Piece], steps: int, width: float, height: float, size: float = 48
    ) -> None:
        super().__init__()
        self.steps = steps
        theme = theme_now()
        for piece in pieces:
            share = (piece.end - piece.begin) / steps
            colour = piece.colour or theme.idle
            box = rectangle(max(px(2), share * width - px(GAP)), height, colour)
            box.move_to([((piece.begin + piece.end) / 2 / steps - 0.5) * width, 0, 0])
            text = fit(Figure(piece.text, size, ink_on(colour)), 0.8 * box.width)
            self.add(VGroup(box, text.shift(box.get_center() - text.get_center())))


class Partial(VGroup):
    """A dashed pink tile with a sum sign, `width` by `height` units."""

    def __init__(self, width: float, height: float) -> None:
        theme = theme_now()
        ground = rectangle(width, height, mixed(theme.background, theme.partial, 0.3))
        outline = edged(rectangle(width, height), theme.partial, 5)
        sign = label("Σ", 0.62 * height / px(1), theme.text, bold=True)
        super().__init__(ground, DashedVMobject(outline, num_dashes=18), sign.move_to(ground))
