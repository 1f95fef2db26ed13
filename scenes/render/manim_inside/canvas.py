"""The canvas: a frame that is drawn again only where it is dirty.

The pixels are those of Manim, which draws all of each frame, because what it makes of a pixel depends only on
what lay there and on the mobjects over it, in order:

- a mobject that meets a dirty tile is drawn whole, by Manim's own code, on a scratch frame, and the dirty
  tiles are copied from there. To clip it to them would be less work, but Cairo then smooths edges otherwise;
- what looks the same is told by all that Manim's camera reads of a mobject, byte by byte.
"""

from __future__ import annotations

from itertools import takewhile

import cairo
import numpy as np
from manim import Camera, CapStyleType, LineJointType, Mobject, VMobject

from tilesim_scenes.render import dirty as tiles
from tilesim_scenes.render.dirty import Pixels
from tilesim_scenes.render.files.images import packed
from tilesim_scenes.render.manim_inside.looks import Raster, Vector, kind_of

MITER = 10
"""How many times half its width a line's corner may stick out, by Cairo's default, which Manim leaves."""
SMOOTH = 2
"""Pixels that smoothed edges may reach beyond a shape."""
LARGE = 0.5
"""Of a frame: where more is dirty, it is drawn in place, without a scratch frame."""
PATIENCE = 4
"""Frames that the lowest mobjects must look the same for, before they are kept as a layer."""


class Surface:
    """Pixels (uint8, [height, width, 4]) that a camera draws on as it draws on its frame."""

    def __init__(self, camera: Camera, pixels: np.ndarray) -> None:
        height, width = pixels.shape[:2]
        self.camera, self.pixels = camera, pixels
        surface = cairo.ImageSurface.create_for_data(pixels.data, cairo.FORMAT_ARGB32, width, height)
        self.context = cairo.Context(surface)
        self.context.set_matrix(camera.get_cairo_context(camera.pixel_array).get_matrix())


