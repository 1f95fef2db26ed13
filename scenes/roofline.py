"""Roofline: when does more arithmetic take more time?

manim render scenes/roofline.py

One program with 2 to 1,024 operations on each of 67.1 million numbers, as measured: as bars, then as points
of a chart under the roof of memory and arithmetic.
"""

from functools import partial

import numpy as np
from manim import (
    DOWN,
    LEFT,
    RIGHT,
    UP,
    Animation,
    Create,
    DashedLine,
    GrowFromEdge,
    LaggedStart,
    ManimColor,
    ReplacementTransform,
    VGroup,
    VMobject,
    linear,
)  # fmt: skip

from tilesim.analysis.roofs import Spot
from tilesim.devices.gpus import preset_of
from tilesim.devices.presets import presets
from tilesim.ideas.fusion import WIDTH, Chain
from tilesim.ladder.steps import ridge
from tilesim_scenes.animations.fade import Fade, FadeIn, FadeOut, Leave
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
        "On an H200, 64 operations on each number take as long as 2. Arithmetic adds time only once it takes"
        " longer than moving the numbers."
    ),
    "part": "Kernels",
    "place": 240,
    "seconds": 80,
    "shows": "One program with 2 to 1,024 operations on each number, and what memory and arithmetic allow.",
    "takes": "report",
}
FEW, MANY, MOST = 2, 64, 1024
"""Operations on each number, whose times are shown as bars: as many multiplications as additions."""
INTENSITY, SPEED = (0.15, 300.0), (0.5, 150.0)
"""Ends of the chart's axes: operations per byte, and trillions of them per second."""


