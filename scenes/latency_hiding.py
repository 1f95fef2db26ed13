"""Latency hiding: why run warps that wait?

manim render scenes/latency_hiding.py --warps 16
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from manim import (
    DOWN,
    LEFT,
    RIGHT,
    UP,
    FadeIn,
    FadeOut,
    GrowFromCenter,
    LaggedStart,
    ManimColor,
    ReplacementTransform,
    VGroup,
    VMobject,
)

from tilesim_scenes.animations.fade import Fade, Leave, late
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.film.report_film import ReportFilm
from tilesim_scenes.film.settings import REPORT, whole
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, lines, px
from tilesim_scenes.look.theme import sm_colour
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.charts.curve import Curve
from tilesim_scenes.mobjects.charts.plot import Plot
from tilesim_scenes.mobjects.drawing.quads import rectangle
from tilesim_scenes.mobjects.hardware.memory_level import MemoryLevel
from tilesim_scenes.mobjects.hardware.warp import Warp
from tilesim_scenes.mobjects.models.warps.under_way import ROW, UnderWay
from tilesim_scenes.mobjects.models.warps.waiting_warps import WaitingWarps
from tilesim_scenes.mobjects.traces.time_bracket import TimeBracket
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.story.ideas.latency_hiding import Story, Warps, in_bytes, tell

FILM = {
    "title": "Latency hiding",
    "question": "Why run warps that wait?",
    "part": "Hiding waits",
    "place": 90,
    "seconds": 47,
    "shows": "Warps that wait for memory, and others that ask meanwhile, until memory is busy.",
    "takes": "report",
    "options": {"warps": 16},
}
WARPS = 16
SHOWN = 4
"""Warps at which a single wait is looked into."""


class LatencyHiding(ReportFilm):
    """y = a·x + y by 1 to 16 warps on each SM of an H200, as each of them asked and waited."""

    bench = "latency_hiding"
    asked = REPORT | {"warps": whole(2, 32)}

    @classmethod
    def story_of(cls, report: Mapping[str, Any], settings: Mapping[str, Any]) -> Story:
        return tell(report, settings.get("warps", WARPS))

    def construct(self) -> None:
        story = self.story
        self.lanes, self.said = self.lanes_of(story.steps[0]), ""
        self.add(self.lanes)
        self.title(tr("Latency hiding"))
        self.one_warp()
        for step in story.steps[1:]:
            self.more_warps(step)
        self.count_them()
        self.beside_a_cpu()
        self.two_blocks()
        self.tell_the_finding()

    def one_warp(self) -> None:
        """A question flies to memory and is long on its way; the SM gets little."""
        story, lanes, area = self.story, self.lanes, self.area
        shelf = MemoryLevel(tr("memory"), 0.5 * area.width, px(120))
        shelf.move_to([lanes.all.get_center()[0], area.top - px(60), 0])
        self.sum = label(tr("arrives"), 44, self.theme.quiet).next_to(lanes.all, LEFT, px(24))
        self.say(story.question)
        self.badge(Badge(tr("measured on {gpu}", gpu=story.gpu), "measured"))
        self.play(FadeIn(shelf, self.sum), run_time=0.5)
        came = float(lanes.came[0, 0])
        dot = Warp(1, px(30)).dots.move_to(lanes.capsules[0])
        end = np.array([lanes.x(came), lanes.lanes[0].get_center()[1], 0])
        flight = Travel([dot], [[shelf.shelf.get_center(), end]], leg=1.2, run_time=2.4)
        self.bracket = TimeBracket(
            lanes, float(lanes.asked[0, 0]), came, sm=0, text=story.cycles(came - lanes.asked[0, 0]),
            below=True, color=self.theme.wait_text,
        )  # fmt: skip
        self.play(PlayTrace(lanes, self.bracket, until=came, run_time=2.4), flight)
        self.remove(dot)
        self.say(story.one)
        self.play(PlayTrace(lanes, self.bracket, until=1.1 * story.until, run_time=1.4))
        self.share = self.share_of(story.steps[0])
        self.play(FadeIn(self.share), run_time=0.3)
        self.wait(0.3)
        self.play(FadeOut(shelf, self.bracket), run_time=0.3)

    def more_warps(self, step: Warps) -> None:
        """More capsules slide in; what arrives for each falls into the lane of all."""
        old, new = self.lanes, self.lanes_of(step)
        few = len(old.capsules)
        words = self.story.more(step)
        new_words, self.said = words != self.said, words
        if new_words:
            self.say(words)
        self.play(
            ReplacementTransform(VGroup(*old.capsules), VGroup(*new.capsules[:few])),
            ReplacementTransform(VGroup(*old.lanes), VGroup(*new.lanes[:few])),
            FadeIn(VGroup(*new.capsules[few:]), shift=0.5 * RIGHT),
            FadeIn(VGroup(*new.lanes[few:])),
            # In front of the lanes that move.
            FadeOut(old.waits, old.answers, self.share),
            run_time=0.7,
        )
        self.remove(*self.mobjects_but(self.sum))
        self.add(new)
        self.lanes, self.share = new, self.share_of(step)
        self.play(PlayTrace(new, until=1.1 * self.story.until, run_time=1.6 if new_words else 1.3))
        self.play(FadeIn(self.share), run_time=0.3)
        if step.warps == SHOWN:
            self.others_in_a_wait()
        self.wait(0.3)

    def others_in_a_wait(self) -> None:
        """What arrives for the others while the first warp waits once."""
        lanes = self.lanes
        begin, end = float(lanes.asked[0, 1]), float(lanes.came[0, 1])
        band = rectangle(lanes.x(end) - lanes.x(begin), lanes.height, self.theme.wait, 0.3)
        band.move_to([(lanes.x(begin) + lanes.x(end)) / 2, lanes.get_center()[1], 0])
        self.play(FadeIn(band), run_time=0.3)
        self.wait(0.3)
        self.play(FadeOut(band), run_time=0.3)

    def count_them(self) -> None:
        """Every number of warps: first each one more is all gain, then memory is full."""
        story, area = self.story, self.area
        most, last = story.most, max(story.all_sms)
        ticks = [step * max(1, round(most / 3.4)) for step in (1, 2, 3)]
        plot = Plot(
            (0, last), (0, 1.15 * max(most, *ticks)), (1, *range(8, last + 1, 8)), ticks,
            width=area.width - px(100), height=0.74 * area.height, size=40,
        )  # fmt: skip
        plot.move_to(area.center + px(30) * DOWN).align_to([area.right, 0, 0], RIGHT)
        units = label(tr("bytes a cycle, by warps on each SM"), 44, self.theme.quiet)
        units.next_to(plot.ground, UP, px(16)).align_to(plot.ground, LEFT)
        dots = VGroup(*(self.spot(plot, *point) for point in story.all_sms.items()))
        knee = story.needed
        slope = Curve(plot, [(0, 0), (knee, most), (last, most)], self.theme.quiet)
        self.say(story.law)
        self.play(
            Leave(self.lanes), FadeOut(self.sum, self.share),
            Fade(plot, 0, 1, rate_func=late), FadeIn(units, rate_func=late), run_time=0.6,
        )  # fmt: skip
        self.play(LaggedStart(*(FadeIn(dot, scale=0.3) for dot in dots), lag_ratio=0.15, run_time=0.9))
        self.add(slope)
        self.play(PlayTrace(slope, until=last, run_time=1.2))
        few, got = story.enough, story.all_sms[story.enough]
        foot = Curve(plot, [(few, 0), (few + 1e-6, got)], self.theme.text, 5).show(last)
        short = Curve(plot, [(few, got), (few + 1e-6, most)], self.theme.wait_text, 8).show(last)
        count = label(f"{few}", 48, bold=True, mono=True).next_to(plot.at(few, got / 2), RIGHT, px(20))
        share = label(f"{story.reached:.0%}", 60, bold=True).next_to(plot.at(few, got), DOWN + RIGHT, px(24))
        self.play(FadeIn(foot, count), run_time=0.3)
        self.play(FadeIn(short, share), run_time=0.3)
        self.wait(0.5)
        self.say(story.host_words)
        self.play(*(Leave(one) for one in (plot, units, dots, slope, foot, short, count, share)))

    def beside_a_cpu(self) -> None:
        """What is under way: of one thread of a CPU, and of all threads of an SM, in lines of 64 bytes."""
        story, area = self.story, self.area
        across, up = (0.25 * area.width, 0) if not self.tall else (0, 0.25 * area.height)
        places = [area.center + sign * np.array([-across, up, 0]) for sign in (1, -1)]
        room = (0.5 * area.width - px(60), area.height) if not self.tall else (area.width, 0.5 * area.height)
        size = min(room[0] / (ROW + 5), (room[1] - px(230)) / ROW, px(44))
        cpu = UnderWay(0, story.lines_of_host, size, self.theme.operand)
        gpu = UnderWay(story.steps[-1].warps, story.lines_of_sm, size, sm_colour(0, 4))
        heads = VGroup()
        for group, place, text in zip((cpu, gpu), places, (tr("CPU, 1 thread"), self.sm_name()), strict=True):
            group.move_to(place)
            heads.add(lines(text, 48, room[0], bold=True).move_to(place + (8.5 * size + px(60)) * UP))
        totals = VGroup()
        for group, place in zip((cpu, gpu), places, strict=True):
            total = label(tr("{count} lines", count=len(group.lines)), 44, self.theme.quiet)
            totals.add(total.move_to(place + (8.5 * size + px(50)) * DOWN))
        for group, words, total in zip((cpu, gpu), heads, totals, strict=True):
            if group is gpu:
                self.say(story.sm_words)
            self.play(FadeIn(words, group.threads), run_time=0.4)
            each = (FadeIn(one, shift=0.3 * LEFT) for one in group.lines)
            self.play(LaggedStart(*each, lag_ratio=0.1, run_time=2.1))
            self.play(FadeIn(total), run_time=0.3)
        counted: list[VMobject] = [cpu.lines, gpu.lines, totals]
        if story.caches:
            counted = [self.caches(story.caches, *counted)]
        self.leaving = [*counted, cpu.threads, gpu.threads, heads]

    def caches(self, sizes: tuple[int, int], *instead: VMobject) -> VGroup:
        """Squares as large as the cache that each thread has, where its lines and their number were."""
        *before, totals = instead
        side = min(0.8 * max(one.width for one in before), max(one.height for one in before))
        squares, figures = VGroup(), VGroup()
        for size, old, total in zip(sizes, before, totals, strict=True):
            edge = side * (size / max(sizes)) ** 0.5
            squares.add(rectangle(edge, edge, self.theme.operand).move_to(old))
            figures.add(label(in_bytes(size), 44, self.theme.quiet).move_to(total))
        squares[1].set_fill(ManimColor(sm_colour(0, 4)))
        self.say(self.story.cache_words)
        self.play(*(FadeOut(one) for one in instead), run_time=0.3)
        self.play(*(GrowFromCenter(one) for one in squares), FadeIn(figures), run_time=1.3)
        self.wait(0.6)
        return VGroup(squares, figures)

    def two_blocks(self) -> None:
        """The same at the scale of thread blocks, in a product."""
        story = self.story
        names = {1: tr("1 block"), 2: tr("2 blocks")}
        rows = [(name, story.blocks[count], "measured") for count, name in names.items()]
        bars = Bars(rows, "ns", self.area.width, row=px(150), size=60, form="{:.0f}").move_to(
            self.area.center
        )
        unit = label(tr("a K-step"), 48, self.theme.quiet).next_to(bars, UP, px(30))
        unit.align_to(bars.bars, LEFT)
        self.say(story.two_blocks)
        self.play(FadeOut(*self.leaving), FadeIn(unit), run_time=0.3)
        self.play(bars.grow(run_time=2.2))

    def tell_the_finding(self) -> None:
        story = self.story
        badge = Badge(tr("measured on {gpu}", gpu=story.gpu), "measured")
        first, last = story.steps[0], story.steps[-1]
        named = (tr("1 warp"), first), (tr("{warps} warps", warps=last.warps), last)
        rows = [(name, step.rate, "measured") for name, step in named]
        bars = Bars(rows, tr("B/cycle"), self.area.width)
        self.finding(Finding(story.finding, story.number, bars, badge, story.aside), [bars.grow()])

    # How it is laid out

    def lanes_of(self, step: Warps) -> WaitingWarps:
        """Warps and what arrives for them, with room for a share on the right."""
        story, area = self.story, self.area
        lanes = WaitingWarps(
            step.asked, step.came, story.arriving, story.until, area.width - px(150), 0.95 * area.height
        )
        lanes.align_to([0, area.bottom + px(24), 0], DOWN)
        return lanes.shift((area.left + px(190) - lanes.all.get_left()[0]) * RIGHT)

    def share_of(self, step: Warps) -> VMobject:
        """What the SM gets of what memory gives, right of the lane of all."""
        share = label(f"{self.story.share(step):.0%}", 60, bold=True)
        return share.next_to(self.lanes.all, RIGHT, px(24))

    def mobjects_but(self, *kept: VMobject) -> list[VMobject]:
        """What lies on the screen, but for the fixed words and what is kept."""
        stays = {id(one) for one in (*kept, *self._fixed, self.camera.frame)}
        return [one for one in self.mobjects if id(one) not in stays]

    def spot(self, plot: Plot, x: float, y: float) -> VMobject:
        """A measured point."""
        return rectangle(px(20), px(20), self.theme.measured).move_to(plot.at(x, y))

    def sm_name(self) -> str:
        return tr("SM, {threads} threads", threads=self.story.threads)
