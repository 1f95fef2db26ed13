"""Reduction: how do 32 lanes climb a tree, and where do they queue?

manim render scenes/reduction.py
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
    LaggedStart,
    ReplacementTransform,
    VGroup,
    VMobject,
    rush_into,
)

from tilesim.ideas.reduction import ADDED, THREADS, WARP
from tilesim_scenes.animations.fade import Leave, late
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.film.report_film import ReportFilm
from tilesim_scenes.film.settings import REPORT, whole
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, lines, px
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.drawing.quads import rectangle
from tilesim_scenes.mobjects.hardware.warp import Warp
from tilesim_scenes.mobjects.models.sums.bank_queues import BankQueues
from tilesim_scenes.mobjects.models.sums.butterfly import Butterfly
from tilesim_scenes.mobjects.models.sums.strides import Strides
from tilesim_scenes.mobjects.models.sums.sum_tree import SumTree
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.count import Count
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.story.ideas.reduction import COPY, STEPS, VALUES, Story, tell

FILM = {
    "title": "Reduction",
    "question": "Summing is a tree: how should the lanes climb it?",
    "part": "Kernels",
    "place": 210,
    "seconds": 45,
    "shows": "Trees of additions, the banks that each level asks, and who waits there.",
    "takes": "report",
    "options": {"warps": 8},
}
FAST, SLOW, BEAT = 5.0, 3.8, 0.3
"""Seconds of all beats but the slowest access's, of that, and of a beat at most."""
ROOF = 0.24
"""Share of the picture's height above the warps, where what is loaded comes from."""


