"""Loop unrolling: is an unrolled loop faster because it runs fewer instructions?

manim render scenes/loop_unrolling.py

Three loops that add up numbers from memory: one number per round, eight per round that are loaded one after
another, and eight per round that are all loaded before the first is checked.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, LaggedStart, Mobject, VGroup

from tilesim.analysis.memory_system import MemorySystem
from tilesim.ideas.loop_unrolling import flights
from tilesim.ladder.reports import row
from tilesim_scenes.animations.fade import Fade, FadeIn, FadeOut, Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.kit.amounts import Amount, Amounts
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, label, lines, px
from tilesim_scenes.look.theme import Colour, ink_on, theme_now
from tilesim_scenes.mobjects.drawing.quads import EMPTY, quad, rectangle, shape
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Loop unrolling",
    "question": "Is an unrolled loop faster because it runs fewer instructions?",
    "finding": (
        "No: on an H200, fewer instructions save only 2% of this loop’s time. "
        "Loading eight numbers before checking them cuts it to about a seventh."
    ),
    "part": "Kernels",
    "place": 220,
    "seconds": 72,
    "shows": "A loop with eight loads per round, one after another and all at the beginning.",
    "takes": "report",
}

LOADS = 8
"""Numbers per round of the unrolled loop."""
CODE = "x = numbers[i]", "if x < 0: break", "total += x"
"""What a round does with its number, in Python."""
BYTES, LANES = 4, 32
"""Of a number; and threads on each processor, a warp."""


class LoopUnrolling(Lesson):
    """One number per round, eight one by one, eight that are loaded first."""

    def prepare(self) -> None:
        measured = self.report("loop_unrolling")
        self.gpu, self.sms = measured["machine"]["gpu"], measured["sms"]
        self.guard("H200" in self.gpu, "the loop ran on an H200")
        self.n = max(one["n"] for one in measured["rows"])
        few = min(one["n"] for one in measured["rows"])

        def cycles(loads: str, factor: int) -> int:
            """Of the SMs' clock, in which each thread adds LOADS numbers."""
            found = row(measured, loads=loads, factor=factor, warps=1, n=self.n)
            return round(BYTES * LOADS * LANES * self.sms / found["gb_per_s"] * found["sm_mhz"] / 1000)

        def count(loads: str, factor: int) -> float:
            """Instructions per number."""
            return row(measured, loads=loads, factor=factor, warps=1, n=few)["issued"] * LANES / few

        self.plain, self.by_one = cycles("one by one", 1), cycles("one by one", LOADS)
        self.first = cycles("checked after", LOADS)
        # The compiler's: two copies of the address, the next one, a count, its comparison and a branch.
        self.keep = [tr("address")] * 3 + [tr("count"), tr("done?"), tr("branch")]
        self.many, self.few = 3 + len(self.keep), 3 + len(self.keep) / LOADS
        loops = ("one by one", 1), ("one by one", LOADS), ("checked after", LOADS)
        self.counts = [count(*loop) for loop in loops]
        expected = self.many, self.few, self.few
        self.guard(bool(np.allclose(self.counts, expected, rtol=0.05)), "three instructions handle a number")
        self.saved = 1 - self.by_one / self.plain
        self.guard(0 < self.saved < 0.05, "fewer instructions alone gain hardly anything")
        self.guard(self.by_one > 4 * self.first, "loading all numbers first gains much")
        self.latency = round(MemorySystem.named("h200").dram_latency.cycles)
        # What each loop takes besides its waits.
        self.rests = self.by_one - LOADS * self.latency, self.first - self.latency
        close = 0 < self.rests[0] < 0.05 * self.by_one and 0 < self.rests[1] < 0.15 * self.first
        self.guard(close, "the waits take a little less time than the loop")
        self.one_by_one = flights(LOADS, 1, self.latency, self.rests[0] / LOADS)
        self.together = flights(LOADS, LOADS, self.latency, self.rests[1] / LOADS)
        self.guard(6.5 < self.by_one / self.first < 7.5, "the time falls to a seventh")

    def construct(self) -> None:
        self.names = tr("one per round"), tr("eight per round"), tr("eight, all loaded first")
        self.conditions = self.tr(
            "sum of {count:,.0f} million numbers, {threads} threads (one warp) on each processor of the GPU",
            count=self.n / 1e6, threads=LANES,
        )  # fmt: skip
        self.ask("Unrolling a loop means that one round does the work of several.")
        self.eight_rounds()
        self.one_round()
        self.hardly_faster()
        self.eight_waits()
        self.one_wait()
        self.close(
            "No: on an H200, fewer instructions save only {saved:.0%} of this loop’s time. "
            "Loading eight numbers before checking them cuts it to about a seventh.",
            [(self.names[1], self.by_one), (self.names[2], self.first)],
            "less time",
            "{:,.0f} " + tr("cycles"),
            self.measured(),
            self.conditions,
        )

    # What a thread runs.

    def box(self, text: str, fill: Colour) -> VGroup:
        """An instruction."""
        block = rectangle(0.92 * self.wide, 0.8 * self.high, fill)
        word = label(text, 34 if not self.narrow else 26, ink_on(fill), bold=True)
        return VGroup(block, fit(word, 0.94 * block.width))

    def eight_rounds(self) -> None:
        """Eight rounds of the loop, a row each. The first one's come from lines of code."""
        area, theme = self.area, self.theme
        self.wide = area.width / self.many
        self.high = (area.height - px(140 if not self.narrow else 200)) / LOADS
        kinds = (
            (tr("load"), theme.by_phase["first load"]),
            (tr("check"), theme.operand),
            (tr("add"), self.hue),
            *((word, theme.hand_over) for word in self.keep),
        )
        rounds = [
            [self.box(*kind).move_to(self.place(n, column)) for column, kind in enumerate(kinds)]
            for n in range(LOADS)
        ]
        self.fetches, self.checks, self.adds, *own = (VGroup(*each) for each in zip(*rounds, strict=True))
        self.own = VGroup(*(VGroup(*each) for each in zip(*own, strict=True)))
        code = VGroup(*(label(line, 72, mono=True) for line in CODE))
        code.arrange(DOWN, buff=px(70), aligned_edge=LEFT).move_to([area.center[0], self.place(3, 0)[1], 0])
        home = [box.get_center() for box in rounds[0][:3]]
        for box, line in zip(rounds[0], code, strict=False):
            box.move_to([code.get_left()[0] - px(60), line.get_y(), 0], RIGHT)
        self.head = self.heading("eight rounds of the loop; here, no number is negative")
        self.badge(Badge(tr("schematic"), "model"))
        self.say(
            "A GPU thread adds up numbers until one is negative. "
            "Each round loads a number, checks it, and adds it."
        )
        lines_come = (FadeIn(box, line) for box, line in zip(rounds[0], code, strict=False))
        self.play(LaggedStart(*lines_come, lag_ratio=0.8, run_time=3.4))
        fly = (box.animate.move_to(place) for box, place in zip(rounds[0], home, strict=False))
        self.play(*fly, Leave(code), FadeIn(self.head), run_time=1.0)
        self.play(LaggedStart(*(FadeIn(*each[:3]) for each in rounds[1:]), lag_ratio=0.6, run_time=2.4))

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
        both = VGroup(*(lines(text, 50, len(self.keep) * self.wide - px(80), bold=True) for text in texts))
        self.say(
            "Six more instructions only keep the loop going: "
            "they find the next address, count the rounds, and branch."
        )
        self.play(LaggedStart(*map(FadeIn, self.own), lag_ratio=0.6, run_time=2.4))
        self.say(
            "Unrolled, each round handles eight numbers. "
            "That leaves {few:.2f} instructions per number instead of {many}."
        )
        self.play(*(FadeOut(one, shift=px(60) * RIGHT) for one in self.own[:-1]), run_time=1.2)
        old, self.head = self.head, self.heading("one round with eight numbers")
        self.play(Leave(old), FadeIn(self.head))
        middle = self.place(2, 3)[0] + (len(self.keep) - 1) / 2 * self.wide
        both.arrange(DOWN, buff=px(90)).move_to([middle, self.place(3, 0)[1], 0])
        arrow = label("↓", 60).move_to((both[0].get_bottom() + both[1].get_top()) / 2)
        self.play(FadeIn(both[0]))
        self.play(FadeIn(arrow, both[1]))
        self.leave(both, arrow)

    def chart(self) -> tuple[Mobject, Amounts, Mobject]:
        """Bars of the first two loops' cycles, right of the instructions, and what stands above and below."""
        left = self.place(0, 2)[0] + 0.5 * self.wide + px(40) if not self.narrow else self.area.left
        room = self.area.right - left
        head = self.word("clock cycles that a thread takes for eight numbers", 44, self.theme.text)
        rows = [
            Amount(name, [(cycles, self.theme.measured)], f"{cycles:,.0f}")
            for name, cycles in zip(self.names, (self.plain, self.by_one), strict=False)
        ]
        bars = Amounts(rows, room, bar=76, gap=30)
        foot = lines(self.conditions, 36 if not self.narrow else 44, room, color=self.theme.quiet)
        picture = VGroup(fit(head, room), bars, foot).arrange(DOWN, buff=px(40), aligned_edge=LEFT)
        fit(picture, room, (LOADS - 1.3) * self.high)
        picture.move_to([left, self.place(3, 0)[1], 0], LEFT)
        return head, bars, foot

    @property
    def beside(self) -> list[Mobject]:
        """The instructions, which make way where a chart has no room beside them."""
        return [self.fetches, self.checks, self.adds, self.own[-1], self.head]

    def hardly_faster(self) -> None:
        head, bars, foot = self.chart()
        self.badge(self.measured())
        self.say("But the unrolled loop takes only {saved:.0%} less time.")
        if self.narrow:
            self.play(*map(Leave, self.beside))
        self.play(FadeIn(head, foot, run_time=0.3), bars.come().set_run_time(2.6))
        self.leave(head, bars, foot)
        if self.narrow:
            self.play(*(Fade(one, 0.0, 1.0) for one in self.beside))

    # What a thread waits for.

    def waits(self, loads: np.ndarray) -> Waits:
        """The waits of eight loads, each in the row of its instruction."""
        left = self.place(0, 3)[0] + px(10)
        ground = rectangle(self.area.right - px(20) - left, LOADS * self.high)
        ground.move_to([left, self.place(0, 0)[1] + 0.5 * self.high, 0], LEFT + UP)
        ground.align_to([left, 0, 0], LEFT)
        return Waits(loads, self.by_one, ground)

    def took(self, cycles: int, waits: str, rest: int, count: float, edge: np.ndarray) -> VGroup:
        """The cycles that eight numbers took, what they consist of, and the instructions per number."""
        size = 60 if not self.narrow else 36
        return VGroup(
            self.bold("{cycles:,.0f} cycles", size, cycles=cycles),
            self.word("{waits} waiting + {rest} for the rest", 0.7 * size, waits=waits, rest=rest),
            self.word("about {count:.0f} instructions per number", 0.7 * size, self.theme.text, count=count),
        ).arrange(DOWN, buff=px(16), aligned_edge=edge)

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
        waits = Entry(tr("waits for its number"), [theme.by_phase["first load"]])
        adds = Entry(tr("the rest: checks it, adds it and so on (drawn wider)"), [self.hue])
        key = self.key(waits, adds)
        self.badge(Badge(tr("model, from measured times"), "model"))
        self.say(
            "A number takes {cycles:.0f} cycles to arrive. "
            "As written, the code checks it before loading the next one.",
            cycles=self.latency,
        )
        self.play(FadeIn(axis), *key)
        self.add(rows)
        self.play(PlayTrace(rows, until=self.latency, run_time=1.6))
        first = self.word("{cycles:.0f} cycles", 40, theme.text, cycles=self.latency)
        first.next_to([rows.x(self.latency), self.place(0, 0)[1], 0], RIGHT, px(24))
        self.play(PlayTrace(rows, until=2.3 * self.latency, run_time=2.2), FadeIn(first, run_time=0.3))
        self.say("So eight numbers cost eight waits, and the instructions in between hardly matter.")
        self.play(PlayTrace(rows, until=self.by_one, run_time=2.2))
        eight = f"{LOADS} × {self.latency}"
        self.total = self.took(self.by_one, eight, self.rests[0], self.counts[1], RIGHT)
        low = self.high * DOWN if self.tall else 0.0
        self.total.move_to(rows.ground.get_corner(UP + RIGHT) + low, RIGHT + UP)
        self.play(FadeIn(self.total[:2]))
        self.long = rows

    def one_wait(self) -> None:
        """With the checks behind them, all loads leave one right after another."""
        rows = self.waits(self.together)
        self.say(
            "If one is negative, we can throw away those after it. "
            "So we load all eight first, then check and add."
        )
        self.play(Fade(self.long, 1.0, 0.35))
        if not self.narrow:
            self.play(Leave(self.head))
        later = VGroup(self.checks, self.adds)
        self.play(later.animate(run_time=1.2).shift(0.25 * self.wide * RIGHT))
        first, then = self.word("first", 40, self.theme.text), self.word("then", 40, self.theme.text)
        for word, column in ((first, self.fetches), (then, later)):
            word.move_to([column.get_x(), self.area.top - px(24), 0])
        self.play(FadeIn(first), FadeIn(then))
        self.add(rows)
        self.say(
            "A thread waits only when it uses a number, so the waits overlap: "
            "{short:,.0f} cycles, not {long:,.0f}.",
            short=self.first, long=self.by_one,
        )  # fmt: skip
        self.play(PlayTrace(rows, until=self.first, run_time=2.4))
        total = self.took(self.first, str(self.latency), self.rests[1], self.counts[2], LEFT)
        total.move_to([rows.x(self.first) + px(20), rows.ground.get_bottom()[1], 0], LEFT + DOWN)
        self.play(FadeIn(total[:2]))
        self.say(
            "Both unrolled loops run about the same number of instructions. "
            "What saves time is that the waits overlap."
        )
        self.play(FadeIn(self.total[2], total[2]))


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
