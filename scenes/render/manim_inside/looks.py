"""Looks: all that Manim's camera reads of a mobject, kept to tell whether the next frame shows it alike."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import cairo
import numpy as np
from manim import Camera, Mobject, PMobject, VMobject
from manim.constants import RESAMPLING_ALGORITHMS
from manim.mobject.types.image_mobject import AbstractImageMobject
from PIL import Image

from tilesim_scenes.render.dirty import NOTHING, Pixels
from tilesim_scenes.render.files.images import Overlay

if TYPE_CHECKING:
    from tilesim_scenes.render.manim_inside.canvas import Canvas, Surface

READ = (
    "get_fill_rgbas", "get_stroke_rgbas", "get_stroke_width", "get_background_image",
    "get_gradient_start_and_end_points", "get_subpath_split_indices_from_points",
    "consider_points_equals_2d", "points", "get_family", "__getattribute__",
)  # fmt: skip
"""What Manim's camera asks of a vector mobject: a class that answers in its own way is not known here."""
FAR = 20_000
"""Pixels from the frame's corner: an image that reaches farther is left to Manim."""


class Unknown(Exception):
    """This is for Manim to draw."""


class Vector:
    """How a vector mobject looked, and the range of tiles that it may have touched."""

    __slots__ = ("drawn", "look", "path", "tiles")

    def __init__(self) -> None:
        self.look, self.tiles, self.path, self.drawn = None, NOTHING, None, False

    def update(self, mobject: VMobject, canvas: Canvas) -> bool:
        """Mark the tiles in which the mobject looks different now; whether it does at all."""
        look = _look(mobject)
        if look == self.look:
            return False
        canvas.mark(self.tiles)
        self.look, self.tiles, self.path, self.drawn = look, canvas.range_of(mobject), None, False
        canvas.mark(self.tiles)
        return True

    def draw(self, mobject: VMobject, surface: Surface, parts: Sequence[Pixels]) -> None:
        """What `display_vectorized` does; from the third time on, with the path that Cairo made before."""
        camera, context = surface.camera, surface.context
        if self.path is not None:
            context.new_path()
            context.append_path(self.path)
        else:
            _trace(camera, context, mobject)
            if self.drawn:
                self.path = context.copy_path()
        self.drawn = True
        camera.apply_stroke(context, mobject, background=True)
        camera.apply_fill(context, mobject)
        camera.apply_stroke(context, mobject)


class Raster:
    """How an image mobject looked, what it laid on the frame, and the range of tiles that this touched."""

    __slots__ = ("look", "overlay", "tiles")

    def __init__(self) -> None:
        self.look, self.tiles = None, NOTHING

    def update(self, mobject: AbstractImageMobject, canvas: Canvas) -> bool:
        """Mark the tiles in which the mobject looks different now; whether it does at all."""
        pixels = mobject.get_pixel_array()
        if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 4 or not pixels.size:
            raise Unknown
        pixels = np.ascontiguousarray(pixels)
        # All that Manim's camera reads of an image, but for its pixels.
        look = mobject.points.tobytes(), mobject.resampling_algorithm, pixels.shape
        if look == self.look:
            changed = self.overlay.update(pixels, canvas.dirty)
            self.tiles = canvas.range_at(self.overlay.place)
            return changed
        canvas.mark(self.tiles)
        window, sampling = Window(canvas.camera, mobject), mobject.resampling_algorithm
        self.overlay = Overlay(pixels, window.warp, sampling == RESAMPLING_ALGORITHMS["nearest"])
        self.look, self.tiles = look, canvas.range_at(self.overlay.place)
        canvas.mark(self.tiles)
        return True

    def draw(self, mobject: AbstractImageMobject, surface: Surface, parts: Sequence[Pixels]) -> None:
        for part in parts:
            self.overlay.draw(surface.pixels, part)


