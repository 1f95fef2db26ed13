"""Ping-pong: how do you keep the tensor cores busy between two tiles?

manim render scenes/ping_pong.py

Three programs, each without a part of the pause that the one before has: all warps alike, one warp that
loads, and two groups that take turns. Lanes are drawn from medians that the programs' stamps gave on an H200
(`benchmarks/between_tiles.py`); the programs were timed without stamps.
"""

from collections.abc import Mapping, Sequence
from math import ceil

from manim import DOWN, LEFT, RIGHT, UP, FadeIn, FadeOut, GrowFromEdge, ManimColor, VGroup

from tilesim import Device, Problem
from tilesim.devices.occupancy import occupancy
from tilesim.ladder.reports import report
from tilesim_scenes.animations.fade import Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.film.settings import LOOK
from tilesim_scenes.kit.amounts import Amount, Amounts
from tilesim_scenes.kit.few_sms import OneProcessor
from tilesim_scenes.kit.work import Work
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, label, px
from tilesim_scenes.look.theme import Colour, ink_on
from tilesim_scenes.mobjects.drawing.quads import bracket, rectangle, stroke_width
from tilesim_scenes.mobjects.hardware.thread_block import Warp
from tilesim_scenes.mobjects.models.phase_rows import Bar, PhaseRows
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Ping-pong",
    "question": "How do you keep the tensor cores busy between two tiles?",
    "finding": (
        "On an H200, this matrix product takes 6% less time with ping-pong than with one group of eight"
        " warps."
    ),
    "part": "Hiding waits",
    "place": 120,
    "seconds": 82,
    "shows": "Warps that do everything, a warp that loads, and two groups that take turns.",
}
SIZES = 8192, 8192, 512
"""M, N and K of the product."""
TILE, TILES, THREADS = (128, 256, 64), 2, 256
"""A whole tile and its K-step; how many lanes show; and the threads of eight warps."""
KERNELS = "persistent-tma", "warp-specialized", "ping-pong"


