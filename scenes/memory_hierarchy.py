"""Memory hierarchy: how can a GPU load more than its memory can send?

manim render scenes/memory_hierarchy.py

The bytes of one product that was counted on an H200: what its tiles load, and what main memory sends of it.
"""

from typing import Self

import numpy as np
from manim import (
    DOWN,
    LEFT,
    RIGHT,
    UP,
    AnimationGroup,
    LaggedStart,
    MoveToTarget,
    VGroup,
    VMobject,
    smoothstep,
)

from tilesim import Device, Problem
from tilesim.ideas.memory_hierarchy import levels
from tilesim.ladder.reports import row
from tilesim_scenes.animations.fade import FadeIn, FadeOut, Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.kit.amounts import Amount, Amounts
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.kit.round_trip import Place, Processors
from tilesim_scenes.kit.work import Work
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, lines, px
from tilesim_scenes.look.theme import Colour
from tilesim_scenes.mobjects.drawing.quads import EMPTY, edged, quad, rectangle, shape
from tilesim_scenes.mobjects.hardware.operands import Operands
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.count import Count

FILM = {
    "title": "Memory hierarchy",
    "question": "How can a GPU load more than its memory can send?",
    "finding": (
        "The processors of an H200 received 8.7 times as much data as its main memory sent. The L2 cache "
        "supplied the rest."
    ),
    "part": "Memory",
    "place": 60,
    "seconds": 81,
    "shows": "The bytes of one product on an H200: what its tiles load, and what main memory sends of it.",
    "takes": "report",
}
SIZE, SMALL = 4096, 2048
"""M, N and K of the product that is followed, and of the one that fits into the L2."""
SHARES = (0.28, 0.105, 0.22, 0.105, 0.29)
"""Of the picture's length: main memory, a gap, the L2, a gap, the processors."""
ROWS, COLUMNS = 4, 3
"""Of the processors that are drawn."""
PIECES = 3
"""Of a strip, that travel."""


