"""Sawtooth: a sweep's picture, which shows what a last wave costs that is not full."""

from collections.abc import Sequence
from os import PathLike

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Camera, Dot, Line, ManimColor, Mobject, VGroup, config, tempconfig
from PIL import Image

from tilesim.analysis.sweep import Row
from tilesim.storage import files
from tilesim.text import plural
from tilesim_scenes.look.text import fit, keep_apart, label, px
from tilesim_scenes.look.theme import OKABE_ITO, THEMES, Theme, mixed, theme_now
from tilesim_scenes.mobjects.charts.plot import Plot, line
from tilesim_scenes.mobjects.drawing.quads import stroke_width, uprights
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.render.files.formats import SIZES, frame_units

from . import chart

TITLE, READ, QUIET, TICK = 56, 36, 32, 28
"""Pixels of letters."""
HEAD, FOOT, BESIDE = 200, 240, 100
"""Pixels of the words above and below the field, and of the figures beside it."""
COLOURS = 256
"""In the file, which is a third as large as with all of them."""
MOST_DOTS = 64
"""Points of a curve up to which each has a dot."""
ABOUT = {"m": "rows of the product", "n": "columns of the product", "k": "length of the sums"}


def save(rows: Sequence[Row], path: str | PathLike[str], size: str = "1080p", theme: str = "dark") -> None:
    """Draw the sweep into a PNG. Raises SweepError where no picture shows it, TilesimError for the file."""
    picture = Image.fromarray(draw(rows, SIZES[size], THEMES[theme])).quantize(COLOURS)
    files.write(path, lambda file: picture.save(file, "PNG", optimize=True))


def draw(rows: Sequence[Row], size: tuple[int, int], theme: Theme) -> np.ndarray:
    """The picture of a sweep in so many pixels, wide and high: uint8, shape [height, width, 3]."""
    look = {
        "pixel_width": size[0],
        "pixel_height": size[1],
        "background_color": ManimColor(theme.background),
    }
    with tempconfig(frame_units(size) | look):
        camera = Camera()
        camera.capture_mobjects([Sawtooth(rows)])
        return camera.pixel_array[..., :3]


