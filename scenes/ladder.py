"""Ladder: what makes the same matrix product almost 30 times as fast?

manim render scenes/ladder.py

Programs for one product, each with another idea than the one before, timed on an H200. Each idea is drawn
above the times. Counters say for which share of the time the tensor cores work, so that what is left is
waiting; it is what the steps take away.
"""

from collections.abc import Sequence
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
from tilesim.ideas.pipelining import pipeline, times
from tilesim.ideas.warp_specialization import timeline
from tilesim.kernel_costs.default import default_costs
from tilesim.ladder.file import ladders, read
from tilesim.ladder.reports import report
from tilesim.ladder.steps import LadderStep
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.film.settings import LADDER
from tilesim_scenes.kit.amounts import Amount, Amounts
from tilesim_scenes.kit.one_processor import NAMES, OneProcessor, times_of
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, lines, px
from tilesim_scenes.look.theme import mixed
from tilesim_scenes.mobjects.drawing.quads import rectangle, strokes
from tilesim_scenes.mobjects.models.phase_rows import Bar, bars_of
from tilesim_scenes.mobjects.models.pipelined_sm import PipelineRows
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Ladder",
    "question": "What makes the same matrix product almost 30 times as fast?",
    "finding": (
        "On an H200, the same matrix product is 28.5 times as fast when its tensor cores wait for 14% of "
        "the time instead of 97%."
    ),
    "part": "Kernels",
    "place": 250,
    "seconds": 80,
    "shows": "Six programs for one product, the idea of each, and how long their tensor cores wait.",
    "takes": "ladder",
}
SHAPE = (8192, 8192, 512)
"""M, N and K."""
TOLD = ("uncoalesced", "coalesced", "tiled", "pipelined", "overlapped", "ping-pong")
"""Steps of the ladder that the film tells."""
CORES = 4
"""Tensor cores of an SM, each of which counts its own busy cycles."""
THREADS = 8
"""Of a warp's 32, that are drawn."""
TILES, STEPS = 3, 6
"""Tiles, and steps of one tile, that lanes show."""


