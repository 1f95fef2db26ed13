"""Ladder: how can the same matrix product run almost 25 times as fast?

manim render scenes/ladder.py

Programs for one product, each with another idea than the one before, timed on an H200. Each idea is drawn
above the times. Counters say for which share of the time the tensor cores work, so that what is left is
waiting; it is what the steps take away.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from manim import (
    DOWN,
    LEFT,
    RIGHT,
    UP,
    Animation,
    Create,
    Dot,
    FadeIn,
    FadeOut,
    ManimColor,
    Mobject,
    ReplacementTransform,
    VGroup,
)

from tilesim import Device, Problem, Trace, simulate
from tilesim.ideas.coalescing import SECTOR, WARP
from tilesim.ideas.pipelining import Pipeline, pipeline, times
from tilesim.kernel_costs.default import default_costs
from tilesim.ladder.file import ladders, read
from tilesim.ladder.reports import report
from tilesim.ladder.steps import LadderStep
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.kit.amounts import Amount, Amounts
from tilesim_scenes.kit.few_sms import OneProcessor
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, label, lines, px
from tilesim_scenes.look.theme import Colour, mixed
from tilesim_scenes.mobjects.drawing.quads import rectangle, strokes
from tilesim_scenes.mobjects.models.phase_rows import Bar, PhaseRows
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.key import Entry, Key

FILM = {
    "title": "Ladder",
    "question": "How can the same matrix product run almost 25 times as fast?",
    "finding": (
        "On an H200, the last program is 24.6 times as fast as the first. Its tensor cores wait 31% of the "
        "time instead of 97%."
    ),
    "part": "Kernels",
    "place": 250,
    "seconds": 80,
    "shows": "Five programs for one product, the idea of each, and how long their tensor cores wait.",
    "takes": "ladder",
}
SHAPE = (8192, 8192, 512)
"""M, N and K."""
TOLD = ("uncoalesced", "coalesced", "tiled", "pipelined", "overlapped")
"""Steps of the ladder that the film tells."""
CORES = 4
"""Tensor cores of an SM, each of which counts its own busy cycles."""
TILES = 3
"""That lanes show."""


class Ladder(OneProcessor):
    """One product by six kernels: the idea of each, how long it takes, and how much of that is waiting."""

    def prepare(self) -> None:
        ladder = read(self.given["ladder"]) if "ladder" in self.given else ladders()[0]
        steps = {step.name: step for step in ladder.rows if (step.m, step.n, step.k) == SHAPE}
        self.guard(set(TOLD) <= set(steps), "five programs compute one product")
        self.gpu = ladder.machine["gpu"]
        self.guard("H200" in self.gpu, "they ran on an H200")
        self.steps = [steps[name] for name in TOLD]
        self.guard(
            all(step.tensor_cycles and step.sm_cycles for step in self.steps), "tensor cores are counted"
        )
        self.us = [step.us for step in self.steps]
        self.guard(all(a > 1.05 * b for a, b in pairwise(self.us)), "each step saves time")
        self.guard(24 < self.us[0] / self.us[-1] < 25, "the last program is almost 25 times as fast")
        # Of the time, in which tensor cores work.
        self.shares = [(one.tensor_cycles or 0.0) / (CORES * (one.sm_cycles or 1.0)) for one in self.steps]
        self.guard(self.shares[0] < 0.03, "97 % of the first program's time is waiting")
        cycles = {step.tensor_cycles for step in self.steps}
        self.guard(len(cycles) == 1, "tensor cores multiply for equally many cycles in all of them")
        self.guard(sorted(self.shares) == self.shares, "each step removes waiting")
        self.clocks = [step.sm_mhz or 0.0 for step in self.steps[1:]]
        slower = all(a > b for a, b in pairwise(self.clocks))
        self.guard(slower, "the clock is slower in the later programs")
        first, second, third, *_ = self.steps
        self.each = SECTOR // 2
        pieces = (first.load_sectors or 0.0) / (second.load_sectors or 1.0)
        self.guard(pieces == self.each, "the first program uses one number of each piece, the second all")
        self.guard(first.load_sectors == WARP * (first.load_requests or 0), "each thread needs its own piece")
        less = (third.load_sectors or 0.0) / (second.load_sectors or 1.0)
        self.guard(less == 3 / 4, "a wide tile saves one strip of four")
        self.lanes()

    def lanes(self) -> None:
        """What the lanes show: models with measured times, and simulated runs of this product."""
        step_ns = {row["stages"]: row["k_step_ns"] for row in report("pipelining")["rows"]}
        self.fourth = self.run("naive", "naive-ptr", self.steps[3])
        self.fifth = self.run("persistent", "persistent-tma-overlap-split", self.steps[4])
        self.sms = len(np.unique(self.fifth.spans["sm"]))
        self.pipelines = [pipeline(self.fourth.gemm.k_steps, stages, *times(step_ns)) for stages in (1, 3)]

    @staticmethod
    def run(schedule: str, kernel: str, step: LadderStep) -> Trace:
        """A program's run as simulated with calibrated costs."""
        problem, device = Problem(*SHAPE, tile=step.tile, order="grouped:8"), Device.named("h200")
        return simulate(schedule, problem, device, default_costs(schedule, problem, device, kernel))

    def construct(self) -> None:
        # The work on a tile, of which it is not shown when in it tensor cores wait.
        self.mostly = mixed(self.hue, self.theme.wait, 0.3)
        self.ask("Tensor cores are the parts of a GPU that multiply matrices.")
        self.the_slowest()
        self.neighbors()
        self.wide_tiles()
        self.loads_ahead()
        self.writes_meanwhile()
        self.all_of_them()
        self.close(
            "On an H200, the last program is {times:.1f} times as fast as the first. Its tensor cores wait "
            "{after:.0%} of the time instead of {before:.0%}.",
            [(tr("program 1"), self.us[0]), (tr("program 5"), self.us[-1])],
            "times",
            "{:,.0f} µs",
            self.measured(),
            tr("8192 × 8192 numbers, each a sum of 512 products of 16-bit numbers"),
            after=1 - self.shares[-1],
            before=1 - self.shares[0],
        )

    # Bars, two at a time, below the pictures.

    def bars_of(self, *numbers: int) -> Amounts:
        """The times of some programs, counted from 0, each in what multiplies and what waits."""
        names = (
            tr("1: threads read down columns"),
            tr("2: neighboring threads read neighboring numbers"),
            tr("3: wider tiles"),
            tr("4: loads run ahead within a tile"),
            tr("5: a tile is written while the next is multiplied"),
        )
        amounts = []
        for number in numbers:
            us, share = self.us[number], self.shares[number]
            parts = [(us * share, self.hue), (us * (1 - share), self.theme.wait)]
            amounts.append(Amount(names[number], parts, tr("{us:,.0f} µs", us=us)))
        bar, size = (34, 34) if self.narrow else (46, 40)
        bars = Amounts(amounts, self.area.width, bar=bar, size=size, gap=10)
        return bars.move_to([self.area.left, self.floor + px(12), 0], DOWN + LEFT)

    def the_slowest(self) -> None:
        """The first program alone: almost all of its bar is waiting."""
        self.badge(Badge(self.tr("measured and counted on {gpu}"), "measured"))
        key = self.key(Entry(tr("multiply"), [self.hue]), Entry(tr("tensor cores wait"), [self.theme.wait]))
        self.bars = self.bars_of(0, 1)
        self.places = [row.get_center() for row in self.bars]
        about = VGroup(
            self.word("Five programs compute the same matrix product:", 50, self.theme.text),
            self.word(
                "8192 × 8192 numbers, each a sum of 512 products of 16-bit numbers", 50, self.theme.text
            ),
            self.word("Each program builds on the one before.", 50),
        ).arrange(DOWN, buff=px(30))
        self.panel(about)
        self.play(FadeIn(about), *key)
        self.say(
            "Program 1 takes {us:,.0f} µs. For {share:.0%} of that time, its tensor cores only wait.",
            us=self.us[0],
            share=1 - self.shares[0],
        )
        self.play(self.bars.come(0))
        self.leave(about)
        self.badge(Badge(tr("drawings: model; bars: measured"), "model"))

    def enlarge(self) -> None:
        """From here on, the second program's bar is as wide as the first one's was."""
        large = self.bars_of(*range(1, len(TOLD)))
        self.homes = [row.get_center() for row in large]
        for row in large:
            row.move_to(self.places[1])
        large[0].move_to(self.places[0])
        times = round(self.us[0]) / round(self.us[1])
        self.note = self.word(
            "On this scale, program 1’s bar would be {times:.1f} times as long as program 2’s.",
            38,
            times=times,
        )
        self.note.move_to(self.places[1]).align_to(self.bars, LEFT)
        self.play(FadeOut(self.bars[0]), ReplacementTransform(self.bars[1], large[0]), FadeIn(self.note))
        self.bars = large

    def another(self, number: int) -> None:
        """The bar of a program, counted from the second, below the bar of the one before."""
        old = self.bars[number - 2] if number > 1 else self.note
        self.play(FadeOut(old), self.bars[number - 1].animate.move_to(self.places[0]), run_time=0.5)
        self.play(self.bars.come(number))

    @property
    def room(self) -> tuple[float, float]:
        """From where to where a picture may reach: above the bars, below the badge."""
        return self.places[0][1] + px(74), self.area.top - px(20)

    def panel(self, *parts: Mobject) -> VGroup:
        """Parts side by side, or in a tall frame below each other, above the bars."""
        low, top = self.room
        picture = VGroup(*parts).arrange(DOWN if self.tall else RIGHT, buff=px(90))
        fit(picture, self.area.width, top - low)
        return picture.move_to([self.area.center[0], (low + top) / 2, 0])

    # Who reads what.

    def reading(self, name: str, note: str, apart: int) -> VGroup:
        """Threads beside rows of a matrix, each a piece of memory; rays, what is sent and used, and a note.

        Each thread reads one number, `apart` after that of the thread before.
        """
        theme, wide, high = self.theme, px(28), px(17)
        dark, gray = (mixed(theme.background, theme.operand, share) for share in (0.25, 0.6))
        cells = VGroup(*(rectangle(0.86 * wide, 0.8 * high, dark) for _ in range(self.each**2)))
        cells.arrange_in_grid(self.each, self.each, buff=(0.14 * wide, 0.2 * high))
        dots = VGroup(*(Dot(0.35 * high, color=ManimColor(theme.text)) for _ in range(self.each)))
        rays, sent, used = VGroup(), VGroup(), VGroup()
        for number, dot in enumerate(dots):
            at = number * apart
            dot.move_to([cells.get_left()[0] - px(190), cells[number * self.each].get_y(), 0])
            ray = strokes(theme.text, 3, 0.7)
            ray.points = np.linspace(dot.get_right(), cells[at].get_left(), 4)
            rays.add(ray)
            piece = cells[at - at % self.each :][: self.each]
            sent.add(*(cell.copy().set_fill(ManimColor(gray)) for cell in piece))
            used.add(cells[at].copy().set_fill(ManimColor(self.hue)))
        # Two such pictures become small side by side in a square frame.
        em = 1.6 if self.narrow and not self.tall else 1.0
        title = label(name, 46 * em, bold=True).next_to(cells, UP, px(20))
        under = lines(note, 44 * em, cells.get_right()[0] - dots.get_left()[0], most=2, color=theme.text)
        under.next_to(VGroup(dots, cells), DOWN, px(20))
        return VGroup(VGroup(title, dots, cells), rays, sent, used, under)

    def neighbors(self) -> None:
        """A column read by neighboring threads, and a row."""
        far = self.reading(
            tr("program 1"), tr("{n} threads need {n} pieces of memory", n=self.each), self.each
        )
        near = self.reading(tr("program 2"), tr("{n} threads need 1 piece of memory", n=self.each), 1)
        panel = self.panel(far, near)
        self.say(
            "Program 1’s threads read down a column. Each read brings {each} numbers, and {rest} go unused.",
            rest=self.each - 1,
        )
        for one in panel:
            if one is near:
                self.say(
                    "Program 2’s threads read along a row and use all {each}. It takes only {us:.0f} µs.",
                    us=self.us[1],
                )
            self.play(FadeIn(one[0], run_time=0.5))
            self.play(Create(one[1], run_time=0.8))
            self.play(FadeIn(*one[2:], run_time=0.6))
        self.play(self.bars.come(1))
        self.leave(panel)
        self.enlarge()

    def tiles_of(self, wide: bool) -> VGroup:
        """Two square tiles, each with its strips, or a wide one with its three."""
        side, long, gap = px(150), px(110), px(8)
        made, theme, numbers = VGroup(), self.theme, iter("1234")
        gray = mixed(theme.background, theme.operand, 0.7)
        for width in (2 * side + gap,) if wide else (side, side):
            tile = rectangle(width, side, self.hue)
            name = label(tr("wide tile") if wide else tr("tile"), 40, theme.background, bold=True)
            left = rectangle(long, side, gray).next_to(tile, LEFT, gap)
            tops = VGroup(*(rectangle(side, long, gray) for _ in range(round(width / side))))
            tops.arrange(RIGHT, buff=gap).next_to(tile, UP, gap)
            strips = VGroup()
            for strip in (left, *tops):
                strips.add(VGroup(strip, label(next(numbers), 44, bold=True).move_to(strip)))
            made.add(VGroup(VGroup(tile, name.move_to(tile)), strips))
        made.arrange(RIGHT, buff=px(60))
        title = label(tr("program 3") if wide else tr("program 2"), 46, bold=True)
        return VGroup(title.next_to(made, UP, px(24)), made)

    def wide_tiles(self) -> None:
        """What two tiles need, and one of twice the width."""
        panel = self.panel(self.tiles_of(False), self.tiles_of(True))
        two, one = panel
        self.say("Two tiles of the result need four strips of input.")
        self.play(FadeIn(two[0], *(tile[0] for tile in two[1])))
        self.play(*(FadeIn(tile[1]) for tile in two[1]))
        self.say("Program 3 joins them into one wide tile, which needs only three.")
        self.play(FadeIn(one[0], one[1][0][0]))
        self.play(FadeIn(one[1][0][1]))
        self.another(1)
        self.leave(panel)

    # Lanes of one processor.

    def lanes_of(
        self, title: Mobject, *programs: Mapping[str, Sequence[Bar]], hue: Colour | None = None
    ) -> list[PhaseRows]:
        """Rows of programs, one program below the other, under a title."""
        low, top = self.room
        fit(title.scale(0.85 if self.narrow else 1.0), self.area.width)
        title.move_to([self.area.left, top, 0], LEFT + UP)
        top = title.get_bottom()[1] - px(20)
        high = (top - low) / (1.2 * sum(map(len, programs)) + 0.2)
        made = []
        for rows in programs:
            made.append(self.named_rows(rows, top, high, hue))
            top = made[-1].grounds.get_bottom()[1] - 0.6 * high
        return made

    def roll(self, rows: PhaseRows, *along: Animation) -> None:
        """Rows come, and time runs through them."""
        self.play(FadeIn(rows), *along)
        self.play(PlayTrace(rows, until=self.until, run_time=2.4))

    def loads_ahead(self) -> None:
        """Steps of a tile: each load before its multiplication, and loads that run ahead."""
        self.until = float(self.pipelines[0].makespan)
        title = self.word("one tile in one processor, over time →", 38)
        names = tr("program 3"), tr("program 4")
        before, after = self.lanes_of(title, *map(rows_of_steps, names, self.pipelines))
        self.say("While program 3 loads, its tensor cores wait.")
        self.roll(before, FadeIn(title))
        self.say("Within a tile, program 4 loads ahead, so its numbers are there in time.")
        self.roll(after)
        self.another(2)
        self.leave(title, before, after)

    def writes_meanwhile(self) -> None:
        """Between tiles: a write and then a load, and a write that runs meanwhile."""
        fourth, fifth = (first_tiles(run) for run in (self.fourth, self.fifth))
        self.until = float(fourth["done"][-1])
        title = VGroup(
            self.word("three tiles in one processor, over time →", 38),
            Key([Entry(tr("multiply, with short waits"), [self.mostly])], self.area.width),
        ).arrange(RIGHT, buff=px(60))
        rows = rows_of_tiles(tr("program 4"), fourth), rows_of_tiles(tr("program 5"), fifth)
        before, after = self.lanes_of(title, *rows, hue=self.mostly)
        self.say("Between tiles, program 4 stops: it writes, and only then loads for the next tile.")
        self.roll(before, FadeIn(title))
        self.say("Program 5 already works on the next tile while it writes the one before.")
        self.roll(after)
        self.another(3)
        self.leave(title, before, after, self.bars[2], self.bars[3])

    def all_of_them(self) -> None:
        """The bars of all programs but the first."""
        for row, home in zip(self.bars, self.homes, strict=True):
            row.move_to(home)
        self.badge(Badge(self.tr("measured and counted on {gpu}"), "measured"))
        cycles = self.word(
            "Blue is always {cycles:,.0f} clock cycles. It is longer where the clock was slower.",
            38,
            cycles=(self.steps[0].tensor_cycles or 0.0) / CORES / self.sms,
        )
        picture = VGroup(cycles, self.note, self.bars).arrange(DOWN, buff=px(16), aligned_edge=LEFT)
        fit(picture, np.inf, self.area.top - self.floor - px(30))
        picture.move_to([self.area.left, self.floor + px(12), 0], DOWN + LEFT)
        printed = [round(us) for us in self.us]
        gains = [before / after for before, after in pairwise(printed)]
        marks = VGroup()
        for row, gain in zip(self.bars, gains, strict=True):
            mark = label(f"×{gain:.2f}", 40, bold=True)
            marks.add(mark.move_to([self.area.right, row[1].get_y(), 0], RIGHT))
        self.say(
            "All multiply for the same number of clock cycles. Program 5 waits only {share:.0%} of the time.",
            share=1 - self.shares[-1],
        )
        self.play(FadeIn(picture))
        self.say(
            "The steps made it {a:.2f}, {b:.2f}, {c:.2f} and {d:.2f} times as fast. "
            "Together, that is {times:.1f} times.",
            times=printed[0] / printed[-1],
            **dict(zip("abcd", gains, strict=True)),
        )
        self.play(FadeIn(marks, lag_ratio=0.5, run_time=2.4))
        self.leave(picture, marks)


