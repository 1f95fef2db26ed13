"""Text: sizes in pixels, labels by Pango, and figures as outlines that are cheap enough to change each frame.

Sizes are pixels of a frame whose shorter side has 1080 of them, so a film reads alike in every format.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import combinations, pairwise
from typing import Any, Self, TypeVar

import cairo
import numpy as np
from manim import BOLD, NORMAL, ManimColor, Mobject, Text, VGroup, VMobject, config

from tilesim_scenes.look.letters import Letters
from tilesim_scenes.look.theme import AnyColour, theme_now
from tilesim_scenes.look.typefaces import MONO, SANS

SHORTER_SIDE = 1080
"""Pixels, in which sizes are given."""
POINTS_PER_UNIT = 72
"""Of Manim's font sizes: an em of `Text(font_size=72)` is one unit high (measured with Manim 0.22)."""
UNBROKEN = 100_000
"""Points that a line of text may take."""
OUTLINED_AT = 200
"""Font size, in pixels, at which outlines are taken."""
UNHINTED = cairo.FontOptions()
UNHINTED.set_hint_style(cairo.HINT_STYLE_NONE)
UNHINTED.set_hint_metrics(cairo.HINT_METRICS_OFF)
"""Letters that are not pushed onto whole pixels, whatever a machine is set to."""
LEAST_SIZE, MOST_LETTERS = 28, 120
"""Pixels to which a name is shrunk before it is cut, and letters that no line has room for."""
WORDS = re.compile(r" (?!(?:µs|ns|ms|KB|MB|GB|TFLOP/s|GB/s)\b)")
"""Where a line may end."""
NOT_DRAWN = dict.fromkeys(
    (*range(32), *range(127, 160), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF), "\N{REPLACEMENT CHARACTER}"
)
"""What stands for control characters, surrogates and codes that are none, as `str.translate` takes it."""
M = TypeVar("M", bound=Mobject)


def px(pixels: float) -> float:
    """Manim's units that so many pixels take, where the frame's shorter side has 1080."""
    return pixels * min(config.frame_width, config.frame_height) / SHORTER_SIDE


def drawable(text: str) -> str:
    """`text` with a replacement character for each that nothing can be drawn of.

    >>> drawable("a\\x00b"), drawable("\\ud800 naïve")
    ('a�b', '� naïve')
    """
    return text.translate(NOT_DRAWN)


def label(
    text: str, size: float, color: AnyColour | None = None, bold: bool = False, mono: bool = False
) -> Text:
    """`text`, any script, with an em of `size` pixels, in the theme's ink or another colour."""
    ink, points = ManimColor(color or theme_now().text), px(size) * POINTS_PER_UNIT
    return _label(drawable(text), points, ink, MONO if mono else SANS, BOLD if bold else NORMAL).copy()


@lru_cache(maxsize=512)
def _label(text: str, points: float, ink: ManimColor, font: str, weight: str) -> Text:
    """A label to copy, which takes a tenth of the time that it takes to make one."""
    # Manim breaks a line at as many points as the frame has pixels, which in small frames are few.
    pixels, config.pixel_width = config.pixel_width, UNBROKEN
    try:
        return Letters(text, font_size=points, color=ink, font=font, weight=weight, warn_missing_font=False)
    finally:
        config.pixel_width = pixels


def cut(text: str, room: float, size: float = LEAST_SIZE, bold: bool = False) -> str:
    """`text`, or as much of its head as is `room` units wide at a size of so many pixels, and an ellipsis."""
    if len(text) < MOST_LETTERS and px(width(text, size, bold=bold)) <= room:
        return text
    ends = range(1, min(len(text), MOST_LETTERS))
    fits = bisect_right(ends, room, key=lambda end: px(width(f"{text[:end]}…", size, bold=bold)))
    return f"{text[: max(1, fits)].rstrip(' …')}…"


def lines(
    text: str, size: float, room: float, most: int = 2, color: AnyColour | None = None, bold: bool = False
) -> VGroup:
    """`text` in up to `most` centred lines of at most `room` units, shrunk where it needs more.

    Words, or letters of a script without spaces, are shared out so that lines are about equally wide; a
    figure keeps its unit.
    """
    wide = px(width(text, size, bold=bold))
    if wide <= room:
        return VGroup(label(text, size, color, bold))
    words = WORDS.split(text) if " " in text else list(text)
    between = " " if " " in text else ""
    count = min(most, len(words), int(np.ceil(wide / room)))
    broken = VGroup(*(label(line, size, color, bold) for line in _shared_out(words, between, count)))
    # A gap of lines that does not depend on which letters have descenders.
    for number, line in enumerate(broken):
        line.move_to([0, -1.25 * px(size) * number, 0])
    return fit(broken, room)


