"""Fusion: why write x back to memory, only to read it again?

manim render scenes/fusion.py
"""

from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

from manim import DOWN, LEFT, RIGHT, UP, Create, FadeIn, FadeOut, ManimColor, VGroup, VMobject, config

from tilesim_scenes.animations.fade import Fade, late
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.film.report_film import ReportFilm
from tilesim_scenes.film.settings import REPORT, whole
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import LAUNCH, mixed, readable, sm_colour
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.charts.roofline import NAME, TICK, Roofline
from tilesim_scenes.mobjects.drawing.quads import HALF_DIGIT, quad, rectangle, shape
from tilesim_scenes.mobjects.models.pipelines.memory_trips import MemoryTrips
from tilesim_scenes.mobjects.models.pipelines.phase_rows import Bar, PhaseRows
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.count import Count
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.story.ideas.fusion import MOST, ChainRun, Story, tell

FILM = {
    "title": "Fusion",
    "question": "Why write x back to memory, only to read it again?",
    "part": "Kernels",
    "place": 230,
    "seconds": 44,
    "shows": "A chain of functions, a kernel each and as one kernel: what moves, and what takes the time.",
    "takes": "report",
    "options": {"functions": 8},
}
FIRST, FASTER, LEAST = 2.4, 1.5, 0.4
"""Seconds of the first kernel, how much faster each next one goes, and what each takes at least."""
ALL = 3.0
"""Seconds of the one kernel for all."""
NAME_ROOM, FIGURE_ROOM = 270, 250
"""Pixels beside a lane: of its name, and of its time."""
LANE, CLOSE = 56, 1.15
"""Pixels of a lane's height; and times its size, around the kernel that the camera looks into."""
BEFORE, BEYOND = 2.0, 2.5
"""Times that a roofline's axes begin below the first kernel, and end above the last."""


