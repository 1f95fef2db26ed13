"""Loop unrolling: is an unrolled loop faster because it runs fewer instructions?

manim render scenes/loop_unrolling.py

Three loops that add up numbers from memory: one number per round, eight per round that are loaded one after
another, and eight per round that are all loaded before the first is checked.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, FadeIn, FadeOut, LaggedStart, Mobject, VGroup

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
        "On an H200, fewer instructions save 2% of a loop’s time. "
        "Loading eight numbers before checking them saves another 86%."
    ),
    "part": "Kernels",
    "place": 220,
    "seconds": 70,
    "shows": "A loop with eight loads per round, one after another and all at the beginning.",
    "takes": "report",
}

LOADS, OWN = 8, 6
"""Numbers per round of the unrolled loop; instructions of a round that only keep the loop going."""
BYTES, LANES, STEP = 4, 32, round(RESULT)
"""Of a number; threads on each processor, a warp; and cycles from an instruction to its result."""


class LoopUnrolling(Lesson):
    """One number per round, eight one by one, eight that are loaded first."""

    def prepare(self) -> None:
        measured = self.report("loop_unrolling")
        self.gpu, self.sms = measured["machine"]["gpu"], measured["sms"]
        self.guard("H200" in self.gpu, "the loop ran on an H200")
        self.n = max(one["n"] for one in measured["rows"])
        few = min(one["n"] for one in measured["rows"])

        def cycles(loads: str, factor: int) -> float:
            """Of the SMs' clock, in which each thread adds LOADS numbers."""
            found = row(measured, loads=loads, factor=factor, warps=1, n=self.n)
            return BYTES * LOADS * LANES * self.sms / found["gb_per_s"] * found["sm_mhz"] / 1000

        def count(loads: str, factor: int) -> float:
            """Instructions per number."""
            return row(measured, loads=loads, factor=factor, warps=1, n=few)["issued"] * LANES / few

        self.plain, self.by_one = cycles("one by one", 1), cycles("one by one", LOADS)
        self.first = cycles("checked after", LOADS)
        self.many, self.few = 3 + OWN, 3 + OWN / LOADS
        counts = [count("one by one", 1), count("one by one", LOADS), count("checked after", LOADS)]
        expected = self.many, self.few, self.few
        self.guard(bool(np.allclose(counts, expected, rtol=0.05)), "three instructions handle a number")
        self.saved = 1 - round(self.by_one) / round(self.plain)
        self.guard(0 < self.saved < 0.05, "fewer instructions alone gain hardly anything")
        self.guard(self.by_one > 4 * self.first, "loading all numbers first gains much")
        self.less = 1 - round(self.first) / round(self.by_one)
        self.latency = round(MemorySystem.named("h200").dram_latency.cycles)
        self.one_by_one = flights(LOADS, 1, self.latency)
        self.together = flights(LOADS, LOADS, self.latency)
        self.slow, self.quick = (float(one["used"][-1]) for one in (self.one_by_one, self.together))
        close = 0.95 < self.slow / self.by_one < 1 and 0.85 < self.quick / self.first < 1
        self.guard(close, "the model takes a little less time than the GPU")

    def construct(self) -> None:
        self.names = tr("one per round"), tr("eight per round"), tr("eight, all loaded first")
        self.ask("To unroll a loop is to let one round do the work of several.")
        self.eight_rounds()
        self.one_round()
        self.hardly_faster()
        self.eight_waits()
        self.one_wait()
        self.much_faster()
        self.close(
            "On an H200, fewer instructions save {saved:.0%} of a loop’s time. "
            "Loading eight numbers before checking them saves another {less:.0%}.",
            [(self.names[1], self.by_one), (self.names[2], self.first)],
            "less time",
            "{:,.0f} " + tr("cycles"),
            self.measured(),
            self.tr(
                "sum of {count:,.0f} million numbers, {threads} threads on each processor of the GPU",
                count=self.n / 1e6, threads=LANES,
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
        self.head = self.heading("eight rounds of the loop; here, no number is negative")
        self.badge(Badge(tr("schematic"), "model"))
        self.say(
            "A GPU thread adds up numbers until one is negative. "
            "Each round loads a number, checks it, and adds it."
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
        self.say("Six further instructions per round only keep the loop going. Unrolling saves most of them.")
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

    def chart(self, amounts: dict[str, float], left: float) -> tuple[Mobject, Amounts]:
        """Bars of measured cycles from `left` to the right margin, and what stands above them."""
        if self.narrow:
            left = self.area.left
        room = self.area.right - left
        head = self.word("clock cycles that a thread takes for eight numbers", 44, self.theme.text)
        rows = [
            Amount(name, [(cycles, self.theme.measured)], f"{cycles:,.0f}")
            for name, cycles in amounts.items()
        ]
        bars = Amounts(rows, room, bar=76, gap=30)
        picture = VGroup(fit(head, room), bars).arrange(DOWN, buff=px(40), aligned_edge=LEFT)
        fit(picture, room, (LOADS - (len(rows) < 3)) * self.high)
        picture.move_to([left, self.place(3, 0)[1], 0], LEFT)
        return head, bars

    @property
    def beside(self) -> list[Mobject]:
        """The instructions, which make way where a chart has no room beside them."""
        return [self.fetches, self.checks, self.adds, self.own[-1], self.head]

    def hardly_faster(self) -> None:
        left = self.place(0, 3)[0] - 0.5 * self.wide + px(40)
        head, bars = self.chart({self.names[0]: self.plain, self.names[1]: self.by_one}, left)
        self.badge(self.measured())
        self.say(
            "Hardly. With {threads} threads on each of a GPU’s processors, "
            "it takes only {saved:.0%} less time.",
            threads=LANES,
        )
        if self.narrow:
            self.play(*map(Leave, self.beside))
        self.play(FadeIn(head, run_time=0.3), bars.come().set_run_time(2.6))
        self.leave(head, bars)
        if self.narrow:
            self.play(*(Fade(one, 0.0, 1.0) for one in self.beside))

    # What a thread waits for.

    def waits(self, loads: np.ndarray) -> Waits:
        """The waits of eight loads, each in the row of its instruction."""
        left = self.place(0, 3)[0] + px(10)
        ground = rectangle(self.area.right - px(20) - left, LOADS * self.high)
        ground.move_to([left, self.place(0, 0)[1] + 0.5 * self.high, 0], LEFT + UP)
        ground.align_to([left, 0, 0], LEFT)
        return Waits(loads, self.slow, ground)

    @property
    def size(self) -> float:
        """Pixels of how long a round takes, and of what that is the sum."""
        return 50 if not self.narrow else 28

    def eight_waits(self) -> None:
        """Each load leaves once the number before has been checked."""
        theme = self.theme
        self.play(Leave(self.own[-1], run_time=0.4))
        rows = self.waits(self.one_by_one)
        axis = self.word("time of one thread, in cycles of the GPU’s clock →", 36)
        axis.move_to([rows.ground.get_left()[0], self.area.top - px(24), 0], LEFT)
        if self.narrow:
            fit(axis, rows.ground.width).align_to(rows.ground, RIGHT)
            self.play(Leave(self.head))
        waits = self.waits_entry = Entry(tr("waits for its number"), [theme.by_phase["first load"]])
        adds = Entry(tr("checks and adds it: {cycles:.0f} cycles, drawn wider", cycles=RESULT), [self.hue])
        key = self.key(waits, adds)
        self.badge(Badge(tr("model, from measured times"), "model"))
        self.say(
            "A number takes {cycles:.0f} cycles to arrive. "
            "The next load waits until that number has been checked.",
            cycles=self.latency,
        )
        self.play(FadeIn(axis), *key)
        self.add(rows)
        self.play(PlayTrace(rows, until=self.latency, run_time=1.6))
        first = self.word("{cycles:.0f} cycles", 40, theme.text, cycles=self.latency)
        first.next_to([rows.x(self.latency), self.place(0, 0)[1], 0], RIGHT, px(24))
        self.play(PlayTrace(rows, until=2.3 * self.latency, run_time=2.2), FadeIn(first, run_time=0.3))
        self.say("So eight numbers cost eight waits, and the instructions in between hardly matter.")
        self.play(PlayTrace(rows, until=self.slow, run_time=2.2))
        sum_of = f"{LOADS} × ({self.latency} + {STEP}) = " + tr("{cycles:,.0f} cycles", cycles=self.slow)
        total = VGroup(
            label(sum_of, self.size, theme.text, bold=True),
            self.word("measured: {cycles:,.0f}", self.size, cycles=self.by_one),
        ).arrange(DOWN, buff=px(16), aligned_edge=RIGHT if not self.narrow else LEFT)
        total.move_to(rows.ground.get_corner(UP + RIGHT) + 1.1 * self.high * DOWN, RIGHT + UP)
        if self.narrow:
            total.move_to(rows.ground.get_corner(DOWN + LEFT) + 0.1 * self.high * UP, LEFT + DOWN)
        self.play(FadeIn(total))
        self.axis, self.long = axis, (rows, VGroup(first, total))

    def one_wait(self) -> None:
        """With the checks behind them, all loads leave one right after another."""
        rows = self.waits(self.together)
        self.say(
            "Loading a few numbers beyond a negative one does no harm. "
            "So all eight loads come first, then checks and additions."
        )
        self.play(*map(Leave, self.long))
        if not self.narrow:
            self.play(Leave(self.head))
        later = VGroup(self.checks, self.adds)
        self.play(later.animate(run_time=1.2).shift(0.25 * self.wide * RIGHT))
        first, then = self.word("first", 40, self.theme.text), self.word("then", 40, self.theme.text)
        for word, column in ((first, self.fetches), (then, later)):
            word.move_to([column.get_x(), self.area.top - px(24), 0])
        self.play(FadeIn(first), FadeIn(then))
        self.add(rows)
        self.say("Their waits overlap, and eight numbers take {quick:,.0f} cycles instead of {slow:,.0f}.")
        self.play(PlayTrace(rows, until=self.quick, run_time=2.4))
        left = rows.x(self.quick) + px(40)
        room, sum_of = self.area.right - left, f"{LOADS - 1} × {STEP} + {self.latency} + {STEP} = "
        sum_of += tr("{cycles:,.0f} cycles", cycles=self.quick)
        short = VGroup(
            self.word("Loads start {step} cycles apart.", self.size, self.theme.text, step=STEP),
            label(sum_of, self.size, self.theme.text, bold=True),
            self.word("measured: {cycles:,.0f}", self.size, cycles=self.first),
        ).arrange(DOWN, buff=px(40), aligned_edge=LEFT)
        fit(short, room).move_to([left, rows.ground.get_y(), 0], LEFT)
        self.play(FadeIn(short))
        self.leave(rows, short, self.axis, self.fetches, later, first, then)

    def much_faster(self) -> None:
        """All loops on the whole GPU."""
        rates = (self.plain, self.by_one, self.first)
        head, bars = self.chart(dict(zip(self.names, rates, strict=True)), self.area.left)
        self.badge(self.measured())
        self.say("The same loads, checks and additions in another order take {less:.0%} less time.")
        self.play(FadeIn(head), *self.key())
        self.play(bars.come(), run_time=2.8)
        self.leave(head, bars)


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
