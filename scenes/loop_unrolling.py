"""Loop unrolling: does it pay by the branches that it saves?

manim render scenes/loop_unrolling.py
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from manim import (
    DOWN,
    LEFT,
    RIGHT,
    UP,
    Dot,
    FadeIn,
    FadeOut,
    LaggedStart,
    ManimColor,
    Mobject,
    VGroup,
)

from tilesim_scenes.animations.fade import late
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.film.report_film import ReportFilm
from tilesim_scenes.film.settings import REPORT, Kind
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import Figure, label, lines, px
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.charts.curve import Curve
from tilesim_scenes.mobjects.charts.plot import Plot, line
from tilesim_scenes.mobjects.models.warps.load_rows import LoadRows
from tilesim_scenes.mobjects.models.warps.loop_turns import ADD, LOAD, OWN, LoopTurns
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.count import Count
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.story.ideas.loop_unrolling import EVERY, FACTOR, FACTORS, FEW, MANY, Story, tell

FILM = {
    "title": "Loop unrolling",
    "question": "Does unrolling pay by the branches it saves?",
    "part": "Kernels",
    "place": 220,
    "seconds": 46,
    "shows": "Turns of a loop put together: the branches that go, and the loads under way.",
    "takes": "report",
    "options": {"factor": 8},
}
LAST = (3, 4)
"""Which of a curve's points say how many loads a turn has."""
SIDE = 260
"""Pixels for names left of the loads."""


