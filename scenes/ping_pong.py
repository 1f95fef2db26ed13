"""Ping-pong: how do you keep the tensor cores busy while a tile is being written?

manim render scenes/ping_pong.py

Three programs, each without a part of the pause that the one before has: all warps alike, one warp that
loads, and two groups that take turns. Lanes are a model's, with calibrated times of an H200; the programs
were timed.
"""

from collections.abc import Sequence
from math import ceil

from manim import DOWN, LEFT, RIGHT, UP, FadeIn, FadeOut, GrowFromEdge, ManimColor, VGroup

from tilesim import Device, Problem
from tilesim.devices.occupancy import occupancy
from tilesim.ideas.warp_specialization import Phase, Timeline, timeline
from tilesim.ladder.reports import report
from tilesim_scenes.animations.fade import Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.film.settings import LOOK
from tilesim_scenes.kit.amounts import Amount, Amounts
from tilesim_scenes.kit.few_sms import OneProcessor, times_of
from tilesim_scenes.kit.work import Work
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, label, px
from tilesim_scenes.look.theme import Colour, ink_on
from tilesim_scenes.mobjects.drawing.quads import bracket, rectangle, stroke_width
from tilesim_scenes.mobjects.hardware.thread_block import Warp
from tilesim_scenes.mobjects.models.phase_rows import Bar, PhaseRows, bars_of
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Ping-pong",
    "question": "How do you keep the tensor cores busy while a tile is being written?",
    "finding": (
        "On an H200, this matrix product takes 19% less time with ping-pong than with eight warps that do"
        " everything."
    ),
    "part": "Hiding waits",
    "place": 120,
    "seconds": 82,
    "shows": "Warps that do everything, a warp that loads, and two groups that take turns.",
}
SIZES = 8192, 8192, 512
"""M, N and K of the product."""
TILE, STAGES, HALF, HALF_STAGES = (128, 256, 64), 3, (128, 128, 64), 4
"""Of the kernels, and how many K-steps of a tile they have room for."""
TILES = 3
"""That lanes show."""
THREADS = 256
"""Of the eight warps."""


