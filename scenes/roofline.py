"""Roofline: when does more arithmetic take more time?

manim render scenes/roofline.py

One program with 1 to 1,024 operations on each of 67 million numbers, as measured: as bars, then as points of
a chart under the roof of memory and arithmetic.
"""

from functools import partial

import numpy as np
from manim import (
    DOWN,
    LEFT,
    RIGHT,
    UP,
    Create,
    DashedLine,
    FadeIn,
    FadeOut,
    GrowFromEdge,
    LaggedStart,
    ManimColor,
    ReplacementTransform,
    VGroup,
    linear,
)  # fmt: skip

from tilesim.analysis.roofs import Spot
from tilesim.devices.gpus import preset_of
from tilesim.devices.presets import presets
from tilesim.ideas.fusion import WIDTH, Chain
from tilesim.ladder.steps import ridge
from tilesim_scenes.animations.fade import Fade, Leave
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.kit.round_trip import RoundTrip
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import mixed
from tilesim_scenes.mobjects.charts.plot import Roofline as Chart
from tilesim_scenes.mobjects.drawing.quads import edged, rectangle
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Roofline",
    "question": "When does more arithmetic take more time?",
    "finding": (
        "On an H200, 64 operations on each number take as long as one. Beyond about 112, arithmetic takes"
        " longer than moving."
    ),
    "part": "Kernels",
    "place": 240,
    "seconds": 80,
    "shows": "One program with 1 to 1,024 operations on each number, and what memory and arithmetic allow.",
    "takes": "report",
}
FEW, MANY, MOST = 1, 64, 1024
"""Operations on each number, whose times are shown as bars."""
INTENSITY, SPEED = (0.05, 500.0), (0.3, 300.0)
"""Ends of the chart's axes: operations per byte, and trillions of them per second."""


