"""L2 order: does it matter which tile comes next?

manim render scenes/l2_order.py

Tiles that are computed at once share strips of A and B if they lie close together: nine of them, then the
132 of an H200 in two orders, with what its memories sent, the time and the clock.
"""

from collections.abc import Sequence
from typing import Self

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, FadeIn, FadeOut, Rectangle, VGroup, VMobject, smoothstep

from tilesim import Device, Problem
from tilesim.ideas.l2_order import blocks
from tilesim.ideas.memory_hierarchy import levels
from tilesim.ladder.reports import row
from tilesim.orders import grouped, rasterize, row_major
from tilesim_scenes.animations.fade import Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.film.settings import REPORT
from tilesim_scenes.kit.amounts import Amount, Amounts
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import mixed, theme_now
from tilesim_scenes.mobjects.drawing.quads import EMPTY, quad, rectangle, segments, shape, strokes, uprights
from tilesim_scenes.mobjects.words.badge import Badge

FILM = {
    "title": "L2 order",
    "question": "Does it matter which tile comes next?",
    "part": "Memory",
    "place": 70,
    "seconds": 80,
    "shows": "The strips that tiles share, row by row and in groups, and what an H200 makes of it.",
    "takes": "report",
}
SIZE, ORDERS = 8192, ("row-major", "grouped:8")
"""M, N and K of the product, and the two orders."""
SIDE, FEW = 9, 9
"""Tiles of a side of the small picture, and how many of them are computed at once."""
DEEP = 0.38
"""Of C's side, what is drawn of A and B."""


