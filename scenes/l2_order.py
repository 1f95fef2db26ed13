"""Tile order: does it matter which tile comes next?

manim render scenes/l2_order.py

Tiles that are computed at once share strips of A and B if they lie close together: nine of them, then the
132 of an H200 in two orders, with what was read from main memory, the power, the clock and the time.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Self

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, VGroup, VMobject

from tilesim import Device, Problem
from tilesim.ideas.l2_order import batch_reads, blocks
from tilesim.ideas.memory_hierarchy import levels
from tilesim.ladder.reports import row
from tilesim.orders import grouped, rasterize, row_major
from tilesim_scenes.animations.fade import Fade, FadeIn, FadeOut, Leave, late
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.kit.amounts import Amount, Amounts
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, label, lines, px
from tilesim_scenes.look.theme import ink_on, mixed, theme_now
from tilesim_scenes.mobjects.drawing.quads import EMPTY, quad, rectangle, segments, shape, strokes, uprights
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.count import Count

FILM = {
    "title": "Tile order",
    "question": "Does it matter which tile comes next?",
    "finding": (
        "On an H200, computing a product's tiles in groups of eight rows instead of row by row reads 35% less"
        " from main memory and, at the power limit, takes 5% less time."
    ),
    "part": "Memory",
    "place": 70,
    "seconds": 81,
    "shows": "The strips that tiles share, row by row and in groups, and what an H200 reads of them.",
    "takes": "report",
}
SIZE, ORDERS = 8192, ("row-major", "grouped:8")
"""M, N and K of the product, and the two orders."""
SIDE, FEW = 9, 9
"""Tiles of a side of the small picture, and how many of them are computed at once."""
DEEP = 0.25
"""Of C's side, what is drawn of A and B beside many tiles."""


