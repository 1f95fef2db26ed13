"""Roofline: how fast do memory and arithmetic let a kernel be, and how near does it come?"""

from typing import Any

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Animation, Create, VGroup, VMobject, linear

from tilesim.analysis.roofs import Roof, Spot
from tilesim_scenes.animations.fade import Fade, Leave, late
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.film.captioned_scene import DIMMED
from tilesim_scenes.film.scene import Film
from tilesim_scenes.film.settings import LADDER
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, px
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.charts.byte_flow import SPEED, ByteFlow
from tilesim_scenes.mobjects.charts.kernel_spot import KernelSpot
from tilesim_scenes.mobjects.charts.roofline import NAME, TICK
from tilesim_scenes.mobjects.charts.roofline import Roofline as Chart
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.story.ideas.ladder import every_ladder
from tilesim_scenes.story.ideas.roofline import Story, tell

FILM = {
    "title": "Roofline",
    "question": "How fast do memory and arithmetic let a kernel be?",
    "part": "Kernels",
    "place": 240,
    "seconds": 47,
    "shows": "What memory and arithmetic allow, and kernels that differ in FLOP a byte under it.",
    "takes": "ladder",
}
INTENSITY, TFLOPS = (0.03, 3000.0), (0.1, 3000.0)
"""FLOP a byte and TFLOP/s, from a sum to the tensor cores, with room for names."""
NAMED = 4.0
"""FLOP a byte at which a memory's roof has its name."""
STEP, LONG = 0.4, 60.0
"""Seconds from one kernel of the ladder to the next; and after which bytes are all along a roof."""


