"""Roof: TFLOP/s over FLOP a byte, both logarithmic; a point goes from step to step under a roofline."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from manim import VMobject

from tilesim.rungs import Ladder, Limit, ridge, roofline
from tilesim_scenes._stage import glyphs
from tilesim_scenes._stage.climb import Climb
from tilesim_scenes._stage.climb_picture import Chart
from tilesim_scenes._stage.climb_script import figure, title
from tilesim_scenes._stage.layout import Box, Frame
from tilesim_scenes._stage.raster import Painter
from tilesim_scenes._stage.roof_lens import LABEL_PX, find_lens, frame_of_lens, name_in_lens
from tilesim_scenes._stage.roof_list import entries, head
from tilesim_scenes._stage.scales import Scales, powers
from tilesim_scenes._stage.theme import Colour, Theme, sm_colours
from tilesim_scenes._stage.way import Line, Point, View, Way
from tilesim_scenes._stage.words import Words

NAME_PX, QUIET_PX, TICK_PX = 38, 28, 26
PAD, HEAD, AXIS, TICKS, BESIDE, PITCH = 28, 62, 94, 86, 34, 48
"""Design pixels: around the plot, above, below, left and right of it, and between rows of the list."""
ABOVE = 106
"""From the top of the plot to the roof, for the legend."""
AIR = 20
"""Around the plot, where a point at its edge sticks out."""


def roof(film: Climb, panel: Box, words: Words) -> Chart:
    """The plot in `panel`, and a list of the steps beside or below it; its clock counts steps."""
    frame, theme, ladder = words.frame, film.theme, film.ladder
    plot, listed = _places(panel, frame, len(ladder.rows))
    scales = _scales(ladder, plot)
    colours = [tuple(colour) for colour in sm_colours(len(ladder.steps)).tolist()] + [theme.text]
    field = Box(plot.x - AIR, plot.y - AIR / 2, plot.w + AIR, plot.h + AIR)
    places = [(point.x, point.y) for point in _points(ladder, scales, colours)]
    lens = find_lens(ladder, scales, places)

    def beside(x: float, y: float, name: str) -> tuple[float, float]:
        wide = glyphs.width(name, NAME_PX, bold=True)
        return (x - 24 - wide if x + 24 + wide > plot.right - 60 else x + 24), y + 46

    views = [View(field, _points(ladder, scales, colours, beside, hidden=lens))]
    still = [*_axes(scales, panel, words, theme), *_legend(ladder, scales, words, theme)]
    for colour, width, ends in roof_lines(ladder, scales, theme):
        still += [words.line(*one, *other, colour, width) for one, other in pairwise(ends)]
    if lens:
        still += frame_of_lens(lens, scales, words, theme)
        larger = _points(ladder, lens, colours, name_in_lens(lens), shown=lens)
        views.append(View(lens.plot, larger, roof_lines(ladder, lens, theme)))

    def painters(ground: np.ndarray) -> list[Painter]:
        place = frame.pixels(field)
        under = ground[place.rows, place.columns].copy()
        return [
            Way(place, under, tuple(views), frame.scale, theme),
            *entries(ladder.rows, colours, listed, frame, theme),
        ]

    return Chart([*still, *head(ladder.rows, listed, words, theme)], painters)


def _places(panel: Box, frame: Frame, rows: int) -> tuple[Box, Box]:
    """Of the plot and of the list: below it in a tall frame, else beside it."""
    inner = Box(panel.x + PAD, panel.y + HEAD, panel.w - 2 * PAD, panel.h - HEAD - AXIS)
    if frame.tall > 1.3 * frame.wide:
        tall = PITCH * rows + 118
        plot = Box(inner.x + TICKS, inner.y, inner.w - TICKS, inner.h - tall)
        return plot, Box(inner.x, panel.bottom - 20 - PITCH * rows, inner.w, PITCH * rows)
    wide = 560.0 if frame.landscape else 260.0
    plot = Box(inner.x + TICKS, inner.y, inner.w - TICKS - wide - BESIDE, inner.h)
    top = panel.y + HEAD + 42
    return plot, Box(inner.right - wide, top, wide, min(PITCH * rows, panel.bottom - 14 - top))


def _scales(ladder: Ladder, plot: Box) -> Scales:
    """Axes that hold every point and the ridge, with room for words above the roof and beside it."""
    peak, bandwidth = ladder.peak_tflops, ladder.bandwidth_gb_per_s
    known = [(row.intensity, row.tflops) for row in ladder.rows if row.intensity]
    across = [intensity for intensity, _ in known] + [ridge(peak.measured, bandwidth.measured)]
    up = [tflops for _, tflops in known]
    low, high = min(up) / 2, max(peak.datasheet, *up)
    return Scales(
        plot, (min(across) / 5, max(across) * 4), (low, high * (high / low) ** (ABOVE / (plot.h - ABOVE)))
    )


def _points(
    ladder: Ladder,
    scales: Scales,
    colours: Sequence[Colour],
    label: Callable[[float, float, str], tuple[float, float]] | None = None,
    shown: Scales | None = None,
    hidden: Scales | None = None,
) -> tuple[Point, ...]:
    """A point for each row whose bytes are known.

    Those of steps inside `shown`, or not inside `hidden`, have names, which stand where `label` says.
    """
    found = []
    for at, row in enumerate(ladder.rows):
        if not row.intensity:
            continue
        x, y, step = scales.x(row.intensity), scales.y(row.tflops), row.rung is not None
        inside = [plot.hold(row.intensity, row.tflops) for plot in (shown, hidden) if plot]
        named = label and step and (not inside or inside[0] == (shown is not None))
        name = title(row) if named else ""
        found.append(
            Point(
                at if step else None,
                x,
                y,
                colours[at],
                row.bytes_from == "model",
                name,
                label(x, y, name) if label and named else (0.0, 0.0),
                LABEL_PX if shown else NAME_PX,
            )
        )
    return tuple(found)


def roof_lines(ladder: Ladder, scales: Scales, theme: Theme) -> tuple[Line, ...]:
    """The rooflines from end to end: thin as the datasheet has it, and as measured."""
    found = []
    for which, colour, width in (("datasheet", theme.quiet, 2.0), ("measured", theme.text, 5.0)):
        peak, bandwidth = _limits(ladder, which)
        low, high = scales.across
        turns = [low, *(edge for edge in (ridge(peak, bandwidth),) if low < edge < high), high]
        ends = ((scales.x(at), scales.y(float(roofline(at, peak, bandwidth)))) for at in turns)
        found.append((colour, width, tuple(ends)))
    return tuple(found)


def _limits(ladder: Ladder, which: str) -> tuple[float, float]:
    limits: tuple[Limit, Limit] = ladder.peak_tflops, ladder.bandwidth_gb_per_s
    return getattr(limits[0], which), getattr(limits[1], which)


def _axes(scales: Scales, panel: Box, words: Words, theme: Theme) -> Iterator[VMobject]:
    """Lines and figures at powers of ten, and what the axes count, which is said to be logarithmic."""
    plot, mono = scales.plot, glyphs.MONO
    for power in powers(*scales.up):
        y = scales.y(power)
        yield words.line(plot.x, y, plot.right, y, theme.idle)
        yield words.text(f"{power:g}", plot.x - 14, y + 9, TICK_PX, theme.quiet, anchor=1.0, family=mono)
    for power in powers(*scales.across):
        x = scales.x(power)
        yield words.line(x, plot.y, x, plot.bottom, theme.idle)
        yield words.text(f"{power:g}", x, plot.bottom + 38, TICK_PX, theme.quiet, anchor=0.5, family=mono)
    yield words.line(plot.x, plot.y, plot.x, plot.bottom, theme.quiet)
    yield words.line(plot.x, plot.bottom, plot.right, plot.bottom, theme.quiet)
    yield words.text("TFLOP/s (log scale)", panel.x + PAD, panel.y + 44, QUIET_PX, theme.text, room=plot.w)
    about = "FLOP per byte from and to DRAM (log scale)"
    left, baseline = plot.x - TICKS, plot.bottom + 78
    room = plot.w + TICKS
    yield words.text(about, left + room / 2, baseline, QUIET_PX, theme.text, anchor=0.5, room=room)


def _legend(ladder: Ladder, scales: Scales, words: Words, theme: Theme) -> Iterator[VMobject]:
    """What the two roofs are, above them."""
    plot, legend = scales.plot, 0.0
    for row, (which, colour, width) in enumerate(
        (("measured", theme.text, 5), ("datasheet", theme.quiet, 2))
    ):
        peak, bandwidth = _limits(ladder, which)
        y, text = plot.y + 30 + 38 * row, f"{which}: {bandwidth:,.0f} GB/s, {figure(peak)} TFLOP/s"
        yield words.line(plot.x + 16, y - 9, plot.x + 50, y - 9, colour, width)
        yield words.text(text, plot.x + 62, y, TICK_PX, colour, room=plot.w - 62)
        legend = max(legend, 62 + glyphs.width(text, TICK_PX))
    text, y = "arithmetic is the limit", scales.y(ladder.peak_tflops.datasheet) - 18
    if legend + glyphs.width(text, QUIET_PX) + 40 < plot.w:
        yield words.text(text, plot.right - 12, y, QUIET_PX, theme.text, anchor=1.0)
    text, (peak, bandwidth) = "memory is the limit", _limits(ladder, "datasheet")
    end = scales.value(plot.x + 16 + glyphs.width(text, QUIET_PX))
    y = scales.y(float(roofline(end, peak, bandwidth))) - 18
    if y > plot.y + 120:
        yield words.text(text, plot.x + 16, y, QUIET_PX, theme.text)
