"""Letters: Manim's `Text`, read faster. Pango writes it as an SVG file: glyphs and where each stands.

Manim parses each letter of each text anew, which took about half the time to run a film's `construct`.
"""

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import lru_cache
from typing import Self

import numpy as np
import svgelements
from manim import RIGHT, Text, VMobject
from manim.mobject.svg.svg_mobject import VMobjectFromSVGPath

SVG = "{http://www.w3.org/2000/svg}"
TARGET = "{http://www.w3.org/1999/xlink}href"


class Letters(Text):
    """A `Text` of one colour; its points differ from Manim's by less than 1e-9 units."""

    def generate_mobject(self) -> Self:
        drawing = ET.parse(self.get_file_path()).getroot()
        if drawing.find(f"{SVG}g/{SVG}path") is not None:
            return super().generate_mobject()  # Pango drew a box for a letter that no font has.
        for points in _placed(drawing):
            letter = VMobject(fill_color=self.color, fill_opacity=1.0, stroke_width=0.0)
            letter.points = points
            self.add(letter)
        return self.flip(RIGHT)


def _placed(drawing: ET.Element) -> Iterator[np.ndarray]:
    """The points of each letter that is not a space, y downwards."""
    glyphs = {
        f"#{glyph.attrib['id']}": glyph.find(f"{SVG}path").attrib["d"]
        for glyph in drawing.iter(f"{SVG}symbol")
    }
    for use in drawing.iter(f"{SVG}use"):
        points = _outline(glyphs[use.attrib[TARGET]])
        if len(points):
            yield points + np.array([float(use.attrib["x"]), float(use.attrib["y"]), 0.0])


@lru_cache(maxsize=4096)
def _outline(drawing: str) -> np.ndarray:
    """The points that Manim makes of what an SVG path draws: float64, shape [4 · curves, 3]."""
    return VMobjectFromSVGPath(svgelements.Path(drawing)).points
