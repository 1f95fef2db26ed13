"""Divergence: what if the lanes of a warp disagree at a branch, or on how long a loop runs?

manim render scenes/divergence.py
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from manim import (
    DOWN,
    LEFT,
    PI,
    RIGHT,
    UP,
    Animation,
    FadeIn,
    FadeOut,
    LaggedStart,
    ManimColor,
    Rectangle,
    VGroup,
    config,
    rush_into,
    smoothstep,
)

from tilesim_scenes.animations.fade import Fade, late
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.film.report_film import ReportFilm
from tilesim_scenes.film.settings import REPORT, whole
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, lines, px
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.drawing.quads import rectangle, stroke_width
from tilesim_scenes.mobjects.hardware.warp import Warp
from tilesim_scenes.mobjects.models.warps.warp_lanes import WarpLanes
from tilesim_scenes.mobjects.models.warps.warp_ways import WarpWays
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.count import Count
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.story.ideas.divergence import WAYS, Story, Timed, tell

FILM = {
    "title": "Divergence",
    "question": "What if the lanes of a warp disagree?",
    "part": "How the machine works",
    "place": 30,
    "seconds": 45,
    "shows": "A warp at a branch, which goes every way that a lane takes, and in a loop.",
    "takes": "report",
    "options": {"ways": 4},
}
NAMED = 6
"""Ways that have room for their names."""
WARPS = 4
"""Whose lanes are sorted, at most."""
NAME = 170
"""Pixels for the name of a way, left of it."""
FAINT = 0.01
"""Opacity of what a dive leaves behind."""
SECONDS = 3.5
"""Of film that a branch takes, whatever its ways."""


class Divergence(ReportFilm):
    """A branch in 4 ways, one in 32, and a loop of 1 to 32 turns."""

    bench = "divergence"
    asked = REPORT | {"ways": whole(2, 32)}

    @classmethod
    def story_of(cls, report: Mapping[str, Any], settings: Mapping[str, Any]) -> Story:
        return tell(report, settings.get("ways", WAYS))

    def construct(self) -> None:
        self.warp = Warp(spacing=(self.area.width - px(NAME)) / 34)
        self.warp.move_to(self.area.center + 0.3 * self.area.height * UP + px(NAME) / 2 * RIGHT)
        self.add(self.warp)
        self.title(tr("Divergence"))
        self.want_different_ways()
        self.take_all_of_them()
        self.pack_the_work()
        if self.story.ways < self.story.most.masks.shape[1]:
            self.take_a_way_for_each_lane()
        self.wait_for_the_longest()
        self.sort_the_lanes()
        self.tell_the_finding()

    def want_different_ways(self) -> None:
        """At a branch the lanes drop apart, each towards its way; and the warp pulls them back."""
        story, warp, area = self.story, self.warp, self.area
        name = label(tr("one warp, {lanes} lanes", lanes=len(warp.dots)), 52, warp.colour, bold=True)
        name.next_to(warp, UP, px(28))
        room = warp.get_bottom()[1] - area.bottom - px(60)
        rows = [warp.get_bottom()[1] - room * (way + 0.5) / story.ways for way in range(story.ways)]
        rails = VGroup(*(rectangle(warp.width, px(6), self.theme.idle).set_y(row) for row in rows))
        rails.set_x(warp.get_x())
        ways = VGroup()
        if story.ways <= NAMED:
            for way, rail in enumerate(rails):
                ways.add(label(story.way(way), 44, self.theme.quiet).next_to(rail, LEFT, px(16)))
        homes = [dot.get_y() for dot in warp.dots]
        self.say(story.question)
        coming = LaggedStart(*(FadeIn(rail) for rail in rails), lag_ratio=0.2, run_time=0.8)
        self.play(FadeIn(name, ways, run_time=0.8), coming)
        drop = (
            dot.animate(rate_func=smoothstep).set_y(rows[lane % story.ways])
            for lane, dot in enumerate(warp.dots)
        )
        self.play(LaggedStart(*drop, lag_ratio=0.03, run_time=1.8))
        self.say(story.one_instruction)
        back = (
            dot.animate(rate_func=rush_into).set_y(home) for dot, home in zip(warp.dots, homes, strict=True)
        )
        self.play(*back, run_time=0.6)
        self.play(FadeOut(rails, ways, name), run_time=0.5)

    def take_all_of_them(self) -> None:
        """The warp turns upright and goes way after way, leaving the trails of the lanes on each."""
        story, branch = self.story, self.story.branch
        self.badge(Badge(tr("measured on {gpu}", gpu=story.gpu), "measured"))
        self.lanes = self.lanes_of(branch)
        self.turn_into(self.lanes)
        self.count = self.counted(self.lanes)
        self.mask = self.mask_of(self.lanes)
        self.play(FadeIn(self.count, self.mask), run_time=0.3)
        self.say(story.each_way)
        self.names = VGroup()
        for step, way in enumerate(branch.ways[:-1]):
            begin, end = branch.spans[step].tolist()
            named = []
            if story.ways <= NAMED:
                name = label(story.way(way), 44, bold=True)
                name.next_to(self.lanes.at((begin + end) / 2, 1.0), UP, px(16))
                self.names.add(name)
                named = [FadeIn(name, run_time=0.3)]
            seconds = SECONDS / (story.ways + 1)
            if not step:
                self.run_to(begin + 0.7 * (end - begin), max(1.0, seconds), *named)
                self.look_at_the_mask()
                named = []
            self.run_to(end, seconds, *named)
        self.say(story.behind)
        self.run_to(branch.end, 1.3)

    def look_at_the_mask(self) -> None:
        """The camera falls onto two lanes: of one the instruction is, of the other it is not."""
        dots, mask = self.lanes.warp.dots, self.lanes.masks[0]
        last = int(np.flatnonzero(mask)[-1])
        beside = last + 1 if last + 1 < len(mask) else last - 1
        busy, masked = dots[last], dots[beside]
        pair = VGroup(busy, masked)
        sight = rectangle(14 * pair.height / 3, 8 * pair.height / 3).move_to(pair)
        end = self.lanes.warp.get_bottom()[1]
        if pair.get_top()[1] < end + 1.1 * sight.height:
            # Nothing of the warp is then beneath the caption.
            sight.align_to(self.lanes.warp, DOWN).shift(0.05 * sight.height * DOWN)
        rest = [self.count, self.mask, self.names, self.lanes.ahead]
        self.dive(sight, along=[Fade(one, 1, FAINT, run_time=0.3) for one in rest])
        close = self.camera.frame.width / config.frame_width
        inks = ((busy, tr("at work"), self.warp.colour), (masked, tr("masked"), self.theme.quiet))
        words = VGroup(
            *(label(word, 56 * close, ink, bold=True).next_to(dot, RIGHT) for dot, word, ink in inks)
        )
        words.set_x(self.lanes.warp.get_right()[0] + 40 * px(close), LEFT)
        self.play(FadeIn(words), run_time=0.3)
        self.wait(0.8)
        self.play(FadeOut(words), run_time=0.3)
        self.come_out()
        self.play(*(Fade(one, FAINT, 1, run_time=0.3) for one in rest))

    def run_to(self, until: float, seconds: float, *along: Animation) -> None:
        """Let the warp go on."""
        self.play(PlayTrace(self.lanes, self.count, self.mask, until=until, run_time=seconds), *along)

    def pack_the_work(self) -> None:
        """Side by side the same work would be done long before: what is left is what the branch costs."""
        lanes, story, branch = self.lanes, self.story, self.story.branch
        words = self.below(lanes, branch)
        self.play(FadeOut(self.count, self.mask, self.names), FadeIn(words), run_time=0.3)
        self.wait(0.6)
        self.say(story.side_by_side)
        self.play(lanes.pack(), Fade(lanes.warp, 1, 0), FadeOut(words))
        left, right = lanes.at(lanes.packed_end, 0.0), lanes.at(branch.end, 1.0)
        bubble = Rectangle(
            width=right[0] - left[0], height=right[1] - left[1],
            stroke_color=ManimColor(self.theme.wait_text), stroke_width=stroke_width(5),
        ).move_to((left + right) / 2)  # fmt: skip
        lost = lines(branch.lost, 56, 0.9 * bubble.width, most=3, color=self.theme.wait_text, bold=True)
        lost.move_to(bubble)
        self.play(FadeIn(bubble, lost), run_time=0.5)
        self.wait(1.0)
        self.leaving = [lanes, bubble, lost]

    def take_a_way_for_each_lane(self) -> None:
        """With a way for each lane, the trail is a diagonal."""
        most = self.story.most
        self.say(self.story.one_lane)
        self.watch(most, 2.6)

    def wait_for_the_longest(self) -> None:
        """A loop: lanes that are done wait for the one that has most turns."""
        self.say(self.story.longest)
        self.watch(self.story.loop, 2.6)

    def sort_the_lanes(self) -> None:
        """Lanes of several warps change places until each warp has one way; then it has one way to go."""
        area = self.area
        ways = WarpWays(min(self.story.ways, WARPS), area.width, area.height, stacked=self.tall)
        ways.move_to(area.center).align_to([area.left, 0, 0], LEFT)
        self.say(self.story.sorted_lanes)
        self.badge(Badge(tr("model"), "model"))
        coming = FadeIn(ways.capsules, ways.dots, run_time=0.6, rate_func=late)
        self.play(FadeOut(*self.leaving, run_time=0.3), coming)
        come = ((FadeIn(way, shift=px(20) * RIGHT) for way in bar) for bar in ways.bars)
        self.play(*(LaggedStart(*bar, lag_ratio=0.5) for bar in come), run_time=1.2)
        self.play(*ways.sort(), run_time=1.6)
        self.play(FadeOut(*ways.gone(), shift=px(40) * DOWN), run_time=0.6)
        self.play(*ways.close_up(), run_time=0.6)
        self.wait(0.4)

    def tell_the_finding(self) -> None:
        story = self.story
        badge = Badge(tr("measured on {gpu}", gpu=story.gpu), "measured")
        rows = [
            (tr("lanes disagree"), story.lanes, "measured"),
            (tr("warps agree"), story.warps, "measured"),
        ]
        bars = Bars(rows, tr("cycles"), self.area.width, form="{:,.0f}")
        self.finding(Finding(story.finding, story.number, bars, badge, story.aside), [bars.grow()])

    # How it is laid out

    def watch(self, timed: Timed, seconds: float) -> None:
        """The lanes of another run, and at its end how many of them were at work."""
        lanes = self.lanes_of(timed)
        count = self.counted(lanes)
        before, *words = self.leaving
        if before.packed:
            coming = FadeIn(lanes, count, run_time=0.6, rate_func=late)
            self.play(FadeOut(*self.leaving, run_time=0.3), coming)
        else:
            # The warp goes back, to where the next one starts.
            self.play(
                PlayTrace(before, until=0, run_time=0.5, rate_func=smoothstep), FadeOut(*words, run_time=0.3)
            )
            self.remove(before)
            self.add(lanes)
            self.play(Fade(before.ahead, 1, 0), Fade(lanes.ahead, 0, 1), FadeIn(count, run_time=0.3))
            self.remove(before.ahead)
        self.play(PlayTrace(lanes, count, until=timed.end, run_time=seconds))
        words = self.below(lanes, timed)
        self.play(FadeOut(count), FadeIn(words), run_time=0.3)
        self.wait(0.7)
        self.leaving = [lanes, words]

    def lanes_of(self, timed: Timed) -> WarpLanes:
        """Its lanes, with room for names above and words below."""
        area = self.area
        height = min(0.74 * area.height, 1.2 * area.width)
        lanes = WarpLanes(timed.masks, timed.spans, timed.end, area.width - px(60), height)
        return lanes.shift(area.center + 0.04 * area.height * UP - lanes.ground.get_center() + px(20) * RIGHT)

    def below(self, lanes: WarpLanes, timed: Timed) -> VGroup:
        """How many lanes were at work, below the part of a run in which they differ."""
        words = lines(timed.active, 56, self.area.width, bold=True)
        return words.next_to(lanes.at(timed.parted / 2, 0.0), DOWN, px(28))

    def turn_into(self, lanes: WarpLanes) -> None:
        """The warp turns upright, into the one that stands where the lanes begin, before what is to come."""
        upright = self.warp.animate.rotate(-PI / 2).scale(lanes.warp.height / self.warp.width)
        self.play(upright.move_to(lanes.warp), Fade(lanes.ahead, 0, 1, run_time=1, rate_func=late))
        self.remove(self.warp, lanes.ahead)
        self.add(lanes)

    def counted(self, lanes: WarpLanes) -> Count:
        """Cycles so far: upper left, where a clock is, or below the lanes where that is too narrow."""
        count = Count(lambda t: tr("{cycles:,.0f} cycles", cycles=t), size=48, align=0)
        return count.shift([self.area.left, self.line(lanes), 0])

    def mask_of(self, lanes: WarpLanes) -> Count:
        """The mask of the instruction at the clock, a bit for each lane, beside the cycles."""
        ends, bits = lanes.spans[:, 1], 2 ** np.arange(lanes.masks.shape[1], dtype=np.int64)

        def said(t: float) -> str:
            step = min(int(np.searchsorted(ends, t, "right")), len(ends) - 1)
            return tr("mask {bits}", bits=f"0x{int(lanes.masks[step] @ bits):08x}")

        return Count(said, size=48, align=0).shift([self.area.left + px(480), self.line(lanes), 0])

    def line(self, lanes: WarpLanes) -> float:
        """The height of the line on which figures stand."""
        return config.frame_height / 2 - px(102) if self.wide else lanes.ground.get_bottom()[1] - px(80)

    @property
    def wide(self) -> bool:
        """Whether figures have room beside the badge."""
        return self.area.width > 1.5 * self.area.height
