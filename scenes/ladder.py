"""Ladder: how can the same matrix product run almost 25 times as fast?

manim render scenes/ladder.py

Programs for one product, each with another idea than the one before, timed on an H200. Each idea is drawn
above the times. Counters say for which share of the time the tensor cores work, so that what is left is
waiting; it is what the steps take away.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from manim import (
    DOWN,
    LEFT,
    RIGHT,
    UP,
    Animation,
    Create,
    Dot,
    FadeIn,
    FadeOut,
    LaggedStart,
    ManimColor,
    Mobject,
    ReplacementTransform,
    VGroup,
)

from tilesim import Device, Problem
from tilesim.devices.presets import facts
from tilesim.ideas.coalescing import SECTOR, WARP
from tilesim.ideas.pipelining import STEP, Pipeline, pipeline, times
from tilesim.kernel_costs.default import default_costs
from tilesim.ladder.file import ladders, read
from tilesim.ladder.reports import report
from tilesim_scenes.animations.fade import Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.kit.amounts import Amount, Amounts
from tilesim_scenes.kit.few_sms import OneProcessor
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, label, lines, px
from tilesim_scenes.look.theme import mixed
from tilesim_scenes.mobjects.drawing.quads import levels, rectangle, strokes, uprights
from tilesim_scenes.mobjects.hardware.operands import Operands
from tilesim_scenes.mobjects.models.phase_rows import Bar, PhaseRows
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Ladder",
    "question": "How can the same matrix product run almost 25 times as fast?",
    "finding": (
        "On an H200, the last program is 24.6 times as fast as the first. Its tensor cores wait 31% of the "
        "time instead of 97%."
    ),
    "part": "Kernels",
    "place": 250,
    "seconds": 78,
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
SHOWN, APART = 4, 60
"""Pairs of chunks that lanes show before a write and after it, and ns that are free between two loads."""


class Ladder(OneProcessor):
    """One product by four kernels: the idea of each, how long it takes, and how much of that is waiting."""

    def prepare(self) -> None:
        ladder = read(self.given["ladder"]) if "ladder" in self.given else ladders()[0]
        steps = {step.name: step for step in ladder.rows if (step.m, step.n, step.k) == SHAPE}
        self.guard({*TOLD, "coalesced", "persistent"} <= set(steps), "four programs compute one product")
        self.gpu = ladder.machine["gpu"]
        self.guard("H200" in self.gpu, "they ran on an H200")
        first, second, third, last = self.steps = [steps[name] for name in TOLD]
        self.guard(
            all(step.tensor_cycles and step.sm_cycles for step in self.steps), "tensor cores are counted"
        )
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
        self.guard(near.us < 1.1 * second.us, "reads along rows alone save almost as much as program 2")
        self.each = SECTOR // 2
        pieces = (first.load_sectors or 0.0) / (near.load_sectors or 1.0)
        self.guard(pieces == self.each, "the first program uses one number of each piece, the second all")
        self.guard(first.load_sectors == WARP * (first.load_requests or 0), "each thread needs its own piece")
        same = all((one.tile, one.order) == (PART.tile, "grouped:8") for one in (second, third, last))
        same &= [one.stages for one in (second, third, last)] == [1, 3, 4]
        self.guard(same, "program 3 only loads ahead, two pairs of chunks")
        most = steps["persistent"].us - last.us > 0.5 * (third.us - last.us)
        self.guard(most, "program 4 is faster mostly as loads and writes overlap across tiles")
        room = 1024 * facts("h200")["shared_kib_per_block"].value
        self.guard(PART.k_steps * PART.k_step_bytes > room, "a processor cannot hold two whole strips")
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
        self.guard(early.overlap and early.tile_gap < load, "program 4 loads before the tile before is done")
        self.guard(early.tile_gap < early.epilogue, "program 4 multiplies during a write")
        count = PART.k_steps
        self.writes = apart.epilogue, early.epilogue
        self.second, self.third = (pipeline(count, stages, load, multiply) for stages in (1, third.stages))
        self.guard(not self.third.bubbles[1:].any(), "loads that run ahead come in time")
        pause = apart.epilogue + apart.launch
        self.apart = two_tiles(third.stages, load, multiply, pause)
        self.early = two_tiles(last.stages, load, multiply, early.tile_gap, early=True)
        each = [one.makespan + pause for one in (self.second, self.third)]
        each.append(count * multiply + early.epilogue_overlap_penalty + early.tile_gap)
        saved = zip(pairwise(each), pairwise(self.us[1:]), strict=True)
        close = all(abs((b / a) / (d / c) - 1) < 0.1 for (a, b), (c, d) in saved)
        self.guard(close, "the model saves about as much as was measured")

    def construct(self) -> None:
        self.ask("A GPU has many processors. In each, tensor cores multiply matrices.")
        self.the_work()
        self.the_slowest()
        self.neighbors()
        self.loads_ahead()
        self.loads_early()
        self.close(
            "On an H200, the last program is {times:.1f} times as fast as the first. Its tensor cores wait "
            "{after:.0%} of the time instead of {before:.0%}.",
            [(tr("program 1"), self.us[0]), (tr("program 4"), self.us[-1])],
            "times",
            "{:,.0f} µs",
            self.measured(),
            tr("8192 × 8192 numbers, each a sum of 512 products of 16-bit numbers"),
            after=1 - self.shares[-1],
            before=1 - self.shares[0],
        )

    def the_work(self) -> None:
        """A corner of the product: a tile, its strips, and the chunks that a processor loads of them."""
        area, theme = self.area, self.theme
        share = (1.0, 0.75) if self.narrow else (0.5, 1.0)
        shown = Operands(PART, share[0] * area.width, share[1] * area.height, px(16), names=False)
        number = 2 * PART.tiles_n + 1
        tile = shown.tile(number, theme.hand_over)
        row, column = (part(number, theme.operand) for part in (shown.row_panel, shown.column_panel))
        grid = strokes(theme.background, 2.0)
        cuts = (np.arange(1, count) / count for count in (PART.tiles_n, PART.tiles_m))
        grid.points = np.concatenate([uprights(shown.c, next(cuts)), levels(shown.c, next(cuts))])
        words = VGroup(self.bold("a corner of the result"), self.word("in all, 8192 × 8192 numbers"))
        words.arrange(DOWN, buff=px(24), aligned_edge=LEFT)
        fit(words, (1.0 if self.narrow else 0.42) * area.width)
        both = VGroup(VGroup(shown, grid, tile, row, column), words)
        both.arrange(DOWN if self.narrow else RIGHT, buff=px(40)).move_to(area.center)
        places = (tr("tile"), tile, RIGHT), (tr("strip"), row, DOWN), (tr("strip"), column, RIGHT)
        names = VGroup(*(label(word, 46, bold=True).next_to(at, side, px(12)) for word, at, side in places))
        self.badge(Badge(tr("model"), "model"))
        self.say("Each tile of the result needs two strips of input.")
        self.play(FadeIn(shown, grid, words), FadeIn(tile, names[0]), run_time=0.8)
        self.play(FadeIn(row, column, names[1:]))
        self.say(
            "They are too large to load at once. A processor loads a chunk of each, multiplies the two, and "
            "goes on."
        )
        pairs = [VGroup(*pair) for pair in zip(row, column, strict=True)]
        self.play(*(pair.animate.set_opacity(0.15) for pair in pairs), FadeOut(names[1:]), run_time=0.4)
        places = (row[0], DOWN, LEFT), (column[0], RIGHT, UP)
        chunks = VGroup(*(label(tr("chunk"), 46, bold=True).next_to(*at[:2], px(12), at[2]) for at in places))
        lit = LaggedStart(*(pair.animate.set_opacity(1.0) for pair in pairs), lag_ratio=0.6, run_time=6)
        self.play(FadeIn(chunks, run_time=0.3), lit)
        self.work = VGroup(both, names[0], chunks)

    # Bars, which stand alone.

    def bars_of(self, *numbers: int) -> Amounts:
        """The times of some programs, counted from 0, each in what multiplies and what waits."""
        names = (
            tr("1: threads read down columns"),
            tr("2: threads read along rows"),
            tr("3: loads run ahead"),
            tr("4: loads run ahead into the next tile"),
        )
        amounts = []
        for number in numbers:
            us, share = self.us[number], self.shares[number]
            name = tr("{name} ({wait:.0%} waiting)", name=names[number], wait=1 - share)
            parts = [(us * share, self.hue), (us * (1 - share), self.theme.wait)]
            amounts.append(Amount(name, parts, tr("{us:,.0f} µs", us=us)))
        bar, size = (68, 34) if self.narrow else (92, 40)
        bars = Amounts(amounts, self.area.width, bar=bar, size=size, gap=28)
        low, top = self.room
        fit(bars, np.inf, top - low - px(100))
        return bars.move_to([self.area.left, (low + top) / 2 - px(50), 0], LEFT)

    def the_slowest(self) -> None:
        """The first program alone: almost all of its bar is waiting."""
        key = self.key(Entry(tr("multiply"), [self.hue]), Entry(tr("tensor cores wait"), [self.theme.wait]))
        self.bars, self.standing = self.bars_of(0, 1), VGroup()
        self.say(
            "The first of four programs takes {us:,.0f} µs. For {share:.0%} of that time, its tensor cores "
            "only wait.",
            us=self.us[0],
            share=1 - self.shares[0],
        )
        self.play(Leave(self.work), *key, run_time=0.5)
        self.another(0, 3)

    def enlarge(self) -> None:
        """From here on, the second program's bar is as wide as the first one's was."""
        large = self.bars_of(*range(1, len(TOLD)))
        note = self.word("Program 1’s bar, {us:,.0f} µs, does not fit on this scale.", 38, us=self.us[0])
        note.next_to(large, UP, px(30)).align_to(large, LEFT)
        self.play(FadeOut(self.bars[0]), run_time=0.3)
        self.play(ReplacementTransform(self.bars[1], large[0]), FadeIn(note), run_time=0.7)
        self.bars, self.standing = large, VGroup(note, large[0])

    def another(self, number: int, seconds: float = 1.5) -> None:
        """The bars so far come back, and below them, in so many seconds, that of one more program."""
        self.badge(Badge(self.tr("measured and counted on {gpu}"), "measured"))
        if self.standing:
            self.play(FadeIn(self.standing), run_time=0.3)
        self.play(self.bars.come(number), run_time=seconds)
        self.add(self.standing.add(self.bars[number]))

    @property
    def room(self) -> tuple[float, float]:
        """From where to where a picture may reach: above the key, below the badge."""
        return self.floor + px(24), self.area.top - px(20)

    def panel(self, *parts: Mobject) -> VGroup:
        """Parts side by side, or in a tall frame below each other."""
        low, top = self.room
        picture = VGroup(*parts).arrange(DOWN if self.tall else RIGHT, buff=px(90))
        fit(picture, self.area.width, top - low)
        return picture.move_to([self.area.center[0], (low + top) / 2, 0])

    # Who reads what.

    def reading(self, name: str, note: str, apart: int) -> VGroup:
        """Threads beside rows of a matrix, each a piece of memory; rays, what is sent and used, and a note.

        Each thread reads one number, `apart` after that of the thread before.
        """
        theme, wide, high = self.theme, px(34), px(23)
        dark, gray = (mixed(theme.background, theme.operand, share) for share in (0.2, 0.5))
        bright = mixed(theme.operand, theme.text, 0.6)
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
        far, near = (
            self.reading(name, self.tr("{sent} numbers are read, {each} are used", sent=sent), apart)
            for name, sent, apart in (
                (tr("program 1"), self.each**2, self.each),
                (tr("program 2"), self.each, 1),
            )
        )
        panel = self.panel(far, near)
        drawing, rays, sent, used, note = far
        self.say(
            "Memory always delivers {each} neighbors of a row. Program 1’s threads go down a column, so each "
            "uses one."
        )
        self.badge(Badge(tr("model"), "model"))
        self.play(FadeIn(drawing), Leave(self.standing), run_time=0.5)
        self.play(Create(rays[0]), run_time=0.5)
        self.play(FadeIn(sent[: self.each], used[0], lag_ratio=0.1), run_time=1.2)
        self.play(Create(rays[1:]), run_time=1.5)
        self.play(FadeIn(sent[self.each :], used[1:], note), run_time=1.2)
        self.say(
            "Program 2’s threads go along the row and use all {each}. It takes only {us:.0f} µs.",
            us=self.us[1],
        )
        self.play(FadeIn(near[0]), run_time=0.5)
        self.play(Create(near[1]), run_time=0.7)
        self.play(FadeIn(*near[2:]), run_time=0.6)
        self.wait(0.9)
        self.play(Leave(panel))
        self.another(1)
        self.wait(0.5)
        self.enlarge()

    # Lanes of one processor.

    def lanes_of(self, title: Mobject, *programs: Mapping[str, Sequence[Bar]]) -> list[PhaseRows]:
        """Rows of programs, one program below the other, under a title, in place of the bars."""
        low, top = self.room
        fit(title.scale(0.85 if self.narrow else 1.0), self.area.width)
        title.move_to([self.area.left, top, 0], LEFT + UP)
        top = title.get_bottom()[1] - px(20)
        high = (top - low) / (1.2 * sum(map(len, programs)) + 0.2)
        made = []
        for rows in programs:
            made.append(self.named_rows(rows, top, high))
            top = made[-1].grounds.get_bottom()[1] - 0.6 * high
        return made

    def roll(self, rows: PhaseRows, *along: Animation) -> None:
        """Rows come, and time runs through them; `along`: what else changes as they come."""
        self.badge(Badge(tr("model"), "model"))
        self.play(FadeIn(rows), *along)
        self.play(PlayTrace(rows, until=self.until, run_time=3))

    def loads_ahead(self) -> None:
        """Chunks of a tile: each pair loaded before its multiplication, and loads that run ahead."""
        write = self.writes[0]
        self.until = float(self.second.makespan + write)
        title = self.word("one tile in one processor, over time →", 38)
        # Loads that overlap stand in two rows.
        alternate = {}
        for first in (1, 2):
            pairs = ", ".join(map(str, range(first, PART.k_steps + 1, 2)))
            alternate[tr("loads {pairs}", pairs=pairs)] = slice(first - 1, None, 2)
        before, after = self.lanes_of(
            title,
            rows_of(tr("program 2"), self.second, {tr("loads"): slice(None)}, write),
            rows_of(tr("program 3"), self.third, alternate, write),
        )
        self.say("Program 2 loads a pair of chunks, multiplies it, and only then loads the next.")
        self.roll(before, FadeIn(title), Leave(self.standing))
        self.say("While program 3 multiplies one pair, the next two are already on their way.")
        self.roll(after)
        self.wait(0.5)
        self.play(*map(Leave, (title, before, after)))
        self.another(1)

    def loads_early(self) -> None:
        """From a tile to the next: loads that begin after a write, and loads that run ahead of it."""
        steps, count = self.apart.steps, PART.k_steps
        self.until = float(steps["done"][count + SHOWN - 1] - steps["multiply"][count - SHOWN])
        title = self.word("from a tile to the next, over time →", 38)
        before, after = self.lanes_of(
            title,
            rows_between(tr("program 3"), self.apart, self.writes[0]),
            rows_between(tr("program 4"), self.early, self.writes[1]),
        )
        self.say("Program 3 writes tile 1 before it loads for tile 2, so its tensor cores wait.")
        self.roll(before, FadeIn(title), Leave(self.standing))
        self.say(
            "Program 4 loads early, hands tile 1 over to a copy unit, and multiplies on during the write."
        )
        self.roll(after)
        self.leave(title, before, after)
        self.say("Every program does the same multiplications, so blue hardly changes. Red is what shrinks.")
        self.another(2)
        self.leave(self.standing)


def two_tiles(stages: int, load: int, multiply: int, pause: int, early: bool = False) -> Pipeline:
    """Two tiles, between which nothing is multiplied for `pause` ns, in which an `early` program loads for
    the next one; any other one only then begins to.

    `load`, `multiply`: ns for a pair of chunks.
    """
    count = PART.k_steps
    number = np.arange(2 * count)
    begin = load + number * multiply + (number >= count) * (pause if early else pause + load)
    steps = np.zeros(len(number), STEP)
    asked = number - stages + 1
    least = np.zeros_like(number) if early else number // count * count
    steps["load"] = np.where(asked < least, begin[least] - load, begin[np.maximum(asked, 0)])
    steps["loaded"], steps["multiply"], steps["done"] = steps["load"] + load, begin, begin + multiply
    return Pipeline(stages, steps)


def bars(kind: str, starts: np.ndarray, ends: np.ndarray) -> list[Bar]:
    """Bars of a kind, each from a start to its end."""
    return [Bar(kind, *both) for both in zip(starts.tolist(), ends.tolist(), strict=True)]


def rows_of(program: str, one: Pipeline, loads: Mapping[str, slice], write: int) -> dict[str, list[Bar]]:
    """What a program's tensor cores do, when which chunks are loaded, and when a tile is written.

    `loads`: which steps' loads a row shows, by its name. `write`: ns that it takes.
    """
    steps, done = one.steps, one.steps["done"][-1:]
    multiply = bars("multiply", steps["multiply"], steps["done"])
    rows = {program: [bar._replace(text=str(number)) for number, bar in enumerate(multiply, 1)]}
    rows[program] += bars("wait", steps["multiply"] - one.bubbles, steps["multiply"])
    rows[program] += bars("wait", done, done + write)
    for name, which in loads.items():
        # They end a little early, so that two in a row stand apart.
        rows[name] = bars("load", steps["load"][which], steps["loaded"][which] - APART)
    return rows | {tr("writing"): bars("write", done, done + write)}


def rows_between(program: str, one: Pipeline, write: int) -> dict[str, list[Bar]]:
    """What a program does from the middle of a tile to the middle of the next: what its tensor cores do, when
    chunks of tile 2 are loaded, and when tile 1 is written, which takes `write` ns."""
    steps, count = one.steps, PART.k_steps
    starts, ends = steps["multiply"][::count], steps["done"][count - 1 :: count]
    since = steps["multiply"][count - SHOWN]
    tiles = [
        Bar("multiply", *times, tr("tile {n}", n=n))
        for n, *times in zip((1, 2), starts - since, ends - since, strict=True)
    ]
    loads = bars("load", steps["load"][count:] - since, steps["loaded"][count:] - since)
    return {
        program: [*tiles, *bars("wait", ends[:1] - since, starts[1:] - since)],
        tr("loads for tile 2"): loads,
        tr("writing tile 1"): bars("write", ends[:1] - since, ends[:1] - since + write),
    }