class Roofline(Lesson):
    """One program that does more and more operations on each number, and the roof that limits it."""

    def prepare(self) -> None:
        report = self.report("fusion")
        self.gpu = report["machine"]["gpu"]
        self.guard("H200" in self.gpu, "the program ran on an H200")
        self.x = max(one["elements"] for one in report["rows"])
        rows = [one for one in report["rows"] if (one["elements"], one["kernel"]) == (self.x, "fused")]
        self.us = {one["functions"]: one["us"] for one in sorted(rows, key=lambda one: one["functions"])}
        self.guard({FEW, MANY, MOST} <= set(self.us), "1, 64 and 1,024 operations were measured")
        preset = presets()[preset_of(self.gpu)]
        self.flat = preset["peak_tflops"]["fp32"]
        self.tb = preset["memory_gb_per_s"] / 1000
        self.mb = WIDTH * self.x / 1e6
        # From the figures as printed, as the film Fusion has it.
        self.moving = float(f"{2 * round(self.mb) / float(f'{self.tb:.1f}'):.1f}")
        self.millions = round(self.x / 1e6)
        self.computing = {count: count * self.millions / self.flat for count in self.us}
        self.guard(self.us[MANY] < 1.01 * self.us[FEW], "64 operations take as long as one")
        self.guard(self.us[MOST] > 5 * self.us[FEW], "1,024 operations take much longer")
        self.guard(self.computing[MANY] < self.moving < self.computing[MOST], "the slower of the two decides")
        self.points = {
            count: Spot(Chain(self.x, count, 1).intensity, count * self.x / us / 1e6)
            for count, us in self.us.items()
        }
        self.guard(all(self.share(one, self.flat) <= 1 for one in self.points.values()), "none is above")
        self.bound = [n for n in self.us if self.computing[n] < self.moving]
        self.guard(
            max(self.us[n] for n in self.bound) < 1.02 * self.us[FEW], "on the slope, time is the same"
        )
        moved = Chain(1, 1, 1).moved
        self.ridge = round(ridge(self.flat, preset["memory_gb_per_s"]))
        self.turn = self.ridge * moved
        self.guard(self.bound == [n for n in self.us if n < self.turn], "memory is the limit before the turn")
        least = min(self.us, key=lambda n: self.share(self.points[n], self.flat))
        self.guard(self.turn / 2 < least < 2 * self.turn, "most is lost near the bend")
        self.lost = 1 - self.share(self.points[least], self.flat)
        self.guard(MANY % moved == 0, "64 operations are a whole number per byte")
        self.per_byte = MANY // moved

    def share(self, point: Spot, peak: float) -> float:
        """How much of what the roof allows a program reaches."""
        return point.tflops / min(peak, point.intensity * self.tb)

    def construct(self) -> None:
        self.ask("An operation is one addition or multiplication.")
        self.the_program()
        self.few_and_many()
        self.the_most()
        self.as_a_chart()
        self.the_roof()
        self.the_turn()
        self.close(
            "On an H200, {many} operations on each number take as long as one. Beyond about {turn}, "
            "arithmetic takes longer than moving.",
            [(tr("64 operations"), self.us[MANY]), (tr("1 operation"), self.us[FEW])],
            "work",
            "{:,.1f} µs",
            self.measured(),
            tr("{count:.0f} million 32-bit numbers, read and written once", count=self.x / 1e6),
            many=MANY,
            work=MANY // FEW,
        )

    # One program, as bars.

    def the_program(self) -> None:
        area = self.area
        key = self.key(Entry(tr("computed"), [self.theme.by_phase["multiply"]]))
        high = area.top - px(10) - self.floor
        trip = RoundTrip(
            tr("memory"), self.tr("x: {mb:.0f} MB"), tr("processors"), tr("part of x"),
            ["x * 1.5"], area.width, high,
        )  # fmt: skip
        whole = VGroup(trip, trip.pieces)
        whole.shift((self.floor + high / 2 - trip.processors.box.get_y()) * UP)
        self.say(
            "A program reads {count} million numbers, computes with each, and writes it back, all at once.",
            count=self.millions,
        )
        self.badge(Badge(tr("schematic"), "model"))
        self.play(FadeIn(trip), Fade(trip.pieces, 0.0, 1.0), *key)
        self.play(trip.stream(5.6))
        self.let_read()
        self.play(Leave(trip), Leave(trip.pieces), *self.key())

    def group(self, count: int, longest: float, place: int) -> VGroup:
        """The time with so many operations on each number, and below it what moving and arithmetic need."""
        area, theme = self.area, self.theme
        name, figure = (px(210), px(310)) if self.narrow else (px(400), px(290))
        room, small = area.width - figure - name, 0.68 if self.narrow else 1.0
        step = area.height / 3
        top = area.top - px(20) - place * step - px(48) * self.narrow
        rows = VGroup()
        names = tr("moving x"), tr("arithmetic")
        values = self.us[count], self.moving, self.computing[count]
        said = tr("{count:,} operations", count=count) if count > 1 else tr("1 operation")
        heading = label(said, 46, bold=True)
        for number, us in enumerate(values):
            high = small * px(84 if number == 0 else 46)
            bar = rectangle(
                max(room * us / longest, px(5)), high, mixed(theme.background, theme.measured, 0.6)
            )
            if number:
                edged(bar.set_fill(ManimColor(theme.panel)), theme.text, 4)
            y = top - small * px((42, 122, 182)[number])
            bar.move_to([area.right - figure - room, y, 0], LEFT)
            took = label(tr("{us:,.1f} µs", us=us), 46 if number == 0 else 38, bold=number == 0, mono=True)
            took.next_to(bar, RIGHT, px(20))
            row = VGroup(bar, took)
            if number:
                whose = label(names[number - 1], 38, theme.quiet)
                row.add(whose.next_to(bar, LEFT, px(20)))
            rows.add(row)
        if self.narrow:
            heading.next_to(rows[0], UP, px(8)).set_x(area.left, LEFT)
        else:
            heading.move_to([area.left, rows[0].get_y(), 0], LEFT)
        return VGroup(heading, *rows)

    def grow(self, *rows: VGroup, pace: float) -> None:
        """Bars grow on one clock, in a second as far as `pace` says, each with its figure at its end."""
        longest = max(row[0].width for row in rows)
        self.add(*(row[2] for row in rows if len(row) > 2))
        growing, appearing = [], []
        for bar, figure, *_ in rows:
            growing.append(GrowFromEdge(bar, LEFT, run_time=bar.width / pace, rate_func=linear))
            once_grown = partial(after, bar.width / longest)
            appearing.append(FadeIn(figure, run_time=longest / pace, rate_func=once_grown))
        self.play(*growing, *appearing)

    def few_and_many(self) -> None:
        """Two measured bars of one length; then what moving and arithmetic need of them."""
        few, many = (self.group(n, 1.15 * self.us[MANY], place) for place, n in enumerate((FEW, MANY)))
        self.groups, self.third = [few, many], self.group(MOST, 1.02 * self.us[MOST], 2)
        self.badge(self.measured())
        self.say("One operation on each number or {count}: the program takes the same time.", count=MANY)
        self.play(FadeIn(few[0], many[0], self.third[0]), run_time=0.3)
        self.grow(few[1], many[1], pace=few[1][0].width / 3.2)
        self.say(
            "Moving and arithmetic overlap, so the longer sets the time: moving, at {reached:.0%} of peak.",
            reached=self.moving / self.us[FEW],
        )
        self.badge(Badge(tr("measured; outlined: NVIDIA's datasheet"), "measured"))
        self.how = VGroup(
            self.word("moving x: twice {mb:.0f} MB at {tb:.1f} TB/s", 40),
            self.word("arithmetic: {peak} trillion operations per second", 40, peak=self.flat),
        ).arrange(DOWN, buff=px(14))
        self.how.move_to([self.area.center[0], self.area.bottom + self.how.height / 2, 0])
        self.play(FadeIn(self.how), run_time=0.4)
        self.grow(*(row for one in self.groups for row in one[2:]), pace=few[2][0].width / 4.0)

    def the_most(self) -> None:
        """All bars shrink to the scale of the third."""
        longest = 1.02 * self.us[MOST]
        smaller = [self.group(n, longest, place) for place, n in enumerate((FEW, MANY))]
        most = self.third
        self.say(
            "With {count:,} operations it takes {us:,.1f} microseconds. Now arithmetic sets the time.",
            count=MOST, us=self.us[MOST],
        )  # fmt: skip
        self.play(FadeOut(self.how), run_time=0.3)
        self.play(*map(ReplacementTransform, self.groups, smaller), run_time=1.2)
        self.grow(*most[1:], pace=most[1][0].width / 3.2)
        self.groups = [*smaller, most]

    # The same as points of a chart.

    def as_a_chart(self) -> None:
        area, quiet = self.area, self.theme.quiet
        left, foot, head = px(130), px(112), px(56)
        self.size = 34 if self.narrow else 46
        high = area.height - foot - head
        self.chart = chart = Chart(INTENSITY, SPEED, self.flat, area.width - left, high)
        chart.shift([area.right, area.top - head, 0] - chart.ground.get_corner(UP + RIGHT))
        across = self.word("operations per byte, each mark ×10 →", 42, quiet)
        across.move_to([area.right, area.bottom, 0], DOWN + RIGHT)
        up = self.word("↑ trillion operations per second", 42, quiet)
        up.move_to([area.left, area.top, 0], UP + LEFT)
        self.axes = VGroup(across, up)
        self.dots = {n: chart.dot(p.intensity, p.tflops) for n, p in self.points.items()}
        self.say(
            "As a chart: {many} operations on each of {count} million numbers in {us:.1f} µs "
            "are {speed:.0f} trillion per second.",
            many=MANY, count=self.millions, us=self.us[MANY], speed=self.points[MANY].tflops,
        )  # fmt: skip
        self.badge(self.measured())
        bars = [one[1][0] for one in self.groups]
        rest = VGroup(*(VGroup(one[0], one[1][1], *one[2:]) for one in self.groups))
        self.play(FadeOut(rest), run_time=0.4)
        self.remove(*self.groups)
        self.add(*bars)
        dots = [self.dots[n] for n in (MOST, MANY, FEW)]
        become = map(ReplacementTransform, reversed(bars), dots)
        come = FadeIn(chart, self.axes, run_time=0.6)
        self.play(come, LaggedStart(*become, lag_ratio=0.8, run_time=3.4))
        self.names = VGroup()
        for count, side in ((FEW, RIGHT), (MANY, RIGHT), (MOST, DOWN)):
            said = tr("{count:,}", count=count) if count > 1 else tr("1 operation")
            name = label(said, self.size, bold=True)
            self.names.add(name.next_to(self.dots[count], side, px(14)))
        self.say(
            "Each number has 4 bytes and moves twice, so {many} operations are {per_byte} per byte.",
            many=MANY,
        )
        self.below = self.drop(self.points[MANY].intensity, self.points[MANY].tflops, self.per_byte)
        self.names[1].shift(px(24) * DOWN + px(10) * LEFT)
        self.play(FadeIn(self.names), run_time=0.4)
        self.play(FadeIn(self.below), run_time=0.4)

    def drop(self, intensity: float, tflops: float, printed: int) -> VGroup:
        """A line from a point of the chart down to its axis, and what it says there."""
        top, foot = self.chart.at(intensity, tflops), self.chart.at(intensity, SPEED[0])
        words = self.word("{printed} per byte", self.size, printed=printed)
        words.move_to(foot + px(20) * RIGHT + px(84) * UP, DOWN + LEFT)
        return VGroup(DashedLine(top, foot, color=ManimColor(self.theme.quiet)), words)

    def the_roof(self) -> None:
        """Points along memory's slope, then along arithmetic's flat line; below is what is allowed."""
        chart = self.chart
        slope = chart.slope(1000 * self.tb)
        self.say(
            "Memory moves {tb:.1f} trillion bytes a second, enough for {most:.0f} trillion operations.",
            most=self.per_byte * self.tb,
        )
        self.badge(Badge(tr("dots: measured; lines: NVIDIA's datasheet"), "measured"))
        name = self.bold("{tb:.1f} TB/s × operations per byte", self.size)
        across, rise, _ = slope.points[-1] - slope.points[0]
        side = np.array([-rise, across, 0.0]) / np.hypot(across, rise)
        name.rotate(np.arctan2(rise, across))
        name.move_to(chart.at(0.9, 0.9 * self.tb) + px(1.05 * self.size) * side)
        between = [self.dots[n] for n in self.us if n in self.bound and n not in (FEW, MANY)]
        self.play(Create(slope, run_time=2.4))
        self.play(FadeIn(name))
        self.say("Each dot doubles the operations. The time stays the same, so the speed doubles.")
        self.play(
            FadeOut(self.below, run_time=0.4), LaggedStart(*map(FadeIn, between), lag_ratio=0.5, run_time=4.6)
        )
        flat = chart.flat(self.flat / self.tb)
        self.say(
            "Where arithmetic reaches its peak, the line turns flat. Near the bend, up to {lost:.0%} is lost."
        )
        peak = self.bold("arithmetic: {peak} trillion a second", self.size, peak=self.flat)
        peak.next_to(chart.at(INTENSITY[1], self.flat), UP + LEFT, px(24))
        self.play(Create(flat), FadeIn(peak), run_time=0.8)
        later = [self.dots[n] for n in self.us if n not in self.bound and n != MOST]
        self.play(LaggedStart(*map(FadeIn, later), lag_ratio=0.5, run_time=2.6))
        self.say("This shape is called the roofline. Memory limits the slope, and arithmetic the flat part.")
        allowed = chart.allowed(1000 * self.tb).set_z_index(-1)
        self.play(Fade(allowed, 0.0, 1.0, run_time=3.0))

    def the_turn(self) -> None:
        """Where the two lines meet, as operations per byte and as operations on each number."""
        self.say(
            "The lines meet at {peak} divided by {tb:.1f}, or {ridge} operations per byte: "
            "{turn} on each number.",
            peak=self.flat,
        )
        below = self.drop(self.flat / self.tb, self.flat, self.ridge)
        self.play(FadeIn(below), run_time=0.6)
        more = self.bold("× {moved} bytes = {turn}", self.size, moved=self.turn // self.ridge)
        more.next_to(below[1], DOWN, px(12), aligned_edge=LEFT)
        self.wait(1.4)
        self.play(FadeIn(more), run_time=0.5)


def after(share: float, alpha: float) -> float:
    """Of an animation whose mobject appears once a share of its time is over."""
    return float(np.clip((alpha - share) / 0.1 + 1, 0.0, 1.0))