def fit(mobject: M, width: float, height: float = np.inf) -> M:
    """A mobject, shrunk where it is wider or higher than so many units."""
    return mobject.scale(min(1.0, width / mobject.width, height / mobject.height))


def keep_apart(words: Sequence[Mobject], gap: float, low: float, high: float, dim: int = 0) -> None:
    """Move words along an axis, 0 or 1, as little as keeps them `gap` apart and between two ends.

    They keep their order. Where they take more than there is, all of them become smaller.
    """
    ahead = np.eye(3)[dim]
    row = sorted(words, key=lambda word: word.get_center()[dim])
    edges = partial(Mobject.get_extremum_along_dim, dim=dim)
    begin, end = low, high
    for word in row:
        word.shift(max(0.0, begin - edges(word, key=-1)) * ahead)
        begin = edges(word, key=1) + gap
    for word in reversed(row):
        word.shift(min(0.0, end - edges(word, key=1)) * ahead)
        end = edges(word, key=-1) - gap
    if row and end + gap < low:
        whole = VGroup(*row).scale((high - low) / (high - end - gap))
        whole.shift((low - edges(whole, key=-1)) * ahead)


def _shared_out(words: list[str], between: str, count: int) -> list[str]:
    """Words in `count` lines, of which the longest is as short as it can be.

    >>> _shared_out(["One", "thread", "block", "for", "each", "tile"], " ", 2)
    ['One thread block', 'for each tile']
    """
    # A script without spaces breaks anywhere, so evenly; words leave few places.
    evenly = tuple(round(len(words) * line / count) for line in range(1, count))
    every = combinations(range(1, len(words)), count - 1) if between else [evenly]
    broken = ([between.join(words[a:b]) for a, b in pairwise((0, *cuts, len(words)))] for cuts in every)
    return min(broken, key=lambda rows: max(advance(row, SANS) for row in rows))


@lru_cache(maxsize=4096)
def advance(text: str, family: str = MONO, bold: bool = True) -> float:
    """How far `text` advances, in ems."""
    context = _context(cairo.ImageSurface(cairo.FORMAT_A8, 1, 1), family, bold)
    if _lacks(context, text):
        return _by_pango(text, family, bold)[1]
    return context.text_extents(drawable(text)).x_advance / OUTLINED_AT


def width(text: str, size: float, bold: bool = False) -> float:
    """How wide `text` is at a font size, in the same unit."""
    return advance(text, SANS, bold) * size


@lru_cache(maxsize=4096)
def outline(text: str, family: str = MONO, bold: bool = True) -> np.ndarray:
    """Its letters as cubic Bézier curves, as Manim has them: float64, shape [4 · curves, 3], read-only.

    At a font size of 1, from x = 0 to the right, with the baseline at y = 0 and y upwards.
    """
    # Cairo drops the letters that lie outside a surface with an end.
    context = _context(cairo.RecordingSurface(cairo.CONTENT_ALPHA, None), family, bold)
    if _lacks(context, text):
        return _by_pango(text, family, bold)[0]
    context.move_to(0, 0)
    context.text_path(drawable(text))
    curves: list[tuple] = []
    begin = at = (0.0, 0.0)
    for kind, points in context.copy_path():
        if kind == cairo.PATH_MOVE_TO:
            begin = at = points
            continue
        first = at
        if kind == cairo.PATH_CURVE_TO:
            *bends, at = points[:2], points[2:4], points[4:]
        else:
            at = begin if kind == cairo.PATH_CLOSE_PATH else points
            (x0, y0), (x1, y1) = first, at
            bends = [(x0 + (x1 - x0) * third, y0 + (y1 - y0) * third) for third in (1 / 3, 2 / 3)]
        if first != at:
            curves += [first, *bends, at]
    outlined = np.zeros((len(curves), 3))
    outlined[:, :2] = np.reshape(curves, (-1, 2)) * [1, -1] / OUTLINED_AT
    outlined.flags.writeable = False
    return outlined


