"""Letters: Manim's `Text`, read faster. Pango writes it as an SVG file: glyphs and where each stands.

Manim parses each letter of each text anew, and closes and scales letter by letter, which took more than half
the time to run a film's `construct`.
"""

import xml.etree.ElementTree as ET
from copy import deepcopy
from enum import Enum
from functools import lru_cache
from typing import Any, Self

import numpy as np
import svgelements
from manim import ManimColor, Text, VMobject
from manim.mobject.svg.svg_mobject import VMobjectFromSVGPath
from manim.mobject.text.text_mobject import TEXT_MOB_SCALE_FACTOR

SVG = "{http://www.w3.org/2000/svg}"
TARGET = "{http://www.w3.org/1999/xlink}href"
CONSTANTS = (str, float, int, type(None), Enum, ManimColor)
"""What nobody changes in place."""


class Letters(Text):
    """A `Text` of one colour and of its natural size; its points differ from Manim's by less than 1e-9 units.

    `look`: font, font_size, weight and color, as `Text` takes them.
    """

    def __init__(self, text: str, **look: Any) -> None:
        self._drawn: list[np.ndarray] = []
        super().__init__(text, **look)
        # Added once all is placed, as Manim would place, style and close each letter on its own.
        drawn, self._drawn = self._drawn, []
        if drawn:
            blank = Letter(fill_color=self.color, fill_opacity=1.0, stroke_width=0.0)
            for points in _as_manim_places(drawn):
                letter = blank.copy()
                letter.points = points
                self.submobjects.append(letter)
            self.chars = self.get_group_class()(*self.submobjects)
            self.initial_height = self.height

    def generate_mobject(self) -> Self:
        drawing = ET.parse(self.get_file_path()).getroot()
        if drawing.find(f"{SVG}g/{SVG}path") is not None:
            return super().generate_mobject()  # Pango drew a box for a letter that no font has.
        outlines = {
            f"#{glyph.attrib['id']}": _outline(glyph.find(f"{SVG}path").attrib["d"])
            for glyph in drawing.iter(f"{SVG}symbol")
        }
        for use in drawing.iter(f"{SVG}use"):
            points = outlines[use.attrib[TARGET]]
            if len(points):  # A space has none.
                place = float(use.attrib["x"]), float(use.attrib["y"]), 0.0
                self._drawn.append(points + np.array(place))
        return self


class Letter(VMobject):
    """One of them, which is copied in two thirds of a `VMobject`'s time, as animations copy whole texts."""

    def __deepcopy__(self, copies: dict[int, Any]) -> Self:
        copied = copies[id(self)] = type(self).__new__(type(self))
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                vars(copied)[name] = value.copy()
            else:
                vars(copied)[name] = value if isinstance(value, CONSTANTS) else deepcopy(value, copies)
        copied.original_id = str(id(self))
        return copied


def _as_manim_places(drawn: list[np.ndarray]) -> list[np.ndarray]:
    """The points of letters around the origin, y upwards, in Manim's units."""
    ends = np.concatenate([points[side::4] for points in drawn for side in (0, 3)])
    centre = (ends.min(axis=0) + ends.max(axis=0)) / 2
    upwards = np.array([1.0, -1.0, 1.0]) * TEXT_MOB_SCALE_FACTOR
    return [(points - centre) * upwards for points in drawn]


@lru_cache(maxsize=4096)
def _outline(drawing: str) -> np.ndarray:
    """What Manim makes of an SVG path, each contour closed as `Text` closes it: float64, [4 · curves, 3]."""
    curves = VMobjectFromSVGPath(svgelements.Path(drawing)).points.reshape(-1, 4, 3)
    if not len(curves):
        return np.zeros((0, 3))
    starts = 1 + np.flatnonzero((curves[:-1, 3] != curves[1:, 0]).any(axis=1))
    closed = ((one, np.linspace(one[-1, 3], one[0, 0], 4)[None]) for one in np.split(curves, starts))
    return np.concatenate([part for pair in closed for part in pair]).reshape(-1, 3)
