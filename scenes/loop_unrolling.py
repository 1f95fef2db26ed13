"""Loop unrolling: is an unrolled loop faster because it runs fewer instructions?

manim render scenes/loop_unrolling.py

Three loops that add up numbers from memory: one number per round, eight per round that are loaded one after
another, and eight per round that are loaded at once.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from manim import (
    DOWN,
    LEFT,
    RIGHT,
    UP,
    Create,
    FadeIn,
    FadeOut,
    LaggedStart,
    Line,
    ManimColor,
    Mobject,
    VGroup,
)

from tilesim.analysis.memory_system import MemorySystem
from tilesim.ideas.loop_unrolling import RESULT, flights
from tilesim.ladder.reports import row
from tilesim_scenes.animations.fade import Fade, Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.film.settings import REPORT
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, lines, px
from tilesim_scenes.look.theme import Colour, ink_on, theme_now
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.drawing.quads import EMPTY, quad, rectangle, shape, stroke_width
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Loop unrolling",
    "question": "Is an unrolled loop faster because it runs fewer instructions?",
    "part": "Kernels",
    "place": 220,
    "seconds": 72,
    "shows": "A loop with eight loads per round, one after another and at once.",
    "takes": "report",
}

LOADS, OWN = 8, 6
"""Numbers per round of the unrolled loop; instructions of a round that only keep the loop going."""
WARPS = 8


class LoopUnrolling(Lesson):
    """One number per round, eight one by one, eight at once."""

    asked = REPORT

    def prepare(self) -> None:
        measured = self.report("loop_unrolling")
        self.gpu = measured["machine"]["gpu"]
        self.n = max(one["n"] for one in measured["rows"])
        few = min(one["n"] for one in measured["rows"])

        def rate(loads: str, factor: int, warps: int = WARPS) -> float:
            return row(measured, loads=loads, factor=factor, warps=warps, n=self.n)["gb_per_s"]

        self.plain, self.by_one = rate("one by one", 1), rate("one by one", LOADS)
        self.at_once = rate("together", LOADS)
        self.counts = [
            row(measured, loads="one by one", factor=factor, warps=1, n=few)["issued"] * 32 / few
            for factor in (1, LOADS)
        ]
        expected = [3 + OWN, 3 + OWN / LOADS]
        self.guard(bool(np.allclose(self.counts, expected, rtol=0.03)), "three instructions handle a number")
        self.gained = round(self.by_one) / round(self.plain) - 1
        self.guard(0 < self.gained < 0.05, "fewer instructions alone gain hardly anything")
        self.guard(self.at_once > 4 * self.by_one, "loads at once gain much")
        alone = [rate(loads, LOADS, 1) for loads in ("one by one", "together")]
        self.guard(
            alone[1] / alone[0] > 1.2 * self.at_once / self.by_one, "the gain is larger with fewer threads"
        )
        self.alone = [round(one, 1) for one in alone]
        self.latency = MemorySystem.named("h200").dram_latency.cycles
        self.one_by_one = flights(LOADS, 1, self.latency)
        self.together = flights(LOADS, LOADS, self.latency)

    def construct(self) -> None:
        self.blue = self.theme.by_phase["multiply"]
        self.ask("A loop is unrolled if one round of it does the work of several rounds.")
        self.eight_rounds()
        self.one_round()
        self.hardly_faster()
        self.eight_waits()
        self.one_wait()
        self.much_faster()
        self.close(
            "On an H200, eight loads at once make the unrolled loop {times:.1f} times as fast. "
            "Fewer instructions alone gain {gained:.0%}.",
            [(tr("eight loads at once"), self.at_once), (tr("eight loads, one by one"), self.by_one)],
            "times",
            "{:,.0f} GB/s",
            self.measured(),
            tr(
                "sum of {count:,.0f} million numbers, {threads} threads on each processor of the GPU",
                count=self.n / 1e6,
                threads=32 * WARPS,
            ),
            gained=self.gained,
        )

    def measured(self) -> Badge:
        return Badge(tr("measured on {gpu}", gpu=self.gpu), "measured")

    # What a thread runs.

    def box(self, text: str, fill: Colour) -> VGroup:
        """An instruction."""
        block = rectangle(0.92 * self.wide, 0.8 * self.high, fill)
        word = label(text, 34 if not self.narrow else 26, ink_on(fill), bold=True)
        word.scale(min(1.0, 0.94 * block.width / word.width))
        return VGroup(block, word)

    def eight_rounds(self) -> None:
        """Eight rounds of the loop, a row each: three instructions for the number, six for the loop."""
        area, theme = self.area, self.theme
        self.wide, self.high = (
            area.width / (3 + OWN),
            (area.height - px(140 if not self.narrow else 200)) / LOADS,
        )
        load, blue = theme.by_phase["first load"], self.blue
        self.loads, self.checks, self.adds, self.own = (VGroup() for _ in range(4))
        for n in range(LOADS):
            made = [
                self.box(tr("load"), load), self.box(tr("check"), theme.operand), self.box(tr("add"), blue),
                *(self.box(tr("loop"), theme.hand_over) for _ in range(OWN)),
            ]  # fmt: skip
            for column, one in enumerate(made):
                one.move_to(self.place(n, column))
            self.loads.add(made[0])
            self.checks.add(made[1])
            self.adds.add(made[2])
            self.own.add(VGroup(*made[3:]))
        head = self.word("Each row is one round. The check: is the number at least 0?", 40, theme.text)
        head.move_to([area.left, area.top - px(24), 0], LEFT)
        self.badge(Badge(tr("schematic"), "model"))
        self.say("Thousands of GPU threads run this loop. Each round loads a number, checks it, and adds it.")
        rounds = [VGroup(self.loads[n], self.checks[n], self.adds[n], self.own[n]) for n in range(LOADS)]
        self.play(FadeIn(head), LaggedStart(*map(FadeIn, rounds), lag_ratio=0.6, run_time=4.0))
        self.head = head

    def place(self, line: int, column: int) -> np.ndarray:
        """Where an instruction stands."""
        area = self.area
        top = area.top - px(70)
        return np.array([area.left + (column + 0.5) * self.wide, top - (line + 0.5) * self.high, 0])

    def one_round(self) -> None:
        """The loop's own instructions of seven rounds fall away."""
        counts = [lines(
            tr("{count:.1f} instructions per number", count=count), 50, OWN * self.wide - px(80), bold=True
        ) for count in self.counts]  # fmt: skip
        self.say("Per round, six more instructions only run the loop. Unrolling saves most of them.")
        self.play(*(self.own[n].animate(run_time=0.5).set_opacity(1) for n in range(LOADS)))
        marks = VGroup(*(one[0].copy() for group in self.own for one in group))
        marks.set_fill(opacity=0).set_stroke(ManimColor(self.theme.text), stroke_width(4))
        self.play(Fade(marks, 0.0, 1.0, run_time=0.6))
        self.play(Leave(marks), run_time=0.6)
        gone = self.own[:-1]
        self.play(*(FadeOut(one, shift=px(60) * RIGHT) for one in gone), run_time=1.2)
        new = self.word("one round with eight numbers", 40, self.theme.text)
        new.move_to([self.area.left, self.area.top - px(24), 0], LEFT)
        self.play(Leave(self.head), FadeIn(new))
        self.head = new
        middle = self.place(2, 3)[0] + (OWN - 1) / 2 * self.wide
        both = VGroup(*counts).arrange(DOWN, buff=px(90)).move_to([middle, self.place(3, 0)[1], 0])
        arrow = label("↓", 60).move_to((both[0].get_bottom() + both[1].get_top()) / 2)
        self.badge(Badge(tr("counted on {gpu}", gpu=self.gpu), "counted"))
        self.say(
            "That leaves {few:.1f} instructions per number instead of {many:.1f}. Is the loop faster?",
            few=self.counts[1],
            many=self.counts[0],
        )
        self.play(FadeIn(both[0]))
        self.play(FadeIn(arrow, both[1]))
        self.wait(1.0)
        self.leave(both, arrow)

    def chart(self, rows: list[tuple[str, float]]) -> Bars:
        """Bars beside the instructions."""
        left = self.place(0, 3)[0] - 0.5 * self.wide + px(40)
        wide = self.area.right - left
        if self.narrow:
            left, wide = self.area.left, self.area.width
        size = 46 if not self.narrow else 34
        bars = Bars([(name, rate, "measured") for name, rate in rows], "GB/s", wide, px(160), size, "{:,.0f}")
        return bars.move_to([left + wide / 2, self.place(3, 0)[1] + 0.5 * self.high, 0])

    @property
    def beside(self) -> list[Mobject]:
        """The instructions, which make way where a chart has no room beside them."""
        return [self.loads, self.checks, self.adds, self.own[-1], self.head]

    def hardly_faster(self) -> None:
        bars = self.chart([(tr("one number per round"), self.plain), (tr("eight, one by one"), self.by_one)])
        self.badge(self.measured())
        self.say(
            "Hardly: on a whole GPU, it adds up only {gained:.0%} more numbers per second.",
            gained=self.gained,
        )
        if self.narrow:
            self.play(*map(Leave, self.beside))
        self.play(bars.grow(run_time=2.0))
        self.wait(1.2)
        self._let_read()
        self.play(*map(Leave, bars.rows))
        if self.narrow:
            self.play(*(Fade(one, 0.0, 1.0) for one in self.beside))

    # What a thread waits for.

    def waits(self, loads: np.ndarray) -> Waits:
        """The waits of eight loads, each in the row of its instruction."""
        left = self.place(0, 3)[0] - 0.5 * self.wide + px(30)
        ground = rectangle(self.area.right - px(20) - left, LOADS * self.high)
        ground.move_to([left, self.place(0, 0)[1] + 0.5 * self.high, 0], LEFT + UP)
        ground.align_to([left, 0, 0], LEFT)
        return Waits(loads, float(self.one_by_one["used"][-1]), ground)

    def time_of(self, waits: Waits, place: np.ndarray, side: np.ndarray) -> Mobject:
        """How long a round takes."""
        cycles = float(waits.loads["used"][-1])
        word = self.word(
            "{cycles:,.0f} cycles", 56 if not self.narrow else 40, self.theme.text, bold=True, cycles=cycles
        )
        return word.move_to(place, side)

    def eight_waits(self) -> None:
        """Each load leaves once the number before has been checked."""
        theme = self.theme
        self.play(Leave(self.own[-1], run_time=0.4))
        slow = self.slow = self.waits(self.one_by_one)
        axis = self.word("time in cycles of the GPU’s clock →", 36)
        axis.move_to([slow.ground.get_left()[0], self.area.top - px(24), 0], LEFT)
        if self.narrow:
            axis.scale(min(1.0, slow.ground.width / axis.width)).align_to(slow.ground, RIGHT)
            self.play(Leave(self.head))
        self.axis = axis
        waits = self.waits_entry = Entry(tr("waits for its number"), [theme.by_phase["first load"]])
        adds = Entry(tr("checks and adds it: {cycles:.0f} cycles", cycles=RESULT), [self.blue])
        key = self.key(waits, adds)
        self.badge(Badge(tr("model of one thread"), "model"))
        self.say(
            "A number arrives after {cycles:.0f} cycles. The next load waits until it has been checked.",
            cycles=self.latency,
        )
        self.play(FadeIn(axis), *key)
        self.add(slow)
        self.play(PlayTrace(slow, until=self.latency, run_time=1.6))
        first = self.word("{cycles:.0f} cycles", 40, self.theme.text, cycles=self.latency)
        first.next_to([slow.x(self.latency), self.place(0, 0)[1], 0], RIGHT, px(24))
        self.play(PlayTrace(slow, until=2.3 * self.latency, run_time=2.2), FadeIn(first, run_time=0.3))
        self.say("So eight numbers cost eight waits, and the instructions in between hardly matter.")
        end = float(self.one_by_one["used"][-1])
        self.play(PlayTrace(slow, until=end, run_time=3.0))
        corner = slow.ground.get_corner(UP + RIGHT) + 0.7 * self.high * DOWN
        self.long = VGroup(first, self.time_of(slow, corner, RIGHT))
        self.play(FadeIn(self.long[1]))
        self.wait(1.4)

    def one_wait(self) -> None:
        """Without checks, all loads leave one right after another."""
        quick = self.waits(self.together)
        self.say("Suppose no number needs a check. Then all eight loads can start before the first addition.")
        self.play(
            Leave(self.slow), Leave(self.long), *(FadeOut(one, shift=px(40) * UP) for one in self.checks)
        )
        order = self.word("first all loads, then all additions", 40, self.theme.text)
        order.move_to([self.area.left, self.area.top - px(24), 0], LEFT)
        adds = Entry(tr("adds it: {cycles:.0f} cycles", cycles=RESULT), [self.blue])
        changes = self.key(self.waits_entry, adds)
        hidden = [] if self.narrow else [Leave(self.head), FadeIn(order)]
        self.play(self.adds.animate(run_time=0.8).shift(self.wide * LEFT), *hidden, *changes)
        self.head = order
        arrows = VGroup()
        for column in (self.loads, self.adds):
            top, low = column[0].get_top(), column[-1].get_bottom()
            arrow = Line(top, low, stroke_width=stroke_width(6), stroke_color=ManimColor(self.theme.text))
            arrow.shift(0.44 * self.wide * LEFT).add_tip(tip_length=px(28), tip_width=px(24))
            arrows.add(arrow)
        for arrow in arrows:
            self.play(Create(arrow, run_time=0.6))
        end = float(self.together["used"][-1])
        self.add(quick)
        self.say(
            "Their waits overlap, and eight numbers take {quick:,.0f} cycles instead of {slow:,.0f}.",
            quick=end,
            slow=float(self.one_by_one["used"][-1]),
        )
        self.play(PlayTrace(quick, until=end, run_time=2.4))
        start = quick.x(end) + px(40)
        short = self.time_of(quick, np.array([start, quick.ground.get_y(), 0]), LEFT)
        self.play(FadeIn(short))
        self.wait(1.2)
        self._let_read()
        self.play(*map(Leave, (quick, short, self.axis)), *self.key())
        self.arrows = arrows

    def much_faster(self) -> None:
        """All three loops on the whole GPU."""
        if self.narrow:
            self.play(*map(Leave, (self.loads, self.adds, self.arrows)))
        bars = self.chart(
            [
                (tr("one number per round"), self.plain),
                (tr("eight, one by one"), self.by_one),
                (tr("eight at once"), self.at_once),
            ]
        )
        words = tr(
            "{few} threads on each processor, not {many}: {slow:.1f} and {quick:.1f} GB/s, {times:.1f} times",
            few=32,
            many=32 * WARPS,
            slow=self.alone[0],
            quick=self.alone[1],
            times=self.alone[1] / self.alone[0],
        )
        note = lines(words, 40, bars.width, color=self.theme.text)
        note.next_to(bars, DOWN, px(50))
        self.badge(self.measured())
        self.say(
            "On the whole GPU, the rate rises from {slow:,.0f} to {quick:,.0f} gigabytes per second.",
            slow=self.by_one,
            quick=self.at_once,
        )
        self.play(bars.grow(run_time=2.6))
        self.wait(0.8)
        self.say("With fewer threads, fewer loads queue for memory, and the gain is even larger.")
        self.play(FadeIn(note))
        self.wait(1.6)
        self.leave(*bars.rows, note)


