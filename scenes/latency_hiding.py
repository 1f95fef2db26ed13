"""Latency hiding: why does a GPU need so many threads?

manim render scenes/latency_hiding.py

y = a * x + y with 1, 4 and 16 warps on each SM: while one warp waits for memory, others ask. Questions and
answers are those of one SM, as recorded.
"""

from collections.abc import Sequence
from typing import Self

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Dot, LaggedStart, ManimColor, Mobject, VGroup

from tilesim.analysis.memory_system import MemorySystem
from tilesim.ladder.reports import row
from tilesim_scenes.animations.fade import Fade, FadeIn, FadeOut, Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, label, lines, px
from tilesim_scenes.look.theme import theme_now
from tilesim_scenes.mobjects.charts.plot import Plot, line
from tilesim_scenes.mobjects.drawing.quads import EMPTY, quad, rectangle, rounded, shape
from tilesim_scenes.mobjects.hardware.memory import SM
from tilesim_scenes.mobjects.hardware.thread_block import Warp
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Latency hiding",
    "question": "Why does a GPU need so many threads?",
    "finding": (
        "On an H200, 16 warps per SM move 9.2 times as much data as one warp, because their waits overlap."
    ),
    "part": "Hiding waits",
    "place": 90,
    "seconds": 79,
    "shows": "Warps that wait for memory while others ask it, from 1 to 32 on each SM.",
    "takes": "report",
}

STEPS = (1, 4, 16, 32)
"""Warps on each SM that are spoken of."""
WINDOW = 4400
"""Cycles of each run that are shown."""
CELLS = 12
"""How many numbers of x and of y are drawn."""