class LoopUnrolling(ReportFilm):
    """A sum with 8 loads a turn of its loop instead of one."""

    bench = "loop_unrolling"
    asked = REPORT | {"factor": Kind(lambda value: type(value) is int and value in FACTORS, "2, 4, 8 or 16")}

    @classmethod
    def story_of(cls, report: Mapping[str, Any], settings: Mapping[str, Any]) -> Story:
        return tell(report, settings.get("factor", FACTOR))

    def construct(self) -> None:
        area = self.area
        self.turns = LoopTurns(self.story.factor, self.story.loop, area.width, 0.62 * area.height)
        self.turns.move_to(area.center + 0.36 * area.height * UP, UP)
        self.home = self.turns[0].copy()
        self.turns[0].scale(0.62 * area.width / self.home.width)
        # The title leaves it in sight.
        self.turns[0].move_to(area.center + 0.24 * area.height * UP)
        self.add(self.turns[0])
        self.title(tr("Loop unrolling"))
        self.unroll()
        self.wait_for_each_load()
        self.send_loads_together()
        self.fill_the_flight()
        self.chain()
        self.tell_the_finding()

    def unroll(self) -> None:
        """Turns of the loop become one: loads and additions line up, and what the loop took falls away."""
        story, turns, area = self.story, self.turns, self.area
        names = self.names_of(turns[0])
        self.say(story.question)
        self.play(FadeIn(names), run_time=0.5)
        self.wait(1)
        self.play(FadeOut(names), run_time=0.3)
        home = turns[0].animate.scale(self.home.width / turns[0].width).move_to(self.home)
        self.play(home, run_time=0.6)
        come = (FadeIn(turn, shift=px(30) * DOWN) for turn in turns[1:])
        self.play(LaggedStart(*come, lag_ratio=0.3, run_time=1.2))
        said = label(story.instructions(1), 56, bold=True)
        said.move_to([area.center[0], turns.get_bottom()[1] - px(70), 0])
        if story.counted:
            self.badge(Badge(tr("counted on {gpu}", gpu=story.gpu), "counted"))
        else:
            self.badge(Badge(tr("model"), "model"))
        self.play(FadeIn(said), run_time=0.3)
        self.say(story.fewer)
        self.wait(0.5)
        self.play(FadeOut(said), *turns.unroll(), run_time=1.6)
        less = label(story.instructions(story.factor), 56, bold=True)
        less.move_to([area.center[0], turns[0].get_bottom()[1] - px(90), 0])
        self.play(FadeIn(less), run_time=0.3)
        self.wait(1.2)
        self.told = less

    def wait_for_each_load(self) -> None:
        """Fewer instructions, and no faster, as long as each load waits for the one before."""
        story, area = self.story, self.area
        names = {1: tr("1 load a turn"), story.factor: tr("{factor}, one by one", factor=story.factor)}
        rows = [(name, story.rates["one by one", FEW, n], "measured") for n, name in names.items()]
        bars = Bars(rows, "GB/s", area.width, row=px(120), form="{:.0f}")
        bars.move_to(area.center + 0.08 * area.height * DOWN)
        self.badge(Badge(tr("measured on {gpu}", gpu=story.gpu), "measured"))
        self.say(story.waiting)
        self.play(FadeOut(self.told), run_time=0.3)
        self.play(bars.grow())
        self.wait(1.5)
        self.play(FadeOut(bars, self.turns.left), run_time=0.3)

    def send_loads_together(self) -> None:
        """One by one, and all at once, on one clock: to scale, a load is nearly all of a turn."""
        story, area = self.story, self.area
        self.badge(Badge(tr("model, measured times")))
        alone, together = story.flights(1), story.flights(story.factor)
        until, first = float(alone["used"][-1]), float(together["used"][-1])
        near = min(until, 1.25 * first)
        side = 0 if self.tall else px(SIDE)
        height = 0.34 * area.height
        rows, names = [], VGroup()
        for flights, name, up in ((alone, tr("one by one"), 0.28), (together, tr("together"), -0.18)):
            one = LoadRows(flights, near, area.width - side - px(20), height)
            middle = area.center[1] + (up - 0.02 * self.tall) * area.height
            one.move_to([area.right - px(20) - one.ground.width / 2, middle, 0])
            rows.append(one)
            text = label(name, 46, bold=True)
            if self.tall:
                # The cursor reaches a little above its rows.
                names.add(text.next_to(one.ground, UP, 0.06 * height).align_to(one.ground, LEFT))
            else:
                names.add(text.move_to([area.left, one.get_y() + px(20), 0], LEFT))
        counts = [self.under_way(one, name) for one, name in zip(rows, names, strict=True)]
        self.say(story.watch)
        self.play(FadeIn(names, *counts), run_time=0.4)
        self.add(*rows)
        self.play(PlayTrace(*rows, *counts, until=0.85 * first, run_time=3.8))
        self.say(story.at_once)
        self.play(PlayTrace(*rows, *counts, until=first, run_time=1))
        self.play(*(one.stretch(until) for one in rows))
        done = label(tr("{cycles:,.0f} cycles", cycles=first), 48, bold=True)
        done.next_to(rows[1].at(first), RIGHT, px(60))
        self.play(PlayTrace(rows[0], *counts, until=until, run_time=3), FadeIn(done, run_time=0.3))
        long = label(tr("{cycles:,.0f} cycles", cycles=until), 48, bold=True)
        long.move_to(rows[0].ground.get_corner(UP + RIGHT), UP + RIGHT).shift(px(20) * LEFT)
        self.play(FadeIn(long), run_time=0.3)
        self.wait(1)
        self.leaving = [*rows, names, *counts, done, long]

    def fill_the_flight(self) -> None:
        """The rate follows what is in flight, by more loads or more warps, until memory is full."""
        story, area = self.story, self.area
        self.badge(Badge(tr("measured on {gpu}", gpu=story.gpu), "measured"))
        curves = {warps: story.curve(warps) for warps in (FEW, MANY)}
        every = np.array([point for points in curves.values() for point in points])
        (left, low), (right, high) = every.min(axis=0) / 1.3, every.max(axis=0) * 1.5
        ticks = [2.0**k for k in range(-4, 20) if left < 2.0**k < right]
        heights = [v for v in (10, 30, 100, 300, 1000, 3000, 10000, 30000) if low < v < high]
        room = area.width - px(190)
        plot = Plot((left, right), (low, high), ticks, heights, room, 0.68 * area.height, log=True, size=40)
        plot.shift([area.right - room / 2, area.center[1] + 0.06 * area.height, 0] - plot.ground.get_center())
        across = label(tr("KB in flight on each SM"), 44, self.theme.quiet)
        across.next_to(plot.ground, DOWN, px(76))
        up = label("GB/s", 44, self.theme.quiet).next_to(plot.ground.get_corner(UP + LEFT), RIGHT, px(16))
        up.shift(px(30) * DOWN)
        x = np.geomspace(left, right, 200)
        bound = np.array([(kb, story.bound(kb)) for kb in x])
        roof = line(plot, bound[bound[:, 1] > low], self.theme.quiet, 4)
        most = label(tr("at most"), 44, self.theme.quiet)
        corner = bound[int(np.argmax(bound[:, 1] >= 0.999 * bound[-1, 1]))]
        most.next_to(plot.at(*corner), UP, px(14)).shift(px(120) * RIGHT)
        self.drawn: list[Mobject] = []
        self.say(story.little)
        coming = FadeIn(plot, across, up, rate_func=late)
        self.play(FadeOut(*self.leaving), coming, run_time=0.6)
        self.play(FadeIn(roof, most), run_time=0.5)
        for warps, points in curves.items():
            self.follow(plot, warps, points)
            if warps == FEW:
                self.queue_for_memory(plot, x, most)
                self.say(story.where_it_stops)
        self.wait(1)
        self.leaving = [plot, across, up, roof, *self.drawn]

    def queue_for_memory(self, plot: Plot, x: np.ndarray, most: Mobject) -> None:
        """Why few warps stay below the limit: how fast loads come that all leave at once."""
        story, ink = self.story, self.theme.wait_text
        rates = [(kb, story.of_bursts(kb)) for kb in x]
        foot = plot.ground.get_bottom()[1]
        curve = Curve(plot, [(kb, rate) for kb, rate in rates if plot.at(kb, rate)[1] > foot], ink, 5)
        name = label(tr("in bursts"), 44, ink).next_to(plot.at(*rates[-len(rates) // 8]), DOWN, px(30))
        self.drawn.append(curve)
        self.say(story.queueing)
        self.add(curve)
        self.play(PlayTrace(curve, until=float(x[-1]), run_time=1.6), FadeIn(name, run_time=0.3))
        self.wait(0.8)
        # What comes has its figures where `most` stands.
        self.play(FadeOut(name, most), run_time=0.3)

    def chain(self) -> None:
        """Arithmetic has a latency too, and chains that do not wait for each other hide it."""
        story, area = self.story, self.area
        names = [tr("{count} chain", count=n) if n == 1 else f"{n}" for n in story.chains]
        rows = [(name, each, "measured") for name, each in zip(names, story.chains.values(), strict=True)]
        bars = Bars(rows, "", area.width, row=min(px(120), 0.8 * area.height / len(rows)))
        bars.move_to(area.center)
        self.say(story.arithmetic)
        self.play(FadeOut(*self.leaving), run_time=0.3)
        self.play(bars.grow())
        self.wait(1.0)

    def tell_the_finding(self) -> None:
        story = self.story
        badge = Badge(tr("measured on {gpu}", gpu=story.gpu), "measured")
        rows = [
            (name, story.rates[loads, FEW, story.factor], "measured")
            for name, loads in ((tr("one by one"), "one by one"), (tr("together"), "together"))
        ]
        bars = Bars(rows, "GB/s", self.area.width, form="{:,.0f}")
        self.finding(Finding(story.finding, story.number, bars, badge, story.aside), [bars.grow()])

    # How it is laid out

    def names_of(self, turn: VGroup) -> VGroup:
        """What the instructions of a turn are."""
        hue, own = self.turns.colour, turn[OWN:]
        load = label(tr("load"), 56, hue, bold=True).next_to(turn[LOAD], UP, px(20))
        add = label(tr("add"), 56, hue, bold=True).next_to(turn[ADD], DOWN, px(20))
        rest = lines(tr("the loop’s own: address, test, branch"), 48, own.width, color=self.theme.quiet)
        return VGroup(load, add, rest.next_to(own, UP, px(20)))

    def under_way(self, rows: LoadRows, name: Any) -> Count:
        """How many loads are under way, below the name of their rows or right of it."""
        count = Count(
            lambda t: tr("{count} in flight", count=rows.under_way(t)), size=44, mono=False, bold=False
        )
        place = name.get_right() + px(30) * RIGHT if self.tall else name.get_left() + px(70) * DOWN
        return count.shift(place - px(16) * UP)

    def follow(self, plot: Plot, warps: int, points: list[tuple[float, float]]) -> None:
        """Draw the rates of so many warps, from one load a turn on."""
        colour = self.theme.measured
        curve = Curve(plot, points, colour, 6)
        name = label(tr("{warps} warps", warps=warps), 48, bold=True)
        # The few lie along the limit, the many end near it: names have room on the other side.
        if warps == FEW:
            name.next_to(plot.at(*points[1]), DOWN + RIGHT, px(24))
        else:
            name.next_to(plot.at(*points[0]), UP + LEFT, px(28))
        self.drawn += [curve, name]
        self.add(curve)
        for number, point in enumerate(points):
            dot = Dot(plot.at(*point), radius=px(13), color=ManimColor(colour))
            drawn = [PlayTrace(curve, until=point[0], run_time=0.5)] if number else []
            loads = Figure(f"×{EVERY[number]}" if number in LAST else "", 44, colour, align=0.5)
            # Below the few's points there is room, above the many's.
            loads.shift(dot.get_center() + (px(66) * DOWN if warps == FEW else px(34) * UP))
            self.play(*drawn, FadeIn(dot, loads, *([] if number else [name]), run_time=0.3))
            self.drawn += [dot, loads]