class MemoryHierarchy(Lesson):
    """Main memory, the L2 and the processors, and the bytes of one product on their way."""

    def prepare(self) -> None:
        report = self.report("memory_hierarchy")
        ours, small = row(report, m=SIZE), row(report, m=SMALL)
        self.guard("H200" in report["machine"]["gpu"], "the product ran on an H200")
        self.gpu = report["machine"]["gpu"]
        tile = ours["tile"]
        self.problem = Problem(SIZE, SIZE, SIZE, tile=tuple(tile))
        self.strips = (tile[0] + tile[1]) * SIZE * 2
        self.us = ours["us"]
        self.l2, self.far = l2, far = levels("h200")[-2:]
        self.tb, self.gb = far.gb_per_s / 1000, far.size / 1e9
        self.sent, self.arrived = ours["dram_read_bytes"], ours["arrived_bytes"]
        self.whole, self.small = 2 * SIZE**2 * 2, 2 * SMALL**2 * 2
        self.small_sent = small["dram_read_bytes"]
        loaded = self.strips * self.problem.tiles
        self.guard(round(loaded / 1e6) == round(self.arrived / 1e6), "each tile loads its two strips")
        self.alone = self.arrived / far.gb_per_s / 1000
        self.guard(self.alone > 1.5 * self.us, "main memory alone would take much longer")
        self.guard(
            self.small < l2.size < self.whole and self.small_sent < 1.02 * self.small < self.sent,
            "main memory sends each byte once if the L2 can keep all",
        )
        self.spent = self.sent / far.gb_per_s / 1000
        self.guard(4 * self.spent < self.us, "main memory sends for less than a quarter of the time")

    def construct(self) -> None:
        self.ask("A GPU has many small processors that compute at the same time.")
        self.the_work()
        self.all_tiles()
        self.main_memory()
        self.too_slow()
        self.a_nearer_memory()
        self.sent_once()
        self.who_sent_it()
        self.fits_or_not()
        self.in_time()
        self.close(
            "The processors of an H200 received {times:.1f} times as much data as its main memory sent. "
            "The L2 cache supplied the rest.",
            [
                (tr("received by processors"), self.arrived / 1e6),
                (tr("sent by main memory"), self.sent / 1e6),
            ],
            "times",
            "{:,.0f} MB",
            self.counted(),
            self.tr("two matrices of {n} × {n} numbers of 2 bytes, multiplied in {us:.0f} µs", n=SIZE),
        )

    # What the product loads.

    def the_work(self) -> None:
        self.badge(Badge(tr("model")))
        self.work = Work(self.problem, self.area, tile=10 * self.problem.tiles_n + 9)
        self.say("Each tile of the result needs one strip of A and one strip of B.")
        for act in self.work.come():
            self.play(*act)
        area, needs, (m, n, _) = self.area, self.work.needs, self.problem.tile
        text = tr(
            "({m} rows + {n} columns) × {k} × 2 bytes = {mb:.3f} MB", m=m, n=n, k=SIZE, mb=self.strips / 1e6
        )
        room = area.width if self.narrow else area.right - needs.get_left()[0]
        self.sum = lines(text, 42, room, color=self.theme.quiet)
        self.sum.next_to(needs, DOWN, px(36)).align_to(needs, LEFT)
        if self.narrow:
            fit(self.sum, area.width if self.tall else needs.get_left()[0] - area.left - px(40))
            self.sum.move_to([area.left, area.bottom + px(20), 0], LEFT)
        self.play(FadeIn(self.sum))

    def all_tiles(self) -> None:
        """Tile after tile loads its strips, onto one bar; A and B themselves stand below it, to scale."""
        work, area = self.work, self.area
        beside = area.width > area.height
        left = work.sizes.get_left()[0] if beside else area.left
        room = rectangle(wide := area.right - left, high := px(130 if beside else 60))
        low = work.operands.c.get_bottom()[1] - px(132)
        room.move_to([left, area.center[1] + px(130) if beside else low, 0], LEFT)
        loading = Loading(work.operands, room, self.strips / 1e6, self.hue)
        name = self.bold("loaded for all tiles so far", 52)
        fit(name, wide).next_to(room, UP, px(20)).align_to(room, LEFT)
        both = rectangle(wide * self.whole / self.arrived, high, self.theme.operand)
        both.next_to(loading.count, DOWN, high / 2).align_to(room, LEFT)
        size = self.bold("A and B: {mb:.0f} MB", 54, mb=self.whole / 1e6).next_to(both, RIGHT, px(30))
        self.say(
            "All tiles need {mb:,.0f} MB, though A and B have only {both:.0f}: strips are loaded many times.",
            mb=self.arrived / 1e6, both=self.whole / 1e6,
        )  # fmt: skip
        self.play(*(Leave(one) for one in (work.sizes, work.needs, self.sum, work.tile, work.strips)))
        self.play(FadeIn(name, loading))
        self.play(PlayTrace(loading, until=8.0, run_time=1.0))
        self.play(PlayTrace(loading, until=float(self.problem.tiles), run_time=2.0, rate_func=smoothstep))
        self.play(FadeIn(both, size))
        self.leave(name, loading, both, size)

    # Main memory, and how fast it is.

    def part(self, number: int) -> VMobject:
        """The room of main memory (0), the L2 (1) and the processors (2), bytes moving right or down."""
        area = self.area
        begin, size = sum(SHARES[: 2 * number]), SHARES[2 * number]
        corner = [area.left, area.top - begin * area.height, 0]
        wide, high = area.width, size * area.height
        if not self.tall:
            corner = [area.left + begin * area.width, area.top - px(10), 0]
            wide, high = size * area.width, area.height - px(10)
        return rectangle(wide, high).move_to(corner, UP + LEFT)

    def main_memory(self) -> None:
        """A and B go into main memory."""
        work, room = self.work, self.part(0)
        left = self.area.left if self.tall else room.get_right()[0] + px(70)
        self.rate = self.word("{tb:.1f} TB/s: {tb:.1f} MB in each microsecond", 50, self.theme.text)
        facts = self.tr("{gb:.0f} GB"), self.tr("sends {tb:.1f} TB/s")
        self.memory = Place(room, tr("main memory"), *facts)
        operands = work.operands
        a = VGroup(operands.a, operands.hatches[0], work.letters[0])
        b = VGroup(operands.b, operands.hatches[1], work.letters[1])
        foot = self.memory.floor + px(80)
        side = min(self.memory.ceiling - foot, 0.42 * room.width)
        self.badge(self.measured())
        self.say("A and B are stored in main memory.")
        self.play(FadeOut(operands.c, work.grid, work.letters[2]), FadeIn(self.memory))
        self.remove(work, operands)
        self.add(a, b)
        for matrix, share in ((a, 0.27), (b, 0.73)):
            matrix.generate_target()
            body, letter = VGroup(*matrix.target[:2]), matrix.target[2]
            body.scale(side / body.width)
            body.move_to([room.get_left()[0] + share * room.width, foot + side / 2, 0])
            letter.next_to(body, DOWN, px(16))
        fit(self.rate, self.area.right - left).move_to([left, room.get_top()[1] - px(60), 0], LEFT)
        if self.tall:
            self.rate.next_to(room, DOWN, px(60)).align_to(room, LEFT)
        self.play(*(MoveToTarget(matrix, run_time=1.0) for matrix in (a, b)), FadeIn(self.rate))
        self.a, self.b = a, b

    def sending(self, count: float, us: float) -> Amount:
        """The time in which main memory can send so many bytes."""
        name = self.tr("to send {mb:,.0f} MB at {tb:.1f} TB/s, computed", mb=count / 1e6)
        return Amount(name, [(us, self.theme.text)], tr("{us:.0f} µs", us=us), computed=True)

    def took(self) -> Amount:
        name = tr("the whole multiplication, measured")
        return Amount(name, [(self.us, self.theme.measured)], tr("{us:.0f} µs", us=self.us))

    def too_slow(self) -> None:
        """What main memory alone would need, beside what the product took."""
        area, left = self.area, self.rate.get_left()[0]
        middle = area.bottom + 0.3 * area.height if self.tall else area.center[1]
        rows = [self.sending(self.arrived, self.alone), self.took()]
        times = Amounts(rows, area.right - left, bar=110).move_to([left, middle, 0], LEFT)
        self.say(
            "Sending {mb:,.0f} MB would take {us:.0f} µs. Yet the whole multiplication took only {took:.0f}.",
            mb=self.arrived / 1e6, us=self.alone, took=self.us,
        )  # fmt: skip
        self.play(times.come())
        self.leave(times, self.rate)

    # The L2.

    def a_nearer_memory(self) -> None:
        """The L2 comes between main memory and the processors."""
        size = tr("{mb:.0f} MB", mb=self.l2.size / 1e6)
        rate = tr("sends {tb:.1f} TB/s", tb=self.l2.gb_per_s / 1000)
        self.cache = Place(self.part(1), tr("L2 cache"), size, rate)
        self.processors = Processors(
            self.part(2), ROWS, COLUMNS, tr("{sms} processors", sms=Device.named("h200").sms),
            tr("{count} of them are drawn", count=ROWS * COLUMNS),
        )  # fmt: skip
        self.badge(Badge(tr("model")))
        self.say("Much of it must come from the L2, a smaller, faster memory that all processors share.")
        self.play(FadeIn(self.cache, shift=px(40) * RIGHT))
        self.play(FadeIn(self.processors, lag_ratio=0.05, run_time=1.2))

    def sent_once(self) -> None:
        """Pieces of a strip travel to the L2, and from there to one processor after another."""
        # One of the strips of A, to scale, where it lies in main memory.
        strip, place, high = rectangle(1, 1, self.hue), self.problem.tiles_m // 3, self.problem.tiles_m
        strip.points = quad(self.a[0], 0, 1, 1 - (place + 1) / high, 1 - place / high)
        mine, pieces, arrived = self.processors.row(1), VGroup(), VGroup()
        self.say("Processors that work on one row of C need the same strip of A.")
        self.play(FadeIn(strip))
        self.play(AnimationGroup(*(edged(box.animate, self.hue, 7) for box in mine)))
        self.say("The L2 keeps a copy of each piece that main memory sends.")
        cache, side = self.cache, 0.34 * mine[0].height
        word = fit(self.word("a piece of A", 38, self.theme.text), 0.95 * cache.room.width)
        off_middle = [n - (PIECES - 1) / 2 for n in range(PIECES)]
        for number, off in enumerate(off_middle):
            spot = cache.room.get_center() + off * 1.6 * side * RIGHT
            spot[1] = mine.get_y() if not self.tall else (cache.floor + cache.ceiling) / 2
            kept = rectangle(side, side, self.hue).move_to(strip).shift(off * 0.3 * strip.width * RIGHT)
            pieces.add(kept)
            self.play(Travel([kept], [[spot]], leg=1.0 if number == 0 else 0.5))
            if number == 0:
                self.play(FadeIn(word.next_to(spot, DOWN, side).set_x(cache.room.get_x())))
        self.say("Every processor that needs this piece gets it from the copy.")
        for box, seconds in zip(mine, (1.0, 0.7, 0.5), strict=True):
            copies = [kept.copy() for kept in pieces]
            arrived.add(*copies)
            ways = [[box.get_center() + off * 0.28 * box.width * RIGHT] for off in off_middle]
            sizes = [[min(1.0, 0.2 * box.width / side)]] * PIECES
            self.play(Travel(copies, ways, sizes, leg=seconds, apart=0.1))
        self.leave(self.memory, self.a, self.b, self.cache, self.processors, strip, word, *pieces, *arrived)

    # What was counted.

    def who_sent_it(self) -> None:
        """What the processors received, and who supplied it."""
        sent, arrived = (round(one / 1e6) for one in (self.sent, self.arrived))
        parts = [(sent, self.theme.operand), (arrived - sent, self.hue)]
        rows = [
            Amount(tr("received by all processors"), parts, tr("{mb:,} MB", mb=arrived)),
            Amount(tr("sent by main memory"), parts[:1], tr("{mb:,} MB", mb=sent)),
            Amount(tr("supplied by the L2 from its copies"), parts[1:], tr("{mb:,} MB", mb=arrived - sent)),
        ]
        bars = Amounts(rows, self.area.width, bar=96 if not self.narrow else 70).move_to(self.area.center)
        self.badge(self.counted())
        self.say(
            "Main memory sent only {mb} of the {all:,} MB. The L2 supplied the rest.", mb=sent, all=arrived
        )
        self.play(bars.come())
        self.leave(bars)

    def fits_or_not(self) -> None:
        """Why main memory sends more than A and B: a product whose matrices fit into the L2."""
        rows = []
        for size, whole, sent in ((SIZE, self.whole, self.sent), (SMALL, self.small, self.small_sent)):
            whole, sent = round(whole / 1e6), round(sent / 1e6)
            name = tr("A and B of {n} × {n} numbers", n=size)
            times = tr("main memory sent {times:.1f} times that", times=sent / whole)
            rows.append(Amount(name, [(whole, self.theme.operand)], tr("{mb:.0f} MB", mb=whole)))
            rows.append(Amount(times, [(sent, self.theme.measured)], tr("{mb:.0f} MB", mb=sent)))
        high, gap = (48, 14) if self.narrow else (60, 24)
        pairs = Amounts(rows, self.area.width, bar=high, gap=gap)
        pairs[2:].shift(px(50) * DOWN)
        pairs.move_to(self.area.center)
        self.say("A and B don’t fit into the L2, so main memory sends parts of them more than once.")
        self.play(pairs.come(0, 1))
        self.say("Smaller matrices fit and are sent only once.")
        self.play(pairs.come(2, 3))
        self.leave(pairs)

    def in_time(self) -> None:
        """The same two bars as before, and the time that main memory was really sending."""
        rows = [self.sending(self.arrived, self.alone), self.took(), self.sending(self.sent, self.spent)]
        times = Amounts(rows, self.area.width, bar=96).move_to(self.area.center)
        self.badge(self.measured())
        self.say(
            "Main memory needs only {us:.0f} of the {took:.0f} µs for its share.", us=self.spent, took=self.us
        )
        self.play(LaggedStart(FadeIn(times[0]), FadeIn(times[1]), lag_ratio=0.5))
        self.play(times.come(2))
        self.leave(times)


