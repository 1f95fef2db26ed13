"""Ping-pong: how do you keep the tensor cores busy between two tiles?

manim render scenes/ping_pong.py

Three programs, each without a part of the pause that the one before has: all warps alike, one warp that
loads, and two groups that take turns. Lanes are drawn from medians that the programs' stamps gave on an H200
(`benchmarks/between_tiles.py`); the programs were timed without stamps.
"""

from collections.abc import Mapping, Sequence
from math import ceil

from manim import DOWN, LEFT, RIGHT, UP, Animation, GrowFromEdge, ManimColor, VGroup

from tilesim import Device, Problem
from tilesim.devices.occupancy import occupancy
from tilesim.ladder.reports import report
from tilesim_scenes.animations.fade import FadeIn, FadeOut, Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.film.settings import LOOK
from tilesim_scenes.kit.amounts import Amount, Amounts
from tilesim_scenes.kit.few_sms import OneProcessor
from tilesim_scenes.kit.work import Work
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, label, px
from tilesim_scenes.look.theme import Colour, ink_on
from tilesim_scenes.mobjects.drawing.quads import bracket, edged, rectangle, stroke_width
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
    "seconds": 84,
    "shows": "Warps that do everything, a warp that loads, and two groups that take turns.",
}
TILE, TILES, THREADS = (128, 256, 64), 2, 256
"""A whole tile and its K-step; how many lanes show; and the threads of eight warps."""
KERNELS = "persistent-tma", "warp-specialized", "ping-pong"