class Canvas:
    """What a camera showed last, as long as it looks at the same part of the scene.

    `ground` is what lies below all mobjects. Those at the bottom that keep looking the same lie on it in a
    layer of their own.
    """

    def __init__(self, camera: Camera) -> None:
        self.camera = camera
        self.frame = Surface(camera, camera.pixel_array)
        self.matrix = self.frame.context.get_matrix()
        self.whole = Pixels(0, 0, camera.pixel_width, camera.pixel_height)
        self.dirty = tiles.grid(camera.pixel_width, camera.pixel_height)
        self.ground: np.ndarray | None = None
        self.mobjects: list[Mobject] = []
        self.looks: list[Vector | Raster] = []
        self.ranges = np.zeros((0, 4), np.int64)
        self.scratch: Surface | None = None
        self.layer: Surface | None = None
        self.layered = 0
        self.lowest, self.since = 0, 0

    def mark(self, range_: tiles.Range) -> None:
        top, bottom, left, right = range_
        self.dirty[top:bottom, left:right] = True

    def range_at(self, place: Pixels) -> tiles.Range:
        right, bottom = place.left + place.width, place.top + place.height
        return tiles.tiles(place.left, place.top, right, bottom, self.dirty.shape)

    def range_of(self, mobject: VMobject) -> tiles.Range:
        """The tiles that a vector mobject may touch: those around its curves' control points."""
        width = max(
            _visible(mobject.stroke_rgbas, mobject.get_stroke_width()),
            _visible(mobject.background_stroke_rgbas, mobject.get_stroke_width(True)),
        )
        if not width and not _visible(mobject.fill_rgbas, 1.0):
            return tiles.NOTHING
        xx, yy, x0, y0 = self.matrix.xx, self.matrix.yy, self.matrix.x0, self.matrix.y0
        flat = mobject.points[:, :2]
        (left, bottom), (right, top) = flat.min(0).tolist(), flat.max(0).tolist()
        half = 0.5 * width * self.camera.cairo_line_width_multiple
        if mobject.joint_type in (LineJointType.AUTO, LineJointType.MITER):
            half *= MITER
        elif mobject.cap_style is CapStyleType.SQUARE:
            half *= 2
        x, y = half * abs(xx) + SMOOTH, half * abs(yy) + SMOOTH
        across, down = sorted((left * xx + x0, right * xx + x0)), sorted((top * yy + y0, bottom * yy + y0))
        return tiles.tiles(across[0] - x, down[0] - y, across[1] + x, down[1] + y, self.dirty.shape)

    def show(self, ground: np.ndarray, mobjects: list[Mobject]) -> np.ndarray:
        """Have the frame show mobjects on a ground; which of its tiles changed. Raises Unknown."""
        self.dirty[...] = False
        lowest = self._compare(mobjects)
        if ground is not self.ground:
            self.dirty[...] = True
            lowest, self.ground = 0, ground
        if lowest < self.layered:
            self.layered = 0
        if self.dirty.any():
            self._draw()
            self._settle(lowest)
        return self.dirty

    def _compare(self, mobjects: list[Mobject]) -> int:
        """Mark what looks different; the index of the lowest mobject that does, or how many there are."""
        if mobjects is self.mobjects:
            lowest = len(mobjects)
            for index, (mobject, look) in enumerate(zip(mobjects, self.looks, strict=True)):
                if look.update(mobject, self):
                    self.ranges[index] = look.tiles
                    lowest = min(lowest, index)
            return lowest
        before = {id(mobject): look for mobject, look in zip(self.mobjects, self.looks, strict=True)}
        kept = [id(mobject) for mobject in mobjects if id(mobject) in before]
        gone = before.keys() - set(kept)
        if kept != [number for number in before if number not in gone]:
            self.dirty[...] = True  # What lay below now lies above.
        looks: list[Vector | Raster] = []
        lowest = len(mobjects)
        for index, mobject in enumerate(mobjects):
            look = before.get(id(mobject))
            if look is None:
                kind = kind_of(type(mobject))
                assert kind is not None
                look = kind()
            if look.update(mobject, self):
                lowest = min(lowest, index)
            looks.append(look)
        for number in gone:
            self.mark(before[number].tiles)
        same = sum(
            1 for _ in takewhile(lambda pair: pair[0] is pair[1], zip(self.mobjects, mobjects, strict=False))
        )
        self.mobjects, self.looks = mobjects, looks
        self.ranges = np.array([look.tiles for look in looks], np.int64).reshape(-1, 4)
        return min(lowest, same)

    def _draw(self) -> None:
        """Draw the frame again where it is dirty."""
        base = self.layer.pixels if self.layer and self.layered else self.ground
        meeting = tiles.meeting(self.dirty, self.ranges).tolist()
        if np.count_nonzero(self.dirty) > LARGE * self.dirty.size:
            self.frame.pixels[...] = base
            touching = np.flatnonzero(self.ranges[:, 0] < self.ranges[:, 1]).tolist()
            self._paint(self.frame, touching, [self.whole])
            return
        if self.scratch is None:
            self.scratch = Surface(self.camera, np.empty_like(self.frame.pixels))
        parts = tiles.rectangles(self.dirty, self.camera.pixel_width, self.camera.pixel_height)
        frame, scratch, under = packed(self.frame.pixels), packed(self.scratch.pixels), packed(base)
        for part in parts:
            scratch[part.rows, part.columns] = under[part.rows, part.columns]
        self._paint(self.scratch, meeting, parts)
        for part in parts:
            frame[part.rows, part.columns] = scratch[part.rows, part.columns]

    def _paint(self, surface: Surface, indices: list[int], parts: list[Pixels]) -> None:
        for index in indices:
            if index >= self.layered:
                self.looks[index].draw(self.mobjects[index], surface, parts)

    def _settle(self, lowest: int) -> None:
        """Keep the mobjects below the lowest one that changed lately as a layer."""
        self.lowest = min(self.lowest, lowest) if self.since else lowest
        self.since += 1
        if self.since < PATIENCE:
            return
        self.since = 0
        if self.lowest <= self.layered:
            return
        if self.layer is None:
            self.layer = Surface(self.camera, np.empty_like(self.frame.pixels))
        if not self.layered:
            self.layer.pixels[...] = self.ground
        self._paint(self.layer, list(range(self.layered, self.lowest)), [self.whole])
        self.layered = self.lowest


def _visible(rgbas: np.ndarray, width: float) -> float:
    """How wide something of those colours is, if it can be seen."""
    return width if width and rgbas[:, 3].any() else 0.0