class PingPong(OneProcessor):
    """All warps alike, one warp that loads, and two groups that take turns."""

    asked = LOOK

    def prepare(self) -> None:
        self.problem = Problem(*SIZES, tile=TILE, order="grouped:8")
        measured, stamped = (
            report("ping_pong"),
            {row["kernel"]: row for row in report("between_tiles")["rows"]},
        )
        self.gpu, rows = measured["machine"]["gpu"], measured["rows"]
        same = [(row["kernel"], *row["tile"], row["stages"]) for row in rows]
        self.guard(
            same == [(name, *stamped[name]["tile"], stamped[name]["stages"]) for name in KERNELS],
            "the kernels that were timed and those that wrote stamps are the same",
        )
        self.alike, self.loads, self.turns = (stamped[name]["ns"] for name in KERNELS)
        # The kernel that overlaps loads early, too, so that its pause is the hand-over alone.
        self.alike |= {"hand_over": stamped["persistent-tma-overlap"]["ns"]["pause"]}
        self.guard(
            self.loads["pause"] < self.alike["pause"] / 3,
            "a ninth warp leaves less than a third of the pause",
        )
        self.guard(self.loads["multiply"] > 1.1 * self.alike["multiply"], "multiplying takes longer then")
        self.guard(self.turns["pause"] < 0, "with two groups the tensor cores hardly ever pause")
        self.guard(self.turns["hand_over"] < self.turns["period"], "a group is ready when its turn comes")
        ns = [kernel["multiply"] + kernel["pause"] for kernel in (self.alike, self.loads)]
        self.tiles_us = [round(each / 1000, 2) for each in (*ns, 2 * self.turns["period"])]
        self.sums = TILE[0] * TILE[1]
        uses = {use.limit: use for use in occupancy("h200", THREADS, self.sums // THREADS, 0).uses}
        self.registers = uses["registers"].of_sm
        self.guard(2 * self.sums == self.registers, "the sums of two tiles would take all registers")
        self.took = [row["us"] for row in rows]
        one, two, three = self.took
        self.guard(one > 1.05 * two and two > 1.05 * three, "each of the three kernels is faster")
        self.first, self.second = 1 - two / one, 1 - three / two
        # The processors that get most tiles end last.
        most = ceil(self.problem.tiles / Device.named("h200").sms)
        off = [abs(most * us / took - 1) for us, took in zip(self.tiles_us, self.took, strict=True)]
        self.guard(max(off) < 0.02, "a tile's time tells that of the product")

    def construct(self) -> None:
        self.hue = self.theme.by_phase["multiply"]
        self.ask("Tensor cores are the parts of a GPU that multiply matrices.")
        if self.given.get("work", True):
            self.the_work()
        self.all_alike()
        self.one_loads()
        self.no_room()
        self.two_groups()
        self.timed()
        self.close(
            "On an H200, this matrix product takes {less:.0%} less time with ping-pong "
            "than with one group of eight warps.",
            [(tr("one group"), self.took[1]), (tr("ping-pong"), self.took[2])],
            "less time",
            "{:.1f} µs",
            Badge(tr("measured on {gpu}", gpu=self.gpu), "measured"),
            self.tr(
                "C has {m} × {n} numbers, each a sum of {k} products of 16-bit numbers.",
                m=self.problem.m,
                n=self.problem.n,
                k=self.problem.k,
            ),
        )

    def the_work(self) -> None:
        work = Work(self.problem, self.area, tile=12 * self.problem.tiles_n + 9)
        work.grid.set_stroke(width=stroke_width(0.6))
        self.badge(Badge(tr("model"), "model"))
        self.say("A GPU multiplies matrices tile by tile. Each processor computes one tile after another.")
        for act in work.come():
            self.play(*act)
        self.leave(work)

    def all_alike(self) -> None:
        """Eight warps do everything, so the tensor cores stand still while they hand over and load."""
        kernel = self.alike
        multiply, period = kernel["multiply"], kernel["multiply"] + kernel["pause"]
        self.badge(Badge(tr("drawn from measured medians"), "model"))
        self.until = TILES * period * 1.02
        self.say("Here, the same eight warps do everything. A warp is a group of 32 threads.")
        self.team = self.placed([(self.crew(8), tr("eight warps"))])
        key = self.key(*self.entries(), Entry(tr("tensor cores wait"), [self.theme.wait_text]))
        # The last of a tile's eight K-steps is multiplied when all is loaded.
        loaded, handed = multiply * 7 / 8, multiply + kernel["hand_over"]
        loads = [Bar("load", 0, loaded), Bar("load", handed, period + loaded)]
        loads.append(Bar("load", period + handed, 2 * period))
        rows = self.lanes(kernel, loads, tr("load"), tr("hand over"))
        self.axis = self.word("time on one processor →", 38)
        self.axis.next_to(rows.grounds, UP, px(12)).align_to(rows.grounds, RIGHT)
        self.play(FadeIn(self.team, rows, self.axis), *key)
        self.say("They load, run the tensor cores, and hand each tile to a copy unit, which writes it.")
        self.run_to(rows, multiply, 5.0)
        self.say("While they hand over a tile and load the next one's data, the tensor cores wait.")
        self.run_to(rows, period, 2.2)
        self.run_to(rows, TILES * period, 1.2)
        self.brackets(rows, [multiply, period], tr("{us:.2f} µs for a tile", us=self.tiles_us[0]))
        self.leave(rows, self.mark)

    def one_loads(self) -> None:
        """A ninth warp loads during the hand-over, so that the pause is that alone."""
        kernel = self.loads
        period, multiply = kernel["multiply"] + kernel["pause"], kernel["multiply"]
        self.say("So add a ninth warp that only loads, even while the other eight hand over a tile.")
        team = self.placed([(self.crew(1), tr("a ninth warp loads")), (self.crew(8), tr("eight warps"))])
        loads = [Bar("load", 0, TILES * period)]
        rows = self.lanes(kernel, loads, tr("ninth warp: load"), tr("eight: hand over"))
        self.play(FadeOut(self.team), run_time=0.4)
        self.play(FadeIn(team, rows), run_time=0.5)
        self.team = team
        self.run_to(rows, period, 4.5)
        self.say(
            "Now the tensor cores wait only for the hand-over. Multiplying takes longer, "
            "but a tile is done sooner."
        )
        self.run_to(rows, TILES * period, 2.0)
        self.brackets(rows, [multiply, period], tr("{us:.2f} µs for a tile", us=self.tiles_us[1]))
        self.leave(rows, self.mark, self.axis)

    def no_room(self) -> None:
        """The sums of two tiles would take all registers, but those of two half tiles take half of them."""
        area = self.area
        ground = rectangle(area.width, px(130), self.theme.idle)
        ground.move_to([area.center[0], area.top - 0.6 * area.height, 0])
        name = self.word(
            "one processor’s registers, which hold sums: {n:,} numbers", 46, self.theme.text, n=self.registers
        ).next_to(ground, UP, px(24), aligned_edge=LEFT)

        def held(text: str, begin: float, share: float, color: Colour) -> VGroup:
            box = rectangle(share * ground.width, px(130), color)
            box.set_stroke(ManimColor(self.theme.background), stroke_width(5))
            box.move_to(ground.get_left() + begin * ground.width * RIGHT, LEFT)
            word = label(text, 42, ink_on(color), bold=True)
            return VGroup(box, fit(word, 0.92 * box.width).move_to(box))

        one = held(tr("sums of this tile: {n:,}", n=self.sums), 0, 0.5, self.hue)
        two = held(tr("sums of the next tile: {n:,}", n=self.sums), 0.5, 0.5, self.theme.idle)
        two[0].set_stroke(ManimColor(self.theme.wait_text), stroke_width(8))
        halves = VGroup(
            held(tr("ping: {n:,}", n=self.sums // 2), 0, 0.25, self.hue),
            held(tr("pong: {n:,}", n=self.sums // 2), 0.25, 0.25, self.hue),
            self.word("room for all else", 44).move_to(ground.get_center() + 0.25 * ground.width * RIGHT),
        )
        rest = self.word("no room for anything else", 44, self.theme.wait_text)
        rest.next_to(two, DOWN, px(20))
        self.badge(Badge(tr("schematic"), "model"))
        self.say(
            "Why not begin the next tile during the hand-over? "
            "The sums of two tiles would fill all registers."
        )
        self.play(FadeIn(ground, name), *self.key())
        self.play(GrowFromEdge(one, LEFT))
        self.play(GrowFromEdge(two, LEFT))
        self.play(FadeIn(rest))
        self.let_read()
        self.play(Leave(two), Leave(rest), run_time=0.4)
        enough = self.word(
            "A processor has four tensor cores, one for each warp of a group.", 44, self.theme.text
        )
        enough.next_to(ground, DOWN, px(40))
        self.say("So we split the eight warps into two groups. Each has a tile half as large, and both fit.")
        groups = [
            (self.crew(1), tr("a ninth warp loads")), (self.crew(4), tr("ping: four warps")),
            (self.crew(4), tr("pong: four warps")),
        ]  # fmt: skip
        team = self.placed(groups)
        self.play(FadeOut(self.team, one), run_time=0.4)
        self.play(FadeIn(team), FadeIn(halves), run_time=0.8)
        self.team = team
        self.play(FadeIn(enough))
        self.leave(ground, name, halves, enough)

    def two_groups(self) -> None:
        """One group hands over while the other multiplies."""
        turn, hand_over = self.turns["period"], self.turns["hand_over"]
        self.badge(Badge(tr("drawn from measured medians"), "model"))
        key = self.key(*self.entries())
        groups: tuple[list[Bar], list[Bar]] = [], []
        for number in range(2 * TILES):
            begin, end = number * turn, (number + 1) * turn
            groups[number % 2].append(Bar("multiply", begin, end))
            groups[number % 2].append(Bar("hand over", end, end + hand_over))
        rows = self.rows(
            {
                tr("ninth warp: load"): [Bar("load", 0, 2 * TILES * turn)],
                tr("ping"): groups[0],
                tr("pong"): groups[1],
                tr("tensor cores"): [bar for bars in groups for bar in bars if bar.kind == "multiply"],
            }
        )
        self.axis.next_to(rows.grounds, UP, px(12)).align_to(rows.grounds, RIGHT)
        self.say(
            "They take turns: while one group hands over its tile, the other multiplies. "
            "The tensor cores hardly ever wait."
        )
        self.play(FadeIn(rows, self.axis), *key, run_time=0.6)
        self.run_to(rows, 2 * TILES * turn, 3.0)
        self.brackets(rows, [turn, 2 * turn], tr("{us:.2f} µs for two halves", us=self.tiles_us[2]))
        self.leave(rows, self.team, self.axis, self.mark)

    def timed(self) -> None:
        """What the kernels took on the GPU."""
        self.badge(Badge(tr("measured on {gpu}", gpu=self.gpu), "measured"))
        names = tr("eight warps do everything"), tr("a ninth warp loads"), tr("ping-pong")
        rows = [
            Amount(tr("{name}, {tile:.2f} µs for a whole tile", name=name, tile=tile),
                   [(us, self.theme.measured)], tr("{us:.1f} µs", us=us))
            for name, us, tile in zip(names, self.took, self.tiles_us, strict=True)
        ]  # fmt: skip
        chart = Amounts(rows, self.area.width).move_to(self.area.center)
        self.say(
            "A ninth warp takes {first:.0%} off the time of the whole product, and ping-pong another "
            "{second:.0%}."
        )
        self.play(chart.come(), *self.key())
        self.leave(chart)

    # Warps, and lanes below them.

    def crew(self, count: int) -> VGroup:
        """Warps, each with a dot for each of its threads."""
        warps = VGroup(*(Warp(spacing=px(9), colour=self.hue) for _ in range(count)))
        return warps.arrange_in_grid(cols=2 if count == 8 else 1, buff=px(8))

    def placed(self, groups: Sequence[tuple[VGroup, str]]) -> VGroup:
        """Groups of warps side by side above the lanes, each with its name."""
        made = VGroup()
        for warps, name in groups:
            word = label(name, 42, self.theme.text, bold=True)
            made.add(VGroup(word, warps).arrange(DOWN, buff=px(14)))
        made.arrange(RIGHT, buff=px(90), aligned_edge=UP)
        fit(made, self.area.width, 0.22 * self.area.height)
        return made.move_to([self.area.center[0], self.area.top - 0.11 * self.area.height, 0])

    def rows(self, rows: dict[str, Sequence[Bar]]) -> PhaseRows:
        """Lanes in the lower part of the picture, without words in their bars."""
        top = self.area.top - 0.31 * self.area.height
        high = (top - self.floor - px(140)) / (1.25 * len(rows))
        rows = {name: [bar._replace(text="") for bar in bars] for name, bars in rows.items()}
        return self.named_rows(rows, top, high)

    def entries(self) -> list[Entry]:
        """What the colors of lanes mean."""
        return [
            Entry(tr("load"), [self.hue], hatched=True),
            Entry(tr("multiply"), [self.hue]),
            Entry(tr("hand over"), [self.theme.hand_over]),
        ]

    def lanes(self, kernel: Mapping[str, int], loads: Sequence[Bar], load: str, hand_over: str) -> PhaseRows:
        """When data is on its way, when tensor cores multiply and wait, and when tiles are handed over."""
        cores, out = [], []
        for tile in range(TILES):
            begin = tile * (kernel["multiply"] + kernel["pause"])
            end = begin + kernel["multiply"]
            cores += [Bar("multiply", begin, end), Bar("pause", end, end + kernel["pause"])]
            out.append(Bar("hand over", end, end + kernel["hand_over"]))
        return self.rows({load: loads, tr("tensor cores"): cores, hand_over: out})

    def run_to(self, rows: PhaseRows, until: float, seconds: float) -> None:
        self.play(PlayTrace(rows, until=float(until), run_time=seconds))

    def brackets(self, rows: PhaseRows, ends: Sequence[int], whole: str) -> None:
        """Below the lanes, the two parts of the first tile's time, and the whole of the second's."""
        y = rows.grounds.get_bottom()[1] - px(30)
        self.mark = VGroup()
        spans = [(0, ends[0]), (ends[0], ends[1]), (ends[1], 2 * ends[1])]
        texts = [tr("{us:.2f} µs", us=(end - begin) / 1000) for begin, end in spans[:2]]
        for (begin, end), text in zip(spans, [*texts, whole], strict=True):
            lines = bracket(rows.x(begin) + px(4), rows.x(end) - px(4), y, self.theme.text)
            word = label(text, 28 if self.narrow else 44, self.theme.text, bold=True)
            self.mark.add(lines, word.next_to(lines, DOWN, px(14)))
        if self.narrow:
            self.mark[-1].shift(px(40) * DOWN)
        self.play(FadeIn(self.mark), run_time=0.5)