def first_tiles(run: Trace) -> np.ndarray:
    """The spans of the first tiles of one processor, counted from its first load."""
    spans = run.spans[run.spans["sm"] == 0]
    spans = spans[np.argsort(spans["issue"])][:TILES].copy()
    first = spans["issue"][0]
    for name in ("issue", "start", "drain", "done"):
        spans[name] -= first
    return spans


def bars(kind: str, starts: np.ndarray, ends: np.ndarray) -> list[Bar]:
    """Bars of a kind, each from a start to its end."""
    return [Bar(kind, *both) for both in zip(starts.tolist(), ends.tolist(), strict=True)]


def rows_of_steps(program: str, one: Pipeline) -> dict[str, list[Bar]]:
    """What a program's tensor cores do in the steps of a tile, and when each is loaded."""
    steps = one.steps
    waits = bars("wait", steps["multiply"] - one.bubbles, steps["multiply"])
    return {
        program: bars("multiply", steps["multiply"], steps["done"]) + waits,
        tr("load"): bars("load", steps["load"], steps["loaded"]),
    }


def rows_of_tiles(program: str, spans: np.ndarray) -> dict[str, list[Bar]]:
    """What a program's tensor cores do in some tiles, and when each is loaded and written."""
    start, drain = spans["start"], spans["drain"]
    before = np.append(0, drain[:-1])
    # The last step is loaded before it is multiplied.
    loaded = drain - (drain - start) // spans["k1"]
    return {
        program: bars("multiply", start, drain) + bars("wait", before, start),
        tr("load"): bars("load", spans["issue"], loaded),
        tr("write"): bars("write", drain, spans["done"]),
    }