class Roofline(Film):
    """Sums, a skinny product, column loads and the ladder that ships, as measured; unless asked otherwise."""

    asked = LADDER

    def construct(self):
        story = tell(every_ladder(self.given))
        self.chart, self.dots = self.empty_chart(story), VGroup()
        self.last: KernelSpot | None = None
        self.flow: ByteFlow
        self.add(self.chart)
        self.title(story.title)
        self.badge(Badge(tr("measured on {gpu}", gpu="NVIDIA H200"), "measured"))
        self.name_axes()
        self.roof_of_dram(story)
        self.low_kernels(story)
        self.ladder(story)
        self.loads(story)
        self.another_roof(story)
        self.end(story)

    def empty_chart(self, story: Story) -> Chart:
        """Axes, with room for their figures."""
        area, left, foot = self.area, px(150), px(70)
        chart = Chart(INTENSITY, TFLOPS, story.peak, area.width - left, area.height - foot)
        return chart.shift([area.right, area.top, 0] - chart.ground.get_corner([1, 1, 0]))

    def name_axes(self) -> None:
        """Which way is better."""
        chart, quiet = self.chart, self.theme.quiet
        self.names = VGroup(label(tr("TFLOP/s"), TICK, quiet), label(tr("FLOP a byte"), TICK, quiet))
        self.names[0].move_to(chart.at(INTENSITY[0], chart.peak), UP + LEFT).shift(px(14) * (DOWN + RIGHT))
        self.names[1].move_to(chart.at(INTENSITY[1], TFLOPS[0]), DOWN + RIGHT).shift(px(14) * (UP + LEFT))
        self.say(tr("Up is faster; right uses each byte more"))
        self.play(Fade(self.names, 0.0, 1.0))

    def roof_of_dram(self, story: Story) -> None:
        """Bytes draw the slope, tensor cores the flat."""
        chart, dram = self.chart, story.roofs[0]
        self.slope, flat = chart.slope(dram.gb_per_s), self.flat_of(dram)
        self.ground = chart.allowed(dram.gb_per_s)
        rate = self.rate(dram)
        peak = label(tr("tensor cores: {peak:.0f} TFLOP/s", peak=story.peak), NAME, bold=True)
        peak.move_to(chart.at(INTENSITY[1], story.peak), DOWN + RIGHT).shift(px(20) * UP)
        self.flow = ByteFlow(chart, dram.gb_per_s, self.reach)
        self.play(*self.drawn(self.slope), Fade(rate, 0.0, 1.0))
        self.play(*self.drawn(flat), Fade(peak, 0.0, 1.0))
        self.bring_to_back(self.ground)
        self.play(Fade(self.ground, 0.0, 1.0, run_time=0.5), self.flowing(0.5))
        self.play(Leave(rate), Leave(peak), Leave(self.names[1]), self.flowing(0.3))

    def low_kernels(self, story: Story) -> None:
        """A sum, before and after; and a product with few rows."""
        total = self.kernel(tr("sum"), story.sums, story.roofs[0], beside=True)
        self.say(tr("A sum uses each byte once"))
        self.bring(total)
        self.climb(total, 1.2, before=0.4, after=0.6)
        path = (story.sums[1], story.skinny)
        thin = self.kernel(tr("{rows} rows", rows=story.rows), path, story.roofs[0], beside=True, own=1)
        self.say(tr("A product of {rows} rows reads all of B", rows=story.rows))
        self.bring(thin)
        self.climb(thin, 1.2, after=1.6)

    def ladder(self, story: Story) -> None:
        """A point climbs the ladder, and stays where the clock gives way."""
        best = max(story.climb, key=lambda spot: spot.tflops)
        path = story.climb[: story.climb.index(best) + 1]
        point = self.kernel(tr("ladder"), path, story.roofs[0])
        self.say(tr("The ladder at {size}³: under the flat", size=story.cube))
        self.bring(point)
        self.climb(point, STEP * point.until)
        self.say(tr("Here the clock itself gives way: {clock:,.0f} MHz", clock=story.clock))
        self.play(self.flowing(2.6))

    def loads(self, story: Story) -> None:
        """Loads down columns become loads along rows: more bytes from DRAM, and faster."""
        chart = self.chart
        flat = chart.flat(1000 * story.fp32 / story.roofs[0].gb_per_s, story.fp32, self.theme.quiet)
        limit = label(tr("fp32"), NAME, self.theme.quiet, bold=True)
        limit.move_to(chart.at(INTENSITY[1], story.fp32), DOWN + RIGHT).shift(px(14) * (UP + LEFT))
        down = self.kernel(tr("columns"), story.loads, story.roofs[0], story.fp32)
        self.say(tr("fp32, loads down columns: far from any roof"))
        self.bring(down, Create(flat, run_time=0.5), Fade(limit, 0.0, 1.0))
        self.play(self.flowing(2.6))
        along = self.kernel(tr("rows"), story.loads, story.roofs[0], story.fp32, own=1)
        self.say(tr("Along rows: more bytes, and still faster"))
        self.play(*self.renamed(down, along), self.flowing(0.3))
        self.remove(down)
        self.last, self.fp32 = along, VGroup(flat, limit)
        self.climb(along, 1.5, after=1.0)

    def another_roof(self, story: Story) -> None:
        """The slowest kernel: far under DRAM's roof, near the L2's, whose bytes it counts."""
        chart, (dram, l2, shared) = self.chart, story.roofs
        far = self.kernel(tr("element"), story.slow, dram)
        self.say(tr("A program for each element: what holds it?"))
        self.bring(far, Leave(self.fp32))
        self.play(self.flowing(2.4))
        near = self.kernel(tr("element"), story.slow, l2, own=1)
        roof, rate = chart.slope(l2.gb_per_s), self.rate(l2)
        self.badge(Badge(tr("bytes counted on {gpu}", gpu="NVIDIA H200"), "counted"))
        self.say(tr("Count the bytes that pass the L2 instead"))
        # A dot that counts the L2's bytes has nothing to do with DRAM's roof, nor with dots that count its.
        old = (Fade(one, 1.0, 0.25) for one in (self.slope, self.ground))
        self.play(Fade(rate, 0.0, 1.0), *old, Leave(self.dots), Leave(self.flow), *self.renamed(far, near))
        self.remove(far)
        self.add(near)
        self.last, self.flow = near, ByteFlow(chart, l2.gb_per_s, self.reach)
        self.play(*self.drawn(roof))
        self.play(*self.drawn(self.flat_of(l2)), Leave(rate))
        self.climb(near, 1.5)
        high, name = chart.slope(shared.gb_per_s), self.rate(shared)
        # There is no room below it, but over its end.
        name.next_to(high.get_end(), UP, px(18), aligned_edge=LEFT)
        name.shift(min(0.0, self.area.right - name.get_right()[0]) * RIGHT)
        self.say(tr("Every memory has a roof of its own"))
        self.flow = ByteFlow(chart, shared.gb_per_s, lambda: INTENSITY[1])
        self.play(*self.drawn(high), Fade(name, 0.0, 1.0))
        self.play(*self.drawn(self.flat_of(shared)))
        self.play(self.flowing(0.5))

    def kernel(
        self, name: str, path: tuple[Spot, ...], roof: Roof, peak: float | None = None, **look: Any
    ) -> KernelSpot:
        return KernelSpot(self.chart, name, path, roof.gb_per_s, peak, **look)

    def bring(self, kernel: KernelSpot, *along: Animation) -> None:
        """A kernel comes; what was said of the last one goes, and its dot stays, dimmed."""
        last, self.last = self.last, kernel
        gone = [Leave(last.words), Fade(last.dot, 1.0, DIMMED)] if last else []
        gone.append(Leave(self.flow))
        self.flow = ByteFlow(self.chart, 1000 * kernel.tb, self.reach, kernel.peak).show(LONG)
        self.play(Fade(kernel, 0.0, 1.0), Fade(self.flow, 0.0, 1.0), *gone, *along)
        if last:
            self.remove(last)
            self.dots.add(last.dot)
            self.add(self.dots)

    def renamed(self, old: KernelSpot, new: KernelSpot) -> tuple[Animation, Animation]:
        """What is said of a dot becomes what is said of another in its place."""
        return Fade(old.words, 1.0, 0.0, run_time=0.15), Fade(new.words, 0.0, 1.0, rate_func=late)

    def climb(self, kernel: KernelSpot, seconds: float, before: float = 0.0, after: float = 0.0) -> None:
        """A kernel goes along its path; bytes flow meanwhile, and some seconds before and after."""
        if before:
            self.play(self.flowing(before))
        self.play(PlayTrace(kernel, until=kernel.until, run_time=seconds), self.flowing(seconds))
        if after:
            self.play(self.flowing(after))

    def reach(self) -> float:
        """FLOP a byte where bytes end: those of the kernel that is spoken of; else of the chart's edge."""
        return self.last.at(self.last.t)[0] if self.last else INTENSITY[1]

    def flowing(self, seconds: float) -> PlayTrace:
        return PlayTrace(self.flow, until=self.flow.t + seconds, run_time=seconds)

    def drawn(self, line: VMobject) -> tuple[Animation, Animation]:
        """Bytes draw a part of a roof."""
        seconds = float(np.linalg.norm(line.get_end() - line.get_start())) / px(SPEED)
        return Create(line, run_time=seconds, rate_func=linear), self.flowing(seconds)

    def flat_of(self, roof: Roof) -> VMobject:
        """The roof of arithmetic, from where that of a memory meets it."""
        return self.chart.flat(1000 * self.chart.peak / roof.gb_per_s)

    def rate(self, roof: Roof) -> VMobject:
        """What a level of memory gives, above its roof, where no kernel passes."""
        given = {"level": roof.level, "rate": roof.gb_per_s / 1000}
        said = tr("{level}: {rate:.2g} TB/s", **given)
        if not roof.measured:
            said = tr("{level}: {rate:.2g} TB/s, counted", **given)
        words = label(said, 44, bold=True)
        at = self.chart.at(NAMED, NAMED * roof.gb_per_s / 1000)
        return words.next_to(at, LEFT, px(40)).shift(px(20) * UP)

    def end(self, story: Story) -> None:
        rows = [
            (tr("of DRAM's roof"), 100 * story.far_share, "measured"),
            (tr("of L2's roof"), 100 * story.share, "measured"),
        ]
        bars = Bars(rows, width=min(self.area.width, px(1400)), form="{:.2g}%")
        badge = Badge(tr("measured on {gpu}", gpu="NVIDIA H200"), "measured")
        self.finding(Finding(story.finding, f"{story.share:.0%}", bars, badge, story.aside), [bars.grow()])