class PingPong(OneProcessor):
    """All warps alike, one warp that loads, and two groups that take turns."""

    asked = LOOK

    def prepare(self) -> None:
        self.m, self.n, self.k = 8192, 8192, 512
        self.problem = Problem(self.m, self.n, self.k, tile=TILE, order="grouped:8")
        measured = report("ping_pong")
        stamps = (row for row in report("between_tiles")["rows"] if row["m"] == self.m and row["written"])
        stamped = {row["kernel"]: row for row in stamps}
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
            self.loads["pause"] < 1.2 * self.loads["hand_over"], "that pause is hardly more than a hand-over"
        )
        self.guard(self.turns["pause"] < 0, "of two groups, one or the other is always multiplying")
        self.guard(self.turns["hand_over"] < self.turns["period"], "a group is ready when its turn comes")
        whole = [kernel["multiply"] + kernel["pause"] for kernel in (self.alike, self.loads)]
        periods = *whole, 2 * self.turns["period"]
        self.tiles_us = [round(ns / 1000, 1) for ns in periods]
        # What a tile's first data take, so long as they are asked for after the hand-over.
        self.lead = self.alike["pause"] - self.alike["hand_over"]
        self.sums = TILE[0] * TILE[1]
        uses = {use.limit: use for use in occupancy("h200", THREADS, self.sums // THREADS, 0).uses}
        self.registers = uses["registers"].of_sm
        self.guard(2 * self.sums == self.registers, "the sums of two tiles would take all registers")
        self.took = [row["us"] for row in rows]
        one, two, three = self.took
        self.guard(one > 1.05 * two and two > 1.05 * three, "each of the three kernels is faster")
        self.first, self.second, self.whole = 1 - two / one, 1 - three / two, 1 - three / one
        # The processors that get most tiles end last.
        self.sms = Device.named("h200").sms
        most = ceil(self.problem.tiles / self.sms)
        off = [abs(most * ns / 1000 / took - 1) for ns, took in zip(periods, self.took, strict=True)]
        self.guard(max(off) < 0.02, "a tile's time tells that of the product")

    def construct(self) -> None:
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
            "less time", "{:.1f} µs", self.measured(),
            self.tr("C has {m} × {n} numbers, each a sum of {k} products of 16-bit numbers."),
        )  # fmt: skip

    def the_work(self) -> None:
        work = Work(self.problem, self.area, tile=12 * self.problem.tiles_n + 9)
        work.grid.set_stroke(width=stroke_width(0.6))
        self.say("A GPU multiplies matrices tile by tile. Each processor computes one tile after another.")
        for act in work.come():
            self.play(*act)
        self.leave(work)

    def all_alike(self) -> None:
        """Eight warps do everything, so the tensor cores stand still while they hand over and load."""
        kernel = self.alike
        multiply, period = kernel["multiply"], kernel["multiply"] + kernel["pause"]
        self.badge(Badge(tr("drawn with a tile's median times"), "model"))
        self.until = 1.02 * (self.lead + TILES * period)
        memory, unit = (edged(rectangle(px(250), px(64)), self.theme.quiet, 4) for _ in range(2))
        crew = (self.crew(8), tr("eight warps")), (memory, tr("shared memory")), (unit, tr("copy unit"))
        self.team = self.placed(crew)
        self.say("In our first version, eight warps do all the work.")
        note = self.word("A warp is a group of 32 threads.", 44).next_to(self.team, DOWN, px(60))
        self.play(FadeIn(self.team, note))
        self.say("They load data, multiply, and hand each tile to a copy unit, which writes it out.")
        key = self.key(*self.entries(), Entry(tr("tensor cores wait"), [self.theme.wait_text]))
        # The last of a tile's eight K-steps is multiplied when all is loaded.
        loaded, handed = self.lead + multiply * 7 / 8, self.lead + multiply + kernel["hand_over"]
        loads = [Bar("load", 0, loaded), Bar("load", handed, period + loaded)]
        loads.append(Bar("load", period + handed, self.lead + 2 * period))
        rows = self.lanes(kernel, loads, tr("load"), tr("hand over"))
        self.axis = self.word("time on one processor →", 38)
        self.axis.next_to(rows.grounds, UP, px(12)).align_to(rows.grounds, RIGHT)
        self.play(FadeOut(note, run_time=0.3), FadeIn(rows, self.axis), *key)
        self.run_to(rows, self.lead + multiply, 3.0)
        tile = rectangle(px(64), px(40), self.hue).move_to(self.team[0][1])
        ways = [self.team[1][1].get_center(), self.team[2][1].get_center()]
        self.run_to(rows, handed, 1.2, Travel([tile], [ways], leg=0.6))
        self.say("While they hand over a tile and load the next one's data, the tensor cores wait.")
        self.run_to(rows, self.lead + period, 2.0, FadeOut(tile))
        self.run_to(rows, self.lead + TILES * period, 1.2)
        self.bracket(rows, period, tr("{us:.1f} µs for a tile and the wait", us=self.tiles_us[0]))
        self.leave(rows, self.mark)

    def one_loads(self) -> None:
        """A ninth warp loads during the hand-over, so that the pause is that alone."""
        kernel = self.loads
        period = kernel["multiply"] + kernel["pause"]
        self.say("So add a ninth warp that only loads, even while the others hand over a tile.")
        before = self.team
        self.team = self.placed([(self.crew(1), tr("a ninth warp loads")), (self.crew(8), tr("eight warps"))])
        loads = [Bar("load", 0, self.lead + TILES * period)]
        rows = self.lanes(kernel, loads, tr("ninth warp: load"), tr("eight: hand over"))
        self.play(FadeOut(before), run_time=0.4)
        self.play(FadeIn(self.team, rows), run_time=0.5)
        self.run_to(rows, self.lead + period, 3.5)
        self.say("Now the tensor cores wait barely longer than the hand-over takes.")
        self.run_to(rows, self.lead + TILES * period, 3.2)
        before, us, _ = self.tiles_us
        self.say(
            "Multiplying is slower during a write, yet each tile takes {us:.1f} instead of {before:.1f} µs.",
            us=us, before=before,
        )  # fmt: skip
        self.bracket(rows, period, tr("{us:.1f} µs for a tile and the wait", us=us))
        self.leave(rows, self.mark, self.axis)

    def no_room(self) -> None:
        """The sums of two tiles would take all registers, but those of two half tiles take half of them."""
        area = self.area
        ground = rectangle(area.width, px(130), self.theme.idle)
        ground.move_to([area.center[0], area.top - 0.6 * area.height, 0])
        name = self.word(
            "A processor keeps running sums in its {registers:,} registers, one for each number of a tile.",
            44,
        )
        name.next_to(ground, UP, px(24), aligned_edge=LEFT)

        def held(text: str, begin: float, share: float, color: Colour) -> VGroup:
            box = rectangle(share * ground.width, px(130), color)
            box.set_stroke(ManimColor(self.theme.background), stroke_width(5))
            box.move_to(ground.get_left() + begin * ground.width * RIGHT, LEFT)
            word = label(text, 42, ink_on(color), bold=True)
            return VGroup(box, fit(word, 0.92 * box.width).move_to(box))

        one = held(tr("sums of this tile: {n:,}", n=self.sums), 0, 0.5, self.hue)
        two = held(tr("sums of the next tile: {n:,}", n=self.sums), 0.5, 0.5, self.theme.idle)
        two[0].set_stroke(ManimColor(self.theme.wait_text), stroke_width(8))
        names = tr("ping: {n:,}", n=self.sums // 2), tr("pong: {n:,}", n=self.sums // 2)
        ping, pong = (held(name, n / 4, 0.25, self.hue)[0] for n, name in enumerate(names))
        beside = VGroup(fit(self.word("room for everything else", 44), 0.45 * ground.width))
        beside.move_to(ground.get_center() + 0.25 * ground.width * RIGHT)
        for half, text in zip((ping, pong), names, strict=True):
            beside.add(fit(label(text, 42, bold=True), 0.92 * half.width).next_to(half, DOWN, px(20)))
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
        self.say("So we split the warps into two groups with half-size tiles. Both fit.")
        groups = [
            (self.crew(1), tr("a ninth warp loads")), (self.crew(4), tr("ping: four warps")),
            (self.crew(4), tr("pong: four warps")),
        ]  # fmt: skip
        before, self.team = self.team, self.placed(groups)
        self.play(FadeOut(before, one), run_time=0.4)
        self.play(FadeIn(self.team, ping, pong, beside), run_time=0.8)
        self.say("While one group empties its registers, the other fills its own.")
        self.play(ping.animate.stretch(0.01, 0, about_edge=LEFT), run_time=1.9)
        both = (ping, 100), (pong, 0.01)
        self.play(*(one.animate.stretch(by, 0, about_edge=LEFT) for one, by in both), run_time=1.9)
        self.leave(ground, name, ping, pong, beside)

    def two_groups(self) -> None:
        """One group hands over while the other multiplies."""
        turn, hand_over = self.turns["period"], self.turns["hand_over"]
        self.badge(Badge(tr("drawn with a tile's median times"), "model"))
        key = self.key(*self.entries())
        begins = (self.lead + number * turn for number in range(2 * TILES))
        cores = [Bar("multiply", begin, begin + turn) for begin in begins]
        out = [Bar("hand over", bar.end, bar.end + hand_over) for bar in cores]
        lanes = {
            tr("ninth warp: load"): [Bar("load", 0, cores[-1].end)],
            tr("ping"): [*cores[::2], *out[::2]],
            tr("pong"): [*cores[1::2], *out[1::2]],
            tr("tensor cores"): cores,
        }
        rows = self.rows(lanes)
        self.axis.next_to(rows.grounds, UP, px(12)).align_to(rows.grounds, RIGHT)
        self.say("Four warps can keep the tensor cores busy while the other four hand over.")
        self.play(FadeIn(rows, self.axis), *key, run_time=0.6)
        self.run_to(rows, cores[-1].end, 2.2)
        self.bracket(rows, 2 * turn, tr("{us:.1f} µs for two half-size tiles", us=self.tiles_us[2]))
        self.leave(rows, self.team, self.axis, self.mark)

    def timed(self) -> None:
        """What the kernels took on the GPU."""
        self.badge(self.measured())
        names = tr("eight warps do everything"), tr("a ninth warp loads"), tr("ping-pong")
        rows = [
            Amount(name, [(us, self.theme.measured)], tr("{us:.1f} µs", us=us))
            for name, us in zip(names, self.took, strict=True)
        ]
        chart = Amounts(rows, self.area.width).move_to(self.area.center + px(30) * UP)
        self.say(
            "The ninth warp saves {first:.0%} and ping-pong another {second:.0%}: "
            "{whole:.0%} of the product's time."
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
            word = label(name, 42, bold=True)
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
            begin = self.lead + tile * (kernel["multiply"] + kernel["pause"])
            end = begin + kernel["multiply"]
            cores += [Bar("multiply", begin, end), Bar("pause", end, end + kernel["pause"])]
            out.append(Bar("hand over", end, end + kernel["hand_over"]))
        return self.rows({load: loads, tr("tensor cores"): cores, hand_over: out})

    def run_to(self, rows: PhaseRows, until: float, seconds: float, *along: Animation) -> None:
        self.play(PlayTrace(rows, until=float(until), run_time=seconds), *along)

    def bracket(self, rows: PhaseRows, ns: int, text: str) -> None:
        """Below the lanes, the time of the first tile, or of the first of each group."""
        y = rows.grounds.get_bottom()[1] - px(30)
        line = bracket(rows.x(self.lead) + px(4), rows.x(self.lead + ns) - px(4), y, self.theme.text)
        word = label(text, 36 if self.narrow else 44, self.theme.text, bold=True)
        self.mark = VGroup(line, word.next_to(line, DOWN, px(14)))
        self.play(FadeIn(self.mark), run_time=0.5)
