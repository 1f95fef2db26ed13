"""Vectors: what a scene shows at an instant, drawn by Manim's own camera onto Cairo's SVG and PDF.

In an SVG, texts are <text>, of which Cairo can only draw outlines. While it is painted, each text leaves a
mark, an SVG element of a colour that nothing else has. Afterwards the mark is replaced, so a text keeps its
place among what is before and behind it.
"""

import re
from collections.abc import Sequence
from html import escape
from io import BytesIO
from typing import Any, NamedTuple

import cairo
import numpy as np
from manim import BOLD, Camera, Mobject, Scene, Text, VMobject

from tilesim_scenes.look.text import Figure, advance, outline
from tilesim_scenes.look.typefaces import MONO, SANS

MARK = (0.123456, 0.654321, 0.345678)
"""The colour of marks, red, green and blue."""
MARKED = re.compile(r"<\w+ [^<>]*12\.345\d*%, ?65\.432\d*%, ?34\.567\d*%[^<>]*/>")
FAMILIES = {SANS: f"{SANS}, Inter, sans-serif", MONO: f"{MONO}, JetBrains Mono, monospace"}
"""Where a reader lacks our fonts, those they are made from, or any."""
SQUEEZED = 0.1
"""Share by which a text may be wider or narrower than its letters; else it is turned, or not all there."""
SURFACES = {"svg": cairo.SVGSurface, "pdf": cairo.PDFSurface}


class Line(NamedTuple):
    """A line of text: what it says, its opacity, and its SVG element."""

    text: str
    opacity: float
    element: str


def lines_in(mobjects: Sequence[Mobject], camera: Camera) -> dict[int, Line | None]:
    """The line that each letter of `mobjects` is of, by its id; None for a line's letters after the first.

    A text that is turned, has several lines or colours, or is not all there, is left to be drawn.
    """
    found: dict[int, Line | None] = {}
    for mobject in {id(one): one for top in mobjects for one in top.get_family()}.values():
        letters = [mobject] if isinstance(mobject, Figure) else mobject.submobjects
        if isinstance(mobject, Figure | Text) and (line := _line(mobject, letters, camera)):
            found |= {id(letter): None for letter in letters}
            found[id(letters[0])] = line
    return found


def with_texts(svg: str, lines: Sequence[Line], scene: Scene) -> str:
    """An SVG with `lines` in place of the marks in it, and with a title and a description."""
    texts = iter(lines)
    svg = MARKED.sub(lambda mark: next(texts).element, svg)
    # The first chapter of one of our films, and what it has found by now; else all that can be read.
    title = next((name for _, name in getattr(scene, "chapters", ())), type(scene).__name__)
    finding = " ".join(getattr(scene, "figures", {}).get("finding", ()))
    description = finding or "; ".join(dict.fromkeys(line.text for line in lines))
    head, start, rest = svg.partition("<g ")
    head = head.rstrip().removesuffix(">") + ' role="img" aria-labelledby="title description">\n'
    names = (
        f'<title id="title">{escape(title, quote=False)}</title>\n'
        f'<desc id="description">{escape(description, quote=False)}</desc>\n'
    )
    return head + names + start + rest


def _line(mobject: Mobject, letters: Sequence[Mobject], camera: Camera) -> Line | None:
    """A text as a line, if it can be one."""
    figure = isinstance(mobject, Figure)
    text = mobject.text if figure else mobject.original_text
    family = mobject.family if figure else mobject.font
    bold = mobject.bold if figure else mobject.weight == BOLD
    looks = {(one.get_fill_color().to_hex(), round(float(one.get_fill_opacity()), 3)) for one in letters}
    if not text.strip() or "\n" in text or len(looks) != 1:
        return None
    drawn, shape = np.concatenate([one.points for one in letters]), outline(text, family, bold)
    if not len(shape) or not len(drawn):
        return None
    (left, low), (right, high) = drawn.min(axis=0)[:2], drawn.max(axis=0)[:2]
    (first, under), (last, over) = shape.min(axis=0)[:2], shape.max(axis=0)[:2]
    if min(last - first, over - under) <= 0 or high <= low:
        return None
    em, wide = (high - low) / (over - under), (right - left) / (last - first)
    if abs(wide / em - 1) > SQUEEZED:
        return None
    ((colour, opacity),) = looks
    scale = camera.pixel_height / camera.frame_height
    x = (left - first * wide - camera.frame_center[0]) * scale + camera.pixel_width / 2
    y = (camera.frame_center[1] - (low - under * em)) * scale + camera.pixel_height / 2
    weight = ' font-weight="bold"' if bold else ""
    see_through = f' fill-opacity="{opacity:.3g}"' if opacity < 1 else ""
    # It is as long as our fonts make it, whatever the reader's font is.
    length = advance(text, family, bold) * wide * scale
    element = (
        f'<text x="{x:.2f}" y="{y:.2f}" font-size="{em * scale:.2f}"{weight}'
        f' font-family="{escape(FAMILIES.get(family, family or "sans-serif"))}"'
        f' fill="{colour}"{see_through} textLength="{length:.2f}" lengthAdjust="spacingAndGlyphs"'
        f' xml:space="preserve">{escape(text, quote=False)}</text>'
    )
    return Line(text, opacity, element)


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
    """What `scene` shows as a file of `form`, svg or pdf; what is no vector in it is embedded as an image."""
    file, as_text = BytesIO(), form == "svg"
    with SURFACES[form](file, camera.pixel_width, camera.pixel_height) as surface:
        if isinstance(surface, cairo.SVGSurface):
            # Cairo counts points unless told otherwise, which are a third larger than pixels.
            surface.set_document_unit(cairo.SVGUnit.PX)
        lines = paint(cairo.Context(surface), scene, camera, as_text)
    drawn = file.getvalue()
    return with_texts(drawn.decode(), lines, scene).encode() if as_text else drawn


def paint(context: cairo.Context, scene: Scene, camera: Camera, as_text: bool = False) -> list[Line]:
    """Paint what `scene` shows on a surface of as many units as the camera's frame has pixels.

    With `as_text`, texts are not drawn: they are returned, and marked on the surface.
    """
    if camera.background_opacity > 0:
        _paint(context, np.asarray(camera.background))
    shown, lines = [*scene.mobjects, *scene.foreground_mobjects], list[Line]()
    letters = lines_in(shown, camera) if as_text else {}
    for mobject in camera.get_mobjects_to_display(shown):
        if id(mobject) in letters:
            if (line := letters[id(mobject)]) and line.opacity > 0:
                _mark(context, len(lines))
                lines.append(line)
        elif isinstance(mobject, VMobject):
            context.set_matrix(_to_pixels(camera))
            camera.display_vectorized(mobject, RightColours(context))
        else:
            context.identity_matrix()
            _embed(context, camera, mobject)
    return lines


def _mark(context: cairo.Context, number: int) -> None:
    """Leave the place of a text, a hundredth of a pixel that no other has."""
    context.identity_matrix()
    context.set_source_rgb(*MARK)
    context.rectangle(number % 100 / 100, number // 100 / 100, 0.01, 0.01)
    context.fill()


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