class PingPong(OneProcessor):
    """All warps alike, one warp that loads, and two groups that take turns."""

    asked = LOOK

    def prepare(self) -> None:
        whole, half = (Problem(*SIZES, tile=tile, order="grouped:8") for tile in (TILE, HALF))
        self.problem = whole
        times = times_of(whole, "persistent-tma")
        # How long a load takes that nothing hides is seen where nothing overlaps.
        in_turns = times_of(half, "persistent-tma-overlap", latency=times.latency)

        def runs(tiles: int) -> tuple[Timeline, Timeline, Timeline]:
            alike = timeline(times, tiles, whole.k_steps, STAGES, producer=False)
            loads = timeline(times, tiles, whole.k_steps, STAGES)
            return alike, loads, timeline(in_turns, 2 * tiles, half.k_steps, HALF_STAGES, 2)

        self.alike, self.loads, self.turns = runs(TILES)
        self.waits = [one.pauses()[0] for one in (self.alike, self.loads)]
        before, self.write = (pause.end - pause.start for pause in self.waits)
        self.guard(
            before > self.write == times.write, "a pause is a write, and before that a write and a load"
        )
        self.guard(not self.turns.pauses(), "with two groups the tensor cores never pause")
        steps = self.turns.steps
        self.guard(bool((steps["full"][1:] <= steps["empty"][:-1]).all()), "groups wait only for their turn")
        self.sums = TILE[0] * TILE[1]
        uses = {use.limit: use for use in occupancy("h200", THREADS, self.sums // THREADS, 0).uses}
        self.registers = uses["registers"].of_sm
        self.guard(2 * self.sums == self.registers, "the sums of two tiles would take all registers")
        measured = report("ping_pong")
        self.gpu, rows = measured["machine"]["gpu"], measured["rows"]
        self.guard([row["stages"] for row in rows] == [STAGES, STAGES, HALF_STAGES], "buffers are as modeled")
        self.kb = [
            stages * (m + n) * k * 2 // 1024 for (m, n, k), stages in ((TILE, STAGES), (HALF, HALF_STAGES))
        ]
        per_number = [(m + n) / (m * n) for m, n, _ in (TILE, HALF)]
        self.loads_more = per_number[1] / per_number[0] - 1
        self.guard(self.kb[1] <= self.kb[0], "ping-pong has no more room for loads")
        self.took, self.ghz = [row["us"] for row in rows], [row["sm_mhz"] / 1000 for row in rows]
        one, two, three = self.took
        self.guard(one > 1.05 * two and two > 1.05 * three, "each of the three kernels is faster")
        self.guard(self.ghz[0] > self.ghz[1] > self.ghz[2], "the clock of each is slower")
        # The processors that get most tiles end last.
        most = ceil(whole.tiles / Device.named("h200").sms)
        off = abs(runs(most)[0].makespan / 1000 / one - 1)
        self.guard(off < 0.05, "the model comes close to what was measured")

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
            "than with eight warps that do everything.",
            [(tr("eight warps"), self.took[0]), (tr("ping-pong"), self.took[2])],
            "less time",
            "{:.1f} µs",
            Badge(tr("measured on {gpu}", gpu=self.gpu), "measured"),
            self.tr(
                "8192 × 8192 numbers of 16 bits, each a sum of 512 products; "
                "buffers for loads: {whole} KB, with ping-pong {half} KB",
                whole=self.kb[0],
                half=self.kb[1],
            ),
        )

    def the_work(self) -> None:
        work = Work(self.problem, self.area, tile=12 * self.problem.tiles_n + 9)
        work.grid.set_stroke(width=stroke_width(1))
        self.badge(Badge(tr("model"), "model"))
        self.say("A GPU multiplies matrices tile by tile. Each processor computes one tile after another.")
        for act in work.come():
            self.play(*act)
        self.leave(work)

    def all_alike(self) -> None:
        """Eight warps do everything, so the tensor cores stand still while they write and load."""
        made, pause = self.alike, self.waits[0]
        self.badge(Badge(tr("model, from measured times"), "model"))
        self.until = float(self.loads.writes["end"][1])
        self.say(
            "Warps are groups of 32 threads. Here, the same eight warps do everything: "
            "load, multiply and write."
        )
        self.team = self.placed([(self.crew(8), tr("eight warps"))])
        key = self.key(*self.entries(), Entry(tr("tensor cores wait"), [self.theme.wait_text]))
        rows = self.lanes(made, tr("load"), tr("write"))
        self.axis = self.word("time on one processor →", 38)
        self.axis.next_to(rows.grounds, UP, px(12)).align_to(rows.grounds, RIGHT)
        self.play(FadeIn(self.team, rows, self.axis), *key)
        self.run_to(rows, pause.start, 5.0)
        self.say("While the warps are writing, the tensor cores have nothing to do.")
        self.run_to(rows, pause.start + self.write, 2.5)
        self.say("A warp that writes starts no loads. So the next data arrives late, and the wait grows.")
        self.run_to(rows, pause.end, 1.5)
        self.brackets(rows, made, pause)
        self.leave(rows, self.mark)

    def one_loads(self) -> None:
        """A ninth warp loads during the write, so that the pause is the write alone."""
        made, pause = self.loads, self.waits[1]
        self.say("So add a ninth warp that does nothing but load, even while the other eight are writing.")
        team = self.placed([(self.crew(1), tr("a ninth warp loads")), (self.crew(8), tr("eight warps"))])
        rows = self.lanes(made, tr("ninth warp: load"), tr("eight: write"))
        self.play(FadeOut(self.team), run_time=0.4)
        self.play(FadeIn(team, rows), run_time=0.5)
        self.team = team
        self.run_to(rows, pause.end, 5.0)
        self.say("Now the tensor cores wait only during the write.")
        self.brackets(rows, made, pause)
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
        two = held(tr("sums of the next tile: {n:,}", n=self.sums), 0.5, 0.5, self.theme.wait)
        halves = VGroup(
            held(tr("ping: {n:,}", n=self.sums // 2), 0, 0.25, self.hue),
            held(tr("pong: {n:,}", n=self.sums // 2), 0.25, 0.25, self.hue),
            self.word("room for all else", 44).move_to(ground.get_center() + 0.25 * ground.width * RIGHT),
        )
        rest = self.word("no room for anything else", 44, self.theme.wait_text)
        rest.next_to(two, DOWN, px(20))
        self.badge(Badge(tr("schematic"), "model"))
        self.say(
            "Could the next tile begin during the write? Its numbers are sums in registers, "
            "and those of two tiles would fill all of them."
        )
        self.play(FadeIn(ground, name), *self.key())
        self.play(GrowFromEdge(one, LEFT))
        self.play(GrowFromEdge(two, LEFT))
        self.play(FadeIn(rest))
        self.let_read()
        self.play(Leave(two), Leave(rest), run_time=0.4)
        self.say("So we split the eight warps into two groups. Each has a tile half as large, and both fit.")
        groups = [
            (self.crew(1), tr("a ninth warp loads")), (self.crew(4), tr("ping: four warps")),
            (self.crew(4), tr("pong: four warps")),
        ]  # fmt: skip
        team = self.placed(groups)
        self.play(FadeOut(self.team, one), run_time=0.4)
        self.play(FadeIn(team), FadeIn(halves), run_time=0.8)
        self.team = team
        self.leave(ground, name, halves)

    def two_groups(self) -> None:
        """One group writes while the other multiplies."""
        made = self.turns
        groups = [bars_of(made.consumers(group)) for group in range(2)]
        both = [bar for group in groups for bar in group if bar.kind == "multiply"]
        self.badge(Badge(tr("model, from measured times"), "model"))
        key = self.key(*self.entries(), Entry(tr("wait for its turn"), [self.theme.idle]))
        rows = self.rows(
            {
                tr("ninth warp: load"): bars_of(made.loads()),
                tr("ping"): groups[0],
                tr("pong"): groups[1],
                tr("tensor cores"): both,
            }
        )
        self.axis.next_to(rows.grounds, UP, px(12)).align_to(rows.grounds, RIGHT)
        self.say(
            "They take turns: while one group writes, the other multiplies. "
            "In this model, the tensor cores never wait."
        )
        self.play(FadeIn(rows, self.axis), *key)
        self.run_to(rows, self.until, 6.5)
        self.leave(rows, self.team, self.axis)

    def timed(self) -> None:
        """What the kernels took on the GPU."""
        self.badge(Badge(tr("measured on {gpu}", gpu=self.gpu), "measured"))
        names = tr("eight warps do everything"), tr("a ninth warp loads"), tr("ping-pong")
        rows = [
            Amount(tr("{name}, at {ghz:.2f} GHz", name=name, ghz=ghz), [(us, self.theme.measured)],
                   tr("{us:.1f} µs", us=us))
            for name, us, ghz in zip(names, self.took, self.ghz, strict=True)
        ]  # fmt: skip
        chart = Amounts(rows, self.area.width).move_to(self.area.center)
        self.say(
            "On a real GPU, ping-pong gains less than its lanes suggest. "
            "Its clock is slower, and half tiles load {more:.0%} more.",
            more=self.loads_more,
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
            Entry(tr("write"), [self.theme.write]),
        ]

    def lanes(self, made: Timeline, load: str, write: str) -> PhaseRows:
        """When data is on its way, what the tensor cores do, with outlines where they wait, and writes."""
        done = bars_of(made.consumers())
        pauses = [Bar("pause", *one[1:3]) for one in made.pauses()]
        return self.rows(
            {
                load: bars_of(made.loads()),
                tr("tensor cores"): [bar for bar in done if bar.kind == "multiply"] + pauses,
                write: [bar for bar in done if bar.kind == "write"],
            }
        )

    def run_to(self, rows: PhaseRows, until: float, seconds: float) -> None:
        self.play(PlayTrace(rows, until=float(until), run_time=seconds))

    def brackets(self, rows: PhaseRows, made: Timeline, pause: Phase) -> None:
        """Below the lanes, how long the tensor cores multiply, and then wait."""
        y = rows.grounds.get_bottom()[1] - px(30)
        self.mark = VGroup()
        for begin, end in ((made.steps["multiply"][0], pause.start), pause[1:3]):
            lines = bracket(rows.x(begin) + px(4), rows.x(end) - px(4), y, self.theme.text)
            us = tr("{us:.2f} µs", us=(end - begin) / 1000)
            word = label(us, 28 if self.narrow else 44, self.theme.text, bold=True)
            self.mark.add(lines, word.next_to(lines, DOWN, px(14)))
        self.play(FadeIn(self.mark))
