"""Vectors: what a scene shows at an instant, drawn by Manim's own camera onto Cairo's SVG and PDF."""

from io import BytesIO
from typing import Any

import cairo
import numpy as np
from manim import Camera, Mobject, Scene, VMobject

from tilesim_scenes.render.files.svg_text import MARK, Line, lines_in, marked, with_texts

SURFACES = {"svg": cairo.SVGSurface, "pdf": cairo.PDFSurface}


class RightColours:
    """A Cairo context for Manim's camera, which gives colours in the order of its frames, blue first."""

    def __init__(self, context: cairo.Context) -> None:
        self.context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self.context, name)

    def set_source_rgba(self, blue: float, green: float, red: float, alpha: float = 1.0) -> None:
        self.context.set_source_rgba(red, green, blue, alpha)

    def set_source(self, gradient: cairo.LinearGradient) -> None:
        right = cairo.LinearGradient(*gradient.get_linear_points())
        for offset, blue, green, red, alpha in gradient.get_color_stops_rgba():
            right.add_color_stop_rgba(offset, red, green, blue, alpha)
        self.context.set_source(right)


def draw(scene: Scene, camera: Camera, form: str) -> bytes:
    """What `scene` shows as a file of `form`, svg or pdf; what is no vector in it is embedded as an image.

    In an SVG, texts are texts.
    """
    width, height, file = camera.pixel_width, camera.pixel_height, BytesIO()
    lines: list[Line] | None = [] if form == "svg" else None
    with SURFACES[form](file, width, height) as surface:
        if isinstance(surface, cairo.SVGSurface):
            # Cairo counts points unless told otherwise, which are a third larger than pixels.
            surface.set_document_unit(cairo.SVGUnit.PX)
        paint(cairo.Context(surface), scene, camera, lines)
    drawn = file.getvalue()
    return drawn if lines is None else with_texts(drawn.decode(), lines, scene).encode()


def paint(context: cairo.Context, scene: Scene, camera: Camera, lines: list[Line] | None = None) -> None:
    """Paint what `scene` shows on a surface of as many units as the camera's frame has pixels.

    If `lines` is given, texts are added to it, and marked on the surface instead of being drawn.
    """
    _background(context, camera)
    shown = [*scene.mobjects, *scene.foreground_mobjects]
    letters = {} if lines is None else lines_in(shown, camera)
    for mobject in camera.get_mobjects_to_display(shown):
        if id(mobject) in letters:
            if (line := letters[id(mobject)]) and lines is not None and line.opacity > 0:
                _mark(context, len(lines))
                lines.append(line)
        elif isinstance(mobject, VMobject):
            context.set_matrix(_to_pixels(camera))
            camera.display_vectorized(mobject, RightColours(context))
        else:
            context.identity_matrix()
            _embed(context, camera, mobject)


def _mark(context: cairo.Context, number: int) -> None:
    """Leave the place of a text."""
    context.identity_matrix()
    context.set_source_rgb(*MARK)
    context.rectangle(*marked(number))
    context.fill()


def _background(context: cairo.Context, camera: Camera) -> None:
    """The frame's background, an image where it is one."""
    if camera.background_opacity > 0:
        _paint(context, np.asarray(camera.background))


def _to_pixels(camera: Camera) -> cairo.Matrix:
    """From Manim's coordinates to those of a frame, as in Camera.get_cairo_context."""
    x, y = camera.pixel_width / camera.frame_width, camera.pixel_height / camera.frame_height
    left, top = camera.pixel_width / 2 - camera.frame_center[0] * x, camera.pixel_height / 2
    return cairo.Matrix(x, 0, 0, -y, left, top + camera.frame_center[1] * y)


def _embed(context: cairo.Context, camera: Camera, mobject: Mobject) -> None:
    """Let the camera draw a mobject that is no vector on a clear frame, and lay that over."""
    kept = camera.pixel_array
    camera.pixel_array = np.zeros_like(kept)
    try:
        camera.capture_mobjects([mobject], include_submobjects=False)
        _paint(context, camera.pixel_array)
    finally:
        camera.pixel_array = kept


def _paint(context: cairo.Context, picture: np.ndarray) -> None:
    """Lay an RGBA picture of the frame's size over what is there, cut to what is not clear."""
    rows, columns = (np.flatnonzero(picture[..., 3].any(axis)) for axis in (1, 0))
    if not len(rows):
        return
    top, left = rows[0], columns[0]
    part = picture[top : rows[-1] + 1, left : columns[-1] + 1]
    if (part == part[0, 0]).all():
        red, green, blue, alpha = part[0, 0] / 255
        context.set_source_rgba(red, green, blue, alpha)
        context.rectangle(left, top, part.shape[1], part.shape[0])
        context.fill()
        return
    pixels = np.ascontiguousarray(part[..., [2, 1, 0, 3]])
    image = cairo.ImageSurface.create_for_data(pixels, cairo.FORMAT_ARGB32, part.shape[1], part.shape[0])
    context.set_source_surface(image, left, top)
    context.paint()