class LatencyHiding(Lesson):
    """1, 4 and 16 warps on each SM, then every number of warps."""

    def prepare(self) -> None:
        measured = self.report("latency_hiding")
        self.gpu, self.sms = measured["machine"]["gpu"], measured["sms"]
        found = [one for one in measured["rows"] if one["sms"] == self.sms]
        self.threads, self.few = 16 * 32 * self.sms, 32 * self.sms
        # In a round, each of a warp's 32 threads reads 16 bytes of x and of y, and writes 16.
        kb = 32 * 3 * 16 / 1000
        self.rates = {one["warps"]: one["bytes_per_clock"] / kb for one in found}
        self.cycles = {warps: 1000 * warps / rate for warps, rate in self.rates.items()}
        self.alone = {n: row(measured, sms=1, warps=n)["bytes_per_clock"] / kb for n in range(1, 17)}
        memory = MemorySystem.named("h200")
        cycle = memory.dram_latency.ns / memory.dram_latency.cycles
        self.guard(0.45 < cycle < 0.55, "a cycle takes about half a nanosecond")
        self.tb = memory.read_gb_per_s["DRAM"] / 1000
        self.most = 1000 * self.tb * cycle / self.sms / kb
        self.guard(set(STEPS) <= set(self.rates), "1, 4, 16 and 32 warps were measured")
        self.recorded = {}
        for warps in STEPS[:3]:
            lanes = row({"rows": measured["lanes"]}, sms=self.sms, warps=warps)
            asked, came = (np.array(lanes[name], float) for name in ("asked", "came"))
            # One warp's first wait is longer than its later ones; with more, all have asked from here on.
            begin = asked[0, 1] if warps == 1 else asked[:, 0].max()
            self.recorded[warps] = asked - begin, came - begin
        rates, cycles = self.rates, self.cycles
        asked, came = self.recorded[1]
        between = float((asked[:, 1:] - came[:, :-1]).mean())
        self.guard(between < 0.15 * cycles[1], "a warp waits most of the time")
        self.guard(rates[4] > 3.8 * rates[1], "four warps complete nearly four times as many rounds")
        self.gain, self.longer = round(rates[16], 2) / round(rates[1], 2), cycles[16] / cycles[1]
        self.guard(self.gain > 8 > 2 > self.longer > 1.5, "16 warps do much more and take somewhat longer")
        self.apart, self.together = self.alone[16], rates[16]
        self.guard(self.apart > 1.3 * self.together, "16 warps do much more on one SM alone")
        self.guard(0.9 < rates[32] / self.most < 1, "memory is nearly full")
        self.more = rates[32] / rates[16] - 1
        little = 0.1 < self.more < 0.2 and cycles[32] > 1.5 * cycles[16]
        self.guard(little, "32 warps bring little more than 16")

    def construct(self) -> None:
        self.ask("A thread runs the program for one piece of the data.")
        self.the_program()
        self.one_warp()
        self.four_warps()
        self.sixteen_warps()
        self.all_numbers()
        self.close(
            "On an H200, 16 warps per SM move {times:.1f} times as much data as one warp, "
            "because their waits overlap.",
            [
                (self.tr("16 warps per SM: {threads:,} threads"), self.rates[16]),
                (self.tr("1 warp per SM: {few:,} threads"), self.rates[1]),
            ],
            "times",
            "{:.2f} " + tr("rounds"),
            self.measured(),
            self.tr("rounds in 1,000 cycles on each of {sms} SMs; each round moves the same amount of data"),
        )

    # The program.

    def the_program(self) -> None:
        """Numbers of x and y come down into the formula, and the new y goes back."""
        area = self.area
        step = min(px(130), area.width / (CELLS + 1.5))
        strips = VGroup()
        for name in ("x", "y"):
            cells = VGroup(*(rectangle(0.86 * step, 0.7 * step, self.theme.hand_over) for _ in range(CELLS)))
            cells.arrange(RIGHT, buff=0.14 * step)
            strips.add(VGroup(label(name, 60, bold=True, mono=True), cells).arrange(RIGHT, buff=px(40)))
        strips.arrange(DOWN, buff=px(30))
        formula = label("y = a * x + y", 84, bold=True, mono=True)
        whole = VGroup(strips, formula).arrange(DOWN, buff=px(130))
        name = self.word("millions of numbers in memory", 46, self.theme.text).next_to(strips, UP, px(24))
        VGroup(whole, name).move_to(area.center)
        self.badge(Badge(tr("schematic"), "model"))
        self.say("This program computes y = a · x + y for long lists of numbers in memory.")
        self.play(FadeIn(strips, name), FadeIn(formula))
        # Above y, x and y of the formula, which has 13 letters.
        above, letter = formula.get_left() + px(90) * UP, formula.width / 13 * RIGHT
        for number in range(3):
            pair = [strip[1][number].copy().set_fill(ManimColor(self.theme.operand)) for strip in strips]
            self.add(*pair)
            ways = [[above + 8.5 * letter], [above + 12.5 * letter]]
            self.play(Travel(pair, ways, [[0.6], [0.6]], leg=0.7, apart=0.0))
            self.remove(pair[0])
            new, home = pair[1].move_to(above + 0.5 * letter), strips[1][1][number]
            self.play(Travel([new], [[home.get_center()]], [[home.width / new.width]], leg=0.7))
            home.match_style(new)
            self.remove(new)
        self.program = strips, formula, name

    # The SM, the road to memory, lanes, and a table.

    def capsules(self, warps: int) -> VGroup:
        """So many warps inside the SM's box."""
        box = self.sm.box
        columns = 1 if warps <= 4 else 2
        spacing = (0.8 if columns == 1 else 0.4) * box.width / 33
        group = VGroup(*(Warp(spacing=spacing, colour=self.theme.operand) for _ in range(warps)))
        group.arrange_in_grid(cols=columns, buff=(px(16), px(5)))
        return fit(group, np.inf, box.height - px(96)).move_to(box.get_center() + px(30) * DOWN)

    def the_road(self) -> VGroup:
        """An SM on the left, memory on the right, and the road between them."""
        area = self.area
        self.table_height = px(200 if self.tall else 170)
        side, high = 0.27 * area.width, px(210 if not self.narrow else 190 if self.tall else 140)
        self.sm = SM(tr("SM"), self.theme.quiet, side, high, 42)
        self.sm.box.move_to([area.left + side / 2, area.top - high / 2, 0])
        self.sm.heading.move_to(self.sm.box.get_corner(LEFT + UP) + px(24) * RIGHT + px(36) * DOWN, LEFT)
        memory = rounded(0.2 * area.width, high, px(20), self.theme.operand, 4, self.theme.idle)
        memory.move_to([area.right - 0.1 * area.width, area.top - high / 2, 0])
        name = self.bold("memory").move_to(memory)
        self.road = rectangle(memory.get_left()[0] - side - area.left - px(40), 0.62 * high, self.theme.idle)
        self.road.move_to([(memory.get_left()[0] + area.left + side) / 2, self.sm.box.get_y(), 0])
        out = self.word("a warp asks for x and y →", 36).next_to(self.road, UP, px(4), aligned_edge=LEFT)
        back = self.word("← numbers", 36).next_to(self.road, DOWN, px(4), aligned_edge=RIGHT)
        return VGroup(self.sm, memory, name, self.road, out, back)

    def rounds(self, warps: int) -> "Rounds":
        """The lanes of a run, below the road, and above their axis."""
        area = self.area
        top = self.sm.box.get_bottom()[1] - px(40)
        self.low = self.floor + px(100) + (self.table_height if self.narrow else 0)
        wide = area.width if self.narrow else 0.62 * area.width
        lanes = Rounds(*self.recorded[warps], wide, top - self.low, self.road)
        lanes.lanes.shift([area.left + wide / 2, top, 0])
        return lanes.show(0.0)

    def row_of(self, warps: int) -> VGroup:
        """A row of the table: how many warps, cycles per round, and rounds per 1,000 cycles."""
        y = self.table_top - (STEPS.index(warps) + 0.5) * self.table_step
        cells = (f"{warps}", f"{self.cycles[warps]:,.0f}", f"{self.rates[warps]:.2f}")
        texts = VGroup()
        for cell, x in zip(cells, self.columns, strict=True):
            text = label(cell, 44 if not self.narrow else 28, bold=True, mono=True)
            texts.add(text.move_to([x, y, 0], RIGHT))
            # A comma reaches below the line.
            texts[-1].align_to(texts[0], UP)
        return texts

    def below(self, words: str) -> Mobject:
        """A note below the table."""
        size, wide, most = (34, 0.34, 2) if not self.narrow else (30, 1.0, 1)
        note = lines(words, size, wide * self.area.width, most, self.theme.text)
        low = self.row_of(STEPS[-1]).get_y() - px(24 if not self.narrow else 10)
        return note.move_to([self.area.right, low, 0], RIGHT)

    def heads(self) -> VGroup:
        """What the table's columns are."""
        area = self.area
        if self.narrow:
            left, top, size, high, foot = area.left, self.floor + self.table_height, 28, 64, 0
        else:
            left, top = area.left + 0.66 * area.width, self.sm.box.get_bottom()[1] - px(40)
            size, high, foot = 34, 100, 60
        wide = area.right - left
        self.columns = [left + share * wide for share in (0.22, 0.62, 1.0)]
        words = [tr("warps per SM"), tr("mean cycles a round"), tr("rounds in 1,000 cycles")]
        heads = VGroup(*(lines(word, size, 0.33 * wide, color=self.theme.quiet) for word in words))
        for head, x in zip(heads, self.columns, strict=True):
            head.move_to([x, 0, 0], RIGHT)
            # Lines end in letters that stand on the line.
            for number, one in enumerate(reversed(head)):
                one.shift((top - px(high - 28 - 1.25 * size * number) - one[-1].get_bottom()[1]) * UP)
        self.table_top = top - px(high)
        self.table_step = (self.table_top - self.floor - px(foot)) / len(STEPS)
        return heads

    # More and more warps.

    def one_warp(self) -> None:
        theme = self.theme
        key = self.key(
            Entry(tr("waits for memory"), [theme.wait_text]),
            Entry(tr("computes, stores and asks again"), [self.hue]),
        )
        self.say("A GPU has many processors, called SMs. First, each runs just 32 threads: one warp.")
        self.scenery = self.the_road()
        self.play(*map(Leave, self.program), FadeIn(self.scenery), *key)
        self.warps = self.capsules(1)
        name = fit(self.word("one warp: 32 threads", 36, theme.text), 0.97 * self.sm.box.width)
        name.next_to(self.warps, DOWN, px(14 if not self.narrow else 4))
        columns = 33 if not self.tall else 12
        step = self.area.width / columns
        all_sms = VGroup(*(rectangle(0.7 * step, 0.6 * step, theme.hand_over) for _ in range(self.sms)))
        all_sms.arrange_in_grid(cols=columns, buff=0.3 * step)
        all_sms[0].set_fill(ManimColor(theme.text))
        middle = (self.floor + self.sm.get_bottom()[1]) / 2
        all_sms.move_to([self.area.center[0], middle - px(30), 0])
        others = self.word("all {sms} SMs do the same; this is one of them", 40, theme.text)
        others.next_to(all_sms, UP, px(24)).align_to(all_sms, LEFT)
        self.play(FadeIn(self.warps, name))
        self.play(FadeIn(others), FadeIn(all_sms, lag_ratio=0.02, run_time=2.0))
        self.lanes = self.rounds(1)
        left, wide = self.area.left, self.lanes.lanes.width
        self.axis = VGroup()
        for cycles in range(0, WINDOW, 1000):
            tick = label(f"{cycles:,}", 30, theme.quiet)
            self.axis.add(tick.move_to([left + wide * cycles / WINDOW, self.low - px(14), 0], UP))
        self.axis[0].align_to(self.lanes.lanes, LEFT)
        unit = tr("time in cycles, about half a nanosecond each; from the middle of a run")
        unit = lines(unit, 32, wide, 1, theme.quiet)
        self.axis.add(unit.move_to([left, self.low - px(70), 0], LEFT))
        self.table = VGroup(self.heads(), self.row_of(1))
        self.badge(self.measured())
        self.say("The warp asks memory for x and y. Then it waits until they arrive.")
        self.play(Leave(others), Leave(all_sms), FadeIn(self.lanes.lanes), FadeIn(self.axis), run_time=0.5)
        self.add(self.lanes)
        self.play(PlayTrace(self.lanes, until=float(self.recorded[1][1][0, 1]), run_time=3.5))
        self.say(
            "It computes, stores y and asks again. "
            "On average, a round takes {takes:,.0f} cycles, mostly waiting.",
            takes=self.cycles[1],
        )
        self.play(PlayTrace(self.lanes, until=WINDOW, run_time=4.0), FadeIn(self.table[:2]))
        self.note = self.below(tr("rounds = 1,000 × warps / cycles"))
        self.play(FadeIn(self.note))
        self.leave(name)

    def come(self, warps: int, seconds: float) -> None:
        """More capsules come into the SM, each with its lane, and all of them run."""
        self.play(Leave(self.lanes), FadeOut(self.warps), run_time=0.4)
        self.lanes, self.warps = self.rounds(warps), self.capsules(warps)
        coming = (FadeIn(one, shift=px(60) * UP) for one in self.warps)
        self.play(LaggedStart(*coming, lag_ratio=0.1, run_time=1.0), FadeIn(self.lanes.lanes))
        self.add(self.lanes)
        self.play(PlayTrace(self.lanes, until=WINDOW, run_time=seconds))
        self.table.add(self.row_of(warps))

    def four_warps(self) -> None:
        self.say("Memory can serve many requests at once. So let us run four warps on each SM.")
        self.come(4, 4.5)
        self.say(
            "A round takes about as long as before, but together they complete nearly four times as many."
        )
        self.play(FadeIn(self.table[-1]))
        self.mark(self.table[1:3])

    def mark(self, rows: Sequence[Mobject]) -> None:
        """A frame around rows of the table that are compared, for a moment."""
        both = VGroup(*rows)
        frame = rounded(both.width + px(20), both.height + 0.25 * self.table_step, px(10), self.theme.text, 3)
        self.play(Fade(frame.move_to(both), 0.0, 1.0, run_time=0.6))
        self.wait(1.0)
        self.leave(frame)

    def sixteen_warps(self) -> None:
        self.say("While one of 16 warps waits, others go on. They hide its wait, which is called latency.")
        self.come(16, 4.0)
        all_threads = self.below(self.tr("16 warps × 32 threads × {sms} SMs = {threads:,} threads"))
        self.play(Leave(self.note), FadeIn(all_threads))
        self.say(
            "They complete {gain:.1f} times as many rounds as one warp, "
            "though a round takes {longer:.1f} times as long."
        )
        self.play(FadeIn(self.table[-1]))
        self.mark([self.table[1], self.table[3]])
        self.leave(all_threads)

    def all_numbers(self) -> None:
        """Rounds of every number of warps, on all SMs and on one alone, and what memory can send."""
        area, theme = self.area, self.theme
        # The key makes room.
        wide, low = self.lanes.lanes.width, self.floor - area.bottom
        down = low * DOWN if self.narrow else 0.0 * DOWN
        self.table_top += down[1]
        high = area.top - self.low + low - px(60)
        ticks = (1, 4, 8, 16, 24, 32), (5, 10, 15)
        plot = Plot((0, 33), (0, 1.08 * self.alone[16]), *ticks, wide - px(70), high, size=36)
        plot.align_to([area.left + wide, area.top - px(60), 0], RIGHT + UP)
        name = self.word("rounds in 1,000 cycles on each SM", 40, theme.text)
        name.move_to([area.left, area.top - px(24), 0], LEFT)
        axis = self.word("warps per SM →", 40, theme.text).next_to(plot, DOWN, px(20))
        axis.align_to(plot.ground, RIGHT)
        self.say("Why not 16 times? It is not the SM: one alone completes {apart:.2f} rounds with 16 warps.")
        leave = map(Leave, (self.scenery, self.warps, self.lanes, self.axis))
        move = self.table.animate.shift(down)
        self.play(*leave, *self.key(), move, Fade(plot, 0.0, 1.0, run_time=0.6), FadeIn(name, axis))
        drawn = VGroup()
        for found, size, color, words in (
            (self.rates, 11, theme.measured, self.word("all {sms} SMs: {together:.2f}", 38, theme.measured)),
            (self.alone, 8, theme.text, self.word("one SM alone: {apart:.2f}", 38, theme.text)),
        ):
            dots = VGroup(*(Dot(plot.at(*at), px(size), color=ManimColor(color)) for at in found.items()))
            dots[15].scale(1.7)
            words.next_to(dots[15], DOWN + RIGHT if found is self.rates else LEFT, px(20))
            self.play(LaggedStart(*map(FadeIn, dots), lag_ratio=0.15, run_time=1.6), FadeIn(words))
            drawn.add(dots, words)
        self.say("All SMs share one memory. Near its limit, doubling the warps to 32 adds only {more:.0%}.")
        limit = line(plot, np.array([[0, self.most], [33, self.most]]), theme.quiet)
        most = self.word("limit of memory: {tb:.1f} TB/s in all", 34, theme.text)
        most.next_to(limit, UP, px(8)).align_to(plot.ground, RIGHT)
        self.play(FadeIn(limit, most))
        self.table.add(self.row_of(32))
        self.play(FadeIn(self.table[-1]))
        self.mark(self.table[3:5])
        self.leave(plot, name, axis, drawn, limit, most, self.table)