class L2Order(Lesson):
    """Nine tiles in a row and in a square; then a product on an H200, row by row and in groups."""

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
        self.l2 = levels("h200")[2].size
        self.guard(self.mb[1] * 1e6 > self.l2, "not even the strips of one batch fit into the L2")
        # GB that the batches up to each read, if the L2 keeps no strip for the next.
        ordered = (replace(self.problem, order=order) for order in ORDERS)
        self.read = [np.cumsum(batch_reads(one, self.wave)) / 1e9 for one in ordered]
        self.sent = [one["dram_read_bytes"] / 1e9 for one in (self.plain, self.groups)]
        self.saved = 1 - self.sent[1] / self.sent[0]
        self.guard(self.saved > 0.2, "main memory sends less in groups")
        for sent, read in zip(self.sent, self.read, strict=True):
            self.guard(abs(read[-1] / sent - 1) < 0.005, "main memory sends the strips of each batch anew")
        used = {one["order"]: one for one in report.get("without_pause", ())}
        self.guard(set(ORDERS) <= set(used), "the energy of both orders was measured")
        self.used = plain, groups = [used[order] for order in ORDERS]
        self.limit, self.shorter = report["power_limit_w"], 1 - groups["us"] / plain["us"]
        self.guard(all(0.95 < one["watts"] / self.limit < 1 for one in self.used), "both run at the limit")
        cycles = [one["us"] * one["sm_mhz"] for one in self.used]
        self.guard(abs(cycles[1] / cycles[0] - 1) < 0.01, "both orders take as many cycles")
        self.faster = groups["sm_mhz"] / plain["sm_mhz"] - 1
        self.guard(self.faster > 0.03, "the clock is faster in groups")

    def construct(self) -> None:
        self.names = tr("row by row"), tr("in groups of eight rows")
        self.ask("A tile is a rectangular part of a matrix.")
        self.a_tile()
        self.nine_in_a_row()
        self.nine_in_a_square()
        self.in_step()
        self.row_by_row()
        self.in_groups()
        self.all_tiles()
        self.bytes_sent()
        self.power()
        self.close(
            "On an H200, computing a product's tiles in groups of eight rows instead of row by row reads "
            "{saved:.0%} less from main memory and, at the power limit, takes {shorter:.0%} less time.",
            list(zip(self.names, self.sent, strict=True)),
            "fewer bytes",
            "{:,.2f} GB",
            self.counted(),
            tr("matrices of {n} × {n} numbers of 2 bytes; groups of eight as in Triton's tutorial", n=SIZE),
        )

    # Nine tiles.

    def a_tile(self) -> None:
        area = self.area
        side = min(0.47 * area.height, (0.21 if self.narrow else 0.28) * area.width)
        if self.tall:
            side = 0.4 * area.width
        self.picture = Sharing(SIDE, SIDE, side, deep=1.0)
        self.picture.move_to([area.left, area.center[1], 0], LEFT)
        if self.tall:
            self.picture.move_to([area.center[0], area.top - px(20), 0], UP)
        self.badge(Badge(tr("model")))
        self.words = self.beside(
            self.bold("C = A × B", 72),
            self.word("a tile of C", 50, self.hue if self.theme.dark else self.theme.text, bold=True),
            self.word("needs one strip of A", 50, self.theme.text),
            self.word("and one strip of B", 50, self.theme.text),
        )
        self.say("A GPU computes a matrix product tile by tile.")
        self.play(FadeIn(self.picture, self.words[0]))
        one = self.picture.lit([4 * SIDE + 5])
        self.play(FadeIn(one[0], self.words[1]))
        self.play(FadeIn(one[1:], self.words[2:]))
        self.leave(one, self.words)

    def beside(self, *words: VMobject) -> VGroup:
        """Words in a column, beside the picture or below it."""
        column = VGroup(*words).arrange(DOWN, buff=px(30), aligned_edge=LEFT)
        gap = px(40 if self.narrow else 80)
        room = self.area.right - (self.area.left if self.tall else self.picture.get_right()[0] + gap)
        fit(column, room)
        if self.tall:
            return column.next_to(self.picture, DOWN, px(70))
        return column.next_to(self.picture, RIGHT, gap)

    def count(self, strips: Sequence[int]) -> VGroup:
        """How many strips are needed, in words and as one large number."""
        a, b = strips
        return self.beside(
            self.word("strips of A: {a}", 54, self.theme.text, a=a),
            self.word("strips of B: {b}", 54, self.theme.text, b=b),
            self.bold("{all} strips", 120, all=a + b),
        )

    def nine_in_a_row(self) -> None:
        self.tiles, self.a, self.b = self.picture.lit(range(FEW))
        self.say("If nine tiles of one row are computed at once, they need ten strips.")
        self.play(FadeIn(self.a), FadeIn(self.tiles, self.b, lag_ratio=0.12, run_time=2.8))
        self.words = self.count(self.few[0])
        self.play(FadeIn(self.words))

    def nine_in_a_square(self) -> None:
        """The row folds into a square."""
        places = [n // 3 * SIDE + n % 3 for n in range(FEW)]
        square, a, _ = self.picture.lit(places)
        self.say("Nine in a square need only six, because they share more strips.")
        ways = [[one.get_center()] for one in square]
        self.play(Travel(list(self.tiles), ways, leg=1.2, apart=0.12), Leave(self.words))
        self.play(FadeOut(*self.b[3:]), FadeIn(*a[1:]))
        self.words = self.count(self.few[1])
        self.play(FadeIn(self.words))
        self.a, self.b = VGroup(*self.a, *a[1:]), VGroup(*self.b[:3])

    def in_step(self) -> None:
        """The pieces that the L2 holds move along the strips."""
        pieces = [self.a.copy().stretch(1 / SIDE, 0), self.b.copy().stretch(1 / SIDE, 1)]
        pieces[0].align_to(self.a, LEFT)
        pieces[1].align_to(self.b, UP)
        ends = [
            self.a.get_right() + pieces[0].width / 2 * LEFT,
            self.b.get_bottom() + pieces[1].height / 2 * UP,
        ]
        words = self.beside(self.bold("in the L2", 54), self.word("a cache that all processors share", 46))
        swatch = rectangle(px(40), px(40), self.hue).next_to(words[0], RIGHT, px(20))
        self.say(
            "All nine advance in step, so the L2 only has to hold the current pieces. Each is read once."
        )
        paler = [Fade(one, 1.0, 0.35) for one in (self.tiles, self.a, self.b)]
        self.play(*paler, FadeIn(*pieces, words, swatch), Leave(self.words))
        self.play(Travel(pieces, [[end] for end in ends], leg=4.4, apart=0.0))
        self.leave(self.picture, self.tiles, self.a, self.b, *pieces, swatch, words)

    # The 132 tiles of an H200.

    def panel(self, number: int) -> VGroup:
        """An order's name, its picture, and what its first tiles need."""
        area = self.area
        room = area.width if self.tall else (area.width - px(80)) / 2
        high = area.height / (2 if self.tall else 1) - px(200)
        side = min(room - px(130), high) / (1 + DEEP)
        picture = Sharing(
            self.problem.tiles_m, self.problem.tiles_n, side, DEEP, self.orders[number], self.wave
        )
        picture.show(0.0)
        name = label(self.names[number], 52, bold=True)
        fit(name, room).next_to(picture, UP, px(10))
        (a, b), (of_a, of_b) = self.needs[number], self.strip_mb
        most = round(1000 * np.diff(self.read[number]).max())
        text = tr(
            "{a} × {of_a:.1f} MB + {b} × {of_b:.1f} MB = {mb:.0f} MB",
            a=a, b=b, of_a=of_a, of_b=of_b, mb=self.mb[number],
        )  # fmt: skip
        figure = lines(text, 42, room, color=self.theme.text).next_to(picture, DOWN, px(20))
        if most > round(self.mb[number]):
            text = tr("{most:.0f} MB if it spans two groups", most=most)
            across = lines(text, 42, room, color=self.theme.text)
            figure.add(across.next_to(figure, DOWN, px(12)))
        whole = VGroup(name, picture, figure)
        if self.tall:
            return whole.move_to([area.center[0], area.top - (number + 0.5) * area.height / 2, 0])
        return whole.move_to([area.left + (0.5 + number) * room + number * px(80), area.center[1], 0])

    def row_by_row(self) -> None:
        self.panels = [self.panel(0), self.panel(1)]
        name, picture, figure = self.panels[0]
        room = self.area.width / (1 if self.tall else 2) - px(60)
        rows, columns = self.problem.tile[:2]
        texts = (
            tr("A, B and C: {n} × {n} numbers of 2 bytes", n=SIZE),
            tr("a tile: {rows} × {columns} numbers", rows=rows, columns=columns),
            tr("a strip of A: {a:.1f} MB, of B: {b:.1f} MB", a=self.strip_mb[0], b=self.strip_mb[1]),
        )
        sizes = VGroup(*(lines(text, 46, room, color=self.theme.text) for text in texts))
        sizes.arrange(DOWN, buff=px(40), aligned_edge=LEFT).move_to(self.panels[1])
        self.say("An H200 GPU has {sms} processors, and each computes one tile at a time.", sms=self.wave)
        self.play(FadeIn(name, picture, sizes))
        self.play(PlayTrace(picture, until=float(self.wave), run_time=3.6))
        a, b = self.needs[0]
        self.say("Row by row, a batch of {wave} needs {a} strips of A and all {b} of B.", a=a, b=b)
        self.play(FadeIn(figure))
        self.leave(sizes)

    def in_groups(self) -> None:
        name, picture, figure = self.panels[1]
        self.say(
            "A batch that goes down eight rows before it moves right needs only {mb:.0f} MB.", mb=self.mb[1]
        )
        self.play(FadeIn(name, picture, figure))
        self.play(PlayTrace(picture, until=float(self.wave), run_time=3.2))

    def all_tiles(self) -> None:
        """Batch after batch is computed, in both orders; what a batch needs is lit, and added up."""
        pictures = [panel[1] for panel in self.panels]
        figures = VGroup(*(panel[2] for panel in self.panels))
        size = 27 if self.narrow and not self.tall else 44
        sums = [
            Count(partial(self.read_so_far, read), size, align=0.5).move_to(figure).show(float(self.wave))
            for read, figure in zip(self.read, figures, strict=True)
        ]
        self.say(
            "The L2's {l2:.0f} MB cannot hold whole strips, so every batch has to read its strips again.",
            l2=self.l2 / 1e6,
        )
        self.play(FadeOut(figures, run_time=0.3), *(Fade(one, 0.0, 1.0, 0.6, rate_func=late) for one in sums))
        self.play(PlayTrace(*pictures, *sums, until=float(self.problem.tiles), run_time=4.8))
        self.leave(*sums, *(part for panel in self.panels for part in panel[:2]))

    def read_so_far(self, read: np.ndarray, t: float) -> str:
        """What the batch of the t-th tile adds, and all that was `read` by then, GB up to each batch."""
        batch = batch_at(t, self.wave)
        own = 1000 * np.diff(read, prepend=0.0)[batch]
        return tr("batch {number}: +{own:.0f} MB → {gb:.2f} GB", number=batch + 1, own=own, gb=read[batch])

    # What was counted and measured.

    def bytes_sent(self) -> None:
        """The bytes that were counted for each order, and on the bars what the batches add up to."""
        figures = [tr("{gb:.2f} GB", gb=sent) for sent in self.sent]
        sums = [
            tr("sum of {batches} batches: {gb:.2f} GB", batches=len(read), gb=read[-1]) for read in self.read
        ]
        self.badge(self.counted())
        self.say("The GPU's counters agree: in groups, {saved:.0%} less comes from main memory.")
        picture = self.two_bars(self.bold("read from main memory", 50), self.sent, figures)
        self.leave(picture, self.on_bars(picture, sums))

    def power(self) -> None:
        """The time of a product in each order, and on the bars the power and the clock."""
        title = self.bold("one product, repeated without a pause", 50)
        figures = [tr("{us:,.0f} µs", us=one["us"]) for one in self.used]
        self.badge(self.measured())
        self.say(
            "Without pauses, both run close to the GPU's power limit, {limit:.0f} W, which slows the clock."
        )
        picture = self.two_bars(title, [one["us"] for one in self.used], figures)
        watts = self.on_bars(picture, [tr("{watts:.0f} W", watts=one["watts"]) for one in self.used])
        self.say(
            "Moving less saves power, so the limit slows the clock less: "
            "the work takes {shorter:.0%} less time."
        )
        self.play(Leave(watts))
        clocks = [tr("{mhz:,.0f} million clock cycles per second", mhz=one["sm_mhz"]) for one in self.used]
        self.leave(picture, self.on_bars(picture, clocks))

    def two_bars(self, title: VMobject, values: Sequence[float], figures: Sequence[str]) -> VGroup:
        """A measured bar for each order comes, with its figure at its end, below a title."""
        rows = [
            Amount(name, [(value, self.theme.measured)], figure)
            for name, value, figure in zip(self.names, values, figures, strict=True)
        ]
        bars = Amounts(rows, self.area.width, bar=110)
        picture = VGroup(title, bars).arrange(DOWN, buff=px(50), aligned_edge=LEFT).move_to(self.area.center)
        self.play(FadeIn(title), bars.come(), run_time=2.6)
        self.add(picture)  # Below what is written on its bars.
        return picture

    def on_bars(self, picture: VGroup, texts: Sequence[str]) -> VGroup:
        """A text appears on each bar."""
        words = VGroup()
        for text, bar in zip(texts, picture[1].bars, strict=True):
            said = label(text, 46, ink_on(self.theme.measured), bold=True)
            words.add(fit(said, 0.94 * bar.width).move_to(bar))
        self.play(FadeIn(words))
        return words


def batch_at(t: float, wave: int) -> int:
    """Which batch of `wave` tiles the t-th tile is in, both counted from 1 and batches from 0."""
    return max(0, -(-int(t) // wave) - 1)


class Sharing(VGroup):
    """C with its tiles, and at its left and on top A and B as strips. `side`: units of C's side.

    `deep`: what is drawn of A and B, as a share of C's side. With an `order` of tiles, of which batches of
    `wave` are computed at once, `show(t)` lights the batch of the t-th, and the strips that it needs.
    """

    def __init__(
        self,
        rows: int,
        columns: int,
        side: float,
        deep: float,
        order: np.ndarray | None = None,
        wave: int = 0,
    ):
        super().__init__()
        theme, gap = theme_now(), px(16)
        self.rows, self.columns, self.order, self.wave, self.t = rows, columns, order, wave, 0.0
        self.hue = theme.by_phase["multiply"]
        dim = mixed(theme.background, theme.operand, 0.28)
        self.ground = rectangle(side, side, mixed(theme.background, theme.operand, 0.2))
        self.left = rectangle(deep * side, side, dim).next_to(self.ground, LEFT, gap)
        self.top = rectangle(side, deep * side, dim).next_to(self.ground, UP, gap)
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

    def _row(self, ground: VMobject, n: int) -> np.ndarray:
        return quad(ground, 0, 1, 1 - (n + 1) / self.rows, 1 - n / self.rows)

    def _column(self, ground: VMobject, n: int) -> np.ndarray:
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
        begin = batch_at(t, self.wave) * self.wave
        # The first batch comes tile by tile, and later ones whole.
        now = self.order[begin : max(int(t), begin + self.wave * bool(begin))]
        rows, columns = np.unique(now // self.columns), np.unique(now % self.columns)
        self.done.points = np.concatenate([EMPTY, *map(self._tile, self.order[:begin])])
        self.now[0].points = np.concatenate([EMPTY, *map(self._tile, now)])
        self.now[1].points = np.concatenate([EMPTY, *(self._row(self.left, n) for n in rows)])
        self.now[2].points = np.concatenate([EMPTY, *(self._column(self.top, n) for n in columns)])
        return self
