"""Coalescing: does it matter which thread reads which number?

manim render scenes/coalescing.py

A table is added up by threads whose neighbors start side by side, and by threads whose neighbors start one
below another. One warp shows how many pieces of memory that takes, and tables of two, four and eight columns,
timed and counted on an H200, that time follows the pieces.
"""

from collections.abc import Sequence

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Create, LaggedStart, Line, ManimColor, Mobject, VGroup

from tilesim import Device
from tilesim.ideas.coalescing import SECTOR, WARP, moved, strided
from tilesim.ideas.memory_hierarchy import levels
from tilesim.ladder.reports import row
from tilesim_scenes.animations.fade import FadeIn, Leave
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.kit.amounts import Amount, Amounts
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, label, px
from tilesim_scenes.look.theme import Colour, mixed
from tilesim_scenes.mobjects.drawing.quads import edged, quad, rectangle, shape, strokes, uprights
from tilesim_scenes.mobjects.hardware.thread_block import Warp
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Coalescing",
    "question": "Does it matter which thread reads which number?",
    "finding": (
        "If neighboring threads read numbers one below another, an H200's memory sends 8 times as many "
        "bytes, and a sum takes 7.6 times as long."
    ),
    "part": "Memory",
    "place": 50,
    "seconds": 78,
    "shows": "One sum, by neighbors side by side and one below another: what memory sends, and the time.",
    "takes": "report",
}
COLUMNS, LOADS = 8, 8
"""Of the table that is read, and the numbers that a thread asks for before it adds them."""
SHOWN = 5
"""Rows of the table that are drawn."""
PIECES = 32
"""Pieces of memory that are drawn."""


