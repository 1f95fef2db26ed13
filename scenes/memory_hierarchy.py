"""Memory hierarchy: where do the bytes of a product come from, and how far is it to each place?

manim render scenes/memory_hierarchy.py
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from manim import (
    DOWN,
    LEFT,
    RIGHT,
    UP,
    Create,
    FadeIn,
    FadeOut,
    ManimColor,
    ReplacementTransform,
    VGroup,
    VMobject,
    smoothstep,
)

from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.film.report_film import ReportFilm
from tilesim_scenes.film.settings import DEVICE, REPORT
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import sm_colour
from tilesim_scenes.mobjects.charts.arrivals import Arrivals
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.charts.byte_stream import ByteStream
from tilesim_scenes.mobjects.drawing.quads import rectangle, stroke_width, strokes, uprights
from tilesim_scenes.mobjects.hardware.memory_level import MemoryLevel
from tilesim_scenes.mobjects.words.badge import Badge, of_costs
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.story.ideas.memory_hierarchy import Story, latency, rate, size, tell

FILM = {
    "title": "Memory hierarchy",
    "question": "Where do bytes come from?",
    "part": "Memory",
    "place": 60,
    "seconds": 46,
    "shows": "Registers, shared memory, L2 and HBM: how large, how fast and how far each is.",
    "takes": "report",
    "options": {"device": "h200"},
}
SHELF, APART, POST = 120, 178, 36
"""Pixels: a shelf's height, from one to the next, and how wide one becomes as the foot of a bar."""
LOW, ABOVE = 84, 76
"""The same of a shelf in a frame that is not wide, and from its middle up to that of its name."""
SMALLEST = 0.36
"""The width of the smallest shelf, as a share of the largest, which holds a million times as much."""