class Window:
    """A part of a camera's frame, no larger than an image on it, on which Manim can lay the image.

    It stands for the camera in what Manim does for images, and for the image mobject that lies there.
    """

    def __init__(self, camera: Camera, mobject: AbstractImageMobject) -> None:
        self.resampling_algorithm = mobject.resampling_algorithm
        corners = camera.points_to_subpixel_coords(mobject, mobject.points)
        if not (np.abs(corners) < FAR).all():
            raise Unknown
        # Manim rounds towards 0, so what begins before the frame's edge begins at it.
        left, top = np.maximum(corners.min(0).astype(np.int64), 0).tolist()
        right, bottom = corners.max(0).astype(np.int64).tolist()
        width, height = min(right, camera.pixel_width) - left, min(bottom, camera.pixel_height) - top
        self.place = Pixels(left, top, max(0, width), max(0, height))
        self.points = corners - (left, top)
        self.pixel_width, self.pixel_height = self.place.width, self.place.height

    def warp(self, image: np.ndarray) -> tuple[Pixels, np.ndarray]:
        """Where the image lies, and what of it is there, as Manim warps it."""
        self.image, self.laid = image, np.zeros((self.pixel_height, self.pixel_width, 4), np.uint8)
        if self.laid.size:
            Camera.display_image_mobject(self, self, self.laid)
        return self.place, self.laid

    def get_pixel_array(self) -> np.ndarray:
        return self.image

    def points_to_subpixel_coords(self, mobject: Any, points: np.ndarray) -> np.ndarray:
        return points.copy()

    def overlay_PIL_image(self, pixels: np.ndarray, image: Image.Image) -> None:
        self.laid = np.array(image)


@cache
def kind_of(mobject: type[Mobject]) -> type[Vector] | type[Raster] | None:
    """What keeps the look of such mobjects, None where Manim draws nothing; raises Unknown."""
    if issubclass(mobject, VMobject):
        if any(getattr(mobject, name, None) is not getattr(VMobject, name, None) for name in READ):
            raise Unknown
        return Vector
    if issubclass(mobject, PMobject):
        raise Unknown
    return Raster if issubclass(mobject, AbstractImageMobject) else None


def _look(mobject: VMobject) -> tuple[Any, ...]:
    """All that Manim's camera reads of a vector mobject."""
    try:
        fill, stroke, back = mobject.fill_rgbas, mobject.stroke_rgbas, mobject.background_stroke_rgbas
        gradient = b""
        if len(fill) > 1 or len(stroke) > 1 or len(back) > 1:
            gradient = np.array(mobject.get_gradient_start_and_end_points()).tobytes()
        if mobject.background_image:
            raise Unknown
        return (
            mobject.points.tobytes(), fill.tobytes(), stroke.tobytes(), back.tobytes(), gradient,
            mobject.stroke_width, mobject.background_stroke_width, mobject.joint_type, mobject.cap_style,
            mobject.tolerance_for_point_equality, mobject.n_points_per_cubic_curve,
        )  # fmt: skip
    except AttributeError as error:
        raise Unknown from error


def _trace(camera: Camera, context: cairo.Context, mobject: VMobject) -> None:
    """What `set_cairo_context_path` does, in half the time where each curve begins at the last one's end."""
    points = mobject.points
    if len(points) % 4 or mobject.n_points_per_cubic_curve != 4:
        camera.set_cairo_context_path(context, mobject)
        return
    flat = points[:, :2]
    if not (flat[3:-1:4] == flat[4::4]).all() or not np.isfinite(points).all():
        camera.set_cairo_context_path(context, mobject)
        return
    curves = flat.tolist()
    context.new_path()
    context.move_to(*curves[0])
    curve_to = context.curve_to
    for one, two, end in zip(curves[1::4], curves[2::4], curves[3::4], strict=True):
        curve_to(*one, *two, *end)
    if mobject.consider_points_equals_2d(points[0], points[-1]):
        context.close_path()
