"""Roof: TFLOP/s over FLOP a byte, both logarithmic; a point goes from step to step under a roofline."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from manim import VMobject

from tilesim.rungs import Ladder, Limit, Rung, ridge, roofline
from tilesim_scenes._stage import glyphs
from tilesim_scenes._stage.board import Board, Text
from tilesim_scenes._stage.climb import Climb
from tilesim_scenes._stage.climb_picture import Chart
from tilesim_scenes._stage.climb_script import figure, title
from tilesim_scenes._stage.layout import Box, Frame
from tilesim_scenes._stage.raster import Painter
from tilesim_scenes._stage.theme import Colour, Theme, mix, sm_colours
from tilesim_scenes._stage.way import Point, Way
from tilesim_scenes._stage.words import Words

NAME_PX, QUIET_PX, TICK_PX = 30, 28, 26
PAD, HEAD, AXIS, TICKS, BESIDE, PITCH = 28, 62, 94, 86, 34, 48
"""Design pixels: around the plot, above, below, left and right of it, and between rows of the list."""
DOTS = {"counters": "●", "model": "○"}
WORDS = {"counters": "bytes counted", "model": "bytes modelled"}


@dataclass(frozen=True, slots=True)
class Scales:
    """The logarithmic axes of a plot in design pixels, each from its low to its high end."""

    plot: Box
    intensity: tuple[float, float]
    tflops: tuple[float, float]

    def x(self, intensity: float) -> float:
        return self.plot.x + self.plot.w * _share(intensity, *self.intensity)

    def y(self, tflops: float) -> float:
        return self.plot.bottom - self.plot.h * _share(tflops, *self.tflops)


def _share(value: float, low: float, high: float) -> float:
    """Where between two ends a value lies on a logarithmic axis.

    >>> round(_share(10.0, 1.0, 1000.0), 3)
    0.333
    """
    return float(np.log(value / low) / np.log(high / low))


def roof(film: Climb, panel: Box, words: Words) -> Chart:
    """The plot in `panel`, and a list of the steps beside or below it; its clock counts steps."""
    frame, theme, rows = words.frame, film.theme, film.ladder.rows
    plot, listed = _places(panel, frame, len(rows))
    scales = _scales(film.ladder, plot)
    colours = [tuple(colour) for colour in sm_colours(len(film.ladder.steps)).tolist()] + [theme.text]
    points = [
        Point(
            at,
            scales.x(row.intensity),
            scales.y(row.tflops),
            colours[at],
            title(row),
            row.bytes_from == "model",
        )
        for at, row in enumerate(rows)
        if row.intensity
    ]
    field = frame.pixels(Box(plot.x - 20, plot.y - 10, plot.w + 30, plot.h + 20))

    def painters(ground: np.ndarray) -> list[Painter]:
        under = ground[field.rows, field.columns].copy()
        way = Way(field, under, tuple(points), len(film.ladder.steps), frame.scale, theme)
        return [way, *_list(rows, colours, listed, frame, theme)]

    still = [*_axes(scales, panel, words, theme), *_lines(film.ladder, scales, words, theme)]
    return Chart([*still, *_head(rows, listed, panel, words, theme)], painters)


def _places(panel: Box, frame: Frame, rows: int) -> tuple[Box, Box]:
    """Of the plot and of the list: below it in a tall frame, else beside it."""
    inner = Box(panel.x + PAD, panel.y + HEAD, panel.w - 2 * PAD, panel.h - HEAD - AXIS)
    if frame.tall > 1.3 * frame.wide:
        tall = PITCH * rows + 60
        plot = Box(inner.x + TICKS, inner.y, inner.w - TICKS, inner.h - tall)
        return plot, Box(inner.x, panel.bottom - 20 - PITCH * rows, inner.w, PITCH * rows)
    wide = 560.0 if frame.landscape else 260.0
    plot = Box(inner.x + TICKS, inner.y, inner.w - TICKS - wide - BESIDE, inner.h)
    pitch = min(PITCH, (panel.h - HEAD - 48) / rows)
    return plot, Box(inner.right - wide, panel.y + HEAD + 36, wide, pitch * rows)


def _scales(ladder: Ladder, plot: Box) -> Scales:
    """Axes that hold every point, both ridges, and room for words above the roofs and beside them."""
    peak, bandwidth = ladder.peak_tflops, ladder.bandwidth_gb_per_s
    known = [row for row in ladder.rows if row.intensity]
    across = [row.intensity for row in known] + [ridge(peak.measured, bandwidth.measured)]
    least, most = min(row.tflops for row in known), max(peak.datasheet, *(row.tflops for row in known))
    return Scales(plot, (min(across) / 5, max(across) * 4), (least / 2, most * 5))


def _axes(scales: Scales, panel: Box, words: Words, theme: Theme) -> Iterator[VMobject]:
    """Lines and figures at powers of ten, and what the axes count, which is said to be logarithmic."""
    plot = scales.plot
    for power in _powers(*scales.tflops):
        y = scales.y(power)
        yield words.line(plot.x, y, plot.right, y, theme.idle)
        yield words.text(
            f"{power:g}", plot.x - 14, y + 9, TICK_PX, theme.quiet, anchor=1.0, family=glyphs.MONO
        )
    for power in _powers(*scales.intensity):
        x = scales.x(power)
        yield words.line(x, plot.y, x, plot.bottom, theme.idle)
        yield words.text(
            f"{power:g}", x, plot.bottom + 38, TICK_PX, theme.quiet, anchor=0.5, family=glyphs.MONO
        )
    yield words.line(plot.x, plot.y, plot.x, plot.bottom, theme.quiet)
    yield words.line(plot.x, plot.bottom, plot.right, plot.bottom, theme.quiet)
    yield words.text("TFLOP/s (log scale)", panel.x + PAD, panel.y + 44, QUIET_PX, theme.text, room=plot.w)
    about = "FLOP for each byte from or to DRAM (log scale)"
    yield words.text(
        about, plot.x + plot.w / 2, plot.bottom + 78, QUIET_PX, theme.text, anchor=0.5, room=plot.w + TICKS
    )


def _powers(low: float, high: float) -> list[float]:
    """The powers of ten between two ends.

    >>> _powers(0.2, 300.0)
    [1.0, 10.0, 100.0]
    """
    return [10.0**power for power in range(int(np.ceil(np.log10(low))), int(np.floor(np.log10(high))) + 1)]


def _lines(ladder: Ladder, scales: Scales, words: Words, theme: Theme) -> Iterator[VMobject]:
    """The rooflines, as measured and thin as the datasheet has it, with what they are and what they mean."""
    plot, limits = scales.plot, (ladder.peak_tflops, ladder.bandwidth_gb_per_s)
    for which, colour, thick in (("datasheet", theme.quiet, 2), ("measured", theme.text, 5)):
        peak, bandwidth = (getattr(limit, which) for limit in limits)
        across = [scales.intensity[0], ridge(peak, bandwidth), scales.intensity[1]]
        ends = [(scales.x(at), scales.y(float(roofline(at, peak, bandwidth)))) for at in across]
        for (x0, y0), (x1, y1) in pairwise(ends):
            yield words.line(x0, y0, x1, y1, colour, thick)
    for row, (which, colour, thick) in enumerate(
        (("measured", theme.text, 5), ("datasheet", theme.quiet, 2))
    ):
        y, room = plot.y + 30 + 36 * row, plot.w - 90
        yield words.line(plot.x + 16, y - 9, plot.x + 56, y - 9, colour, thick)
        yield words.text(_said(limits, which), plot.x + 70, y, TICK_PX, colour, room=room)


def _said(limits: tuple[Limit, Limit], which: str) -> str:
    peak, bandwidth = (getattr(limit, which) for limit in limits)
    return f"{which}: {bandwidth:,.0f} GB/s, {figure(peak)} TFLOP/s"


def _head(rows: Sequence[Rung], listed: Box, panel: Box, words: Words, theme: Theme) -> Iterator[VMobject]:
    """Above the list: what the dots mean, and what its figures are where it has any."""
    kinds = [kind for kind in DOTS if any(row.bytes_from == kind for row in rows)]
    key = "  ".join(f"{DOTS[kind]} {WORDS[kind]}" for kind in kinds)
    yield words.text(key, listed.x, listed.y - 54, TICK_PX, theme.quiet, room=listed.w)
    if listed.w > 400:
        yield words.text("FLOP/byte", listed.right - 150, listed.y - 14, TICK_PX, theme.quiet, anchor=1.0)
        yield words.text("TFLOP/s", listed.right, listed.y - 14, TICK_PX, theme.quiet, anchor=1.0)


def _list(
    rows: Sequence[Rung], colours: Sequence[Colour], listed: Box, frame: Frame, theme: Theme
) -> Iterator[Board]:
    """A board for each row, which lights up when its step is made."""
    pitch = listed.h / len(rows)
    for at, row in enumerate(rows):
        box = Box(listed.x, listed.y + at * pitch, listed.w, pitch)
        begins = at if row.rung is not None else 0
        yield Board(frame.pixels(box), theme.panel, Entry(row, begins, colours[at], box, frame.scale, theme))


@dataclass(frozen=True, slots=True)
class Entry:
    """What a row of the list says when the film's clock is at `t` steps."""

    row: Rung
    begins: int
    colour: Colour
    box: Box
    scale: float
    theme: Theme

    def __call__(self, t: float) -> tuple[Text, ...]:
        theme, box, row = self.theme, self.box, self.row
        lit = max(0.0, min(1.0, 5 * (t - self.begins))) if self.row.rung is not None else 1.0
        ink = tuple(mix(mix(theme.panel, theme.quiet, 0.6), theme.text, lit))
        dot = tuple(mix(theme.panel, self.colour, 0.25 + 0.75 * lit))
        parts = [self._text(title(row), box.x + 40, NAME_PX, ink, 0.0, glyphs.SANS, True)]
        if row.intensity:
            parts.append(self._text(DOTS[row.bytes_from or ""], box.x, NAME_PX, dot, 0.0, glyphs.MONO, True))
        if box.w > 400 and lit:
            faded = tuple(mix(theme.panel, theme.text, lit))
            flop = f"{row.intensity:.0f}" if row.intensity else "unknown"
            parts.append(self._text(flop, box.right - 150, QUIET_PX, faded, 1.0, glyphs.MONO, False))
            parts.append(self._text(figure(row.tflops), box.right, NAME_PX, faded, 1.0, glyphs.MONO, True))
        return tuple(parts)

    def _text(
        self, text: str, x: float, px: float, ink: Colour, anchor: float, family: str, bold: bool
    ) -> Text:
        px = min(px, 0.8 * self.box.h)
        baseline = self.box.y + self.box.h / 2 + 0.36 * px
        at = (x * self.scale, baseline * self.scale, px * self.scale)
        return Text(text, *at, ink, anchor, family, bold)
