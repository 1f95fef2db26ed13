"""Ping-pong: what multiplies while a tile is written?

manim render scenes/ping_pong.py

Three programs, each without a part of the pause that the one before has: all warps alike, one warp that
loads, and two groups that take turns. Lanes are a model's, with calibrated times of an H200; the programs
were timed.
"""

from collections.abc import Sequence

from manim import DOWN, LEFT, RIGHT, UP, FadeIn, FadeOut, Line, ManimColor, Square, VGroup

from tilesim import Device, Problem, plan
from tilesim.ideas.warp_specialization import Phase, Timeline, Times, timeline
from tilesim.kernel_costs.default import default_costs
from tilesim.ladder.file import ladders
from tilesim.model.kstep import k_step_ns
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.film.settings import LOOK
from tilesim_scenes.kit.amounts import Amount, Amounts
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.kit.work import Work
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, px
from tilesim_scenes.mobjects.drawing.quads import stroke_width
from tilesim_scenes.mobjects.hardware.warp import Warp
from tilesim_scenes.mobjects.models.phase_rows import Bar, PhaseRows, Turn, bars_of
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Ping-pong",
    "question": "What multiplies while a tile is written?",
    "part": "Hiding waits",
    "place": 120,
    "seconds": 81,
    "shows": "Warps that do everything, a warp that loads, and two groups that take turns.",
}
SHORT, LONG = (8192, 8192, 512), (4096, 4096, 4096)
"""M, N and K of the product that the film is about, and of one with longer sums."""
TILE, STAGES, HALF, HALF_STAGES = (128, 256, 64), 4, (128, 128, 64), 6
"""Of the ladder's kernels `warp-specialized` and `ping-pong`."""
TILES = 3
"""That lanes show."""
NAMES = 330
"""Pixels for the names of lanes, left of them."""


def times_of(problem: Problem, kernel: str, latency: int | None = None) -> Times:
    """What a K-step, a write and a lone load take on an H200, as calibrated for a persistent kernel.

    Operands arrive at least as fast as a main loop was seen to use them up, so that is the interval.
    """
    device = Device.named("h200")
    costs = default_costs("persistent", problem, device, kernel)
    step = round(float(k_step_ns(plan("persistent", problem, device), problem, device, costs).mean()))
    alone = costs.tile_gap if latency is None else latency
    return Times(alone, step, costs.epilogue, interval=step, contention=costs.epilogue_overlap_penalty)