class L2Order(Lesson):
    """Nine tiles in a row and in a square; then a product on an H200, row by row and in groups."""

    asked = REPORT

    def prepare(self) -> None:
        report = self.report("l2_order")
        self.gpu = report["machine"]["gpu"]
        self.guard("H200" in self.gpu, "the product ran on an H200")
        self.plain, self.groups = (row(report, k=SIZE, m=SIZE, order=order) for order in ORDERS)
        self.wave = Device.named("h200").slots
        tile = tuple(self.plain["tile"])
        self.problem = Problem(SIZE, SIZE, SIZE, tile=tile)
        self.orders = [rasterize(Problem(SIZE, SIZE, SIZE, tile=tile, order=order)) for order in ORDERS]
        few = row_major(SIDE, SIDE)[:FEW], grouped(SIDE, SIDE, 3)[:FEW]
        self.few = [blocks(tiles, SIDE, 1)[-1].tolist() for tiles in few]
        self.guard(self.few == [[1, 9], [3, 3]], "nine tiles in a row need ten strips, in a square six")
        self.strip_mb = [side * SIZE * 2 / 1e6 for side in tile[:2]]
        wide = self.problem.tiles_n
        self.needs = [blocks(order[: self.wave], wide, 1)[-1].tolist() for order in self.orders]
        self.mb = [float(np.dot(strips, self.strip_mb)) for strips in self.needs]
        self.guard(self.needs[0][1] == wide, "row by row, the tiles need all of B")
        self.guard(self.mb[1] < 0.75 * self.mb[0], "tiles in groups need fewer bytes")
        self.both, self.l2 = 2 * SIZE**2 * 2, levels("h200")[2].size
        self.guard(self.both > 2 * self.l2, "A and B are too large for the L2")
        less = [self.groups[name] / self.plain[name] for name in ("dram_read_bytes", "l2_bytes")]
        self.guard(max(less) < 0.8, "both memories send less in groups")
        self.cycles = [one["us"] * one["sm_mhz"] for one in (self.plain, self.groups)]
        self.faster = self.groups["sm_mhz"] / self.plain["sm_mhz"] - 1
        self.guard(abs(self.cycles[1] / self.cycles[0] - 1) < 0.01, "both orders take as many cycles")
        self.guard(self.faster > 0.02, "the clock runs faster in groups")

    def construct(self) -> None:
        self.hue = self.theme.by_phase["multiply"]
        self.names = tr("row by row"), tr("in groups of eight rows")
        self.ask("The L2 is a cache that all processors of a GPU share.")
        self.a_tile()
        self.nine_in_a_row()
        self.nine_in_a_square()
        self.row_by_row()
        self.in_groups()
        self.all_tiles()
        self.bytes_sent()
        self.time_and_clock()
        self.close(
            "On an H200, a product took {less:.0%} less time when its tiles were computed "
            "in groups of eight rows instead of row by row.",
            list(zip(self.names, (self.plain["us"], self.groups["us"]), strict=True)),
            "less time",
            "{:,.0f} µs",
            Badge(tr("measured on {gpu}", gpu=self.gpu), "measured"),
            tr("matrices of {n} × {n} numbers of 2 bytes; only the order of the tiles differs", n=SIZE),
        )

    # Nine tiles.

    def a_tile(self) -> None:
        area = self.area
        side = min(0.9 * area.height / (1 + DEEP), 0.46 * area.width / (1 + DEEP))
        if self.tall:
            side = 0.6 * area.width / (1 + DEEP) * 1.3
        self.picture = Sharing(SIDE, SIDE, side)
        self.picture.move_to([area.left, area.center[1], 0], LEFT)
        if self.tall:
            self.picture.move_to([area.center[0], area.top - px(20), 0], UP)
        self.badge(Badge(tr("model")))
        self.words = self.beside(
            self.word("C = A × B", 72, self.theme.text, bold=True),
            self.word("a tile of C", 50, self.hue if self.theme.dark else self.theme.text, bold=True),
            self.word("needs one strip of A", 50, self.theme.text),
            self.word("and one strip of B", 50, self.theme.text),
        )
        self.say("A GPU computes C = A × B tile by tile. Each tile needs one strip of A and one of B.")
        self.play(FadeIn(self.picture, self.words[0]))
        one = self.picture.lit([4 * SIDE + 5])
        self.play(FadeIn(one[0], self.words[1]))
        self.play(FadeIn(one[1:], self.words[2:]))
        self.leave(one, self.words)

    def beside(self, *words: VMobject) -> VGroup:
        """Words in a column, beside the picture or below it."""
        column = VGroup(*words).arrange(DOWN, buff=px(30), aligned_edge=LEFT)
        room = self.area.right - (self.area.left if self.tall else self.picture.get_right()[0] + px(80))
        column.scale(min(1.0, room / column.width))
        if self.tall:
            return column.next_to(self.picture, DOWN, px(70))
        return column.next_to(self.picture, RIGHT, px(80))

    def count(self, strips: Sequence[int]) -> VGroup:
        """How many strips are needed, in words and as one large number."""
        a, b = strips
        return self.beside(
            self.word("strips of A: {a}", 54, self.theme.text, a=a),
            self.word("strips of B: {b}", 54, self.theme.text, b=b),
            self.word("{all} strips", 120, self.theme.text, bold=True, all=a + b),
        )

    def nine_in_a_row(self) -> None:
        self.tiles, self.a, self.b = self.picture.lit(range(FEW))
        self.say("Suppose nine tiles are computed at once. Nine in a row need ten strips.")
        self.play(FadeIn(self.a), FadeIn(self.tiles, self.b, lag_ratio=0.12, run_time=1.8))
        self.words = self.count(self.few[0])
        self.play(FadeIn(self.words))

    def nine_in_a_square(self) -> None:
        """The row folds into a square."""
        places = [n // 3 * SIDE + n % 3 for n in range(FEW)]
        square, a, _ = self.picture.lit(places)
        self.say("Nine in a square need only six, because they share strips of both A and B.")
        ways = [[one.get_center()] for one in square]
        self.play(Travel(list(self.tiles), ways, leg=0.9, apart=0.08), Leave(self.words))
        self.play(FadeOut(*self.b[3:]), FadeIn(*a[1:]))
        words = self.count(self.few[1])
        self.play(FadeIn(words))
        self.leave(self.picture, self.tiles, self.a, *self.b[:3], *a[1:], words)

    # The 132 tiles of an H200.

    def panel(self, number: int) -> VGroup:
        """An order's name, its picture, and what its first tiles need."""
        area = self.area
        room = area.width if self.tall else (area.width - px(80)) / 2
        high = area.height / (2 if self.tall else 1) - px(150)
        side = min(room - px(130), high) / (1 + DEEP)
        picture = Sharing(self.problem.tiles_m, self.problem.tiles_n, side, self.orders[number], self.wave)
        picture.show(0.0)
        name = label(self.names[number], 52, bold=True)
        name.scale(min(1.0, room / name.width)).next_to(picture, UP, px(10))
        (a, b), (of_a, of_b) = self.needs[number], self.strip_mb
        figure = self.word(
            "{a} × {of_a:.1f} MB + {b} × {of_b:.1f} MB = {mb:.0f} MB", 46, self.theme.text,
            a=a, b=b, of_a=of_a, of_b=of_b, mb=self.mb[number],
        )  # fmt: skip
        figure.scale(min(1.0, room / figure.width)).next_to(picture, DOWN, px(20))
        whole = VGroup(name, picture, figure)
        if self.tall:
            return whole.move_to([area.center[0], area.top - (number + 0.5) * area.height / 2, 0])
        return whole.move_to([area.left + (0.5 + number) * room + number * px(80), area.center[1], 0])

    def row_by_row(self) -> None:
        self.panels = [self.panel(0), self.panel(1)]
        name, picture, figure = self.panels[0]
        sizes = VGroup(
            self.word("A, B and C: {n} × {n}", 48, self.theme.text, n=SIZE),
            self.word("C: {tiles:,} tiles", 48, self.theme.text, tiles=self.problem.tiles),
            self.word("a strip of A: {mb:.1f} MB", 48, self.theme.text, mb=self.strip_mb[0]),
            self.word("a strip of B: {mb:.1f} MB", 48, self.theme.text, mb=self.strip_mb[1]),
        ).arrange(DOWN, buff=px(30), aligned_edge=LEFT)
        room = self.panels[1]
        sizes.scale(min(1.0, (self.area.width / (1 if self.tall else 2) - px(60)) / sizes.width)).move_to(
            room
        )
        self.say("An H200 has {sms} processors, which compute {sms} tiles at the same time.", sms=self.wave)
        self.play(FadeIn(picture, sizes))
        self.wait(0.5)
        self.say("Row by row, these tiles need all of B and some of A: {mb:.0f} MB.", mb=self.mb[0])
        self.play(FadeIn(name))
        self.play(PlayTrace(picture, until=float(self.wave), run_time=2.2))
        self.play(FadeIn(figure))
        self.leave(sizes)

    def in_groups(self) -> None:
        name, picture, figure = self.panels[1]
        self.say(
            "In groups, we go down eight rows, then move to the next column: only {mb:.0f} MB.",
            mb=self.mb[1],
        )
        self.play(FadeIn(name, picture))
        self.play(PlayTrace(picture, until=float(self.wave), run_time=2.2))
        self.play(FadeIn(figure))
        self.wait(0.3)

    def all_tiles(self) -> None:
        """Tiles after tiles are computed, in both orders; what they need at each time is lit."""
        pictures = [panel[1] for panel in self.panels]
        figures = VGroup(*(panel[2] for panel in self.panels))
        about = self.word(
            "A and B: {both:.0f} MB; L2 cache: {l2:.0f} MB", 46, self.theme.text,
            both=self.both / 1e6, l2=self.l2 / 1e6,
        )  # fmt: skip
        about.scale(min(1.0, self.area.width / about.width)).move_to(figures if not self.tall else figures[1])
        self.say("A and B do not fit into the L2 together, so later tiles load some strips again.")
        self.play(FadeOut(figures, run_time=0.3))
        self.play(FadeIn(about, run_time=0.3))
        self.play(PlayTrace(*pictures, until=float(self.problem.tiles), run_time=4.5, rate_func=smoothstep))
        self.leave(*(part for panel in self.panels for part in panel[:2]), about)

    # What was counted and measured.

    def bytes_sent(self) -> None:
        rows = []
        for name, order, counted, color in (
            (tr("sent by main memory, row by row"), self.plain, "dram_read_bytes", self.theme.operand),
            (tr("sent by main memory, in groups"), self.groups, "dram_read_bytes", self.theme.operand),
            (tr("sent by the L2, row by row"), self.plain, "l2_bytes", self.hue),
            (tr("sent by the L2, in groups"), self.groups, "l2_bytes", self.hue),
        ):
            figure = tr("{gb:.2f} GB", gb=order[counted] / 1e9)
            rows.append(Amount(name, [(order[counted], color)], figure))
        sent = Amounts(
            rows, self.area.width, bar=72 if not self.narrow else 52, gap=26 if not self.narrow else 14
        )
        sent.move_to(self.area.center)
        self.badge(Badge(tr("counted on {gpu}", gpu=self.gpu), "counted"))
        self.say("In groups, both main memory and the L2 sent fewer bytes in all.")
        self.play(sent.come())
        self.leave(sent)

    def time_and_clock(self) -> None:
        area = self.area
        both = self.plain, self.groups
        rows = [
            Amount(name, [(one["us"], self.theme.measured)], tr("{us:,.0f} µs", us=one["us"]))
            for name, one in zip(self.names, both, strict=True)
        ]
        times = Amounts(
            rows, area.width, bar=96 if not self.narrow else 56, gap=44 if not self.narrow else 16
        )
        times.move_to([area.center[0], area.top, 0], UP)
        self.badge(Badge(tr("measured on {gpu}", gpu=self.gpu), "measured"))
        self.say(
            "The product was faster, too: {groups:,.0f} microseconds instead of {plain:,.0f}.",
            plain=both[0]["us"], groups=both[1]["us"],
        )  # fmt: skip
        self.play(times.come())
        lines = VGroup()
        for one, cycles in zip(both, self.cycles, strict=True):
            lines.add(
                self.word(
                    "{us:,.0f} µs × {mhz:,} MHz = {cycles:.2f} million cycles", 50, self.theme.text,
                    us=one["us"], mhz=one["sm_mhz"], cycles=cycles / 1e6,
                )
            )  # fmt: skip
        lines.arrange(DOWN, buff=px(30), aligned_edge=LEFT)
        lines.scale(min(1.0, area.width / lines.width))
        if self.narrow and not self.tall:
            lines.scale(0.8)
        lines.next_to(times, DOWN, px(30 if self.narrow else 60)).align_to(times, LEFT)
        self.say(
            "Both orders take about {cycles:.1f} million clock cycles, "
            "but in groups the clock is {faster:.0%} faster.",
            cycles=self.cycles[0] / 1e6, faster=self.faster,
        )  # fmt: skip
        self.play(FadeIn(lines[0]))
        self.play(FadeIn(lines[1]))
        limit = self.word("A GPU at its power limit lowers its clock. Power was not measured here.", 42)
        limit.next_to(lines, DOWN, px(24 if self.narrow else 40)).align_to(times, LEFT)
        self.say("The likely reason: sending fewer bytes takes less power.")
        self.play(FadeIn(limit))
        self.leave(times, lines, limit)


class Sharing(VGroup):
    """C with its tiles, and at its left and on top as much of A and B as strips. `side`: units of C's side.

    With an `order` of tiles, of which `wave` are computed at once, `show(t)` lights those before the t-th,
    and the strips that they need.
    """

    def __init__(self, rows: int, columns: int, side: float, order: np.ndarray | None = None, wave: int = 0):
        super().__init__()
        theme, gap = theme_now(), px(16)
        self.rows, self.columns, self.order, self.wave, self.t = rows, columns, order, wave, 0.0
        self.hue = theme.by_phase["multiply"]
        dim = mixed(theme.background, theme.operand, 0.28)
        self.ground = rectangle(side, side, mixed(theme.background, theme.operand, 0.2))
        self.left = rectangle(DEEP * side, side, dim).next_to(self.ground, LEFT, gap)
        self.top = rectangle(side, DEEP * side, dim).next_to(self.ground, UP, gap)
        cuts = strokes(theme.background, 3.0 if rows < 20 else 1.0)
        level = np.arange(1, rows) / rows
        ends = np.stack([0 * level, level, 0 * level + 1, level], axis=1)
        upright = np.arange(1, columns) / columns
        cuts.points = np.concatenate(
            [segments(one, ends) for one in (self.ground, self.left)]
            + [uprights(one, upright) for one in (self.ground, self.top)]
        )
        self.done = shape(mixed(theme.idle, self.hue, 0.35))
        self.now = VGroup(*(shape(self.hue) for _ in range(3)))
        size = 54 if rows < 20 else 40
        letters = VGroup(
            label("A", size, bold=True).next_to(self.left, LEFT, px(16)),
            label("B", size, bold=True).next_to(self.top, LEFT, px(16)),
            label("C", size, bold=True).next_to(self.ground, RIGHT, px(16)),
        )
        self.add(self.ground, self.left, self.top, self.done, self.now, cuts, letters)

    def _row(self, ground: Rectangle, n: int) -> np.ndarray:
        return quad(ground, 0, 1, 1 - (n + 1) / self.rows, 1 - n / self.rows)

    def _column(self, ground: Rectangle, n: int) -> np.ndarray:
        return quad(ground, n / self.columns, (n + 1) / self.columns)

    def _tile(self, tile: int) -> np.ndarray:
        r, c = divmod(int(tile), self.columns)
        high, wide = 1 / self.rows, 1 / self.columns
        return quad(self.ground, c * wide, (c + 1) * wide, 1 - (r + 1) * high, 1 - r * high)

    def lit(self, tiles: Sequence[int]) -> VGroup:
        """Tiles, the strips of A that they need, and those of B: each a group of rectangles."""
        rows = sorted({tile // self.columns for tile in tiles})
        columns = sorted({tile % self.columns for tile in tiles})
        points = (
            [self._tile(tile) for tile in tiles],
            [self._row(self.left, n) for n in rows],
            [self._column(self.top, n) for n in columns],
        )
        groups = VGroup()
        for each in points:
            groups.add(VGroup(*(shape(self.hue) for _ in each)))
            for one, where in zip(groups[-1], each, strict=True):
                one.points = where
        for one in groups.family_members_with_points():
            one.scale(0.94)
        return groups

    def show(self, t: float) -> Self:
        self.t = t
        if self.order is None:
            return self
        end = int(t)
        now = self.order[max(0, end - self.wave) : end]
        before = self.order[: max(0, end - self.wave)]

        def drawn(each: list[np.ndarray]) -> np.ndarray:
            return np.concatenate(each) if each else EMPTY

        self.done.points = drawn([self._tile(tile) for tile in before])
        self.now[0].points = drawn([self._tile(tile) for tile in now])
        self.now[1].points = drawn([self._row(self.left, n) for n in np.unique(now // self.columns)])
        self.now[2].points = drawn([self._column(self.top, n) for n in np.unique(now % self.columns)])
        return self