class Roofline(Lesson):
    """One program that does more and more operations on each number, and the roof that limits it."""

    def prepare(self) -> None:
        report = self.report("fusion")
        self.gpu = report["machine"]["gpu"]
        self.guard("H200" in self.gpu, "the program ran on an H200")
        self.x = max(one["elements"] for one in report["rows"])
        rows = [one for one in report["rows"] if (one["elements"], one["kernel"]) == (self.x, "fused")]
        self.us = dict(sorted((one["functions"], one["us"]) for one in rows if one["functions"] >= FEW))
        self.guard({FEW, MANY, MOST} <= set(self.us), "2, 64 and 1,024 operations were measured")
        preset = presets()[preset_of(self.gpu)]
        self.flat = preset["peak_tflops"]["fp32"]
        self.tb = preset["memory_gb_per_s"] / 1000
        self.mb, self.millions = WIDTH * self.x / 1e6, self.x / 1e6
        self.moving = Chain(self.x, 1, 1).moved / self.tb / 1e6
        self.guard(round(2 * round(self.mb) / self.tb) == round(self.moving), "moving takes what is printed")
        self.computing = {count: count * self.millions / self.flat for count in self.us}
        self.guard(self.us[MANY] < 1.01 * self.us[FEW], "64 operations take as long as two")
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
        self.moved = Chain(1, 1, 1).moved
        self.ridge = round(ridge(self.flat, preset["memory_gb_per_s"]))
        self.turn = self.ridge * self.moved
        self.guard(self.bound == [n for n in self.us if n < self.turn], "memory is the limit before the turn")
        self.guard(MANY % self.moved == 0, "64 operations are a whole number per byte")
        self.per_byte = MANY // self.moved
        self.most = self.per_byte * self.tb

    def share(self, point: Spot, peak: float) -> float:
        """How much of what the roof allows a program reaches."""
        return point.tflops / min(peak, point.intensity * self.tb)

    def construct(self) -> None:
        self.ask("A multiplication and an addition are two operations.")
        self.the_program()
        self.few_and_many()
        self.the_most()
        self.as_a_chart()
        self.the_roof()
        self.the_turn()
        self.close(
            "On an H200, {many} operations on each number take as long as {few}. Arithmetic adds time only "
            "once it takes longer than moving the numbers.",
            [(operations(MANY), self.us[MANY]), (operations(FEW), self.us[FEW])],
            "work",
            "{:,.0f} µs",
            self.measured(),
            self.tr("{millions:.1f} million 4-byte numbers, read and written once"),
            few=FEW,
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
            ["x * 1.5", "x + 0.25"], area.width, high,
        )  # fmt: skip
        whole = VGroup(trip, trip.pieces)
        whole.shift((self.floor + high / 2 - trip.processors.box.get_y()) * UP)
        stays = trip.pieces.copy().set_opacity(0.35)
        self.say(
            "A program reads {millions:.1f} million 4-byte numbers, computes with each, and writes it back."
        )
        self.badge(Badge(tr("schematic"), "model"))
        self.play(FadeIn(trip), Fade(trip.pieces, 0.0, 1.0), *key)
        self.add(stays, trip.pieces)
        self.play(trip.stream(4.8))
        self.let_read()
        self.play(Leave(trip), Leave(stays), Leave(trip.pieces), *self.key())

    def group(self, count: int, longest: float, place: int) -> VGroup:
        """The time with so many operations on each number, and below it what moving and arithmetic need."""
        area, theme = self.area, self.theme
        name, figure = (px(210), px(290)) if self.narrow else (px(400), px(270))
        room, small = area.width - figure - name, 0.68 if self.narrow else 1.0
        step = area.height / 3
        top = area.top - px(20) - place * step - px(48) * self.narrow
        rows = VGroup()
        names = tr("moving x"), tr("arithmetic")
        values = self.us[count], self.moving, self.computing[count]
        heading = label(operations(count), 46, bold=True)
        for number, us in enumerate(values):
            high = small * px(84 if number == 0 else 46)
            bar = rectangle(
                max(room * us / longest, px(5)), high, mixed(theme.background, theme.measured, 0.6)
            )
            if number:
                edged(bar.set_fill(ManimColor(theme.panel)), theme.text, 4)
            y = top - small * px((42, 122, 182)[number])
            bar.move_to([area.right - figure - room, y, 0], LEFT)
            took = label(tr("{us:,.0f} µs", us=us), 46 if number == 0 else 38, bold=number == 0, mono=True)
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
        self.small = 30 if self.narrow else 42
        self.badge(self.measured())
        self.say(
            "With {few} operations on each number or {many}, the program takes the same time.",
            few=FEW, many=MANY,
        )  # fmt: skip
        self.play(FadeIn(few[0], many[0]), run_time=0.3)
        self.grow(few[1], many[1], pace=few[1][0].width / 3.2)
        self.say(
            "At peak rates, moving takes {moving:.0f} µs, and arithmetic only {low:.0f} or {high:.0f}.",
            low=self.computing[FEW], high=self.computing[MANY],
        )  # fmt: skip
        self.badge(Badge(tr("measured; outlined: NVIDIA's datasheet"), "measured"))
        self.how = VGroup(
            self.word("moving x: 2 × {mb:.0f} MB at {tb:.1f} TB/s", 40),
            self.word("arithmetic: {flat} trillion operations per second", 40),
        ).arrange(DOWN, buff=px(14), aligned_edge=LEFT)
        self.how.move_to([self.area.center[0], self.third[2].get_y(), 0])
        self.play(FadeIn(self.how), run_time=0.4)
        self.grow(*(row for one in self.groups for row in one[2:]), pace=few[2][0].width / 3.0)
        self.say("While one part is computed, others move, so the longer one sets the time.")
        for group, count in zip(self.groups, (FEW, MANY), strict=True):
            share = self.moving / self.us[count]
            self.how.add(
                self.bold("{share:.0%} of memory's peak", self.small, share=share).move_to(group[1][0])
            )
        self.play(FadeIn(*self.how[2:]), run_time=0.6)

    def the_most(self) -> None:
        """All bars shrink to the scale of the third."""
        longest = 1.02 * self.us[MOST]
        smaller, most = [self.group(n, longest, place) for place, n in enumerate((FEW, MANY))], self.third
        self.say("With {count:,} operations, arithmetic takes longer, so now it sets the time.", count=MOST)
        self.play(FadeOut(self.how), run_time=0.3)
        self.play(*map(ReplacementTransform, self.groups, smaller), FadeIn(most[0]), run_time=1.2)
        self.grow(*most[1:], pace=most[1][0].width / 2.6)
        share = self.computing[MOST] / self.us[MOST]
        said = self.bold("{share:.0%} of arithmetic's peak", self.small, share=share).move_to(most[1][0])
        self.play(FadeIn(said), run_time=0.4)
        most.add(said)
        self.groups = [*smaller, most]

    # The same as points of a chart.

    def as_a_chart(self) -> None:
        area, quiet = self.area, self.theme.quiet
        left, foot, head = px(130), px(112), px(56)
        self.size = 30 if self.narrow else 44
        high = area.height - foot - head
        self.chart = chart = Chart(INTENSITY, SPEED, self.flat, area.width - left, high)
        chart.shift([area.right, area.top - head, 0] - chart.ground.get_corner(UP + RIGHT))
        across = self.word("operations per byte →", 42, quiet)
        across.move_to([area.right, area.bottom, 0], DOWN + RIGHT)
        up = self.word("↑ trillion operations per second", 42, quiet)
        up.move_to([area.left, area.top, 0], UP + LEFT)
        self.dots = {n: chart.dot(p.intensity, p.tflops) for n, p in self.points.items()}
        self.names = {n: self.name(n) for n in self.us}
        self.say(
            "As a chart: {many} operations on each number in {us:.0f} µs "
            "are {speed:.0f} trillion per second.",
            many=MANY, us=self.us[MANY], speed=self.points[MANY].tflops,
        )  # fmt: skip
        self.badge(self.measured())
        bars = [one[1][0] for one in self.groups]
        rest = VGroup(*(VGroup(one[0], one[1][1], *one[2:]) for one in self.groups))
        self.play(FadeOut(rest), run_time=0.4)
        self.remove(*self.groups)
        self.add(*bars)
        dots = [self.dots[n] for n in (MOST, MANY, FEW)]
        become = map(ReplacementTransform, reversed(bars), dots)
        come = FadeIn(chart, across, up, run_time=0.6)
        self.play(come, LaggedStart(*become, lag_ratio=0.6, run_time=2.4))
        spot = self.points[MANY]
        level = DashedLine(chart.at(INTENSITY[0], spot.tflops), chart.at(*spot), color=ManimColor(quiet))
        speed = label(f"{spot.tflops:.0f}", self.size, bold=True)
        speed.next_to(level.get_left(), UP + RIGHT, px(14))
        self.play(FadeIn(*(self.names[n] for n in (FEW, MANY, MOST))), FadeIn(level, speed), run_time=0.5)
        self.say("For 4 bytes read and 4 written, {many} operations are {per_byte} per byte.", many=MANY)
        said = self.bold("{many} / {moved} bytes = {per_byte} per byte", self.size, many=MANY)
        self.below = self.drop(spot.intensity, spot.tflops, said)
        self.play(FadeIn(self.below), run_time=0.5)
        self.below.add(level, speed)

    def name(self, count: int) -> VMobject:
        """How many operations a dot stands for, where no line of the roof will be."""
        said = label(operations(count) if count == FEW else f"{count:,}", self.size, bold=True)
        return said.next_to(self.dots[count], DOWN + RIGHT * (count in self.bound), px(6))

    def drop(self, intensity: float, tflops: float, words: VMobject) -> VGroup:
        """A line from a point of the chart down to its axis, and words there."""
        top, foot = self.chart.at(intensity, tflops), self.chart.at(intensity, SPEED[0])
        words.move_to(foot + px(20) * RIGHT + px(84) * UP, DOWN + LEFT)
        return VGroup(DashedLine(top, foot, color=ManimColor(self.theme.quiet)), words)

    def the_roof(self) -> None:
        """Points along memory's slope, then along arithmetic's flat line; below is what is allowed."""
        chart = self.chart
        slope = chart.slope(1000 * self.tb)
        self.say(
            "Memory's {tb:.1f} TB/s are enough for {per_byte} × {tb:.1f} = {most:.0f} trillion per second."
        )
        self.badge(Badge(tr("dots: measured; lines: NVIDIA's datasheet"), "measured"))
        name = self.bold("memory: {tb:.1f} TB/s", self.size)
        name.next_to(chart.at(3.0, 3.0 * self.tb), UP + LEFT, px(10))
        enough = self.bold("{per_byte} × {tb:.1f} = {most:.0f}", self.size)
        enough.next_to(chart.at(self.per_byte, self.most), UP + LEFT, px(14))
        self.play(FadeOut(*self.below[2:], run_time=0.3), Create(slope, run_time=2.0))
        self.play(FadeIn(name, enough), run_time=0.5)
        between = [n for n in self.us if n in self.bound and n not in (FEW, MANY)]
        self.say("Each dot doubles the operations. The time stays the same, so the speed doubles.")
        self.play(FadeOut(enough, *self.below[:2], run_time=0.4), self.come(between, 4.6))
        self.say("Arithmetic has its own peak, where the line turns flat.")
        peak = self.bold("arithmetic: {flat} trillion per second", self.size)
        peak.next_to(chart.at(INTENSITY[1], self.flat), UP + LEFT, px(20))
        self.play(Create(chart.flat(self.flat / self.tb)), FadeIn(peak), run_time=0.8)
        self.play(self.come([n for n in self.us if n not in self.bound and n != MOST], 2.6))
        self.say("This is the roofline. On the slope, memory is the limit; on the flat part, arithmetic.")
        allowed = chart.allowed(1000 * self.tb).set_z_index(-1)
        self.play(Fade(allowed, 0.0, 1.0, run_time=3.0))

    def come(self, counts: list[int], run_time: float) -> Animation:
        """Dots come one after the other, with their names."""
        pairs = (FadeIn(self.dots[n], self.names[n]) for n in counts)
        return LaggedStart(*pairs, lag_ratio=0.5, run_time=run_time)

    def the_turn(self) -> None:
        """Where the two lines meet, as operations per byte and as operations on each number."""
        self.say("The lines meet at {ridge} operations per byte, or {turn} on each number.")
        said = self.bold("{flat} / {tb:.1f} = {ridge} per byte", self.size)
        below = self.drop(self.flat / self.tb, self.flat, said)
        self.play(FadeIn(below), run_time=0.6)
        more = self.bold("{ridge} × {moved} bytes = {turn}", self.size)
        more.next_to(below[1], DOWN, px(12), aligned_edge=LEFT)
        self.wait(1.4)
        self.play(FadeIn(more), run_time=0.5)


def operations(count: int) -> str:
    return tr("{count:,} operations", count=count)


def after(share: float, alpha: float) -> float:
    """Of an animation whose mobject appears once a share of its time is over."""
    return float(np.clip((alpha - share) / 0.1 + 1, 0.0, 1.0))