class PingPong(Lesson):
    """All warps alike, one warp that loads, and two groups that take turns."""

    asked = LOOK

    def prepare(self) -> None:
        whole, half = (Problem(*SHORT, tile=tile, order="grouped:8") for tile in (TILE, HALF))
        self.problem = whole
        times = times_of(whole, "persistent-tma")
        # How long a load takes that nothing hides is seen where nothing overlaps.
        in_turns = times_of(half, "persistent-tma-overlap", latency=times.latency)
        self.alike = timeline(times, TILES, whole.k_steps, STAGES, producer=False)
        self.loads = timeline(times, TILES, whole.k_steps, STAGES)
        self.turns = timeline(in_turns, 2 * TILES, half.k_steps, HALF_STAGES, 2)
        self.waits = [one.pauses()[0] for one in (self.alike, self.loads)]
        self.write = self.waits[1].end - self.waits[1].start
        self.load = self.waits[0].end - self.waits[0].start - self.write
        self.guard(self.write == times.write and self.load > 0, "a pause is a write and a load")
        self.guard(not self.turns.pauses(), "with two groups the tensor cores never pause")
        ladder = ladders()[0]
        self.gpu = ladder.machine["gpu"]
        us = {(step.name, step.m, step.n, step.k): step.us for step in ladder.rows}
        self.short, self.long = (
            [us[name, *size] for name in ("persistent", "warp-specialized", "ping-pong")]
            for size in (SHORT, LONG)
        )
        one, two, three = self.short
        self.guard(one > 1.05 * two and two > 1.05 * three, "each of the three kernels is faster")
        self.guard(self.long[2] > 1.01 * self.long[1], "with long sums, taking turns costs time")

    def construct(self) -> None:
        self.hue = self.theme.by_phase["multiply"]
        self.ask("Tensor cores are the parts of a GPU that multiply matrices.")
        if self.given.get("work", True):
            self.the_work()
        self.all_alike()
        self.one_loads()
        self.two_groups()
        self.timed()
        self.close(
            "On an H200, a matrix product with short sums takes {less:.0%} less time if one group of warps "
            "multiplies while another writes.",
            [(tr("one group"), self.short[1]), (tr("two groups"), self.short[2])],
            "less time",
            "{:.1f} µs",
            Badge(tr("measured on {gpu}", gpu=self.gpu), "measured"),
            tr("8192 × 8192 numbers, each a sum of 512 products of 16-bit numbers"),
        )

    def the_work(self) -> None:
        work = Work(self.problem, self.area, tile=12 * self.problem.tiles_n + 9)
        self.badge(Badge(tr("model"), "model"))
        self.say("A GPU multiplies matrices tile by tile. Each processor computes one tile after another.")
        for act in work.come():
            self.play(*act)
        self.leave(work)

    def all_alike(self) -> None:
        """Eight warps do everything, so the tensor cores stand still while they write and load."""
        made, pause = self.alike, self.waits[0]
        self.badge(Badge(tr("model, from measured times"), "model"))
        self.say(
            "Eight warps, groups of 32 threads, load a tile’s data, run tensor cores, and write the tile."
        )
        self.team = self.placed([(self.crew(8), tr("8 warps"))])
        self.until = float(made.writes["end"][1])
        self.ticking = self.clock(self.until)
        rows = self.rows(
            {
                tr("8 warps"): bars_of(made.consumers(), wait="load"),
                tr("tensor cores"): self.cores(made),
            },
        )
        key = self.key(
            Entry(tr("load"), [self.hue], hatched=True),
            Entry(tr("multiply"), [self.hue]),
            Entry(tr("write"), [self.theme.write]),
            Entry(tr("tensor cores pause"), [self.theme.wait_text]),
        )
        self.axis = self.word("time →", 38)
        self.axis.next_to(rows.grounds, UP, px(12)).align_to(rows.grounds, RIGHT)
        self.play(FadeIn(self.team, rows, self.axis), *key)
        self.run_to(rows, pause.start, 4.0)
        self.say("While the warps write, they run no tensor cores.")
        self.run_to(rows, pause.start + self.write, 2.5)
        self.say("Nobody loads then, either. So they also wait for the data of the next tile.")
        self.run_to(rows, pause.end, 1.5)
        self.bracket_of(rows, pause, "write {write} + load {load} = {both} µs", self.write, self.load)
        self.leave(rows, self.mark)

    def one_loads(self) -> None:
        """A ninth warp loads during the write, so that the pause is the write alone."""
        made, pause = self.loads, self.waits[1]
        self.say("Let a ninth warp do the loading, also while the eight write.")
        extra = self.crew(1)
        team = self.placed([(extra, tr("1 warp loads")), (self.crew(8), tr("8 warps"))])
        rows = self.rows(
            {
                tr("1 warp loads"): bars_of(made.loads(), wait=""),
                tr("8 warps"): bars_of(made.consumers(), wait=""),
                tr("tensor cores"): self.cores(made),
            },
        )
        self.play(FadeOut(self.team), PlayTrace(self.ticking, until=0), run_time=0.5)
        self.play(FadeIn(team, rows), run_time=0.5)
        self.team = team
        self.run_to(rows, pause.end, 4.0)
        self.say("Now the pause is only as long as the write.")
        self.bracket_of(rows, pause, "write {write} µs", self.write)
        self.say("The eight cannot multiply meanwhile, because they hold the finished sums that they write.")
        self.wait(0.5)
        self.leave(rows, self.mark)

    def two_groups(self) -> None:
        """One group writes while the other multiplies."""
        made = self.turns
        self.say("So the eight split into two groups. Each computes a tile of its own, half as large.")
        groups = [
            (self.crew(1), tr("1 warp loads")), (self.crew(4), tr("ping: 4 warps")),
            (self.crew(4), tr("pong: 4 warps")),
        ]  # fmt: skip
        team = self.placed(groups)
        names = tr("ping"), tr("pong")
        turns = [bars_of(made.consumers(group), wait="") for group in range(2)]
        both = [bar for group in turns for bar in group if bar.kind == "multiply"]
        rows = self.rows(dict(zip(names, turns, strict=True)) | {tr("tensor cores"): both})
        ring = Turn(rows, names, made)
        self.play(PlayTrace(self.ticking, until=0), run_time=0.5)
        halves = self.tile_of(whole=True)
        self.play(FadeIn(halves), run_time=0.5)
        self.wait(0.8)
        self.play(FadeOut(self.team, halves[1]), run_time=0.4)
        parted = self.tile_of(whole=False)
        self.play(halves[0].animate.become(parted[0]), FadeIn(team, parted[1]), run_time=1.2)
        self.wait(1.2)
        self.play(FadeOut(halves[0], parted[1]), FadeIn(rows), run_time=0.5)
        first = made.writes["start"][0]
        self.say("They take turns: when ping has finished its sums, pong may multiply.")
        whose = self.word("whose turn it is", 38)
        whose.next_to(rows, UP, px(14)).align_to(rows.grounds, LEFT)
        self.play(FadeIn(ring, whose), run_time=0.4)
        self.run_to(rows, first + 300, 4.0, ring)
        self.say("While one group writes its tile, the other multiplies, so the tensor cores need not pause.")
        self.run_to(rows, self.until, 6.0, ring)
        self.leave(rows, ring, whose, team, self.axis, self.ticking)

    def timed(self) -> None:
        """What the kernels took on the GPU, with short sums and with long ones."""
        self.badge(Badge(tr("measured on {gpu}", gpu=self.gpu), "measured"))
        names = (
            tr("all warps alike"),
            tr("one warp loads, one group"),
            tr("one warp loads, two groups"),
        )
        short = self.chart(tr("8192 × 8192 sums of 512 products"), names, self.short)
        self.say(
            "On an H200, the three programs take {one:.0f}, {two:.0f} and {three:.0f} µs.",
            one=self.short[0],
            two=self.short[1],
            three=self.short[2],
        )
        self.play(FadeIn(short[0]), *self.key())
        self.play(short[1].come())
        self.leave(short)
        long = self.chart(tr("4096 × 4096 sums of 4096 products"), names[1:], self.long[1:])
        self.say("With longer sums, little time goes into writing, and two groups are slower.")
        self.play(FadeIn(long[0]))
        self.play(long[1].come())
        self.leave(long)

    def chart(self, title: str, names: Sequence[str], us: Sequence[float]) -> VGroup:
        amounts = [
            Amount(name, [(one, self.theme.measured)], tr("{us:.1f} µs", us=one))
            for name, one in zip(names, us, strict=True)
        ]
        heading = label(title, 50, self.theme.text, bold=True)
        picture = VGroup(heading, Amounts(amounts, self.area.width)).arrange(
            DOWN, buff=px(44), aligned_edge=LEFT
        )
        picture.scale(min(1.0, self.area.height / picture.height))
        return picture.move_to(self.area.center)

    # Warps, and lanes below them.

    def crew(self, count: int) -> VGroup:
        """Warps, drawn with eight dots each."""
        warps = VGroup(*(Warp(8, px(22), self.hue) for _ in range(count)))
        return warps.arrange_in_grid(cols=2 if count > 1 else 1, buff=px(14))

    def placed(self, groups: Sequence[tuple[VGroup, str]]) -> VGroup:
        """Groups of warps side by side above the lanes, each with its name."""
        made = VGroup()
        for warps, name in groups:
            word = label(name, 42, self.theme.text, bold=True)
            made.add(VGroup(word, warps).arrange(DOWN, buff=px(18)))
        made.arrange(RIGHT, buff=px(90), aligned_edge=UP)
        made.scale(min(1.0, self.area.width / made.width, 0.35 * self.area.height / made.height))
        return made.move_to([self.area.center[0], self.area.top - 0.18 * self.area.height, 0])

    def tile_of(self, whole: bool) -> VGroup:
        """A tile in two halves, which touch or have parted, and the name of each."""
        top, side = self.area.top - 0.52 * self.area.height, 0.3 * self.area.height
        halves = VGroup(*(Square(side) for _ in range(2))).arrange(RIGHT, buff=0 if whole else px(120))
        halves.set_fill(ManimColor(self.hue), 0.5).set_stroke(ManimColor(self.hue), stroke_width(4))
        halves.move_to([self.area.center[0], top - side / 2, 0])
        texts = [(tr("a tile of the eight"), halves)] if whole else [
            (tr("tile of ping"), halves[0]), (tr("tile of pong"), halves[1])
        ]  # fmt: skip
        names = (label(text, 42, self.theme.text, bold=True).next_to(one, UP, px(14)) for text, one in texts)
        return VGroup(halves, VGroup(*names))

    def rows(self, rows: dict[str, Sequence[Bar]]) -> PhaseRows:
        """Lanes in the lower part of the picture, in one color."""
        top = self.area.top - 0.43 * self.area.height
        high = (top - self.floor - px(130)) / 3.5
        rows = {name: [bar._replace(text="") for bar in bars] for name, bars in rows.items()}
        made = PhaseRows(
            rows, (0, self.until), self.area.width - px(NAMES), high, 0.25 * high,
            dict.fromkeys(rows, self.hue), name_size=40,
        )  # fmt: skip
        for name in made.names:
            name.set_color(ManimColor(self.theme.text))
            name.scale(min(1.0, px(NAMES - 30) / name.width), about_point=name.get_right())
        return made.shift([self.area.right - made.grounds.get_right()[0], top - made.grounds.get_top()[1], 0])

    @staticmethod
    def cores(made: Timeline) -> list[Bar]:
        """What the tensor cores do: the multiplications, and outlines between them."""
        busy = [bar for bar in bars_of(made.consumers()) if bar.kind == "multiply"]
        return busy + [Bar("pause", *one[1:3]) for one in made.pauses()]

    def run_to(self, rows: PhaseRows, until: float, seconds: float, *more: Turn) -> None:
        self.play(PlayTrace(rows, self.ticking, *more, until=float(until), run_time=seconds))

    def bracket_of(self, rows: PhaseRows, pause: Phase, text: str, *parts: int) -> None:
        """Brackets below a pause, one for each of its parts, and how long they are."""
        y, tick, at = rows.grounds.get_bottom()[1] - px(30), px(14), pause.start
        lines = VGroup()
        for part in parts:
            x0, x1 = rows.x(at) + px(4), rows.x(at + part) - px(4)
            lines.add(Line([x0, y, 0], [x1, y, 0]))
            lines.add(*(Line([x, y - tick, 0], [x, y + tick, 0]) for x in (x0, x1)))
            at += part
        lines.set_stroke(ManimColor(self.theme.text), stroke_width(4))
        us = dict(zip(("write", "load"), (f"{part / 1000:.2f}" for part in parts), strict=False))
        sums = {"both": f"{sum(map(float, us.values())):.2f}"}
        word = label(tr(text, **us, **sums), 44, self.theme.text, bold=True).next_to(lines, DOWN, px(14))
        self.mark = VGroup(lines, word)
        self.play(FadeIn(self.mark))