class Reduction(ReportFilm):
    """256 values by five kernels: which lanes are at work, and who waits for a bank."""

    bench = "reductions"
    asked = REPORT | {"warps": whole(1, 32)}

    @classmethod
    def story_of(cls, report: Mapping[str, Any], settings: Mapping[str, Any]) -> Story:
        return tell(report, WARP * settings.get("warps", THREADS // WARP))

    def construct(self) -> None:
        area = self.area
        height = min(0.86 * area.height, 0.62 * area.width)
        self.tree = SumTree(VALUES, area.width, height).move_to(area.center + 0.07 * area.height * UP)
        self.add(self.tree)
        self.title(tr("Reduction"))
        self.climb()
        self.meet_at_banks()
        self.add_halves()
        self.add_while_loading()
        self.exchange()
        self.stride()
        self.compare()
        self.tell_the_finding()

    def climb(self) -> None:
        """Sixteen values: neighbours are added, level by level."""
        self.say(self.story.question)
        self.play(PlayTrace(self.tree, until=self.tree.until, run_time=2.6))
        self.wait(0.5)

    def meet_at_banks(self) -> None:
        """The tree in shared memory: each level's lanes fall into the queues of their banks."""
        story, banks = self.story, self.bank_queues("interleaved")
        leaves = self.tree.rows[0]
        cells = VGroup(*(banks.words.elements(0, number) for number in range(len(leaves))))
        self.badge(Badge(*story.badge))
        warps = label(tr("{warps} warps of a block", warps=story.warps), 44, self.theme.quiet)
        memory = label(tr("shared memory: a column is a bank"), 44, self.theme.quiet)
        warps.next_to(banks.warps, UP, px(16)).align_to(banks, LEFT)
        memory.move_to(banks.tubes)
        self.say(story.neighbours)
        boxes = VGroup(*(leaf[0] for leaf in leaves))
        self.tree.rows.remove(leaves)
        self.add(boxes)
        self.play(
            ReplacementTransform(boxes, cells),
            FadeOut(self.tree, *(leaf[1] for leaf in leaves)),
            run_time=0.8,
        )
        counts, named = self.counts(banks, "interleaved")
        self.play(FadeIn(banks, warps, memory, named, *counts), run_time=0.4)
        self.remove(cells, *cells)
        self.wait(0.6)
        pace = min(BEAT, FAST / max(1, banks.until - story.access.wavefronts))
        start = banks.begin(story.slowest)
        self.play(Leave(memory))
        if start:
            self.play(PlayTrace(banks, *counts, until=start, run_time=max(0.5, start * pace)))
        queue = label(story.queue, 52, self.theme.wait_text, bold=True)
        queue.next_to(banks.warps, UP, px(16)).align_to(banks, LEFT)
        self.play(PlayTrace(banks, *counts, until=start + 0.6, run_time=0.3 * SLOW), FadeOut(warps))
        self.play(FadeIn(queue), run_time=0.3)
        end = start + story.access.wavefronts
        self.play(PlayTrace(banks, *counts, until=end, run_time=0.7 * SLOW))
        self.play(FadeOut(queue), run_time=0.3)
        self.play(PlayTrace(banks, *counts, until=banks.until, run_time=max(0.5, (banks.until - end) * pace)))
        self.wait(0.4)
        self.pace, self.told, self.banks = pace, [*counts, named], banks

    def add_halves(self) -> None:
        """The same lanes, other pairs: no two meet."""
        story, banks = self.story, self.bank_queues("sequential")
        before = self.tally(story.beats["interleaved"], story.name("interleaved"))
        self.say(story.halves)
        beats, *rest = self.told
        self.play(
            FadeOut(self.banks, *rest),
            ReplacementTransform(beats.copy(), before),
            FadeOut(beats),
            run_time=0.6,
        )
        counts, named = self.counts(banks, "sequential")
        self.play(FadeIn(banks, named, *counts), run_time=0.4)
        self.play(
            PlayTrace(banks, *counts, until=banks.until, run_time=max(1.0, 1.5 * banks.until * self.pace))
        )
        self.wait(0.8)
        self.play(FadeOut(before, named, *counts), run_time=0.3)
        self.banks = banks

    def add_while_loading(self) -> None:
        """Eight blocks of input fall into the lanes; then the tree runs, once."""
        story, banks = self.story, self.bank_queues("sequential")
        area, row = self.area, self.banks.warps
        height = (area.top - row.get_top()[1]) / (ADDED + 1)
        strips = VGroup(*(self.strip(row, 0.7 * height) for _ in range(ADDED)))
        strips.arrange(UP, buff=0.3 * height).next_to(row, UP, 0.5 * height)
        self.say(story.once)
        self.play(FadeIn(strips, shift=px(60) * DOWN), run_time=0.6)
        size = 84 if self.wide else 62
        once = lines(tr("{added} loads, one tree", added=ADDED), size, self.room, bold=True)
        once.move_to(self.aside("middle"))
        for number, strip in enumerate(strips):
            self.play(strip.animate(rate_func=rush_into).move_to(row), run_time=0.18)
            self.remove(strip)
            row.work(story.threads)
            row.lanes.set_fill(opacity=(number + 1) / ADDED)
        row.lanes.set_fill(opacity=1)
        # Lanes write their sums into shared memory.
        self.play(FadeIn(once, banks), run_time=0.3)
        self.remove(self.banks)
        self.banks = banks
        self.play(PlayTrace(banks, until=banks.until, run_time=max(1.0, banks.until * self.pace)))
        self.wait(0.3)
        self.play(FadeOut(once), run_time=0.3)

    def strip(self, row: VMobject, height: float) -> VGroup:
        """A block of input: a value for each thread of the warps."""
        pieces = (rectangle(one.width, height, row.colour).move_to(one) for one in row.grounds)
        return VGroup(*pieces)

    def exchange(self) -> None:
        """A warp adds its 32 values without shared memory; that holds a word of each warp."""
        story, area = self.story, self.area
        width, height = self.picture
        butterfly = Butterfly(width=width, height=height + 0.8 * ROOF * area.height)
        butterfly.move_to([area.left + width / 2, area.top - butterfly.height / 2, 0])
        self.badge(Badge(tr("model")))
        self.say(story.exchanged)
        # The block's first warp comes forward.
        lanes, capsule = Warp(spacing=width / WARP), self.banks.warps.capsules[0]
        lanes.move_to([butterfly.get_center()[0], butterfly.sums.get_center()[1], 0])
        small = lanes.copy().scale(capsule.width / lanes.width).move_to(capsule)
        self.add(small)
        self.play(FadeOut(self.banks), ReplacementTransform(small, lanes), run_time=0.8)
        self.add(butterfly)
        self.play(PlayTrace(butterfly, until=butterfly.until, run_time=2.2))
        beside = VGroup(lines(story.barriers, 52, self.room, bold=True))
        if story.shared:
            words = VGroup(*(rectangle(px(40), px(40), self.banks.colour) for _ in range(story.shared)))
            held = lines(tr("left in shared memory"), 44, self.room, color=self.theme.quiet)
            words.arrange_in_grid(cols=8, buff=px(10))
            beside.add_to_back(VGroup(words, held).arrange(DOWN, buff=px(24)))
        beside.arrange(DOWN if self.wide else RIGHT, buff=px(80)).move_to(self.aside("middle"))
        self.play(LaggedStart(*(FadeIn(one) for one in beside), lag_ratio=0.5, run_time=0.7))
        self.wait(0.9)
        self.leaving = [butterfly, lanes, beside]

    def stride(self) -> None:
        """One wave of blocks goes over the whole input, turn by turn."""
        story, area = self.story, self.area
        height = 0.62 * area.height
        strides = Strides(story.turns, story.blocks / story.resident, area.width, height)
        strides.move_to(area.center)
        name = label(tr("{blocks:,} blocks of input", blocks=story.blocks), 48, self.theme.quiet)
        turns = Count(
            lambda t: tr("turn {turn} of {turns}", turn=int(t), turns=story.turns), size=56, mono=False
        )
        name.next_to(strides, UP, px(24)).align_to(strides, LEFT)
        turns.next_to(strides, DOWN, px(40)).align_to(strides, LEFT)
        self.say(story.one_wave)
        self.play(FadeOut(*self.leaving), FadeIn(strides, name, turns, rate_func=late), run_time=0.6)
        self.play(PlayTrace(strides, turns, until=story.turns, run_time=2.0))
        self.wait(0.4)
        self.leaving = [strides, name, turns]

    def compare(self) -> None:
        """What all five reach, and what a copy does."""
        story = self.story
        self.badge(Badge(tr("measured on {gpu}", gpu=story.gpu), "measured"))
        names = (*STEPS, COPY)
        rows = [
            (story.name(one), story.gb_per_s[one], "quiet" if one == COPY else "measured") for one in names
        ]
        step = min(px(130), self.area.height / (len(rows) + 0.5))
        bars = Bars(rows, "", self.area.width, row=step, form="{:,.0f}").move_to(self.area.center)
        unit = label("GB/s", 48, self.theme.quiet).next_to(bars, UP, px(8)).align_to(bars, RIGHT)
        self.say(story.limit)
        self.play(FadeOut(*self.leaving, run_time=0.3), FadeIn(unit, run_time=0.3), bars.grow())
        self.wait(0.6)

    def tell_the_finding(self) -> None:
        story = self.story
        badge = Badge(tr("measured on {gpu}", gpu=story.gpu), "measured")
        rows = [
            (story.name(one), story.us[one], "measured")
            for one in dict.fromkeys(("interleaved", story.fastest))
        ]
        bars = Bars(rows, "µs", self.area.width, form="{:,.0f}")
        self.finding(Finding(story.finding, story.number, bars, badge, story.aside), [bars.grow()])

    # How it is laid out

    @property
    def wide(self) -> bool:
        """Whether figures have room beside the picture."""
        return self.area.width > 1.5 * self.area.height

    @property
    def picture(self) -> tuple[float, float]:
        """Width and height of what has figures beside or below it, and something above it."""
        area = self.area
        if self.wide:
            return 0.72 * area.width, (1 - ROOF) * area.height - px(28)
        return area.width, min((1 - ROOF) * area.height - px(230), 0.9 * area.width)

    def bank_queues(self, name: str) -> BankQueues:
        """A tree in shared memory, as large as all of them."""
        area, (width, height) = self.area, self.picture
        banks = BankQueues(self.story.trees[name], width, height, self.story.access.wavefronts)
        return banks.move_to([area.left + width / 2, area.top - ROOF * area.height - height / 2, 0])

    @property
    def room(self) -> float:
        """Units that words beside the picture, or below it, may be wide."""
        return 0.25 * self.area.width if self.wide else 0.45 * self.area.width

    def aside(self, place: str) -> np.ndarray:
        """A place beside the picture, or below it: the middle, above or below that, or before it."""
        area = self.area
        if self.wide:
            up = {"middle": 0, "above": 1.1, "below": -0.9, "before": 2.6}[place]
            return np.array([area.right - self.room / 2, area.center[1] + up * px(120), 0])
        middle = area.top - ROOF * area.height - self.picture[1] - px(150)
        row = {"middle": (0, 0), "above": (0, 0.8), "below": (0.34, 0.05), "before": (-0.34, 0)}
        along, up = row[place]
        return np.array([area.center[0] + along * area.width, middle + up * px(100), 0])

    def counts(self, banks: BankQueues, name: str) -> tuple[list[Count], VMobject]:
        """Live: how many beats have passed, and how many lanes are at work; and the tree's name."""

        def at_work(t: float) -> str:
            lanes = 0 if t >= banks.until else len(banks.levels[banks.accesses[banks.now(t)].level].owns)
            return tr("1 lane adds") if lanes == 1 else tr("{lanes} lanes add", lanes=lanes)

        beats = Count(
            lambda t: tr("1 beat") if int(t) == 1 else tr("{beats} beats", beats=int(t)),
            size=84 if self.wide else 62, mono=False, align=0.5,
        )  # fmt: skip
        lanes = Count(at_work, size=52 if self.wide else 48, mono=False, align=0.5, bold=False)
        named = label(self.story.name(name), 52 if self.wide else 44, self.theme.quiet)
        for one, place in ((beats, "middle"), (lanes, "below")):
            one.shift(self.aside(place))
        return [beats, lanes], named.move_to(self.aside("above"))

    def tally(self, beats: int, name: str) -> VGroup:
        """What another tree took."""
        count = label(tr("{beats} beats", beats=beats), 60, self.theme.wait_text, bold=True)
        named, place = label(name, 44, self.theme.quiet), self.aside("before")
        if self.wide:
            return VGroup(named, count).arrange(DOWN, buff=px(12)).move_to(place)
        # On one line with the counts beside it.
        return VGroup(named.move_to(place + px(80) * UP), count.move_to(place, DOWN))