class Coalescing(Lesson):
    """One sum in two ways; a warp, and the pieces of memory that it needs."""

    def prepare(self) -> None:
        report = self.report("strided_sum")
        self.gpu, self.cells, size = report["machine"]["gpu"], report["cells"], report["element"]
        self.guard("H200" in self.gpu, "the sum ran on an H200")
        # With one column, neighboring threads read neighboring numbers, as side by side in any table.
        self.cases = {columns: row(report, columns=columns, loads=LOADS) for columns in (1, 2, 4, COLUMNS)}
        along, down = self.cases[1], self.cases[COLUMNS]
        self.guard(len({one["sum"] for one in self.cases.values()}) == 1, "the sum is always the same")
        self.rows, self.bytes = self.cells // COLUMNS, self.cells * size
        self.each, self.below = SECTOR // size, self.rows // LOADS
        self.guard(self.each == COLUMNS, "a row of the table is one piece of memory")
        self.at_once = 2048 * Device.named("h200").sms
        self.guard(self.below > self.at_once, "the next column's threads run later")
        self.pieces = [moved(strided(size * columns), size).sectors for columns in (1, COLUMNS)]
        counted = [one["load_sectors"] / one["load_requests"] for one in (along, down)]
        self.guard(counted == self.pieces == [4, WARP], "a warp needs 4 or 32 pieces")
        for columns, one in self.cases.items():
            share = one["dram_read_bytes"] / columns / self.bytes
            self.guard(abs(share - 1) < 0.01, "memory sends the table as often as it has columns")
            slower = one["us"] / along["us"] / columns
            self.guard(0.9 < slower < 1.1, "the time grows nearly as much as the bytes")
        self.l2 = levels("h200")[2].size
        hits = down["l2_hit_sectors"] / down["l2_read_sectors"]
        self.guard(down["l2_read_sectors"] == COLUMNS * self.rows, "each column asks for every row's piece")
        self.guard(3 * self.l2 < self.bytes and hits < 0.01, "the cache cannot keep what is needed later")
        self.us = [float(f"{one['us']:.1f}") for one in (along, down)]
        self.times, self.mb = self.us[1] / self.us[0], self.bytes / 1e6

    def construct(self) -> None:
        self.waste = mixed(self.theme.background, self.theme.operand, 0.6)
        self.empty = mixed(self.theme.background, self.theme.operand, 0.28)
        self.used_or_not = Entry(tr("used"), [self.hue]), Entry(tr("sent, but not used"), [self.waste])
        self.ask("A GPU runs many copies of one program, called threads. Each has an index.")
        self.the_table()
        self.two_ways()
        self.slower()
        self.a_warp()
        self.side_by_side()
        self.one_below_another()
        self.too_large()
        self.other_tables()
        self.close(
            "If neighboring threads read numbers one below another, an H200's memory sends {each} times "
            "as many bytes, and a sum takes {times:.1f} times as long.",
            [(tr("one below another"), self.us[1]), (tr("side by side"), self.us[0])],
            "times",
            "{:.1f} µs",
            self.measured(),
            self.tr("{rows:,} rows of eight numbers of 4 bytes; each thread adds eight numbers"),
        )

    # The table, and who reads what.

    def cells_of(self, side: float, *fills: Colour) -> VGroup:
        """The first rows of the table, each of cells; rows take turns in their colors."""
        table = VGroup()
        for number in range(SHOWN):
            one = VGroup()
            for _ in range(COLUMNS):
                one.add(rectangle(0.92 * side, 0.92 * side, fills[number % len(fills)]))
            table.add(one.arrange(RIGHT, buff=0.08 * side))
        return table.arrange(DOWN, buff=0.08 * side)

    def the_table(self) -> None:
        """The table, whose rows then lie one after the other in memory."""
        area = self.area
        square = self.narrow and not self.tall
        side = px(40 if square else 76)
        table = self.cells_of(side, self.theme.operand, self.theme.hand_over)
        size = VGroup(
            self.bold("a table of 8 columns", 50),
            self.bold("and {rows:,} rows,", 50),
            self.word("of which five are drawn"),
            self.word("{mb:.0f} MB: each number has 4 bytes"),
        ).arrange(DOWN, buff=px(24), aligned_edge=LEFT)
        both = VGroup(table, size)
        both.arrange(DOWN, buff=px(30)) if self.narrow else both.arrange(RIGHT, buff=px(80))
        if square:
            size.scale(0.8).next_to(table, DOWN, px(20))
        both.move_to([area.center[0], area.top - px(20), 0], UP)
        self.badge(Badge(tr("schematic"), "model"))
        self.say("We let a GPU add up this table, which is stored row by row.")
        self.play(FadeIn(table, size, lag_ratio=0.05, run_time=0.8))
        small = area.width / COLUMNS / SHOWN
        level = area.bottom + px(60)
        for number, one in enumerate(table):
            one.generate_target()
            one.target.scale(small / side).move_to([area.left + (number + 0.5) * COLUMNS * small, level, 0])
        name = self.bold("memory").move_to([area.left, level + small / 2 + px(44), 0], LEFT)
        ways, copies = [[one.target.get_center()] for one in table], [one.copy() for one in table]
        self.play(FadeIn(name), Travel(copies, ways, [[small / side]] * SHOWN, leg=0.8, apart=0.25))
        self.leave(table, size, name, *copies)

    def two_ways(self) -> None:
        """Which thread starts at which cell, where neighbors are side by side and one below another."""
        area = self.area
        room = area.width if self.tall else (area.width - px(100)) / 2
        halves, lit = VGroup(), mixed(self.theme.background, self.hue, 0.5)
        ways = (
            (tr("neighbors side by side"), COLUMNS, self.tr("next row: thread {warp}", warp=WARP)),
            (tr("neighbors one below another"), 1, self.tr("next column: thread {below:,}")),
        )
        for name, wide, further in ways:
            table = self.cells_of(min(px(72), room / COLUMNS), self.empty)
            heading = fit(label(name, 52, bold=True), room).next_to(table, UP, 0)
            heading.align_to(table.get_top() + px(76) * UP, UP)
            edged(table, self.hue, 3)
            starts = VGroup()
            for index, cell in enumerate([cell for line in table for cell in line[:wide]][:WARP]):
                number = label(str(index), 36, bold=True).move_to(cell)
                starts.add(VGroup(cell.copy().set_fill(ManimColor(lit)), number))
            starts.add(fit(label(further, 38, self.theme.text), room).next_to(table, DOWN, px(16)))
            halves.add(VGroup(heading, table, starts))
        halves.arrange(DOWN if self.tall else RIGHT, buff=px(60 if self.tall else 100))
        about = VGroup(
            self.word("In a cell: the index of the thread that starts there.", 40, self.theme.text),
            self.word("It adds seven more numbers of its column, far below.", 40, self.theme.text),
        ).arrange(DOWN, buff=px(14))
        fit(about, area.width).move_to([area.center[0], area.bottom, 0], DOWN)
        halves.move_to([area.center[0], (area.top + about.get_top()[1]) / 2, 0])
        self.say("Threads with neighboring indexes start either side by side or one below another.")
        self.play(FadeIn(*(half[:2] for half in halves), about))
        self.play(*(LaggedStart(*map(FadeIn, half[2]), lag_ratio=0.08, run_time=2) for half in halves))
        self.leave(*halves, about)

    def bars_of(self, rows: Sequence[tuple[str, float, Colour, str]], note: Mobject) -> Amounts:
        """Two bars, each of a name, a value, a color and a figure, and a note below them."""
        amounts = [Amount(name, [(value, color)], figure) for name, value, color, figure in rows]
        bars = Amounts(amounts, self.area.width, bar=120, size=52).move_to(self.area.center + px(40) * UP)
        note.next_to(bars, DOWN, px(50), aligned_edge=LEFT)
        return bars

    def slower(self) -> None:
        same = self.word("both find the same sum")
        names = tr("neighbors side by side"), tr("neighbors one below another")
        rows = [
            (name, us, self.theme.measured, tr("{us:.1f} µs", us=us))
            for name, us in zip(names, self.us, strict=True)
        ]
        bars = self.bars_of(rows, same)
        self.badge(self.measured())
        self.say("With neighbors one below another, it takes {times:.1f} times as long.")
        self.play(bars.come())
        self.play(FadeIn(same))
        self.leave(bars, same)

    # A warp, and the pieces that it needs.

    def a_warp(self) -> None:
        area = self.area
        self.warp = Warp(spacing=area.width / 33.4, colour=self.hue)
        self.warp.move_to([area.center[0], area.top - px(110), 0])
        name = self.bold("a warp: threads 0 to 31", 50).next_to(self.warp, UP, px(16), aligned_edge=LEFT)
        self.strip = rectangle(area.width, px(70), self.empty)
        self.cell = self.strip.width / PIECES / self.each
        below_top = px(600 if self.tall else 300 if self.narrow else 345)
        self.strip.move_to([area.center[0], area.top - below_top, 0])
        cells = strokes(self.theme.background, 1.0)
        cells.points = uprights(self.strip, np.arange(1, PIECES * self.each) / PIECES / self.each)
        cuts = strokes(self.theme.background, 6.0)
        cuts.points = uprights(self.strip, np.arange(1, PIECES) / PIECES)
        VGroup(cells, cuts).set_z_index(1)
        below = self.bold("memory").next_to(self.strip, DOWN, px(10), aligned_edge=RIGHT)
        self.badge(Badge(tr("schematic"), "model"))
        self.say("A GPU runs 32 neighboring threads together, as a warp.")
        self.play(FadeIn(self.warp.capsule, name))
        self.play(LaggedStart(*map(FadeIn, self.warp.dots), lag_ratio=0.1, run_time=1.2))
        self.play(FadeIn(self.strip, cells, below))
        self.say(
            "Memory always sends whole pieces of {bytes} bytes. Here, a piece is one row.",
            bytes=SECTOR,
        )
        self.large = VGroup(*(rectangle(px(104), px(92), self.empty) for _ in range(self.each)))
        self.large.arrange(RIGHT, buff=px(6))
        fit(self.large, (0.46 if not self.tall else 0.9) * area.width)
        self.large.move_to([area.left, area.bottom + px(190 if not self.tall else 420), 0], LEFT)
        self.large_name = self.word("one piece, enlarged: a row of the table", 42, self.theme.text)
        self.large_name.next_to(self.large, DOWN, px(16), aligned_edge=LEFT)
        left = self.strip.get_corner(DOWN + LEFT)
        right = left + self.strip.width / PIECES * RIGHT
        zoom = VGroup(
            Line(left, self.large.get_corner(UP + LEFT)), Line(right, self.large.get_corner(UP + RIGHT))
        )
        edged(zoom, self.theme.quiet, 4)
        self.play(FadeIn(cuts))
        self.play(FadeIn(self.large, self.large_name, zoom))
        self.memory = VGroup(self.strip, cells, cuts, below, name, self.warp, zoom)

    def request(self, apart: int) -> list[Mobject]:
        """A warp asks for numbers `apart` cells from each other: requests for one piece become one."""
        pieces = apart * np.arange(WARP) // self.each
        ends = [self.strip.get_corner(UP + LEFT) + self.cell * self.each * (n + 0.5) * RIGHT for n in pieces]
        rays, dots = strokes(self.hue, 4, 0.8), self.warp.dots
        each = (np.linspace(dot.get_bottom(), end, 4) for dot, end in zip(dots, ends, strict=True))
        rays.points = np.concatenate(list(each))
        requests = [dot.copy() for dot in dots]
        self.play(Create(rays, run_time=0.7))
        self.play(Travel(requests, [[end + px(16) * UP] for end in ends], leg=1.0, apart=0.0))
        return [rays, *requests]

    def read(self, apart: int) -> list[Mobject]:
        """It is sent the pieces with these numbers, and the numbers go up to the threads."""
        at = apart * np.arange(WARP)
        sent, used, dots = shape(self.waste), VGroup(), self.warp.dots
        pieces = np.unique(at // self.each)
        sent.points = np.concatenate([quad(self.strip, n / PIECES, (n + 1) / PIECES) for n in pieces])
        for one in at:
            number = rectangle(1, 1, self.hue)
            number.points = quad(self.strip, one / PIECES / self.each, (one + 1) / PIECES / self.each)
            used.add(number)
        large = self.large.copy()
        for cell in range(self.each):
            large[cell].set_fill(ManimColor(self.hue if cell % apart == 0 else self.waste))
        figures = {"pieces": len(pieces), "each": SECTOR, "all": len(pieces) * SECTOR}
        words = VGroup(
            self.word("{pieces} pieces × {each} bytes = {all:,} bytes sent", 46, self.theme.text, **figures),
            self.word("{used} bytes used", 46, self.theme.text, used=WARP * SECTOR // self.each),
        ).arrange(DOWN, buff=px(20), aligned_edge=LEFT)
        if self.tall:
            fit(words, self.area.width).next_to(self.large_name, DOWN, px(50)).align_to(self.large, LEFT)
        else:
            fit(words, self.area.right - self.large.get_right()[0] - px(60))
            words.next_to(self.large, RIGHT, px(60))
        self.badge(self.counted())
        self.play(FadeIn(sent, used, large, words))
        up = [rectangle(px(16), px(16), self.hue).move_to(number) for number in used]
        ways = [[dot.get_center()] for dot in dots]
        self.play(Travel(up, ways, leg=0.9, apart=0.0))
        return [sent, used, large, words, *up]

    def side_by_side(self) -> None:
        self.say("A warp's requests for the same piece are merged. This is called coalescing.")
        self.four = self.request(1)
        self.say("Side by side, eight threads share each piece, so four pieces serve the whole warp.")
        self.play(*self.key(*self.used_or_not))
        self.four += self.read(1)

    def one_below_another(self) -> None:
        self.say("One below another, each thread needs a piece of its own, and uses an eighth of it.")
        self.play(*map(Leave, self.four))
        requests = self.request(COLUMNS)
        self.all = [*requests, *self.read(COLUMNS), self.memory, self.large, self.large_name]

    # Why the rest is wasted, and what it costs.

    def too_large(self) -> None:
        """Columns are read one after another; what is sent for each stands beside the cache, to scale."""
        table = self.cells_of(min(px(76), self.area.width / COLUMNS), self.waste).move_to(self.area.center)
        column = VGroup(*(line[0].copy().set_fill(ManimColor(self.hue)) for line in table))
        self.say(
            "A column has {below:,} threads, but at most {at_once:,} run at once. So columns take turns."
        )
        self.badge(Badge(tr("schematic"), "model"))
        self.play(*map(Leave, self.all), FadeIn(table, column))
        for further in table[0][1:]:
            self.play(column.animate(run_time=0.5).set_x(further.get_x()))
        hits = self.cases[COLUMNS]["l2_hit_sectors"] / self.cases[COLUMNS]["l2_read_sectors"]
        found = self.bold("needed pieces that were still in the L2: {hits:.0%}", hits=hits)
        rows = (
            (tr("sent for each column: the whole table"), self.bytes, self.theme.operand),
            (tr("the largest cache, called L2"), self.l2, self.hue),
        )
        bars = self.bars_of([(*one, tr("{mb:.0f} MB", mb=one[1] / 1e6)) for one in rows], found)
        self.badge(self.counted())
        self.say("Each time, memory sends the whole table again: the cache is too small to keep it.")
        self.play(Leave(table), Leave(column), *self.key(), bars.come(), FadeIn(found))
        self.cache = VGroup(bars, found)

    def other_tables(self) -> None:
        """What memory sends of tables of one, two, four and eight columns, and the time."""
        theme, area = self.theme, self.area
        room = area.width if self.tall else (area.width - px(110)) / 2
        sent, took = [], []
        for columns, one in reversed(self.cases.items()):
            name = tr("side by side")
            if columns > 1:
                name = tr("one below another, table of {columns} columns", columns=columns)
            whole = one["dram_read_bytes"]
            parts = [(whole / columns, self.hue), (whole - whole / columns, self.waste)]
            figure = tr("{columns} × {mb:.0f} MB", columns=columns, mb=whole / columns / 1e6)
            sent.append(Amount(name, parts, figure))
            took.append(Amount(name, [(one["us"], theme.measured)], tr("{us:.1f} µs", us=one["us"])))
        bar = {"bar": 62 if not self.narrow else 48, "gap": 18, "size": 44}
        charts = VGroup(*(Amounts(rows, room, **bar) for rows in (sent, took)))
        for chart, name in zip(charts, (tr("sent by memory"), tr("time")), strict=True):
            chart.add(label(name, 50, bold=True).next_to(chart, UP, px(26), aligned_edge=LEFT))
        charts.arrange(DOWN if self.tall else RIGHT, buff=px(60 if self.tall else 110))
        fit(charts, np.inf, area.height - px(70)).move_to(area.center + px(34) * UP)
        self.badge(Badge(self.tr("counted and measured on {gpu}"), "measured"))
        self.say(
            "In fewer columns, one piece holds several rows: memory sends less, and the sum takes less time."
        )
        changes = [Leave(self.cache), *(FadeIn(chart[-1]) for chart in charts)]
        self.play(*changes, *self.key(*self.used_or_not), *(chart.come(0, 1, 2, 3) for chart in charts))
        self.leave(charts)