class Ladder(OneProcessor):
    """One product by six kernels: the idea of each, how long it takes, and how much of that is waiting."""

    asked = LADDER

    def prepare(self) -> None:
        ladder = read(self.given["ladder"]) if "ladder" in self.given else ladders()[0]
        steps = {step.name: step for step in ladder.rows if (step.m, step.n, step.k) == SHAPE}
        self.guard(set(TOLD) <= set(steps), "six programs compute one product")
        self.gpu = ladder.machine["gpu"]
        self.guard("H200" in self.gpu, "they ran on an H200")
        self.steps = [steps[name] for name in TOLD]
        self.guard(
            all(step.tensor_cycles and step.sm_cycles for step in self.steps), "tensor cores are counted"
        )
        self.us = [step.us for step in self.steps]
        self.guard(all(a > 1.05 * b for a, b in pairwise(self.us)), "each step saves time")
        self.guard(27 < self.us[0] / self.us[-1] < 30, "the last program is almost 30 times as fast")
        self.shares = [self.share(step) for step in self.steps]
        self.guard(self.shares[0] < 0.03, "97 % of the first program's time is waiting")
        cycles = {step.tensor_cycles for step in self.steps}
        self.guard(len(cycles) == 1, "tensor cores multiply for equally many cycles in all of them")
        self.guard(sorted(self.shares) == self.shares, "each step removes waiting")
        clocks = [step.sm_mhz or 0.0 for step in self.steps[1:]]
        self.guard(sorted(clocks, reverse=True) == clocks, "the clock is slower in the later programs")
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
        load, multiply = times(step_ns)
        self.pipelines = [pipeline(STEPS, stages, load, multiply) for stages in (1, 3)]
        self.fourth = self.run("naive", "naive-ptr", self.steps[3])
        self.fifth = self.run("persistent", "persistent-tma-overlap-split", self.steps[4])
        last = self.steps[5]
        half = Problem(*SHAPE, tile=last.tile, order="grouped:8")
        self.turns = timeline(
            times_of(half, "persistent-tma-overlap"), 2 * TILES, half.k_steps, last.stages or 1, 2
        )
        self.sms = len(np.unique(self.fifth.spans["sm"]))
        self.guard(not self.turns.pauses(), "with two groups, tensor cores do not wait between tiles")

    @staticmethod
    def run(schedule: str, kernel: str, step: LadderStep) -> Trace:
        """A program's run as simulated with calibrated costs."""
        problem, device = Problem(*SHAPE, tile=step.tile, order="grouped:8"), Device.named("h200")
        return simulate(schedule, problem, device, default_costs(schedule, problem, device, kernel))

    @staticmethod
    def share(step: LadderStep) -> float:
        """Of the time, in which tensor cores work."""
        return (step.tensor_cycles or 0.0) / (CORES * (step.sm_cycles or 1.0))

    def construct(self) -> None:
        self.hue = self.theme.by_phase["multiply"]
        self.ask("Tensor cores are the parts of a GPU that multiply matrices.")
        self.the_slowest()
        self.neighbors()
        self.wide_tiles()
        self.loads_ahead()
        self.writes_meanwhile()
        self.two_groups()
        self.all_of_them()
        self.close(
            "On an H200, the same matrix product is {times:.1f} times as fast when its tensor cores "
            "wait for {after:.0%} of the time instead of {before:.0%}.",
            [(tr("program 1"), self.us[0]), (tr("program 6"), self.us[-1])],
            "times",
            "{:,.0f} µs",
            Badge(tr("measured on {gpu}", gpu=self.gpu), "measured"),
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
            tr("4: loads run two steps ahead"),
            tr("5: a tile is written while the next is multiplied"),
            tr("6: two groups of threads take turns"),
        )
        amounts = []
        for number in numbers:
            us, share = self.us[number], self.shares[number]
            parts = [(us * share, self.hue), (us * (1 - share), self.theme.wait)]
            amounts.append(Amount(names[number], parts, tr("{us:,.0f} µs", us=us)))
        bars = Amounts(amounts, self.area.width, bar=46, size=40, gap=10)
        # A key of four colors takes two lines in a narrow frame.
        low = self.floor + px(64 if self.narrow else 12)
        return bars.move_to([self.area.left, low, 0], DOWN + LEFT)

    def two_parts(self) -> list[Entry]:
        """What the parts of bars are."""
        return [
            Entry(tr("tensor cores multiply"), [self.hue]),
            Entry(tr("tensor cores wait"), [self.theme.wait]),
        ]

    def the_slowest(self) -> None:
        """The first program alone: almost all of its bar is waiting."""
        self.badge(Badge(tr("measured and counted on {gpu}", gpu=self.gpu), "measured"))
        key = self.key(*self.two_parts())
        self.bars = self.bars_of(0, 1)
        self.places = [row.get_center() for row in self.bars]
        about = VGroup(
            self.word("Six programs compute the same matrix product:", 50, self.theme.text),
            self.word("8192 × 8192 numbers, each a sum of 512 products.", 50, self.theme.text),
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
        self.badge(Badge(tr("drawings: model; bars: measured"), "measured"))

    def enlarge(self) -> None:
        """From here on, the second program's bar is as wide as the first one's was."""
        large = self.bars_of(*range(1, len(TOLD)))
        self.homes = [row.get_center() for row in large]
        for row in large:
            row.move_to(self.places[1])
        large[0].move_to(self.places[0])
        times = large.scale_of / self.bars.scale_of
        self.note = self.word("From here on, bars are drawn {times:.0f} times as long.", 38, times=times)
        self.note.move_to(self.places[1]).align_to(self.bars, LEFT)
        self.play(FadeOut(self.bars[0]), ReplacementTransform(self.bars[1], large[0]), FadeIn(self.note))
        self.bars = large

    def another(self, number: int) -> None:
        """The bar of a program, counted from the second, below the bar of the one before."""
        if number > 1:
            old, last = self.bars[number - 2], self.bars[number - 1]
            self.play(FadeOut(old), last.animate.move_to(self.places[0]), run_time=0.5)
        else:
            self.play(FadeOut(self.note), run_time=0.3)
        self.play(self.bars.come(number))

    @property
    def room(self) -> tuple[float, float]:
        """From where to where a picture may reach: above the bars, below the badge."""
        return self.places[0][1] + px(90), self.area.top - px(20)

    def panel(self, *parts: Mobject) -> VGroup:
        """Parts side by side, or in a tall frame below each other, above the bars."""
        low, top = self.room
        picture = VGroup(*parts).arrange(DOWN if self.tall else RIGHT, buff=px(90))
        picture.scale(min(1.0, (top - low) / picture.height, self.area.width / picture.width))
        return picture.move_to([self.area.center[0], (low + top) / 2, 0])

    # Who reads what.

    def reading(self, name: str, note: str, apart: int, each: int) -> VGroup:
        """Threads beside rows of a matrix, each of two pieces of memory; then rays, what is sent, and a note.

        Each thread reads `each` numbers, which begin `apart` after those of the thread before.
        """
        side, theme = px(22), self.theme
        dark, gray = (mixed(theme.background, theme.operand, share) for share in (0.25, 0.6))
        row_of = 2 * self.each
        cells = VGroup(*(rectangle(0.86 * side, 1.3 * side, dark) for _ in range(row_of * THREADS)))
        for number, cell in enumerate(cells):
            row, column = divmod(number, row_of)
            gap = px(12) * (column >= self.each)
            cell.move_to([column * side + gap, -1.6 * side * row, 0])
        dots = VGroup(*(Dot(px(12), color=ManimColor(theme.text)) for _ in range(THREADS)))
        rays, sent, used = VGroup(), VGroup(), VGroup()
        pieces = set()
        for number, dot in enumerate(dots):
            at = number * apart
            dot.move_to([-px(190), cells[number * row_of].get_y(), 0])
            ray = strokes(theme.text, 3, 0.7)
            ray.points = np.linspace(dot.get_right(), cells[at].get_left(), 4)
            rays.add(ray)
            used.add(*(cells[n].copy().set_fill(ManimColor(self.hue)) for n in range(at, at + each)))
            pieces.add(at // self.each)
        for piece in sorted(pieces):
            part = cells[piece * self.each : (piece + 1) * self.each]
            sent.add(*(cell.copy().set_fill(ManimColor(gray)) for cell in part))
        # Two such pictures become small side by side in a square frame.
        em = 1.6 if self.narrow and not self.tall else 1.0
        title = label(name, 46 * em, theme.text, bold=True)
        title.scale(min(1.0, 1.1 * cells.width / title.width)).next_to(cells, UP, px(24))
        who = label(tr("8 threads"), 38 * em, theme.quiet).next_to(dots, DOWN, px(24))
        under = lines(note, 44 * em, 1.1 * cells.width, most=2, color=theme.text)
        under.next_to(cells, DOWN, px(24))
        return VGroup(VGroup(title, who, dots, cells), rays, sent, used, under)

    def neighbors(self) -> None:
        """A column read by neighboring threads, and a row."""
        far = self.reading(
            tr("program 1: rows of a matrix"),
            tr("8 pieces of {each} sent, 8 numbers used", each=self.each),
            2 * self.each,
            1,
        )
        near = self.reading(
            tr("program 2: rows of a matrix"),
            tr("4 pieces of {each} sent, all 64 numbers used", each=self.each),
            self.each // 2,
            self.each // 2,
        )
        panel = self.panel(far, near)
        self.say(
            "Its threads read down a column. Memory sends {each} numbers at once, "
            "and {rest} of them go unused.",
            each=self.each,
            rest=self.each - 1,
        )
        for one in panel:
            if one is near:
                self.say(
                    "In program 2, neighboring threads read neighboring numbers, "
                    "and use all that is sent: {us:.0f} µs.",
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
        made, theme = VGroup(), self.theme
        for width in (2 * side + gap,) if wide else (side, side):
            tile = rectangle(width, side, self.hue)
            left = rectangle(long, side, mixed(theme.background, theme.operand, 0.7)).next_to(tile, LEFT, gap)
            tops = VGroup(*(rectangle(side, long, left.get_fill_color()) for _ in range(round(width / side))))
            tops.arrange(RIGHT, buff=gap).next_to(tile, UP, gap)
            numbered = VGroup(
                *(
                    VGroup(strip, label(str(number), 44, theme.text, bold=True).move_to(strip))
                    for number, strip in enumerate((left, *tops), 1 + sum(len(one[1]) for one in made))
                )
            )
            name = label(tr("wide tile") if wide else tr("tile"), 40, theme.background, bold=True)
            made.add(VGroup(VGroup(tile, name.move_to(tile)), numbered))
        made.arrange(RIGHT, buff=px(60))
        title = label(tr("program 3") if wide else tr("program 2"), 46, theme.text, bold=True)
        return VGroup(title.next_to(made, UP, px(24)), made)

    def wide_tiles(self) -> None:
        """What two tiles need, and one of twice the width."""
        panel = self.panel(self.tiles_of(False), self.tiles_of(True))
        two, one = panel
        self.say("Two tiles, parts of the result, need four strips of input.")
        self.play(FadeIn(two[0], *(tile[0] for tile in two[1])))
        self.play(*(FadeIn(tile[1]) for tile in two[1]))
        self.say(
            "Program 3 computes both as one wide tile, which needs only three: {us:.0f} µs.", us=self.us[2]
        )
        self.play(FadeIn(one[0], one[1][0][0]))
        self.play(FadeIn(one[1][0][1]))
        self.another(1)
        self.leave(panel)

    # Lanes of one processor.

    def lane_key(self, *more: Entry) -> Sequence[Animation]:
        return self.key(
            Entry(tr("tensor cores multiply"), [self.hue]),
            Entry(tr("tensor cores wait"), [self.theme.wait_text]),
            Entry(tr("load"), [self.hue], hatched=True),
            *more,
        )

    def lane_title(self) -> Mobject:
        """What lanes are, at the upper left."""
        title = self.word("one processor, over time →", 38)
        return title.move_to([self.area.left, self.room[1], 0], LEFT + UP)

    def name_of(self, text: str, beside: Mobject) -> Mobject:
        """The name of a lane, left of it."""
        name = label(text, 42, self.theme.text, bold=True)
        name.scale(min(1.0, px(NAMES - 30) / name.width))
        return name.move_to([self.area.left, beside.get_y(), 0], LEFT)

    def loads_ahead(self) -> None:
        """Steps of a tile: each load before its multiplication, and loads that run ahead."""
        low, top = self.room[0], self.room[1] - px(60)
        until, high = self.pipelines[0].makespan, (top - low) / 2.25
        lanes = VGroup(
            *(PipelineRows(one, until, self.area.width - px(NAMES), high, self.hue) for one in self.pipelines)
        )
        for lane in lanes:
            for box in lane.multiplies:
                box.submobjects[0].set_opacity(0)
        for number, lane in enumerate(lanes):
            lane.move_to([self.area.right, top - (0.5 + 1.2 * number) * high, 0], RIGHT)
        title = self.lane_title()
        names = VGroup(
            *(
                self.name_of(text, lane)
                for text, lane in zip((tr("program 3"), tr("program 4")), lanes, strict=True)
            )
        )
        self.say("While program 3 loads, its tensor cores wait.")
        self.play(FadeIn(title, names[0], lanes[0]), *self.lane_key())
        self.play(PlayTrace(lanes[0], until=until, run_time=2.4))
        self.say(
            "Program 4 loads the numbers early, so they are there when needed: {us:.0f} µs.",
            us=self.us[3],
        )
        self.play(FadeIn(names[1], lanes[1]))
        self.play(PlayTrace(lanes[1], until=self.pipelines[1].makespan, run_time=2.0))
        self.another(2)
        self.leave(title, names, lanes)

    def writes_meanwhile(self) -> None:
        """Between tiles: a write and a load, and a write that runs meanwhile."""
        low, top = self.room[0], self.room[1] - px(60)
        high = (top - low) / 5.0
        fourth, fifth = (first_tiles(run) for run in (self.fourth, self.fifth))
        self.until = float(fourth["done"][-1])
        between = bars("write", fourth, "drain", "done") + bars("load", fourth[1:], "issue", "start")
        before = self.named_rows(
            {tr("program 4"): cores(fourth), tr("write, first load"): between}, top, high
        )
        writes = bars("write", fifth, "drain", "done")
        after = self.named_rows({tr("program 5"): cores(fifth), tr("writes"): writes}, top - 2.6 * high, high)
        title = self.lane_title()
        self.say("But between tiles, program 4 stops: it writes, and only then loads again.")
        self.play(FadeIn(title, before), *self.lane_key(Entry(tr("write"), [self.theme.write])))
        self.play(PlayTrace(before, until=self.until, run_time=2.4))
        self.say(
            "Program 5 writes a tile while it already multiplies for the next: {us:.0f} µs.", us=self.us[4]
        )
        self.play(FadeIn(after))
        self.play(PlayTrace(after, until=self.until, run_time=2.5))
        self.another(3)
        self.leave(title, before, after)

    def two_groups(self) -> None:
        """Two groups of threads, of which one multiplies while the other writes."""
        low, top = self.room[0], self.room[1] - px(60)
        high = (top - low) / 5.2
        first = self.turns.steps["multiply"][0]
        turns = [
            [
                bar._replace(text="", start=bar.start - first, end=bar.end - first)
                for bar in bars_of(self.turns.consumers(group), wait="")
            ]
            for group in range(2)
        ]
        both = [bar for group in turns for bar in group if bar.kind == "multiply"]
        before = self.named_rows({tr("program 5"): cores(first_tiles(self.fifth))}, top, high)
        names = tr("group one"), tr("group two"), tr("program 6")
        after = self.named_rows(dict(zip(names, (*turns, both), strict=True)), top - 1.6 * high, high)
        title = self.word("tiles half as wide; waits inside a tile are not drawn", 38)
        title.move_to([self.area.left, self.room[1], 0], LEFT + UP)
        before.show(self.until)
        self.say(
            "In program 6, one group of threads multiplies while another writes its tile: {us:.0f} µs.",
            us=self.us[5],
        )
        self.play(FadeIn(title, before, after))
        self.play(PlayTrace(after, until=self.until, run_time=2.8))
        self.another(4)
        self.leave(title, before, after, self.bars[3], self.bars[4])

    def all_of_them(self) -> None:
        """The bars of all programs but the first."""
        for row, home in zip(self.bars, self.homes, strict=True):
            row.move_to(home)
        self.badge(Badge(tr("measured and counted on {gpu}", gpu=self.gpu), "measured"))
        about = tr(
            "Blue is {cycles:,.0f} clock cycles in each of them. The clock was slower in the later ones.",
            cycles=(self.steps[0].tensor_cycles or 0.0) / CORES / self.sms,
        )
        cycles = lines(about, 38, (1.0 if self.narrow else 0.38) * self.area.width, 4, color=self.theme.quiet)
        if self.narrow:
            cycles.next_to(self.bars, UP, px(24), aligned_edge=LEFT)
        else:
            cycles.move_to([self.area.right, self.bars.get_bottom()[1], 0], RIGHT + DOWN)
        picture = VGroup(self.bars, cycles)
        room = self.area.top - self.floor - px(30)
        picture.scale(min(1.0, room / picture.height))
        picture.move_to([self.area.left, self.floor + px(12), 0], DOWN + LEFT)
        self.say("All multiply for the same number of clock cycles. Only the waiting gets shorter.")
        self.play(FadeIn(self.bars, cycles), *self.key(*self.two_parts()))
        self.leave(self.bars, cycles)


def first_tiles(run: Trace) -> np.ndarray:
    """The spans of the first tiles of one processor, counted from its first multiplication."""
    spans = run.spans[run.spans["sm"] == 0]
    spans = spans[np.argsort(spans["issue"])][:TILES].copy()
    first = spans["start"][0]
    for name in ("issue", "start", "drain", "done"):
        spans[name] -= first
    return spans


def bars(kind: str, spans: np.ndarray, begin: str, end: str) -> list[Bar]:
    """Bars of a kind, from one stamp of each tile to another."""
    return [Bar(kind, *ends) for ends in spans[[begin, end]].tolist()]


def cores(spans: np.ndarray) -> list[Bar]:
    """What tensor cores do during some tiles: they multiply, and wait in between."""
    busy = bars("multiply", spans, "start", "drain")
    return busy + [Bar("pause", one.end, two.start) for one, two in pairwise(busy)]