def _lacks(context: cairo.Context, text: str) -> bool:
    """Whether the font lacks a letter. Cairo looks in no other then."""
    return any(
        glyph.index == 0 for glyph in context.get_scaled_font().text_to_glyphs(0, 0, drawable(text))[0]
    )


@lru_cache(maxsize=4096)
def _by_pango(text: str, family: str, bold: bool) -> tuple[np.ndarray, float]:
    """`outline` and `advance` of a text whose letters come from several fonts.

    Pango sets it between two zeros, whose place on the baseline is known.
    """
    letters = label(f"0{text}0", OUTLINED_AT, bold=bold, mono=family == MONO).submobjects
    first, *between, last = (one for one in letters if len(one.points))
    zero = outline("0", family, bold)
    corner, scale = zero.min(axis=0), np.ptp(zero[:, 1]) / first.height
    shift = corner - scale * first.get_corner([-1, -1, 0]) - [advance("0", family, bold), 0, 0]
    points = np.concatenate([np.zeros((0, 3)), *(scale * one.points + shift for one in between)])
    points.flags.writeable = False
    return points, float(scale * (last.get_left() - first.get_left())[0] - advance("0", family, bold))


def _context(surface: cairo.Surface, family: str, bold: bool) -> cairo.Context:
    context = cairo.Context(surface)
    weight = cairo.FONT_WEIGHT_BOLD if bold else cairo.FONT_WEIGHT_NORMAL
    context.select_font_face(family, cairo.FONT_SLANT_NORMAL, weight)
    context.set_font_size(OUTLINED_AT)
    context.set_font_options(UNHINTED)
    return context


class Figure(VMobject):
    """Digits that may change in every frame: `write("12.5 µs")` costs microseconds, a `Text` 10 ms.

    It stands on the left end of its baseline, or where `align` says: 0 left, 0.5 centred, 1 right.
    """

    def __init__(
        self,
        text: str = "",
        size: float = 48,
        color: AnyColour | None = None,
        bold: bool = True,
        mono: bool = True,
        align: float = 0.0,
    ) -> None:
        super().__init__(fill_color=ManimColor(color or theme_now().text), fill_opacity=1.0, stroke_width=0.0)
        self.family, self.bold, self.align = MONO if mono else SANS, bold, align
        self.text, self._written = "", False
        em = px(size)
        self.add(Corner(np.array([[0, 0, 0], [em, 0, 0], [0, em, 0], [0, em, 0]], float)))
        self.write(text)

    def write(self, text: str) -> "Figure":
        """Show `text`, where the figure stands and as large as it is."""
        if text != self.text or not self._written:
            self.text, self._written = text, True
            origin, right, up = self.submobjects[0].points[:3]
            if not text:
                # Manim pairs what has points, so even nothing has some.
                self.points = np.repeat(origin[None], 4, axis=0)
                return self
            shape = outline(text, self.family, self.bold)
            shift = self.align * advance(text, self.family, self.bold)
            self.points = origin + (shape[:, :1] - shift) * (right - origin) + shape[:, 1:2] * (up - origin)
        return self

    def interpolate(self, mobject1: Mobject, mobject2: Mobject, alpha: float, *args: Any) -> Self:
        """As Manim's; what is written next is drawn, whatever it is."""
        self.text = getattr(mobject2 if alpha > 0.5 else mobject1, "text", "")
        self._written = False
        return super().interpolate(mobject1, mobject2, alpha, *args)

    def become(self, mobject: Mobject, *args: Any, **how: Any) -> Self:
        """As Manim's, and the text with the look."""
        self.text, self._written = getattr(mobject, "text", ""), False
        return super().become(mobject, *args, **how)


class Corner(VMobject):
    """Points that are never seen, and are moved and scaled with what they belong to.

    An origin and the ends of two axes, so that what is drawn later knows where, how large and how turned; the
    last twice, as Manim's curves have four points each.
    """

    def __init__(self, points: np.ndarray) -> None:
        super().__init__(fill_opacity=0.0, stroke_width=0.0)
        self.points = points

    def set_fill(self, *args: Any, **kwargs: Any) -> "Corner":
        return super().set_fill(opacity=0.0)

    def set_stroke(self, *args: Any, **kwargs: Any) -> "Corner":
        return super().set_stroke(width=0.0, opacity=0.0, background=kwargs.get("background", False))
