"""Manim's vectors for what stands still: text by its baseline, boxes, lines, all in design pixels."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any

import manimpango
import numpy as np
from manim import Camera, Line, Mobject, RoundedRectangle, Text, VGroup, config

from tilesim_scenes._stage import glyphs
from tilesim_scenes._stage.layout import Box, Frame
from tilesim_scenes._stage.theme import Colour, hexadecimal

FRAME_HEIGHT = 8.0
"""Manim units from top to bottom, Manim's own default."""
POINTS_PER_UNIT = 72
DRAWN_AT = 96
"""Font size at which text is drawn before it is scaled: Pango rounds glyph positions at small sizes."""

LINE_WIDTH = 100_000
"""Pixels that one line may take at that size."""


class Words:
    """Places vectors on a frame. Every method returns a mobject that the caller adds to the scene."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.unit = FRAME_HEIGHT / frame.tall
        installed = set(manimpango.list_fonts())
        self.fonts = {
            glyphs.SANS: glyphs.SANS if glyphs.SANS in installed else "Sans",
            glyphs.MONO: glyphs.MONO if glyphs.MONO in installed else "Monospace",
        }

    def point(self, x: float, y: float) -> tuple[float, float, float]:
        """Design pixels from the top left to Manim units from the centre."""
        return (x - self.frame.wide / 2) * self.unit, (self.frame.tall / 2 - y) * self.unit, 0.0

    def text(
        self,
        text: str,
        x: float,
        baseline: float,
        px: float,
        colour: Colour,
        bold: bool = False,
        anchor: float = 0.0,
        room: float = 0.0,
        family: str = glyphs.SANS,
    ) -> VGroup:
        """`text` at a size of `px`, smaller where it would be wider than `room`.

        `anchor` is the share of its width that lies left of `x`.
        """
        wide = glyphs.width(text, px, family, bold)
        if room and wide > room:
            px *= room / wide
        # The first letter marks where the baseline is, whatever the others do below it.
        weight = "BOLD" if bold else "NORMAL"
        # Manim breaks lines at the frame's width, and finds them broken in its folder at any other size.
        with (
            TemporaryDirectory(prefix="tilesim-") as folder,
            _configured(pixel_width=LINE_WIDTH, text_dir=folder),
        ):
            drawn = Text("H" + text, font=self.fonts[family], font_size=DRAWN_AT, weight=weight)
        drawn.scale(px * self.unit * POINTS_PER_UNIT / DRAWN_AT)
        mark, letters = drawn[0], VGroup(*drawn[1:])
        letters.set_fill(hexadecimal(colour), 1.0)
        left = letters.get_left()[0] + anchor * letters.width
        target_x, target_y, _ = self.point(x, baseline)
        letters.shift((target_x - left, target_y - mark.get_bottom()[1], 0.0))
        return letters

    def box(self, box: Box, colour: Colour, radius: float = 0.0) -> RoundedRectangle:
        """A filled rectangle with round corners of `radius` design pixels."""
        radius = min(radius, box.w / 2, box.h / 2)
        shape = RoundedRectangle(
            corner_radius=radius * self.unit, width=box.w * self.unit, height=box.h * self.unit
        )
        shape.set_fill(hexadecimal(colour), 1.0).set_stroke(width=0)
        return shape.move_to(self.point(box.x + box.w / 2, box.y + box.h / 2))

    def line(self, x0: float, y0: float, x1: float, y1: float, colour: Colour, px: float = 2.0) -> Line:
        """A straight line `px` thick."""
        line = Line(self.point(x0, y0), self.point(x1, y1))
        return line.set_stroke(hexadecimal(colour), width=px * self.unit * 100)


@contextmanager
def _configured(**settings: Any) -> Iterator[None]:
    """Manim with other settings; its own `tempconfig` takes a hundred times as long."""
    before = {name: config[name] for name in settings}
    try:
        for name, value in settings.items():
            config[name] = value
        yield
    finally:
        for name, value in before.items():
            config[name] = value


def rasterise(mobjects: Sequence[Mobject], frame: Frame, background: Colour) -> np.ndarray:
    """`mobjects` drawn by Manim on a plain ground: uint8, shape [height, width, 3]."""
    camera = Camera(
        pixel_width=frame.width,
        pixel_height=frame.height,
        frame_height=FRAME_HEIGHT,
        frame_width=FRAME_HEIGHT * frame.width / frame.height,
        background_color=hexadecimal(background),
    )
    camera.capture_mobjects(mobjects)
    return camera.pixel_array[..., :3].copy()
