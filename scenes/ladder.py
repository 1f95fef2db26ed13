"""Ladder: how can the same matrix product run almost 25 times as fast?

manim render scenes/ladder.py

Programs for one product, each with another idea than the one before, timed on an H200. Each idea is drawn
above the times. Counters say for which share of the time the tensor cores work, so that what is left is
waiting; it is what the steps take away.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Animation, Create, Dot, ManimColor, Mobject, Transform, VGroup

from tilesim import Device, Problem
from tilesim.devices.presets import facts
from tilesim.ideas.coalescing import SECTOR, WARP
from tilesim.ideas.pipelining import Pipeline, pipeline, times
from tilesim.kernel_costs.default import default_costs
from tilesim.ladder.file import ladders, read
from tilesim.ladder.reports import report
from tilesim_scenes.animations.fade import Fade, FadeIn, FadeOut, Leave, late
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.kit.amounts import Amount, Amounts
from tilesim_scenes.kit.few_sms import OneProcessor
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, label, lines, px
from tilesim_scenes.look.theme import ink_on, mixed
from tilesim_scenes.mobjects.drawing.quads import edged, levels, rectangle, rounded, strokes, uprights
from tilesim_scenes.mobjects.hardware.operands import Operands
from tilesim_scenes.mobjects.models.phase_rows import Bar, PhaseRows
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Ladder",
    "question": "How can the same matrix product run almost 25 times as fast?",
    "finding": (
        "On an H200, the last program is 24.6 times as fast as the first. Most of that came from reading "
        "memory along rows."
    ),
    "part": "Kernels",
    "place": 250,
    "seconds": 82,
    "shows": "Four programs for one product, the idea of each, and how long their tensor cores wait.",
    "takes": "ladder",
}
SHAPE = (8192, 8192, 512)
"""M, N and K."""
TOLD = ("uncoalesced", "grouped", "pipelined", "overlapped")
"""Steps of the ladder that the film tells."""
PART = Problem(1024, 1024, 512, tile=(128, 256, 64))
"""What of the product is drawn: a corner of it, whose tiles and chunks are those of all but program 1."""
CORES = 4
"""Tensor cores of an SM, each of which counts its own busy cycles."""


class Ladder(OneProcessor):
    """One product by four kernels: the idea of each, how long it takes, and how much of that is waiting."""

    def prepare(self) -> None:
        ladder = read(self.given["ladder"]) if "ladder" in self.given else ladders()[0]
        steps = {step.name: step for step in ladder.rows if (step.m, step.n, step.k) == SHAPE}
        self.guard({*TOLD, "coalesced", "persistent"} <= set(steps), "four programs compute one product")
        self.gpu = ladder.machine["gpu"]
        self.guard("H200" in self.gpu, "they ran on an H200")
        first, second, third, last = self.steps = [steps[name] for name in TOLD]
        self.us = [step.us for step in self.steps]
        self.guard(all(a > 1.05 * b for a, b in pairwise(self.us)), "each step saves time")
        self.guard(24 < self.us[0] / self.us[-1] < 25, "the last program is almost 25 times as fast")
        # Of the time, in which tensor cores work.
        self.shares = [(one.tensor_cycles or 0.0) / (CORES * (one.sm_cycles or 1.0)) for one in self.steps]
        self.guard(self.shares[0] < 0.03, "97 % of the first program's time is waiting")
        cycles = {step.tensor_cycles for step in self.steps}
        self.guard(len(cycles) == 1, "tensor cores multiply for equally many cycles in all of them")
        self.guard(sorted(self.shares) == self.shares, "each step removes waiting")
        alone = [us * share for us, share in zip(self.us, self.shares, strict=True)]
        self.guard(max(alone) < 1.1 * min(alone), "they multiply for about equally long")
        near = steps["coalesced"]
        twelfth = round(first.us / second.us) == round(first.us / near.us) == 12
        self.guard(twelfth, "reads along rows alone take a twelfth of the time")
        self.each = SECTOR // 2
        pieces = (first.load_sectors or 0.0) / (near.load_sectors or 1.0)
        self.guard(pieces == self.each, "the first program uses one number of each piece, the second all")
        self.guard(first.load_sectors == WARP * (first.load_requests or 0), "each thread needs its own piece")
        same = all((one.tile, one.order) == (PART.tile, "grouped:8") for one in (second, third, last))
        same &= [one.stages for one in (second, third, last)] == [1, 3, 4]
        self.guard(same, "program 3 only loads ahead, two pairs of chunks")
        most = steps["persistent"].us - last.us > 0.5 * (third.us - last.us)
        self.guard(most, "program 4 is faster mostly as loads and writes overlap across tiles")
        self.fast = facts("h200")["shared_kib_per_sm"].value
        self.strips = sum(PART.tile[:2]) * 2 * SHAPE[2] // 1024
        self.guard(self.strips > self.fast, "a processor cannot hold two whole strips")
        self.timetables()

    def timetables(self) -> None:
        """What lanes show: a model of measured times."""
        step_ns = {row["stages"]: row["k_step_ns"] for row in report("pipelining")["rows"]}
        load, multiply = times(step_ns)
        third, last = self.steps[2:]
        whole, device = Problem(*SHAPE, tile=PART.tile, order="grouped:8"), Device.named("h200")
        apart, early = (
            default_costs(schedule, whole, device, kernel)
            for schedule, kernel in (("naive", "naive-ptr"), ("persistent", "persistent-tma-overlap-split"))
        )
        self.guard(early.overlap and early.tile_gap < early.epilogue, "program 4 multiplies during a write")
        self.write = apart.epilogue
        self.second, self.third = (pipeline(PART.k_steps, n, load, multiply) for n in (1, third.stages))
        self.guard(not self.third.bubbles[1:].any(), "loads that run ahead come in time")
        pause, whole_tile = apart.epilogue + apart.launch, PART.k_steps * multiply
        self.across = rows_across(last.stages - 1, load, multiply, early.tile_gap, early.epilogue)
        each = [one.makespan + pause for one in (self.second, self.third)]
        each.append(whole_tile + early.epilogue_overlap_penalty + early.tile_gap)
        saved = zip(pairwise(each), pairwise(self.us[1:]), strict=True)
        close = all(abs((b / a) / (d / c) - 1) < 0.1 for (a, b), (c, d) in saved)
        self.guard(close, "the model saves about as much as was measured")

    def construct(self) -> None:
        self.ask(
            "A GPU has many processors. In each, threads load numbers for tensor cores, which multiply "
            "matrices."
        )
        self.the_work()
        self.the_slowest()
        self.neighbors()
        self.loads_ahead()
        self.loads_early()
        self.what_is_left()
        self.close(
            "On an H200, the last program is {times:.1f} times as fast as the first. Most of that came from "
            "reading memory along rows.",
            [(tr("program 1"), self.us[0]), (tr("program 4"), self.us[-1])],
            "times",
            "{:,.0f} µs",
            self.measured(),
            tr("8192 × 8192 numbers, each a sum of 512 products of 16-bit numbers"),
        )

    def the_work(self) -> None:
        """A corner of the product: a tile, its strips, and the chunks that a processor loads of them."""
        area, theme = self.area, self.theme
        share = (1.0, 0.72) if self.tall else (0.47, 1.0)
        shown = Operands(PART, share[0] * area.width, share[1] * area.height, px(16), names=False)
        number = 2 * PART.tiles_n + 1
        tile = shown.tile(number, theme.hand_over)
        row, column = (part(number, theme.operand) for part in (shown.row_panel, shown.column_panel))
        grid = strokes(theme.background, 2.0)
        cuts = (np.arange(1, count) / count for count in (PART.tiles_n, PART.tiles_m))
        grid.points = np.concatenate([uprights(shown.c, next(cuts)), levels(shown.c, next(cuts))])
        box, memory, cores = self.processor()
        room = (1.0 if self.tall else 0.49) * area.width
        words = lines(tr("a corner of the result, 8192 × 8192 in all"), 42, room, color=theme.quiet)
        beside = VGroup(words, fit(box, room, 0.75 * area.height)).arrange(DOWN, buff=px(40))
        both = VGroup(VGroup(shown, grid, tile, row, column), beside)
        both.arrange(DOWN if self.tall else RIGHT, buff=px(30)).move_to(area.center)
        long = tr("strip, {k} long", k=SHAPE[2])
        places = (tr("tile"), tile, RIGHT), (tr("strip"), row, DOWN), (long, column, RIGHT)
        names = VGroup(*(label(word, 42, bold=True).next_to(at, side, px(12)) for word, at, side in places))
        self.badge(Badge(tr("schematic"), "model"))
        self.say("Each tile of the result needs a strip of each input matrix.")
        self.play(FadeIn(shown, grid, words), FadeIn(tile, names[0]), run_time=0.8)
        self.play(FadeIn(row, column, names[1:]))
        self.say(
            "Both strips need {strips} KB, but fast memory holds only {room} KB. "
            "So threads load them chunk by chunk.",
            strips=self.strips,
            room=self.fast,
        )
        pairs = [VGroup(*pair) for pair in zip(row, column, strict=True)]
        dim = [pair.animate.set_opacity(0.15) for pair in pairs]
        self.play(FadeIn(box), *dim, FadeOut(names[1:]), run_time=0.6)
        chunks = VGroup(*(label(tr("chunk"), 42, bold=True) for _ in range(2)))
        for number, pair in enumerate(pairs):
            seconds = 0.3 if number else 0.8
            copy = pair.set_opacity(1.0).copy()
            chunks[0].next_to(pair[0], DOWN, px(12)).set_x(pair[0].get_left()[0], LEFT)
            chunks[1].next_to(pair[1], LEFT, px(12))
            self.add(chunks)
            loaded = copy.copy().arrange(RIGHT, buff=px(16))
            fit(loaded, 0.9 * memory.width, 0.9 * memory.height).move_to(memory)
            self.play(Transform(copy, loaded), run_time=seconds)
            self.play(FadeOut(copy, target_position=cores, scale=0.2), run_time=seconds)
            pair.set_opacity(0.15)
        self.play(FadeOut(chunks), run_time=0.3)
        self.work = VGroup(both, names[0])

    def processor(self) -> tuple[VGroup, Mobject, Mobject]:
        """A processor, its fast memory, and its tensor cores."""
        theme = self.theme
        threads = VGroup(*(Dot(radius=px(8), color=ManimColor(theme.text)) for _ in range(WARP)))
        threads.arrange_in_grid(4, WARP // 4, buff=(px(16), px(22)))
        memory = edged(rectangle(px(220), px(130), theme.idle), theme.quiet, 3)
        cores = VGroup(*(rectangle(px(60), px(60), self.hue) for _ in range(CORES)))
        cores.arrange_in_grid(2, 2, buff=px(10))
        inside = VGroup()
        words = tr("threads"), tr("fast memory"), tr("tensor cores")
        for word, part in zip(words, (threads, memory, cores), strict=True):
            inside.add(VGroup(part, label(word, 40).move_to([0, -px(82), 0], UP)))
        below = self.narrow and not self.tall
        inside.arrange(DOWN if below else RIGHT, buff=px(36), aligned_edge=np.zeros(3) if below else UP)
        box = rounded(inside.width + px(60), inside.height + px(60), px(24), theme.quiet, 4, theme.background)
        name = self.bold("a processor").next_to(box, UP, px(16))
        return VGroup(name, box.move_to(inside), inside), memory, cores

    # Bars, which stand alone.

    def bars_of(self, *numbers: int) -> Amounts:
        """The times of some programs, counted from 0, each in what multiplies and what waits."""
        names = (
            tr("1: threads read down columns"),
            tr("2: threads read along rows"),
            tr("3: loads run ahead"),
            tr("4: loads and writes run on across tiles"),
        )
        amounts = []
        for number in numbers:
            us, share = self.us[number], self.shares[number]
            parts = [(us * share, self.hue), (us * (1 - share), self.theme.wait)]
            amounts.append(Amount(names[number], parts, tr("{us:,.0f} µs", us=us)))
        bar, size = (68, 34) if self.narrow else (92, 40)
        bars = Amounts(amounts, self.area.width, bar=bar, size=size, gap=28)
        low, top = self.room
        fit(bars, np.inf, top - low - px(100))
        return bars.move_to([self.area.left, (low + top) / 2 - px(50), 0], LEFT)

    def the_slowest(self) -> None:
        """The first program alone: almost all of its bar is waiting."""
        self.bars = self.bars_of(0, 1)
        self.say(
            "The first program, a deliberately bad one, takes {us:,.0f} µs. For {share:.0%} of that time, "
            "tensor cores wait.",
            us=self.us[0],
            share=1 - self.shares[0],
        )
        self.come(0, 3.2, Leave(self.work))

    def come(self, number: int, seconds: float, *along: Animation) -> None:
        """The bars so far come back, with their key, and in so many seconds that of one more program."""
        self.badge(Badge(self.tr("measured and counted on {gpu}"), "measured"))
        entries = Entry(tr("multiply"), [self.hue]), Entry(tr("tensor cores wait"), [self.theme.wait])
        before = [FadeIn(bar) for bar in self.bars[:number]]
        self.play(*along, *self.key(*entries), *before, run_time=0.5)
        self.play(self.bars.come(number), run_time=seconds)

    @property
    def room(self) -> tuple[float, float]:
        """From where to where a picture may reach: above the key, below the badge."""
        return self.floor + px(24), self.area.top - px(20)

    # Who reads what.

    def reading(self, name: str, apart: int) -> VGroup:
        """Threads beside rows of a matrix, each a piece of memory; rays, what is sent and used, and a note.

        Each thread reads one number, `apart` after that of the thread before.
        """
        theme, wide, high = self.theme, px(34), px(23)
        dark, (gray, bright) = mixed(theme.background, theme.operand, 0.2), self.grays
        note = self.tr("{sent} delivered, {each} used", sent=self.each * apart)
        cells = VGroup(*(rectangle(0.86 * wide, 0.8 * high, dark) for _ in range(self.each**2)))
        cells.arrange_in_grid(self.each, self.each, buff=(0.14 * wide, 0.2 * high))
        dots = VGroup(*(Dot(0.35 * high, color=ManimColor(theme.text)) for _ in range(self.each)))
        rays, sent, used = VGroup(), VGroup(), VGroup()
        for number, dot in enumerate(dots):
            at = number * apart
            dot.move_to([cells.get_left()[0] - px(190), cells[number * self.each].get_y(), 0])
            ray = strokes(theme.text, 3, 0.7)
            ray.points = np.linspace(dot.get_right(), cells[at].get_left(), 4)
            rays.add(ray)
            piece = cells[at - at % self.each :][: self.each]
            sent.add(*(cell.copy().set_fill(ManimColor(gray)) for cell in piece))
            used.add(cells[at].copy().set_fill(ManimColor(bright)))
        # Two such pictures become small side by side in a square frame.
        em = 1.6 if self.narrow and not self.tall else 1.0
        title = label(name, 46 * em, bold=True).next_to(cells, UP, px(20))
        who = lines(tr("each thread loads a number"), 36 * em, px(270), most=2, color=theme.text)
        title.add(who.next_to(dots, UP, px(20)))
        under = lines(note, 44 * em, cells.get_right()[0] - dots.get_left()[0], most=2, color=theme.text)
        under.next_to(VGroup(dots, cells), DOWN, px(20))
        return VGroup(VGroup(title, dots, cells), rays, sent, used, under)

    def neighbors(self) -> None:
        """A column read by neighboring threads, and a row."""
        theme, (low, top) = self.theme, self.room
        # Of numbers that are delivered, and of those that are used.
        self.grays = mixed(theme.background, theme.operand, 0.5), mixed(theme.operand, theme.text, 0.6)
        far, near = self.reading(tr("program 1"), self.each), self.reading(tr("program 2"), 1)
        panel = VGroup(far, near).arrange(DOWN if self.tall else RIGHT, buff=px(90))
        fit(panel, self.area.width, top - low).move_to([self.area.center[0], (low + top) / 2, 0])
        drawing, rays, sent, used, note = far
        self.say(
            "Memory always delivers {each} neighboring numbers of a row. "
            "Reading down a column, each thread uses only one."
        )
        self.badge(Badge(tr("schematic"), "model"))
        words = tr("delivered"), tr("used")
        entries = [Entry(word, [gray]) for word, gray in zip(words, self.grays, strict=True)]
        self.play(FadeIn(drawing), Leave(self.bars[0]), *self.key(*entries), run_time=0.5)
        self.play(Create(rays[0]), run_time=0.5)
        self.play(FadeIn(sent[: self.each], used[0], lag_ratio=0.1), run_time=1.2)
        self.play(Create(rays[1:]), run_time=1.5)
        self.play(FadeIn(sent[self.each :], used[1:], note), run_time=1.2)
        self.say("Program 2’s threads read along a row and use all {each}.")
        self.play(FadeIn(near[0]), run_time=0.4)
        self.play(Create(near[1]), run_time=1.2)
        self.play(FadeIn(*near[2:]), run_time=1.0)
        self.say("That cuts the time to a twelfth: {us:.0f} µs.", us=self.us[1])
        self.come(1, 2.4, Leave(panel))
        self.wait(1.3)

    # Lanes of one processor.

    def lanes_of(self, title: Mobject, *programs: Mapping[str, Sequence[Bar]]) -> list[PhaseRows]:
        """Rows of programs, one program below the other, under a title, in place of the bars."""
        low, top = self.room
        fit(title.scale(0.85 if self.narrow else 1.0), self.area.width)
        title.move_to([self.area.left, top, 0], LEFT + UP)
        top = title.get_bottom()[1] - px(20)
        high, made = (top - low) / (7.4 if len(programs) > 1 else 5.0), []
        for rows in programs:
            made.append(self.named_rows(rows, top, high))
            top = made[-1].grounds.get_bottom()[1] - 0.6 * high
        return made

    def roll(self, rows: PhaseRows, *along: Animation) -> None:
        """Rows come, and time runs through them; `along`: what else changes as they come."""
        self.play(FadeIn(rows), *along)
        self.play(PlayTrace(rows, until=self.until, run_time=2.6))

    def loads_ahead(self) -> None:
        """Chunks of a tile: each pair loaded before its multiplication, and loads that run ahead."""
        self.until = float(self.second.makespan + self.write)
        title = self.word("one tile in one processor, over time →", 38)
        one_by_one = rows_of(tr("program 2"), self.second, self.write)
        running_ahead = rows_of(tr("program 3"), self.third, self.write)
        legend = self.key(
            Entry(tr("multiply"), [self.hue]),
            Entry(tr("load"), [self.hue], hatched=True),
            Entry(tr("write"), [self.theme.write]),
            Entry(tr("tensor cores wait"), [self.theme.wait]),
        )
        before, after = self.lanes_of(title, one_by_one, running_ahead)
        self.say(
            "Program 2 loads two chunks, multiplies them, and then loads two more. It takes {us:.0f} µs.",
            us=self.us[1],
        )
        self.badge(Badge(tr("model"), "model"))
        self.roll(before, FadeIn(title), Leave(self.bars), *legend)
        self.say(
            "Program 3 loads the next pairs while it multiplies. That cuts {second:.0f} µs to {third:.0f}.",
            second=self.us[1],
            third=self.us[2],
        )
        self.roll(after)
        self.lanes = VGroup(title, before, after)

    def loads_early(self) -> None:
        """From a tile to the next: loads that run ahead of it, and a write during it."""
        self.until = float(max(bar.end for row in self.across.values() for bar in row))
        title = self.word("in the middle of a run: two tiles in one processor, over time →", 38)
        (rows,) = self.lanes_of(title, self.across)
        self.say(
            "Program 4 starts loading tile 2 early and lets a copy unit write tile 1. It takes {us:.0f} µs.",
            us=self.us[3],
        )
        self.roll(rows, FadeIn(title), Leave(self.lanes))
        self.say("In the red gap, tensor cores wait while threads hand tile 1 to the copy unit.")
        self.wait(0.5)
        self.lanes = VGroup(title, rows)

    def what_is_left(self) -> None:
        """The bars of all but the first program, on a larger scale."""
        self.bars = self.bars_of(*range(1, len(TOLD)))
        for number, bar in enumerate(self.bars.bars, 1):
            busy = tr("{us:,.0f} µs", us=self.us[number] * self.shares[number])
            bar[0].add(label(busy, 40, ink_on(self.hue), bold=True).move_to(bar[0]))
        note = self.word("Program 1’s bar, {us:,.0f} µs, does not fit on this scale.", 38, us=self.us[0])
        note.next_to(self.bars, UP, px(30)).align_to(self.bars, LEFT)
        self.say(
            "It is mainly the waiting that shrinks. Hand-overs and the run’s start and end still take time."
        )
        self.come(0, 0.6, Fade(note, 0.0, 1.0, rate_func=late), Leave(self.lanes))
        self.play(self.bars.come(1, 2), run_time=1.4)
        self.let_read()
        self.wait(1.5)


def rows_across(ahead: int, load: int, multiply: int, gap: int, write: int) -> dict[str, list[Bar]]:
    """Two tiles of a program that loads `ahead` pairs of chunks ahead, also for the next tile.

    `load`, `multiply`: ns for a pair. `gap`: ns between two tiles, for handing over the first;
    `write`: from its end until it is written.
    """
    done = PART.k_steps * multiply
    starts, rest = {1: 0, 2: done + gap}, (PART.k_steps - ahead - 1) * multiply + load
    tiles = [Bar("multiply", at, at + done, tr("tile {n}", n=n)) for n, at in starts.items()]
    return {
        tr("program 4"): [*tiles, Bar("wait", done, done + gap)],
        tr("loads for tile 1"): [Bar("load", 0, rest)],
        tr("loads for tile 2"): [
            Bar("load", done - ahead * multiply, done - multiply + load),
            Bar("load", starts[2], starts[2] + rest),
        ],
        tr("writing tile 1"): [Bar("write", done + gap, done + write)],
    }


def bars(kind: str, starts: np.ndarray, ends: np.ndarray) -> list[Bar]:
    """Bars of a kind, each from a start to its end."""
    return [Bar(kind, *both) for both in zip(starts.tolist(), ends.tolist(), strict=True)]


def rows_of(program: str, one: Pipeline, write: int) -> dict[str, list[Bar]]:
    """What tensor cores do, when chunks are loaded, and when a tile is written, which takes `write` ns."""
    steps, done = one.steps, one.steps["done"][-1:]
    multiply = bars("multiply", steps["multiply"], steps["done"])
    rows = {program: [bar._replace(text=str(number)) for number, bar in enumerate(multiply, 1)]}
    rows[program] += bars("wait", steps["multiply"] - one.bubbles, steps["multiply"])
    rows[program] += bars("wait", done, done + write)
    # Loads that overlap are one bar.
    apart = steps["load"][1:] > steps["loaded"][:-1]
    starts, ends = steps["load"][np.append(True, apart)], steps["loaded"][np.append(apart, True)]
    return rows | {tr("loads"): bars("load", starts, ends), tr("writing"): bars("write", done, done + write)}
