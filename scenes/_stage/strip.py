"""The strip: how far one run is ahead of the other, counted live and drawn as a curve over time.

What the curve shows at an instant never changes later, so it is drawn once, and a frame copies the part
left of the clock.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from manim import VMobject
from PIL import Image, ImageDraw

from tilesim_scenes._stage import glyphs
from tilesim_scenes._stage.backdrop import time_axis
from tilesim_scenes._stage.layout import Box, Frame
from tilesim_scenes._stage.raster import Painter, Pixels
from tilesim_scenes._stage.script import Lead
from tilesim_scenes._stage.theme import Colour, Theme, mix
from tilesim_scenes._stage.words import Words

OVERSAMPLING = 4
WHO_PX, FIGURE_PX, SHARE_PX, TICK_PX = 30, 54, 30, 26
LEVEL_NS = 5
"""A lead that rounds to 0.00 µs is none."""
FEW = 0.01
"""The share of the run that the band around zero marks."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where the parts of a strip stand; the texts' x is their left end, their y the baseline."""

    plot: Box
    who: tuple[float, float]
    figure: tuple[float, float]
    share: tuple[float, float]


def places(box: Box) -> Places:
    """In a wide strip the figure stands left of the curve, in a narrow one above it."""
    x, labels, band = box.x + 28, 196.0, 96.0
    if box.w > 1300:
        plot = Box(x + 360 + labels, box.y + 22, box.w - 56 - 360 - labels - band, box.h - 22 - 50)
        return Places(plot, (x, box.y + 52), (x, box.y + 112), (x, box.y + 158))
    plot = Box(x + labels, box.y + 74, box.w - 56 - labels - band, box.h - 74 - 50)
    return Places(plot, (x, box.y + 48), (x + 336, box.y + 50), (x + 570, box.y + 48))


def strip_frame(words: Words, theme: Theme, lead: Lead, box: Box, end: float) -> Iterator[VMobject]:
    """The strip's ground, what its curve's height means, and its time axis."""
    plot = places(box).plot
    yield words.box(box, theme.panel, 18)
    middle, most = plot.y + plot.h / 2, scale(lead) / 1000
    limit = f"{most:g} µs" if most < 1000 else f"{most / 1000:g} ms"
    x, down = plot.x - 16, 0.36 * TICK_PX
    yield words.text(f"{limit} ahead", x, plot.y + 2 * down, TICK_PX, theme.quiet, anchor=1.0)
    yield words.text(f"{limit} behind", x, plot.bottom, TICK_PX, theme.quiet, anchor=1.0)
    if FEW * lead.run > 0.05 * scale(lead):
        yield words.text(f"±{FEW:.0%}", plot.right + 16, middle + down, TICK_PX, theme.quiet)
    yield from time_axis(words, theme, plot, end)


def strip_painter(lead: Lead, box: Box, shape: Frame, theme: Theme, end: float) -> Painter:
    """Paint the curve up to the clock, and in words and figures how far who is ahead at it."""
    where, plot = places(box), shape.pixels(places(box).plot)
    empty, full = (_curve(lead, plot, theme, end, drawn) for drawn in (False, True))
    texts = Box(
        where.who[0], box.y + 12, (where.plot.x - 200 if box.w > 1300 else box.right - 28) - where.who[0], 0
    )
    room = shape.pixels(Box(texts.x, texts.y, texts.w, (box.h - 24) if box.w > 1300 else 50))
    sizes = WHO_PX, FIGURE_PX if box.w > 1300 else 40, SHARE_PX

    def paint(frame: np.ndarray, t: float) -> None:
        edge = int(np.clip(t / end, 0.0, 1.0) * plot.width)
        picture = frame[plot.rows, plot.columns, :3]
        picture[:, :edge] = full[:, :edge]
        picture[:, edge:] = empty[:, edge:]
        if 0 < edge < plot.width:
            thickness = max(1, round(min(frame.shape[:2]) / 360))
            picture[:, edge : edge + thickness] = theme.cursor
        frame[room.rows, room.columns, :3] = theme.panel
        colour = leader_colour(theme, lead.at(t))
        for text, place, px in zip(said(lead, t), (where.who, where.figure, where.share), sizes, strict=True):
            family = glyphs.MONO if px == sizes[1] else glyphs.SANS
            ink = colour if px == sizes[1] else theme.text
            x, baseline = (edge * shape.scale for edge in place)
            glyphs.stamp(frame, text, x, baseline, px * shape.scale, ink, 0, family, family == glyphs.MONO)

    return paint


def said(lead: Lead, t: float) -> tuple[str, str, str]:
    """Who leads at `t`, by how much, and what share of the measured run that is."""
    ns = lead.at(t)
    who = "both runs are level" if abs(ns) < LEVEL_NS else f"simulation {'ahead' if ns > 0 else 'behind'} by"
    digits = 2 if lead.run < 10**6 else 0
    return who, f"{abs(ns) / 1000:.{digits}f} µs", f"{abs(ns) / lead.run:.1%} of the run"


def leader_colour(theme: Theme, ns: float) -> Colour:
    """The colour of the run that is ahead."""
    if abs(ns) < LEVEL_NS:
        return theme.text
    return theme.simulated if ns > 0 else theme.measured


def scale(lead: Lead) -> float:
    """The lead at the upper end of the curve's axis, ns: 1, 2 or 5 · 10^i that holds all leads and the band.

    >>> scale(Lead(np.array([0.0, 100.0]), np.array([0.0, -455.0]), 27_744))
    500.0
    """
    most = max(1.0, float(np.abs(lead.leads).max()), 1.2 * FEW * lead.run)
    power = 10.0 ** np.floor(np.log10(most))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= most))


def _curve(lead: Lead, plot: Pixels, theme: Theme, end: float, drawn: bool) -> np.ndarray:
    """The plot without, or with the whole curve: uint8, shape [height, width, 3]."""
    wide, tall = plot.width * OVERSAMPLING, plot.height * OVERSAMPLING
    image = Image.new("RGB", (wide, tall), theme.idle)
    draw = ImageDraw.Draw(image)
    middle, unit = tall / 2, tall / 2 / scale(lead)
    few = FEW * lead.run * unit
    draw.rectangle((0, middle - few, wide, middle + few), fill=tuple(mix(theme.idle, theme.quiet, 0.22)))
    thick = max(1, round(plot.height / 64)) * OVERSAMPLING
    if drawn:
        # A column for each pixel: the curve has more bends than that.
        edges = np.arange(wide + 1) * end / wide
        heights = lead.at(edges) * unit
        for x, height in enumerate(heights.tolist()):
            fill = leader_colour(theme, height / unit)
            low, high = sorted((middle, middle - height))
            draw.line((x, low, x, high), fill=tuple(mix(theme.idle, fill, 0.5)))
        for x, height in enumerate(heights[:-1].tolist()):
            top, bottom = sorted((middle - height, middle - heights[x + 1]))
            draw.line((x, top - thick / 2, x, bottom + thick / 2), fill=leader_colour(theme, height / unit))
    draw.rectangle((0, middle - OVERSAMPLING / 2, wide, middle + OVERSAMPLING / 2), fill=theme.quiet)
    return np.array(image.resize((plot.width, plot.height), Image.Resampling.BOX))