class Waits(VGroup):
    """A row for each load: a bar while its number is on the way, and the addition at its end.

    `loads`: FLIGHT of `tilesim.ideas.loop_unrolling`. `until`: cycles at the right edge of the `ground`.
    """

    def __init__(self, loads: np.ndarray, until: float, ground: Mobject) -> None:
        theme = theme_now()
        self.loads, self.until, self.ground, self.t = loads, until, ground, 0.0
        self.waiting, self.adding = shape(theme.by_phase["first load"]), shape(theme.by_phase["multiply"])
        super().__init__(self.waiting, self.adding)
        self.show(0.0)

    def x(self, t: float) -> float:
        """Where an instant is."""
        return float(self.ground.get_left()[0] + t / self.until * self.ground.width)

    def show(self, t: float) -> Self:
        """Look as at `t`, cycles."""
        self.t = t
        waiting, adding = [], []
        least = px(8) / self.ground.width
        for number, (left, come, used) in enumerate(self.loads.tolist()):
            low, high = 1 - (number + 0.86) / len(self.loads), 1 - (number + 0.14) / len(self.loads)
            if t > left:
                waiting.append(quad(self.ground, left / self.until, min(t, come) / self.until, low, high))
            if t >= used:
                end = come / self.until + max(least, (used - come) / self.until)
                adding.append(quad(self.ground, come / self.until, end, low, high))
        self.waiting.points = np.concatenate(waiting) if waiting else EMPTY
        self.adding.points = np.concatenate(adding) if adding else EMPTY
        return self
