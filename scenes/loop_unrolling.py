"""Loop unrolling: is an unrolled loop faster because it runs fewer instructions?

manim render scenes/loop_unrolling.py

Three loops that add up numbers from memory: one number per round, eight per round that are loaded one after
another, and eight per round that are loaded at once.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Create, FadeIn, FadeOut, LaggedStart, Line, Mobject, VGroup

from tilesim.analysis.memory_system import MemorySystem
from tilesim.ideas.loop_unrolling import RESULT, flights
from tilesim.ladder.reports import row
from tilesim_scenes.animations.fade import Fade, Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.kit.amounts import Amount, Amounts
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, label, lines, px
from tilesim_scenes.look.theme import Colour, ink_on, theme_now
from tilesim_scenes.mobjects.drawing.quads import EMPTY, edged, quad, rectangle, shape
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Loop unrolling",
    "question": "Is an unrolled loop faster because it runs fewer instructions?",
    "finding": (
        "No: on an H200, fewer instructions alone gain 1%. The unrolled loop is 5.4 times as fast if it "
        "loads eight numbers at once, without checks in between."
    ),
    "part": "Kernels",
    "place": 220,
    "seconds": 81,
    "shows": "A loop with eight loads per round, one after another and at once.",
    "takes": "report",
}

LOADS, OWN = 8, 6
"""Numbers per round of the unrolled loop; instructions of a round that only keep the loop going."""
WARPS, STEP = 8, round(RESULT)
"""On each processor; and cycles from an instruction to its result."""


class LoopUnrolling(Lesson):
    """One number per round, eight one by one, eight at once."""

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
        self.many, self.few = 3 + OWN, 3 + OWN / LOADS
        expected = self.many, self.few
        self.guard(bool(np.allclose(counts, expected, rtol=0.03)), "three instructions handle a number")
        self.gained = round(self.by_one) / round(self.plain) - 1
        self.guard(0 < self.gained < 0.05, "fewer instructions alone gain hardly anything")
        self.guard(self.at_once > 4 * self.by_one, "loads at once gain much")
        self.alone = [rate(loads, LOADS, 1) for loads in ("together", "one by one")]
        more, gain = self.alone[0] / self.alone[1], self.at_once / self.by_one
        self.guard(more > 1.2 * gain, "the gain is larger with fewer threads")
        self.latency = round(MemorySystem.named("h200").dram_latency.cycles)
        self.one_by_one = flights(LOADS, 1, self.latency)
        self.together = flights(LOADS, LOADS, self.latency)
        self.slow, self.quick = (float(one["used"][-1]) for one in (self.one_by_one, self.together))
        self.modeled = self.slow / self.quick

    def construct(self) -> None:
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
            "No: on an H200, fewer instructions alone gain {gained:.0%}. The unrolled loop is {times:.1f} "
            "times as fast if it loads eight numbers at once, without checks in between.",
            [(self.names[0], self.at_once), (self.names[1], self.by_one)],
            "times",
            "{:,.0f} GB/s",
            self.measured(),
            self.tr(
                "sum of {count:,.0f} million numbers, {threads} threads on each processor of the GPU",
                count=self.n / 1e6, threads=32 * WARPS,
            ),
        )  # fmt: skip

    # What a thread runs.

    def box(self, text: str, fill: Colour) -> VGroup:
        """An instruction."""
        block = rectangle(0.92 * self.wide, 0.8 * self.high, fill)
        word = label(text, 34 if not self.narrow else 26, ink_on(fill), bold=True)
        return VGroup(block, fit(word, 0.94 * block.width))

    def eight_rounds(self) -> None:
        """Eight rounds of the loop, a row each: three instructions for the number, six for the loop."""
        area, theme = self.area, self.theme
        self.wide = area.width / (3 + OWN)
        self.high = (area.height - px(140 if not self.narrow else 200)) / LOADS
        kinds = (
            (tr("load"), theme.by_phase["first load"]),
            (tr("check"), theme.operand),
            (tr("add"), self.hue),
            *[(tr("loop"), theme.hand_over)] * OWN,
        )
        rounds = []
        for n in range(LOADS):
            boxes = [self.box(*kind).move_to(self.place(n, column)) for column, kind in enumerate(kinds)]
            rounds.append(VGroup(*boxes[:3], VGroup(*boxes[3:])))
        self.fetches, self.checks, self.adds, self.own = (VGroup(*each) for each in zip(*rounds, strict=True))
        self.head = self.heading(
            "Check: if a number is negative, the next one is not loaded. Here, none is negative."
        )
        self.badge(Badge(tr("schematic"), "model"))
        self.say(
            "Thousands of GPU threads run this loop. Each row is a round: load a number, check it, add it."
        )
        self.play(FadeIn(self.head), LaggedStart(*map(FadeIn, rounds), lag_ratio=0.6, run_time=4.0))

    def heading(self, text: str) -> Mobject:
        """What stands above the instructions."""
        place = [self.area.left, self.area.top - px(24), 0]
        return self.word(text, 40, self.theme.text).move_to(place, LEFT)

    def place(self, line: int, column: int) -> np.ndarray:
        """Where an instruction stands."""
        area = self.area
        top = area.top - px(70)
        return np.array([area.left + (column + 0.5) * self.wide, top - (line + 0.5) * self.high, 0])

    def one_round(self) -> None:
        """The loop's own instructions of seven rounds fall away."""
        texts = (
            tr("{all} instructions per number", all=self.many),
            tr("{all} / {loads} = {count:.2f} instructions per number",
                all=round(self.few * LOADS), loads=LOADS, count=self.few),
        )  # fmt: skip
        both = VGroup(*(lines(text, 50, OWN * self.wide - px(80), bold=True) for text in texts))
        self.say(
            "Six further instructions per round do nothing but keep the loop going. "
            "Unrolling saves most of them."
        )
        self.play(*(self.own[n].animate(run_time=0.5).set_opacity(1) for n in range(LOADS)))
        marks = VGroup(*(one[0].copy() for group in self.own for one in group))
        edged(marks.set_fill(opacity=0), self.theme.text, 4)
        self.play(Fade(marks, 0.0, 1.0, run_time=0.6))
        self.play(Leave(marks), run_time=0.6)
        self.play(*(FadeOut(one, shift=px(60) * RIGHT) for one in self.own[:-1]), run_time=1.2)
        old, self.head = self.head, self.heading("one round with eight numbers")
        self.play(Leave(old), FadeIn(self.head))
        middle = self.place(2, 3)[0] + (OWN - 1) / 2 * self.wide
        both.arrange(DOWN, buff=px(90)).move_to([middle, self.place(3, 0)[1], 0])
        arrow = label("↓", 60).move_to((both[0].get_bottom() + both[1].get_top()) / 2)
        self.say("That leaves {few:.2f} instructions per number instead of {many}. Is the loop faster?")
        self.play(FadeIn(both[0]))
        self.play(FadeIn(arrow, both[1]))
        self.wait(1.0)
        self.leave(both, arrow)

    def chart(self, rows: list[tuple[str, float]], left: float) -> Amounts:
        """Bars from `left` to the right margin."""
        if self.narrow:
            left = self.area.left
        color = self.theme.measured
        amounts = [Amount(name, [(rate, color)], tr("{rate:,.0f} GB/s", rate=rate)) for name, rate in rows]
        bars = Amounts(amounts, self.area.right - left, bar=76, gap=30)
        return bars.move_to([left, self.place(3, 0)[1] - 0.5 * self.high, 0], LEFT)

    @property
    def beside(self) -> list[Mobject]:
        """The instructions, which make way where a chart has no room beside them."""
        return [self.fetches, self.checks, self.adds, self.own[-1], self.head]

    def hardly_faster(self) -> None:
        left = self.place(0, 3)[0] - 0.5 * self.wide + px(40)
        bars = self.chart([(self.names[1], self.by_one), (self.names[3], self.plain)], left)
        self.badge(self.measured())
        self.say("Hardly. Measured on a whole GPU, it is only {gained:.0%} faster.")
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
        return Waits(loads, self.slow, ground)

    @property
    def size(self) -> float:
        """Pixels of how long a round takes, and of what that is the sum."""
        return 50 if not self.narrow else 34

    def eight_waits(self) -> None:
        """Each load leaves once the number before has been checked."""
        theme = self.theme
        self.play(Leave(self.own[-1], run_time=0.4))
        rows = self.waits(self.one_by_one)
        axis = self.word("time in cycles of the GPU’s clock →", 36)
        axis.move_to([rows.ground.get_left()[0], self.area.top - px(24), 0], LEFT)
        if self.narrow:
            fit(axis, rows.ground.width).align_to(rows.ground, RIGHT)
            self.play(Leave(self.head))
        waits = self.waits_entry = Entry(tr("waits for its number"), [theme.by_phase["first load"]])
        adds = Entry(tr("checks and adds it: {cycles:.0f} cycles, drawn wider", cycles=RESULT), [self.hue])
        key = self.key(waits, adds)
        self.badge(Badge(tr("model of one thread"), "model"))
        self.say(
            "A number arrives after {cycles:.0f} cycles. The next load waits until it has been checked.",
            cycles=self.latency,
        )
        self.play(FadeIn(axis), *key)
        self.add(rows)
        self.play(PlayTrace(rows, until=self.latency, run_time=1.6))
        first = self.word("{cycles:.0f} cycles", 40, theme.text, cycles=self.latency)
        first.next_to([rows.x(self.latency), self.place(0, 0)[1], 0], RIGHT, px(24))
        self.play(PlayTrace(rows, until=2.3 * self.latency, run_time=2.2), FadeIn(first, run_time=0.3))
        self.say("So eight numbers cost eight waits, and the instructions in between hardly matter.")
        self.play(PlayTrace(rows, until=self.slow, run_time=3.0))
        sum_of = f"{LOADS} × ({self.latency} + {STEP}) = " + tr("{cycles:,.0f} cycles", cycles=self.slow)
        total = label(sum_of, self.size, theme.text, bold=True)
        total.move_to(rows.ground.get_corner(UP + RIGHT) + 0.7 * self.high * DOWN, RIGHT)
        if self.narrow:
            total.move_to(rows.ground.get_corner(DOWN + LEFT) + 0.5 * self.high * UP, LEFT)
        self.play(FadeIn(total))
        self.axis, self.long = axis, (rows, VGroup(first, total))

    def one_wait(self) -> None:
        """Without checks, all loads leave one right after another."""
        rows = self.waits(self.together)
        self.say("No number is negative, so we drop the checks. Then all eight loads can start at once.")
        crosses = VGroup(*(Line(one.get_left(), one.get_right()) for one in self.checks))
        edged(crosses, self.theme.wait_text, 8)
        self.play(*map(Leave, self.long), LaggedStart(*map(Create, crosses), lag_ratio=0.1))
        self.play(*(FadeOut(one, shift=px(40) * UP) for one in (*self.checks, *crosses)))
        old, self.head = self.head, self.heading("first all loads, then all additions")
        adds = Entry(tr("adds it: {cycles:.0f} cycles, drawn wider", cycles=RESULT), [self.hue])
        changes = [*self.key(self.waits_entry, adds), self.adds.animate(run_time=0.8).shift(self.wide * LEFT)]
        if not self.narrow:
            changes += [Leave(old), FadeIn(self.head)]
        self.play(*changes)
        self.add(rows)
        self.say("Their waits overlap, and eight numbers take {quick:,.0f} cycles instead of {slow:,.0f}.")
        self.play(PlayTrace(rows, until=self.quick, run_time=2.4))
        left = rows.x(self.quick) + px(40)
        room, sum_of = self.area.right - left, f"{LOADS - 1} × {STEP} + {self.latency} + {STEP} = "
        sum_of += tr("{cycles:,.0f} cycles", cycles=self.quick)
        quotient = self.tr("{slow:,.0f} / {quick:.0f} = {times:.1f} times as fast", times=self.modeled)
        short = VGroup(
            self.word("Loads start {step} cycles apart.", self.size, self.theme.text, step=STEP),
            label(sum_of, self.size, self.theme.text, bold=True),
            lines(quotient, self.size, room),
        ).arrange(DOWN, buff=px(40), aligned_edge=LEFT)
        fit(short, room).move_to([left, rows.ground.get_y(), 0], LEFT)
        self.play(FadeIn(short))
        self.leave(rows, short, self.axis, self.fetches, self.adds, *([] if self.narrow else [self.head]))

    def much_faster(self) -> None:
        """All loops on the whole GPU, and the unrolled ones with fewer threads."""
        pictures = []
        for warps, rates in (
            (WARPS, (self.at_once, self.by_one, self.unchecked, self.plain)),
            (1, self.alone),
        ):
            chart = self.chart(list(zip(self.names, rates, strict=False)), self.area.left)
            title = self.word("{threads} threads on each processor", 50, self.theme.text, threads=32 * warps)
            picture = VGroup(title, chart).arrange(DOWN, buff=px(40), aligned_edge=LEFT)
            fit(picture, np.inf, self.area.height).move_to([self.area.left, self.area.center[1], 0], LEFT)
            pictures.append(picture)
        self.badge(self.measured())
        few, many = pictures[::-1]
        quick, slow = (round(rate) for rate in self.alone)
        self.say(
            "On a real GPU with {threads} threads on each processor, it is {times:.1f} times as fast.",
            threads=32,
            times=quick / slow,
        )
        self.play(FadeIn(few[0]), *self.key())
        self.play(few[1].come(), run_time=3.0)
        self.leave(few)
        self.say(
            "With {threads} threads, it is {times:.1f} times as fast. The model knows of only one thread.",
            threads=32 * WARPS,
            times=round(self.at_once) / round(self.by_one),
        )
        self.play(FadeIn(many[0]))
        self.play(many[1].come(0, 1), run_time=3.0)
        self.say(
            "Dropping the check alone gains nothing: each round still waits for its number before it adds."
        )
        self.play(many[1].come(2, 3), run_time=3.0)
        self.leave(many)


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
        self.waiting.points = np.concatenate([EMPTY, *waiting])
        self.adding.points = np.concatenate([EMPTY, *adding])
        return self