class Loading(VGroup):
    """Tiles of C that have loaded their strips, and a bar for all that was loaded so far. `show(t)`: t tiles.

    `room`: a rectangle that the bar fills in the end. `mb`: of a tile's two strips.
    """

    def __init__(self, operands: Operands, room: VMobject, mb: float, color: Colour) -> None:
        super().__init__()
        self.problem, self.c, self.room = operands.problem, operands.c, room
        self.done, self.bar = shape(color, 0.7), shape(color)
        self.count = Count(lambda t: tr("{mb:,.0f} MB", mb=t * mb), 84)
        self.count.next_to(room, DOWN, px(24)).align_to(room, LEFT)
        self.add(self.done, self.bar, self.count)
        self.show(0.0)

    def show(self, t: float) -> Self:
        self.t = t
        wide, high = self.problem.tiles_n, self.problem.tiles_m
        full, part = divmod(int(t), wide)
        whole = quad(self.c, 0, 1, 1 - full / high, 1) if full else EMPTY
        rest = quad(self.c, 0, part / wide, 1 - (full + 1) / high, 1 - full / high) if part else EMPTY
        self.done.points = np.concatenate([whole, rest])
        self.bar.points = quad(self.room, 0, t / self.problem.tiles) if t else EMPTY
        self.count.show(t)
        return self
