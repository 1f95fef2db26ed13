"""Picture: a film put together. Vectors for the backdrop, painters for the rest, and the film's one clock."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from manim import VMobject

from tilesim import Trace
from tilesim_scenes._stage import glyphs
from tilesim_scenes._stage.blocks import block_painter
from tilesim_scenes._stage.card import end_card
from tilesim_scenes._stage.film import Film
from tilesim_scenes._stage.lanes import Lanes, lane_painter
from tilesim_scenes._stage.layout import Box, Frame, Panel, arrange
from tilesim_scenes._stage.legend import ROW_HEIGHT, legend, legend_rows, lens_box, lens_label, lens_lanes
from tilesim_scenes._stage.opening import opening_card
from tilesim_scenes._stage.pace import fade, pace
from tilesim_scenes._stage.raster import Painter
from tilesim_scenes._stage.script import Script, microseconds, origin
from tilesim_scenes._stage.theme import mix, sm_colours
from tilesim_scenes._stage.tiles import tile_painter
from tilesim_scenes._stage.words import Words, rasterise

OPENING, CLOSING = 2.7, 3.3
"""Seconds before the clock runs, and after it has stopped; less in a film too short for both."""
EARLY = 0.5
"""Seconds before the clock runs in which the first caption already shows."""
SLOW = 2.6
"""Seconds of slow motion."""
CAPTION_PX, AXIS_PX, CLOCK_PX = 40, 26, 46

Sprite = tuple[np.ndarray, Box, float, float]
"""(pixels, where, from, to): a picture that fades in and out, over the seconds in which it shows."""


class Picture:
    """One film in one frame size: `backdrop()` stands still, `paint` draws everything else at a second."""

    def __init__(self, film: Film, script: Script, frame: Frame) -> None:
        self.film, self.script, self.frame = film, script, frame
        self.theme, self.seconds = film.theme, film.seconds
        self.layout = arrange(frame, film.traces)
        self.words = Words(frame)
        measured = origin(film.traces).startswith("measured")
        self.tint = self.theme.measured if measured else self.theme.simulated
        self.end = max(trace.makespan for trace in film.traces)
        self.opening = min(OPENING, self.seconds / 5)
        run = self.seconds - self.opening - min(CLOSING, self.seconds / 4)
        # What is said at 0 shows before the clock runs.
        reading = [
            (caption.at, caption.seconds - (EARLY if not caption.at else 0)) for caption in script.captions
        ]
        self.pace = pace(self.end, self.opening, run, script.slow, min(SLOW, run / 2), reading)
        self.finished = self.opening + run
        self.lenses = self._lenses() if self.layout.lens and script.slow[1] > script.slow[0] else []
        self.colours = [sm_colours(trace.device.sms) for trace in film.traces]

    # -- what stands still

    def backdrop(self) -> list[VMobject]:
        """Title, badge, panels, axes and labels, back to front."""
        parts = [*self._headline()]
        for index in range(len(self.film.traces)):
            parts += self._panel(index)
        parts += legend(self.words, self.theme, self.colours[0], self.layout.foot)
        return parts + [self._lens_label(index) for index in range(len(self.lenses))]

    def _headline(self) -> Iterator[VMobject]:
        words, theme, box = self.words, self.theme, self.layout.title
        text = origin(self.film.traces)
        px = 30.0
        wide = glyphs.width(text, px) + 84
        badge = Box(box.right - wide, box.y + 2, wide, 56)
        landscape = self.frame.wide > 1.2 * self.frame.tall
        if not landscape:
            badge = Box(box.x, box.bottom - 52, wide, 52)
        yield words.box(badge, tuple(mix(theme.background, self.tint, 0.22)), 28)
        yield words.box(Box(badge.x + 26, badge.y + badge.h / 2 - 8, 16, 16), self.tint, 8)
        yield words.text(text, badge.x + 56, badge.y + badge.h / 2 + 11, px, self.tint)
        room = (badge.x - box.x - 40) if landscape else box.w
        yield words.text(self.script.title, box.x, box.y + 46, 56, theme.text, bold=True, room=room)
        if landscape:
            yield words.text(self.script.subtitle, box.x, box.y + 98, 32, theme.quiet, room=box.w)

    def _panel(self, index: int) -> Iterator[VMobject]:
        words, theme, panel = self.words, self.theme, self.layout.panels[index]
        box, (name, note) = panel.box, self.script.panels[index]
        x, clock = panel.grid.x, glyphs.width("000.0 µs", CLOCK_PX, glyphs.MONO, True)
        yield words.box(box, theme.panel, 18)
        yield words.text(name, x, box.y + 52, 42, theme.text, bold=True)
        if panel.wide_header:
            left = x + glyphs.width(name, 42, glyphs.SANS, True) + 32
            room = panel.lanes.right - clock - 40 - left
            if glyphs.width(note, 32) < 1.3 * room:
                yield words.text(note, left, box.y + 50, 32, theme.quiet, room=room)
        else:
            yield words.text(note, x, box.y + 96, 30, theme.quiet, room=panel.lanes.right - x)
        yield from self._axis(panel)
        if self.layout.classroom:
            trace, lanes = self.film.traces[index], panel.lanes
            places = self._places(trace)
            pitch = lanes.h / len(places)
            for lane, place in enumerate(places):
                sm, slot = divmod(int(place), trace.device.ctas_per_sm)
                if slot:
                    continue
                px = min(30.0, 0.9 * pitch)
                middle = lane + 0.5 * trace.device.ctas_per_sm - 0.08
                baseline = lanes.y + middle * pitch + 0.36 * px
                colour = tuple(
                    mix(self.colours[index][sm], theme.text, 0.0 if self.film.theme.dark else 0.45)
                )
                yield words.text(f"SM {sm}", lanes.x - 16, baseline, px, colour, bold=True, anchor=1.0)

    def _axis(self, panel: Panel) -> Iterator[VMobject]:
        """Round figures of time under the lanes, and their unit at the right end."""
        words, lanes, quiet = self.words, panel.lanes, self.theme.quiet
        step = _round_step(self.end / 1000, lanes.w / 96)
        baseline, unit = lanes.bottom + 36, glyphs.width("µs", AXIS_PX, glyphs.MONO)
        yield words.text("µs", lanes.right, baseline, AXIS_PX, quiet, anchor=1.0, family=glyphs.MONO)
        for tick in np.arange(0, self.end / 1000 + 1e-9, step):
            x, text = lanes.x + lanes.w * tick * 1000 / self.end, f"{tick:g}"
            half = glyphs.width(text, AXIS_PX, glyphs.MONO) / 2
            if x + half < lanes.right - unit - 10:
                yield words.line(x, lanes.bottom + 3, x, lanes.bottom + 9, quiet)
                yield words.text(text, x, baseline, AXIS_PX, quiet, anchor=0.5, family=glyphs.MONO)

    # -- what moves

    def paint(self, frame: np.ndarray, second: float) -> None:
        """Draw the film as it is at `second` into `frame` (uint8, [height, width, 4]), on its backdrop."""
        t = self.pace.at(second)
        for painter in self._painters:
            painter(frame, t)
        for picture, box, start, end in self._sprites:
            opacity = fade(second, start, end)
            if opacity > 0:
                place = self.frame.pixels(box)
                under = frame[place.rows, place.columns, :3]
                under[...] = picture if opacity == 1 else mix(under, picture, opacity)

    @cached_property
    def _painters(self) -> list[Painter]:
        painters: list[Painter] = []
        for index, panel in enumerate(self.layout.panels):
            painters += self._panel_painters(index, panel)
        for (lanes, box), colours in zip(self.lenses, self.colours, strict=False):
            painters.append(lane_painter(lanes, self.frame.pixels(box), self.theme, colours))
        return painters

    def _panel_painters(self, index: int, panel: Panel) -> Iterator[Painter]:
        trace, colours, scale = self.film.traces[index], self.colours[index], self.frame.scale
        classroom = self.layout.classroom
        cell = min(panel.grid.h / trace.problem.tiles_m, panel.grid.w / trace.problem.tiles_n)
        number_px = min(30.0, 0.52 * cell) * scale if classroom and cell >= 34 else 0.0
        yield tile_painter(trace, self.frame.pixels(panel.grid), self.theme, colours, number_px)
        yield block_painter(trace, panel.blocks, self.frame, self.theme, colours, classroom)
        lanes = Lanes(
            trace,
            self._places(trace),
            window=(0, self.end),
            gap=0.16 if classroom else 0.0,
            number_px=30 * scale if classroom else 0.0,
        )
        yield lane_painter(lanes, self.frame.pixels(panel.lanes), self.theme, colours)
        yield self._clock(trace, panel)

    def _lenses(self) -> list[tuple[Lanes, Box]]:
        """Under each panel, one hand-over in the window of the slow motion."""
        alone, foot = len(self.film.traces) == 1, self.layout.foot
        px = 28 * self.frame.scale
        return [
            (lens_lanes(trace, self.script.slow, px), lens_box(foot, panel.box, alone))
            for trace, panel in zip(self.film.traces, self.layout.panels, strict=True)
        ]

    def _lens_label(self, index: int) -> VMobject:
        lanes, box = self.lenses[index]
        low, high = lanes.window
        times = box.w / (high - low) / (self.layout.panels[index].lanes.w / self.end)
        return lens_label(self.words, self.theme, self.film.traces[index], lanes, box, times)

    def _clock(self, trace: Trace, panel: Panel) -> Painter:
        """The time since the first issue; it stops when the trace does."""
        px, (x, baseline) = CLOCK_PX * self.frame.scale, (panel.lanes.right, panel.box.y + 54)

        def paint(frame: np.ndarray, t: float) -> None:
            text = microseconds(min(t, trace.makespan))
            glyphs.stamp(
                frame, text, x * self.frame.scale, baseline * self.frame.scale, px, self.theme.text, 1.0
            )

        return paint

    @staticmethod
    def _places(trace: Trace) -> np.ndarray:
        """Every slot that is free to this kernel, as `metrics.slot_index` counts them, used or not."""
        slots = np.arange(trace.device.ctas_per_sm)
        free = np.sort(np.array(trace.device.free_sms))[:, None]
        return (free * trace.device.ctas_per_sm + slots).ravel()

    # -- what comes and goes

    @cached_property
    def _sprites(self) -> list[Sprite]:
        foot = self.layout.foot
        whole = Box(0, 0, self.frame.wide, self.frame.tall)
        first, last = -1.0, self.seconds + 1.0
        sprites = [
            self._sprite(
                end_card(self.words, self.theme, self.script, foot, self.tint, self.colours[0]),
                foot,
                self.finished - 0.1,
                last,
            )
        ]
        sprites += [*self._captions(), *self._brackets(first)]
        opening = list(
            opening_card(
                self.words, self.theme, self.script, self.frame, self.film.traces[0], self.colours[0]
            )
        )
        return [*sprites, self._sprite(opening, whole, first, self.opening - 0.4)]

    def _brackets(self, start: float) -> Iterator[Sprite]:
        """Under each panel's lanes, where its lens looks, until the end card takes the lens's place."""
        for (lens, _), panel in zip(self.lenses, self.layout.panels, strict=False):
            lanes = panel.lanes
            left, right = (lanes.x + lanes.w * min(1.0, edge / self.end) for edge in lens.window)
            box = Box(left, lanes.bottom + 3, right - left, 6)
            yield self._sprite([self.words.box(box, self.theme.text)], box, start, self.finished)

    def _sprite(self, mobjects: list[VMobject], box: Box, start: float, end: float) -> Sprite:
        # Letters round off to pixels beside their box.
        left, right = max(0.0, box.x - 4), min(self.frame.wide, box.right + 4)
        box = Box(left, box.y, right - left, box.h)
        place = self.frame.pixels(box)
        picture = rasterise(mobjects, self.frame, self.theme.background)
        return picture[place.rows, place.columns], box, start, end

    def _captions(self) -> Iterator[Sprite]:
        """Each caption until the next, above the legend, in two lines where the frame is narrow."""
        words, theme, foot = self.words, self.theme, self.layout.foot
        lines, rows = (1, 1) if foot.w > 1300 else (2, legend_rows(foot))
        bottom = foot.bottom - 12 - ROW_HEIGHT * rows
        box = Box(foot.x, bottom - 56 * lines, foot.w, 56 * lines)
        starts = [max(self.opening - EARLY, self.pace.when(caption.at)) for caption in self.script.captions]
        ends = [*starts[1:], self.finished]
        for caption, start, end in zip(self.script.captions, starts, ends, strict=True):
            parts = glyphs.wrap(caption.text, CAPTION_PX, box.w, lines, bold=True)
            texts = [
                words.text(part, box.x, box.y + 42 + 52 * row, CAPTION_PX, theme.text, bold=True, room=box.w)
                for row, part in enumerate(parts)
            ]
            yield self._sprite(texts, box, start, end)


def _round_step(span: float, most: float) -> float:
    """The smallest of 1, 2, 5 · 10^i that divides `span` into at most `most` parts.

    >>> _round_step(38.9, 9), _round_step(31, 3), _round_step(0.9, 5)
    (5.0, 20.0, 0.2)
    """
    power = 10.0 ** np.floor(np.log10(span / max(1.0, most)))
    return float(next(step * power for step in (1, 2, 5, 10) if span / (step * power) <= max(1.0, most)))