class Sawtooth(VGroup):
    """A curve for each kind of row, in a wide frame, with the waves of tiles and the worst drop."""

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__()
        self.rows, self.theme, self.axes = rows, theme_now(), chart.axes(rows)
        self.curves, self.waves = chart.curves(rows, self.axes), chart.waves(rows, self.axes)
        self.unit = "%" if chart.in_percent(rows) else "TFLOP/s"
        # Bright colours cannot be read as letters on a light ground.
        darker = 0.0 if self.theme.dark else 0.35
        self.hues = [mixed(hue, self.theme.text, darker) for hue in OKABE_ITO[: len(self.curves)]]
        self.left, self.top = -0.45 * config.frame_width, 0.45 * config.frame_height
        self.room = -2 * self.left
        ends = [(name, number) for number, curve in enumerate(self.curves) for name in curve.names]
        names = VGroup(*(label(name, READ, self.hues[number], bold=True) for name, number in ends))
        for name in names:
            fit(name, 0.25 * self.room)
        self.plot = self.field(self.room - px(BESIDE) - names.width - px(56))
        self.add(self.plot, self.headline(), self.sentences(), *self.guides())
        for curve, hue in zip(self.curves, self.hues, strict=True):
            data = np.array([chart.positions(curve.rows, self.axes), curve.heights], float).T
            dots = [Dot(self.plot.at(*point), px(7), color=ManimColor(hue)) for point in data]
            self.add(line(self.plot, data, hue), *(dots if len(dots) <= MOST_DOTS else ()))
        self.name_ends(names, [self.curves[number] for _, number in ends])

    def field(self, width: float) -> Plot:
        """Both axes, from 0 where that is near, with round figures and what they count."""
        sizes = chart.positions(self.rows, self.axes)
        low, high = 0 if min(sizes) < 0.3 * max(sizes) else min(sizes), max(sizes)
        top = 1.06 * max(height for curve in self.curves for height in curve.heights)
        across, up = chart.ticks(low, high, 8, powers_of_two=True), chart.ticks(0, top, 5)
        height = 2 * self.top - px(HEAD + FOOT)
        plot = Plot((low, high), (0, top), across, [0.0, *up], width, height, size=TICK)
        plot.shift([self.left + px(BESIDE), self.top - px(HEAD), 0] - plot.ground.get_corner(UP + LEFT))
        along = " = ".join(name.upper() for name in self.axes.tied)
        about = f"{along}: {ABOUT[self.axes.along]}" if len(self.axes.tied) == 1 else along
        return plot.add(label(about, QUIET).next_to(plot.ground, DOWN, px(72)))

    def headline(self) -> VGroup:
        """What the picture is about, what all rows have in common, and where the figures are from."""
        badge = Badge(chart.origin(self.rows), "simulated", 30)
        badge.move_to([-self.left, self.top, 0], UP + RIGHT)
        along = self.axes.along.upper()
        measure = "Utilization" if self.unit == "%" else self.unit
        title = label("Wave quantization" if self.waves else f"{measure} over {along}", TITLE, bold=True)
        fit(title, self.room - badge.width - px(40)).move_to([self.left, badge.get_y(), 0], LEFT)
        about = label(chart.subtitle(self.rows, self.axes), QUIET, self.theme.quiet)
        return VGroup(badge, title, fit(about, self.room).move_to([self.left, self.top - px(92), 0], LEFT))

    def sentences(self) -> VGroup:
        """What waves are, and the worst drop, which has a dot."""
        said, drop = VGroup(), chart.worst_drop(self.curves, self.axes)
        if self.waves:
            count = chart.slots(self.rows[0])
            text = f"Tiles run {count} at a time, in waves. A last wave of a few takes as long as a full one."
            said.add(label(text, READ))
        if drop:
            hue = self.hues[self.curves.index(drop.curve)]
            fall = f"{drop.curve.names[0]} falls from {drop.high:.0f} to {drop.low:.0f} {self.unit}"
            used = (
                f"{plural(drop.tiles, 'tile')} fill {100 * drop.used:.1f} % of {plural(drop.waves, 'wave')}"
            )
            said.add(label(f"{fall}: {used}.", READ, hue, bold=True))
            self.add(Dot(self.plot.at(drop.x, drop.low), px(15), color=ManimColor(self.theme.text)))
        for number, one in enumerate(said):
            fit(one, self.room).move_to([self.left, -self.top + px(56 * (len(said) - 1 - number)), 0], LEFT)
        return said

    def guides(self) -> list[Mobject]:
        """A line where each wave is full, with its tiles, as far as the words have room; and y's unit."""
        unit = label("utilization, %" if self.unit == "%" else self.unit, QUIET)
        unit.move_to([self.left, self.plot.ground.get_top()[1] + px(36), 0], LEFT)
        shown, right, at = [unit], unit.get_right()[0], []
        for wave in self.waves:
            text = f"{plural(wave.waves, 'wave')}: {plural(wave.tiles, 'tile')}"
            word = label(text, TICK, self.theme.quiet).move_to([self.plot.at(wave.x, 0)[0], unit.get_y(), 0])
            if word.get_left()[0] > right + px(20) and word.get_right()[0] < -self.left:
                right = word.get_right()[0]
                at.append(float(self.plot.share(wave.x, 0)))
                shown.append(word)
        if at:
            lines = self.plot.lines.copy().set_stroke(ManimColor(self.theme.hand_over))
            lines.points = uprights(self.plot.ground, np.array(at))
            shown.append(lines)
        return shown

    def name_ends(self, names: VGroup, curves: Sequence[chart.Curve]) -> None:
        """Each name beside the end of its curve, moved apart from the others."""
        places = ((*chart.positions(curve.rows[-1:], self.axes), curve.heights[-1]) for curve in curves)
        ends = [self.plot.at(*place) for place in places]
        left = self.plot.ground.get_right()[0] + px(32)
        for name, end in zip(names, ends, strict=True):
            name.move_to([left, end[1], 0], LEFT)
        low, high = self.plot.ground.get_bottom()[1], self.plot.ground.get_top()[1]
        keep_apart(names, px(0.3 * READ), low, high, dim=1)
        for name, end in zip(names, ends, strict=True):
            begin = [left - px(8), name.get_y(), 0]
            self.add(name, Line(end, begin, color=name.color, stroke_width=stroke_width(2)))
