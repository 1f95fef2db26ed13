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
from tilesim_scenes.kit.amounts import Amount, Amounts
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, lines, px
from tilesim_scenes.look.theme import Colour, ink_on, theme_now
from tilesim_scenes.mobjects.drawing.quads import EMPTY, quad, rectangle, shape, stroke_width
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Loop unrolling",
    "question": "Is an unrolled loop faster because it runs fewer instructions?",
    "finding": (
        "On an H200, the unrolled loop is 5.4 times as fast if it loads eight numbers at once, without "
        "checks in between. Fewer instructions alone gain 1%."
    ),
    "part": "Kernels",
    "place": 220,
    "seconds": 75,
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
        self.at_once, self.unchecked = rate("together", LOADS), rate("together", 1)
        self.guard(abs(self.unchecked / self.plain - 1) < 0.01, "dropping the check alone gains nothing")
        counts = [
            row(measured, loads="one by one", factor=factor, warps=1, n=few)["issued"] * 32 / few
            for factor in (1, LOADS)
        ]
        self.counts = [3 + OWN, 3 + OWN / LOADS]
        self.guard(bool(np.allclose(counts, self.counts, rtol=0.03)), "three instructions handle a number")
        self.gained = round(self.by_one) / round(self.plain) - 1
        self.guard(0 < self.gained < 0.05, "fewer instructions alone gain hardly anything")
        self.guard(self.at_once > 4 * self.by_one, "loads at once gain much")
        alone = [rate(loads, LOADS, 1) for loads in ("one by one", "together")]
        self.guard(
            alone[1] / alone[0] > 1.2 * self.at_once / self.by_one, "the gain is larger with fewer threads"
        )
        self.alone = alone
        self.latency = round(MemorySystem.named("h200").dram_latency.cycles)
        self.one_by_one = flights(LOADS, 1, self.latency)
        self.together = flights(LOADS, LOADS, self.latency)
        self.modeled = float(self.one_by_one["used"][-1] / self.together["used"][-1])

    def construct(self) -> None:
        self.blue = self.theme.by_phase["multiply"]
        self.names = (
            tr("eight at once, no check"),
            tr("eight, one by one"),
            tr("one per round, no check"),
            tr("one per round"),
        )
        self.ask("To unroll a loop is to let one round do the work of several.")
        self.eight_rounds()
        self.one_round()
        self.hardly_faster()
        self.eight_waits()
        self.one_wait()
        self.much_faster()
        self.close(
            "On an H200, the unrolled loop is {times:.1f} times as fast if it loads eight numbers at once, "
            "without checks in between. Fewer instructions alone gain {gained:.0%}.",
            [(self.names[0], self.at_once), (self.names[1], self.by_one)],
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
        head = self.word(
            "Check: if a number is negative, the next one is not loaded. Here, none is negative.",
            40,
            theme.text,
        )
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
        wide = OWN * self.wide - px(80)
        counts = [
            lines(text, 50, wide, bold=True)
            for text in (
                tr("{all} instructions per number", all=self.counts[0]),
                tr(
                    "{all} / {loads} = {count:.2f} instructions per number",
                    all=round(self.counts[1] * LOADS), loads=LOADS, count=self.counts[1],
                ),
            )
        ]  # fmt: skip
        self.say(
            "Six further instructions per round do nothing but keep the loop going. "
            "Unrolling saves most of them."
        )
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
        self.say(
            "That leaves {few:.2f} instructions per number instead of {many}. Is the loop faster?",
            few=self.counts[1],
            many=self.counts[0],
        )
        self.play(FadeIn(both[0]))
        self.play(FadeIn(arrow, both[1]))
        self.wait(1.0)
        self.leave(both, arrow)

    def chart(self, rows: list[tuple[str, float]], left: float) -> Amounts:
        """Bars from `left` to the right margin."""
        if self.narrow:
            left = self.area.left
        amounts = [
            Amount(name, [(rate, self.theme.measured)], tr("{rate:,.0f} GB/s", rate=rate))
            for name, rate in rows
        ]
        bars = Amounts(amounts, self.area.right - left, bar=76, gap=30)
        return bars.move_to([left, self.place(3, 0)[1] - 0.5 * self.high, 0], LEFT)

    @property
    def beside(self) -> list[Mobject]:
        """The instructions, which make way where a chart has no room beside them."""
        return [self.loads, self.checks, self.adds, self.own[-1], self.head]

    def hardly_faster(self) -> None:
        left = self.place(0, 3)[0] - 0.5 * self.wide + px(40)
        bars = self.chart([(self.names[1], self.by_one), (self.names[3], self.plain)], left)
        self.badge(self.measured())
        self.say(
            "Hardly: on a whole GPU, it adds up only {gained:.0%} more numbers per second.",
            gained=self.gained,
        )
        if self.narrow:
            self.play(*map(Leave, self.beside))
        self.play(bars.come(), run_time=2.6)
        self.leave(bars)
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

    def sum_of(self, text: str, waits: Waits) -> Mobject:
        """How long a round takes, and of what that is the sum."""
        cycles = round(float(waits.loads["used"][-1]))
        figures = {"latency": self.latency, "step": round(RESULT), "cycles": cycles, "others": LOADS - 1}
        return label(
            tr(text, loads=LOADS, **figures), 50 if not self.narrow else 34, self.theme.text, bold=True
        )

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
        adds = Entry(tr("checks and adds it: {cycles:.0f} cycles, drawn wider", cycles=RESULT), [self.blue])
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
        total = self.sum_of("{loads} × ({latency} + {step}) = {cycles:,} cycles", slow)
        total.move_to(slow.ground.get_corner(UP + RIGHT) + 0.7 * self.high * DOWN, RIGHT)
        if self.narrow:
            total.move_to(slow.ground.get_corner(DOWN + LEFT) + 0.5 * self.high * UP, LEFT)
        self.long = VGroup(first, total)
        self.play(FadeIn(total))

    def one_wait(self) -> None:
        """Without checks, all loads leave one right after another."""
        quick = self.waits(self.together)
        self.say("Now we drop the checks. Then all eight loads can start before the first addition.")
        crosses = VGroup(
            *(
                Line(one.get_left(), one.get_right()).set_stroke(
                    ManimColor(self.theme.wait_text), stroke_width(8)
                )
                for one in self.checks
            )
        )
        self.play(Leave(self.slow), Leave(self.long), LaggedStart(*map(Create, crosses), lag_ratio=0.1))
        self.play(*(FadeOut(one, shift=px(40) * UP) for one in (*self.checks, *crosses)))
        order = self.word("first all loads, then all additions", 40, self.theme.text)
        order.move_to([self.area.left, self.area.top - px(24), 0], LEFT)
        adds = Entry(tr("adds it: {cycles:.0f} cycles, drawn wider", cycles=RESULT), [self.blue])
        changes = self.key(self.waits_entry, adds)
        hidden = [] if self.narrow else [Leave(self.head), FadeIn(order)]
        self.play(self.adds.animate(run_time=0.8).shift(self.wide * LEFT), *hidden, *changes)
        self.head = order
        end = float(self.together["used"][-1])
        self.add(quick)
        self.say(
            "Their waits overlap, and eight numbers take {quick:,.0f} cycles instead of {slow:,.0f}.",
            quick=end,
            slow=float(self.one_by_one["used"][-1]),
        )
        self.play(PlayTrace(quick, until=end, run_time=2.4))
        left = quick.x(end) + px(40)
        quotient = tr(
            "{slow:,.0f} / {quick:.0f} = {times:.1f} times as fast",
            slow=float(self.one_by_one["used"][-1]), quick=end, times=self.modeled,
        )  # fmt: skip
        short = VGroup(
            self.sum_of("{others} × {step} + {latency} + {step} = {cycles} cycles", quick),
            lines(quotient, 50 if not self.narrow else 34, self.area.right - left),
        ).arrange(DOWN, buff=px(40), aligned_edge=LEFT)
        short.scale(min(1.0, (self.area.right - left) / short.width))
        short.move_to([left, quick.ground.get_y(), 0], LEFT)
        self.play(FadeIn(short))
        self.leave(quick, short, self.axis, self.loads, self.adds, *([] if self.narrow else [self.head]))

    def much_faster(self) -> None:
        """All loops on the whole GPU, and the unrolled ones with fewer threads."""
        rates = self.at_once, self.by_one, self.unchecked, self.plain
        charts = [
            self.chart(list(zip(self.names, rates, strict=True)), self.area.left),
            self.chart(list(zip(self.names, self.alone[::-1], strict=False)), self.area.left),
        ]
        pictures = []
        for chart, warps in zip(charts, (WARPS, 1), strict=True):
            title = self.word("{threads} threads on each processor", 50, self.theme.text, threads=32 * warps)
            picture = VGroup(title, chart).arrange(DOWN, buff=px(40), aligned_edge=LEFT)
            picture.scale(min(1.0, self.area.height / picture.height))
            picture.move_to([self.area.left, self.area.center[1], 0], LEFT)
            pictures.append(picture)
        self.badge(self.measured())
        self.say(
            "On a whole GPU, eight at once are {times:.1f} times as fast, not {model:.1f} as in the model.",
            times=round(self.at_once) / round(self.by_one),
            model=self.modeled,
        )
        self.play(FadeIn(pictures[0][0]), *self.key())
        self.play(charts[0].come(), run_time=4.0)
        self.leave(pictures[0])
        slow, quick = (round(rate) for rate in self.alone)
        self.say(
            "With fewer threads, fewer loads queue for memory, and the gain is {times:.1f} times.",
            times=quick / slow,
        )
        self.play(FadeIn(pictures[1][0]))
        self.play(charts[1].come(), run_time=3.0)
        self.leave(pictures[1])


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
                begin = min(come / self.until, used / self.until - least)
                adding.append(quad(self.ground, begin, used / self.until, low, high))
        self.waiting.points = np.concatenate(waiting) if waiting else EMPTY
        self.adding.points = np.concatenate(adding) if adding else EMPTY
        return self