class MemoryHierarchy(ReportFilm):
    """Registers, shared memory, L2 and HBM: how large, far and fast; then a product's bytes on their way."""

    bench = "memory_hierarchy"
    asked = REPORT | {"device": DEVICE["device"]}

    @classmethod
    def story_of(cls, report: Mapping[str, Any], settings: Mapping[str, Any]) -> Story:
        return tell(report, settings)

    def construct(self) -> None:
        self.hue = sm_colour(0, 4)
        self.names = self.name_levels()
        self.add(self.names)
        self.title(tr("Memory hierarchy"))
        self.badge(Badge(self.story.badge))
        self.shelves_rise()
        self.how_far()
        self.how_fast()
        self.tiles_ask()
        self.little_comes_from_far()
        self.tell_the_finding()

    def shelves_rise(self) -> None:
        """A shelf for each level, the nearest on top, as wide as the logarithm of what it holds."""
        story = self.story
        self.shelves = VGroup(*(self.shelf(number) for number in range(len(story.levels))))
        self.behind = VGroup(*(self.others(number) for number in range(len(story.levels))))
        self.say(tr("Where do bytes come from?"))
        for number in reversed(range(len(story.levels))):
            self.play(FadeIn(self.shelves[number], shift=px(60) * UP), run_time=0.6)
        self.say(tr("Near is small, far large"))
        each = [one for one in self.behind if len(one)]
        self.bring_to_back(*each)
        self.play(*(FadeIn(one, shift=px(20) * RIGHT) for one in each), run_time=0.6)
        self.climb()

    def climb(self) -> None:
        """A byte climbs from shelf to shelf."""
        byte = rectangle(px(34), px(34), self.theme.operand)
        stops = [shelf.shelf.get_right() + px(34) * LEFT for shelf in reversed(list(self.shelves))]
        byte.move_to(stops[0])
        self.play(FadeIn(byte), run_time=0.3)
        for stop in stops[1:]:
            self.play(byte.animate.move_to(stop), run_time=0.5)
        self.play(FadeOut(byte), run_time=0.3)

    def how_far(self) -> None:
        """Shelves become the feet of bars; a byte from each is on its way, until it has arrived."""
        story = self.story
        cycles = [level.cycles or 0.0 for level in story.levels]
        self.bars = self.arrivals(cycles, [latency(level) for level in story.levels])
        feet = VGroup(*(shelf.shelf for shelf in self.shelves))
        moves = [
            foot.animate(run_time=0.8).stretch_to_fit_width(px(POST)).move_to([self.foot, foot.get_y(), 0])
            for foot in feet
        ]
        self.say(tr("How long until a byte is there?"))
        away = FadeOut(*self.behind, *(shelf.heading for shelf in self.shelves), run_time=0.3)
        self.play(*moves, away)
        self.remove(self.shelves)
        self.add(feet, self.bars)
        self.play(PlayTrace(self.bars, until=max(cycles), run_time=3.5))
        self.say(story.farther)
        self.measure_out(1, len(story.levels) - 1)
        self.feet = feet

    def how_fast(self) -> None:
        """The same rows: how much comes at once."""
        story = self.story
        rates = [level.gb_per_s / 1000 for level in story.levels]
        self.say(tr("And how much comes at once?"))
        self.play(FadeOut(self.bars, self.ruler), run_time=0.3)
        self.bars = self.arrivals(rates, [rate(level) for level in story.levels])
        self.add(self.bars)
        self.play(PlayTrace(self.bars, until=max(rates), run_time=3.5, rate_func=smoothstep))
        self.say(story.slower)
        self.measure_out(len(story.levels) - 1, 0)

    def measure_out(self, unit: int, number: int) -> None:
        """One bar goes along another, as often as its length goes into that."""
        ground, step = self.bars.grounds[number], self.bars.values[unit] / self.bars.values[number]
        self.ruler = strokes(self.theme.background, min(3.0, 0.25 * step * ground.width / px(1)))
        self.ruler.points = uprights(ground, np.arange(step, 1, step))
        self.add(self.ruler)
        short = self.bars.bodies[unit].copy().set_fill(ManimColor(self.theme.operand))
        start = ground.get_left() + short.width / 2 * RIGHT
        self.play(short.animate.move_to(start), Create(self.ruler, lag_ratio=0.2), run_time=0.8)
        end = ground.get_right() + short.width / 2 * LEFT
        self.play(short.animate(rate_func=smoothstep).move_to(end), run_time=2)
        self.play(FadeOut(short), run_time=0.3)

    def tiles_ask(self) -> None:
        """A product's tiles ask for many bytes: the first post of the stream."""
        story, area = self.story, self.area
        self.say(story.asks)
        self.badge(self.source())
        foot, head = (px(90), px(90)) if self.wide else (px(170), px(20))
        side = px(190) if self.wide else px(140)
        width, height = area.width - 2 * side, area.height - foot - head
        height = min(height, 0.9 * width)
        self.stream = ByteStream([one.bytes for one in story.passed], width, height, self.hue)
        self.stream.move_to(area.center + (foot - head) / 2 * UP)
        places = VGroup(*map(self.place, range(len(story.passed))))
        self.amounts = [self.figure(number) for number in range(len(story.passed))]
        # Levels that both pictures have take their names along.
        same = {name.original_text: name for name in self.names}
        comes = [
            ReplacementTransform(same[said], place, run_time=0.8)
            if (said := place.original_text) in same
            else FadeIn(place, run_time=0.8)
            for place in places
        ]
        gone = [name for name in self.names if name.original_text not in {one.where for one in story.passed}]
        self.play(FadeOut(self.bars, self.ruler, self.feet, *gone, run_time=0.3), *comes)
        self.add(self.stream)
        self.play(PlayTrace(self.stream, until=1, run_time=1))
        self.play(FadeIn(self.amounts[0]), run_time=0.3)

    def little_comes_from_far(self) -> None:
        """The stream narrows from post to post; then bytes flow back through it, and part."""
        story, last = self.story, len(self.story.passed) - 1
        for number in range(1, last + 1):
            self.say(story.need_not_send if number == last else tr("What several SMs need is read once"))
            self.play(PlayTrace(self.stream, until=number + 1, run_time=1.5, rate_func=smoothstep))
            self.play(FadeIn(self.amounts[number]), run_time=0.3)
            self.wait(0.4)
        self.say(story.each_serves)
        self.play(PlayTrace(self.stream, until=self.stream.drawn_at + 5, run_time=5))

    def tell_the_finding(self) -> None:
        story = self.story
        kind = "measured" if story.gpu else "simulated"
        rows = [
            (tr("tiles ask for"), story.passed[0].bytes / 1e6, kind),
            (tr("{far} sends", far=story.far.name), story.passed[-1].bytes / 1e6, kind),
        ]
        bars = Bars(rows, "MB", self.area.width, form="{:,.0f}")
        card = Finding(story.finding, story.number, bars, self.source(), story.aside)
        self.finding(card, [bars.grow()])

    # How it is laid out

    @property
    def wide(self) -> bool:
        """Whether names have room beside shelves; else they stand above them."""
        return self.area.width > px(1200)

    @property
    def column(self) -> float:
        """Units that the levels' names take on the left."""
        return self.names.width + px(80) if self.wide else 0.0

    @property
    def foot(self) -> float:
        """Where bars begin, beside the names."""
        return self.area.left + self.column + px(POST) / 2

    @property
    def apart(self) -> float:
        """Units from one level to the next."""
        return px(APART) if self.wide else min(px(280), self.area.height / len(self.story.levels))

    def row(self, number: int) -> float:
        """The height at which a level stands."""
        above = 0.0 if self.wide else px(ABOVE - LOW / 2)
        return self.area.center[1] - above + self.apart * ((len(self.story.levels) - 1) / 2 - number)

    def name_levels(self) -> VGroup:
        """The names of all levels, one below the other."""
        names, up = VGroup(), 0.0 if self.wide else px(ABOVE)
        for number, name in enumerate(self.story.names):
            word = label(name, 48 if self.wide else 42, bold=True)
            names.add(word.move_to([self.area.left, self.row(number) + up, 0], LEFT))
        return names

    def shelf(self, number: int) -> MemoryLevel:
        """A level's shelf, with what it holds."""
        holds = np.log([one.per_sm or one.size for one in self.story.levels])
        share = SMALLEST + (1 - SMALLEST) * (holds[number] - holds.min()) / np.ptp(holds)
        room = self.area.right - self.area.left - self.column - px(120)
        shelf = MemoryLevel(
            size(self.story.levels[number]), share * room, px(SHELF if self.wide else LOW), 48
        )
        shelf.heading.set_color(ManimColor(self.theme.text)).move_to(shelf.shelf)
        own = self.story.levels[number].per_sm > 0
        shelf.shelf.set_stroke(ManimColor(self.hue if own else self.theme.operand), stroke_width(4))
        return shelf.move_to([self.area.left + self.column + room / 2, self.row(number), 0])

    def others(self, number: int) -> VGroup:
        """Of a level that each SM has of its own, those of other SMs behind it, and how many there are."""
        if not self.story.levels[number].per_sm:
            return VGroup()
        shelf = self.shelves[number].shelf
        aside = RIGHT + (UP if self.wide else DOWN)
        copies = VGroup(*(shelf.copy().shift(px(14 * step) * aside) for step in (2, 1)))
        times = label(f"×{self.story.sms}", 48, self.theme.quiet, bold=True)
        return VGroup(copies, times.next_to(copies, RIGHT, px(24)))

    def arrivals(self, values: list[float], figures: list[str]) -> Arrivals:
        """A bar for each level, beside its name."""
        left = self.foot + px(POST)
        bars = Arrivals(values, figures, self.area.right - left, self.apart, self.hue)
        first = bars.grounds[0]
        return bars.shift([left - first.get_left()[0], self.row(0) - first.get_y(), 0])

    def figure(self, number: int) -> VMobject:
        """What passes at a post, above it; in a frame that is not wide, where the stream is steep, below."""
        words = label(self.story.passed[number].figure, 56 if self.wide else 48, bold=True, mono=True)
        if self.wide:
            return words.next_to(self.stream.top(number), UP, px(20))
        return words.next_to(self.stream.foot(number), DOWN, px(90))

    def place(self, number: int) -> VMobject:
        """Where a post stands, below the stream."""
        words = label(self.story.passed[number].where, 48, bold=True)
        return words.next_to(self.stream.foot(number), DOWN, px(24))

    def source(self) -> Badge:
        """Whether the product's bytes are counted or simulated."""
        story = self.story
        if not story.gpu:
            return of_costs(story.simulated_with)
        return Badge(tr("counted on {gpu}", gpu=story.gpu), "counted")
