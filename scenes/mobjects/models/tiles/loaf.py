"""Loaf: a tile with its depth, a slice for each K-step, that can be cut."""

from collections.abc import Sequence

import numpy as np
from manim import ManimColor, Polygon, VGroup

from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import Colour, mixed, theme_now
from tilesim_scenes.mobjects.drawing.quads import strokes

DEPTH = np.array([7.0, 3.2])
"""Pixels to the right and upwards that the loaf goes back with each slice."""


class Loaf(VGroup):
    """A box whose front is a tile, `width` by `height` units, and whose depth is `slices` K-steps.

        loaf = Loaf(64, px(230), px(130))
        pieces = loaf.cut([16, 16, 16, 16], colours)
        self.add(loaf)
        self.play(ReplacementTransform(loaf, pieces))

    Raises ValueError for a cut whose pieces are not all of its slices.
    """

    def __init__(
        self,
        slices: int,
        width: float | None = None,
        height: float | None = None,
        colour: Colour | None = None,
        step: Sequence[float] | None = None,
    ) -> None:
        self.slices, self.size = slices, (width or px(230), height or px(130))
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
        faces = [_face(points, shade) for points, shade in zip((front, top, side), shades, strict=True)]
        lines = strokes(dark, 2.0, 0.7)
        lines.points = np.zeros((0, 3))
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


def _face(points: list[np.ndarray], shade: Colour) -> Polygon:
    return Polygon(*points, stroke_width=0, fill_color=ManimColor(shade), fill_opacity=1)
