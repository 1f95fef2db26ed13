"""The texts of an SVG as <text>, of which Cairo can only draw outlines, and what the picture is called.

While it is painted, each text leaves a mark, an SVG element of a colour that nothing else has. Afterwards the
mark is replaced, so a text keeps its place among what is before and behind it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from manim import BOLD, Camera, Mobject, Scene, Text

from tilesim_scenes.look.text import Figure, advance, outline
from tilesim_scenes.look.typefaces import MONO, SANS

MARK = (0.123456, 0.654321, 0.345678)
"""The colour of marks, red, green and blue."""
MARKED = re.compile(r"<\w+ [^<>]*12\.345\d*%, ?65\.432\d*%, ?34\.567\d*%[^<>]*/>")
FAMILIES = {SANS: f"{SANS}, Inter, sans-serif", MONO: f"{MONO}, JetBrains Mono, monospace"}
"""Where a reader lacks our fonts, those they are made from, or any."""
SQUEEZED = 0.1
"""Share by which a text may be wider or narrower than its letters; else it is turned, or not all there."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text from the left end of its baseline, with lengths in pixels of the frame."""

    text: str
    x: float
    y: float
    size: float
    length: float
    family: str
    bold: bool
    colour: str
    opacity: float

    @property
    def element(self) -> str:
        """The SVG element. It is as long as our fonts make it, whatever the reader's font is."""
        weight = ' font-weight="bold"' if self.bold else ""
        opacity = f' fill-opacity="{self.opacity:.3g}"' if self.opacity < 1 else ""
        return (
            f'<text x="{self.x:.2f}" y="{self.y:.2f}" font-size="{self.size:.2f}"{weight}'
            f' font-family="{escape(FAMILIES.get(self.family, self.family or "sans-serif"))}"'
            f' fill="{self.colour}"{opacity} textLength="{self.length:.2f}" lengthAdjust="spacingAndGlyphs"'
            f' xml:space="preserve">{escape(self.text, quote=False)}</text>'
        )


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


def marked(number: int) -> tuple[float, float, float, float]:
    """The rectangle, x, y, width and height in pixels, that marks a text."""
    return number % 100 / 100, number // 100 / 100, 0.01, 0.01


def with_texts(svg: str, lines: Sequence[Line], scene: Scene) -> str:
    """An SVG with `lines` in place of the marks in it, and with a title and a description."""
    texts = iter(lines)
    svg = MARKED.sub(lambda mark: next(texts).element, svg)
    title, description = (escape(one, quote=False) for one in (_title(scene), _description(scene, lines)))
    head, start, rest = svg.partition("<g ")
    head = head.rstrip().removesuffix(">") + ' role="img" aria-labelledby="title description">\n'
    names = f'<title id="title">{title}</title>\n<desc id="description">{description}</desc>\n'
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
    return Line(
        text,
        x=(left - first * wide - camera.frame_center[0]) * scale + camera.pixel_width / 2,
        y=(camera.frame_center[1] - (low - under * em)) * scale + camera.pixel_height / 2,
        size=em * scale,
        length=advance(text, family, bold) * wide * scale,
        family=family,
        bold=bold,
        colour=colour,
        opacity=opacity,
    )


def _title(scene: Scene) -> str:
    """The first chapter of a film of ours, or the name of a scene."""
    return next((name for _, name in getattr(scene, "chapters", ())), type(scene).__name__)


def _description(scene: Scene, lines: Sequence[Line]) -> str:
    """What a film of ours has found by now, or else all that can be read in the picture."""
    finding = getattr(scene, "figures", {}).get("finding", ())
    return " ".join(finding) or "; ".join(dict.fromkeys(line.text for line in lines))