class Rounds(VGroup):
    """A lane for each warp: a line while it waits, a box while it computes, stores and asks again.

    `asked`, `came`: cycles, [warps, requests]. On the `road`, from the SM's side to memory's and back, a dot
    travels for each request that is under way.
    """

    def __init__(
        self, asked: np.ndarray, came: np.ndarray, width: float, height: float, road: Mobject
    ) -> None:
        super().__init__()
        theme = theme_now()
        self.asked, self.came, self.road, self.t = asked, came, road, 0.0
        each = height / len(asked)
        self.lanes = VGroup(*(rectangle(width, min(0.74 * each, px(110)), theme.idle) for _ in asked))
        for number, lane in enumerate(self.lanes):
            lane.shift((0.5 + number) * each * DOWN)
        self.waits, self.works = shape(theme.wait_text), shape(theme.by_phase["multiply"])
        self.dots = VGroup(*(Dot(radius=px(13), color=ManimColor(theme.text)) for _ in asked))
        self.add(self.lanes, self.waits, self.works, self.dots)

    def show(self, t: float) -> Self:
        """Look as at `t`, cycles."""
        self.t = t
        waits, works = [], []
        for lane, asked, came, dot in zip(self.lanes, self.asked, self.came, self.dots, strict=True):
            thin = min(0.2, px(8) / lane.height) / 2
            kinds = (waits, asked, came, 0.5 - thin, 0.5 + thin), (works, came[:-1], asked[1:], 0.0, 1.0)
            for found, begins, ends, low, high in kinds:
                for begin, end in zip(begins.clip(0), ends.clip(None, t), strict=True):
                    if end > begin:
                        found.append(quad(lane, begin / WINDOW, end / WINDOW, low, high))
            self._travel(dot, asked, came)
        self.waits.points = np.concatenate([EMPTY, *waits])
        self.works.points = np.concatenate([EMPTY, *works])
        return self

    def _travel(self, dot: Dot, asked: np.ndarray, came: np.ndarray) -> None:
        """A request is half way when it reaches memory; its answer comes back on the other side."""
        under_way = np.flatnonzero((asked <= self.t) & (self.t < came))
        dot.set_fill(opacity=float(len(under_way) > 0 and self.t > 0))
        if len(under_way):
            begin, end = asked[under_way[0]], came[under_way[0]]
            share = 2 * (self.t - begin) / (end - begin)
            left, right = self.road.get_left()[0], self.road.get_right()[0]
            up = 0.25 if share < 1 else -0.25
            across = left + (1 - abs(1 - share)) * (right - left)
            dot.move_to([across, self.road.get_y() + up * self.road.height, 0])
