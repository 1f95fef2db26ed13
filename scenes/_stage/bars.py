"""Bars: a step of the ladder in each row, one after the other, held to cuBLAS and to the measured peak."""

from collections.abc import Iterator

from manim import VMobject

from . import glyphs
from .bar import FACTOR_PX, NAME_PX, Plan, Row, marks
from .board import Board
from .climb import Climb
from .climb_picture import Chart
from .layout import Box, Frame
from .placing import ticks
from .words import Words

VALUE_PX, LABEL_PX, AXIS_PX = 36, 30, 26
PAD, HEAD, AXIS = 28, 96, 50
"""Design pixels: around the chart, above its bars and below them."""


def bars(film: Climb, panel: Box, words: Words) -> Chart:
    """The chart of bars in `panel`; its clock counts steps."""
    frame, plan = words.frame, _plan(film, panel, words.frame)
    rows = [Row(film, plan, frame, number) for number in range(len(film.ladder.steps))]
    boards = [Board(frame.pixels(plan.row(row.number)), film.theme.panel, row) for row in rows]
    return Chart(list(_still(film, plan, panel, words)), lambda ground: boards)


def _plan(film: Climb, panel: Box, frame: Frame) -> Plan:
    steps, left, right = film.ladder.steps, panel.x + PAD, panel.right - PAD
    most = 1.02 * max(film.ladder.peak_tflops.measured, *(row.tflops for row in film.ladder.rows))
    tall = panel.h - HEAD - AXIS
    pitch, y = tall / len(steps), panel.y + HEAD
    if frame.tall > 1.3 * frame.wide:
        return Plan(Box(left, y, right - left, tall), left, right, right, pitch, most, False)
    values = right - frame.landscape * glyphs.width(" ×0,000", FACTOR_PX, glyphs.MONO)
    names = max(glyphs.width(step.name, min(NAME_PX, 0.8 * pitch), bold=True) for step in steps)
    x = left + min(names, 0.3 * panel.w) + 24
    wide = values - 28 - glyphs.width("0000", VALUE_PX, glyphs.MONO, True) - x
    return Plan(Box(x, y, wide, tall), left, right, values, pitch, most, True)


def _still(film: Climb, plan: Plan, panel: Box, words: Words) -> Iterator[VMobject]:
    """The axis, the marks with their names, and what the figures are."""
    theme, box = film.theme, plan.bars
    for tick in [0.0, *ticks(0, plan.top, 5 if box.w > 800 else 4)]:
        x, text = plan.x(tick), f"{tick:g}"
        anchor = 0.5 if plan.beside or tick else 0.0
        yield words.line(x, box.bottom, x, box.bottom + 8, theme.quiet)
        yield words.text(text, x, box.bottom + 36, AXIS_PX, theme.quiet, anchor=anchor, family=glyphs.MONO)
    yield words.line(box.x, box.y, box.x, box.bottom, theme.quiet)
    for row, (tflops, text, colour) in enumerate(marks(film)):
        x, baseline = plan.x(tflops), panel.y + 40 + 40 * row
        yield words.line(x, baseline - 24, x, box.y, colour, 3)
        yield words.text(text, x - 14, baseline, LABEL_PX, colour, True, 1.0, x - 14 - plan.left)
    if plan.values < plan.right:
        for text, right in (("TFLOP/s", plan.values), ("step", plan.right)):
            yield words.text(text, right, panel.y + 80, AXIS_PX, theme.quiet, anchor=1.0)