class Fusion(ReportFilm):
    """Eight functions of x, one kernel each and all in one, as measured on an H200."""

    bench = "fusion"
    asked = REPORT | {"functions": whole(2, MOST)}

    @classmethod
    def story_of(cls, report: Mapping[str, Any], settings: Mapping[str, Any]) -> Story:
        return tell(report, settings.get("functions"))

    def construct(self) -> None:
        far = self.story.far
        self.trips = self.machine(far, far.functions)
        self.add(self.trips)
        self.title(tr("Fusion"))
        self.one_by_one(far)
        self.look_into_a_kernel()
        self.one_for_all(far)
        if self.story.near is not None:
            self.within_the_l2(self.story.near)
        self.under_the_roof()
        self.tell_the_finding()

    def one_by_one(self, run: ChainRun) -> None:
        """A kernel for each function: x travels to it, and back to memory, each time."""
        story = self.story
        self.lane = self.lane_of(run, run.functions, run.separate)
        self.moved = self.counter(run.separate_bytes, run.functions, self.trips.each)
        size = self.size_of(run)
        self.say(story.question)
        self.play(FadeIn(self.lane, size), run_time=0.5)
        self.badge(Badge(*story.badge))
        self.wait(0.8)
        self.play(FadeOut(size), FadeIn(self.moved), run_time=0.3)
        seconds = FIRST
        for kernel in range(run.functions):
            if kernel == 1:
                self.say(story.each_trip)
            self.go((kernel + 1) * self.trips.each, max(seconds, LEAST))
            seconds /= FASTER
        self.took = self.time_beside(self.lane, run.separate)
        self.play(FadeIn(self.took), run_time=0.3)
        self.wait(0.5)

    def look_into_a_kernel(self) -> None:
        """The camera falls into a kernel's part of the lane: launch and arithmetic are slivers of it."""
        story, lane, hue = self.story, self.lane, sm_colour(0, 4)
        ground, share = lane.grounds[0], 1 / self.trips.kernels
        second, core = shape(self.theme.idle, 0.0), shape(hue)
        second.points = quad(ground, share, 2 * share)
        begin = share + 1000 * story.launch / lane.window[1]
        core.points = quad(ground, begin, begin + 1000 * story.arithmetic / lane.window[1])
        rest = [self.trips, self.moved, self.took, lane.names]
        self.say(story.waiting)
        # Words have room above and below it.
        around = rectangle(second.width, 2 * second.height).move_to(second)
        self.dive(around, room=CLOSE, along=[Fade(one, 1, 0.06) for one in rest])
        close = self.camera.frame.width / config.frame_width
        reads = label(tr("reading and writing"), 52 * close, bold=True)
        reads.next_to(second, UP, px(24 * close))
        launch = label(tr("launch"), 52 * close, readable(LAUNCH), bold=True)
        words = label(tr("arithmetic"), 52 * close, readable(hue), bold=True)
        launch.next_to(second, DOWN, px(24 * close), aligned_edge=LEFT)
        words.next_to(launch, RIGHT, px(40 * close))
        self.play(FadeIn(reads), run_time=0.3)
        self.wait(0.4)
        if story.launch:
            self.play(FadeIn(launch), run_time=0.3)
            self.wait(0.4)
        self.play(FadeIn(core, words), run_time=0.5)
        self.wait(0.8)
        self.play(FadeOut(core, words, launch, reads), run_time=0.3)
        self.come_out(along=[Fade(one, 0.06, 1) for one in rest])

    def one_for_all(self, run: ChainRun) -> None:
        """One kernel: each chunk passes all functions before it goes back."""
        self.before = VGroup(self.lane, self.took)
        self.lane = self.lane_of(run, 1, run.fused, 1)
        trips = self.machine(run, 1)
        moved = self.counter(run.fused_bytes, 1, trips.each)
        self.say(self.story.in_registers)
        self.play(FadeOut(self.moved, self.trips), FadeIn(trips, moved, self.lane), run_time=0.5)
        self.trips, self.moved = trips, moved
        self.go(trips.until, ALL)
        self.took = self.time_beside(self.lane, run.fused)
        self.play(FadeIn(self.took), run_time=0.3)
        self.wait(0.8)

    def within_the_l2(self, run: ChainRun) -> None:
        """A smaller x stays in the L2 between kernels."""
        trips = self.machine(run, run.functions)
        lane = self.lane_of(run, run.functions, run.separate)
        # Those after the first find theirs in the L2.
        moved = self.counter(run.separate_bytes, 1 if run.stays else run.functions, trips.each)
        size = self.size_of(run)
        self.say(self.story.near_trips)
        self.play(
            FadeOut(self.trips, self.moved, self.lane, self.took, self.before),
            FadeIn(trips, lane, size),
            run_time=0.5,
        )
        self.wait(0.8)
        self.play(FadeOut(size), FadeIn(moved), run_time=0.3)
        self.trips, self.lane, self.moved = trips, lane, moved
        for kernel in range(run.functions):
            self.go((kernel + 1) * trips.each, 1.2 if kernel == 0 else LEAST)
        took = self.time_beside(lane, run.separate)
        other = self.lane_of(run, 1, run.fused, 1)
        other_took = self.time_beside(other, run.fused)
        self.play(FadeIn(took, other), run_time=0.3)
        self.play(PlayTrace(other, until=1000 * run.fused, run_time=0.8))
        self.play(FadeIn(other_took), run_time=0.3)
        self.wait(0.8)
        self.before, self.lane, self.took = VGroup(lane, took), other, other_took

    def under_the_roof(self) -> None:
        """Longer chains climb memory's roof until arithmetic's is in the way."""
        story, area, quiet = self.story, self.area, self.theme.quiet
        left, foot = px(150), px(100)
        first, last = story.climb[0], story.climb[-1]
        x = first.intensity / BEFORE, BEYOND * last.intensity
        y = first.tflops / BEFORE, BEYOND * story.tflops
        chart = Roofline(x, y, story.tflops, area.width - left, area.height - foot)
        chart.shift([area.right, area.top, 0] - chart.ground.get_corner(UP + RIGHT))
        roofs = [chart.slope(story.gb_per_s)]
        if story.published:
            roofs.append(chart.flat(1000 * story.tflops / story.gb_per_s))
        names = VGroup(label(tr("TFLOP/s"), TICK, quiet), label(tr("FLOP a byte"), TICK, quiet))
        names[0].move_to(chart.at(x[0], y[1]), UP + LEFT).shift(px(14) * (DOWN + RIGHT))
        names[1].move_to(chart.at(x[1], y[0]), DOWN + RIGHT).shift(px(14) * (UP + LEFT))
        self.say(story.more_functions)
        self.play(
            FadeOut(self.trips, self.moved, self.lane, self.took, self.before),
            FadeIn(chart, names, rate_func=late),
            run_time=0.6,
        )
        self.badge(Badge(tr("measured on {gpu}", gpu=story.gpu), "measured"))
        self.play(*map(Create, roofs), run_time=0.8)
        dots = VGroup(*(chart.dot(spot.intensity, spot.tflops) for spot in story.climb))
        tags = VGroup()
        for number, (dot, length) in enumerate(zip(dots, story.lengths, strict=True)):
            coming = [FadeIn(dot, shift=dot.get_center() - dots[max(number - 1, 0)].get_center())]
            if length in self.tagged:
                tag = label(story.functions(length), NAME, bold=True).next_to(dot, DOWN + RIGHT, px(6))
                tag.shift(min(0.0, area.right - tag.get_right()[0]) * RIGHT)
                tags.add(tag)
                coming.append(FadeIn(tag))
            if length == story.binding:
                self.say(story.roof)
            self.play(*coming, run_time=0.5)
        if story.binding is None:
            self.say(story.roof)
        self.wait(1.5)

    def tell_the_finding(self) -> None:
        story = self.story
        badge = Badge(tr("measured on {gpu}", gpu=story.gpu), "measured")
        bars = Bars(story.bars, "µs", self.area.width, form="{:,.0f}")
        self.finding(Finding(story.finding, story.number, bars, badge, story.aside), [bars.grow()])

    # How it is laid out

    @property
    def tagged(self) -> set[int]:
        """Chains whose length is written beside their dot: the first, the film's, where arithmetic binds."""
        story = self.story
        return {story.lengths[0], story.far.functions, story.binding or story.lengths[-1], story.lengths[-1]}

    def machine(self, run: ChainRun, kernels: int) -> MemoryTrips:
        """HBM, L2 and SMs, in the upper part."""
        area = self.area
        each = 1000 * (run.separate if kernels > 1 else run.fused) / kernels
        shown = range(run.functions) if kernels > 1 else (0, run.functions - 1)
        trips = MemoryTrips(
            ("HBM", "L2", tr("SMs")),
            run.functions,
            kernels,
            each,
            area.width,
            0.62 * area.height,
            run.stays,
            shown,
        )
        return trips.move_to([area.center[0], area.top - 0.31 * area.height, 0])

    def lane_of(self, run: ChainRun, kernels: int, us: float, row: int = 0) -> PhaseRows:
        """The time of so many kernels, below the machine, to the scale of the slower way."""
        area, each = self.area, 1000 * us / kernels
        launch = min(1000 * self.story.launch, each)
        bars = [
            bar
            for kernel in range(kernels)
            for bar in (
                Bar("multiply", kernel * each, kernel * each + launch, colour=LAUNCH),
                Bar("multiply", kernel * each + launch, (kernel + 1) * each),
            )
        ]
        lane = PhaseRows(
            {self.story.kernels(kernels): bars},
            (0.0, 1000 * max(run.separate, run.fused)),
            area.width - px(NAME_ROOM + FIGURE_ROOM),
            px(LANE),
            colours={self.story.kernels(kernels): mixed(self.theme.background, self.theme.operand, 0.55)},
            name_size=44,
        )
        lane.names.set_color(ManimColor(self.theme.text))
        top = area.top - 0.62 * area.height - px(90)
        place = [area.left + px(NAME_ROOM) + lane.grounds.width / 2, top - row * px(120), 0]
        return lane.shift(place - lane.grounds.get_center())

    def size_of(self, run: ChainRun) -> VMobject:
        """How large x is, where its bytes are counted later, or below that where it is narrow."""
        shelf = self.trips.hbm.shelf
        words = label(run.size, 44, bold=True)
        if words.width > shelf.width - px(16):
            return words.next_to(shelf, DOWN, px(8), aligned_edge=LEFT)
        return words.move_to(shelf.get_bottom() + px(48) * UP)

    def counter(self, total: float, kernels: int, each: float) -> Count:
        """Bytes through DRAM, at the foot of its shelf: `total`, of as many kernels, all alike, of `each` ns.

        It counts kernels that are over.
        """
        unit, form = (1e9, "{:.1f} GB") if total >= 1e9 / 10 else (1e6, "{:.1f} MB")
        ends = [(kernel + 1) * each for kernel in range(kernels)]

        def said(t: float) -> str:
            over = bisect_right(ends, t)
            return form.format(over / kernels * total / unit) if over else ""

        foot = self.trips.hbm.shelf.get_bottom() + px(48 - 44 * HALF_DIGIT) * UP
        return Count(said, size=44, align=0.5).shift(foot)

    def time_beside(self, lane: PhaseRows, us: float) -> VMobject:
        """How long a lane took, where it ends."""
        words = label(f"{us:,.0f} µs" if us >= 100 else f"{us:.1f} µs", 48, bold=True, mono=True)
        return words.next_to(lane.grounds[0], RIGHT, px(20)).shift(
            (lane.x(1000 * us) - lane.grounds[0].get_right()[0]) * RIGHT
        )

    def go(self, until: float, seconds: float) -> None:
        """Trips, lane and bytes go on to an instant, ns."""
        self.play(PlayTrace(self.trips, self.lane, self.moved, until=until, run_time=seconds))
