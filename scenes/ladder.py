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
from tilesim.ideas.coalescing import SECTOR, WARP
from tilesim.ideas.pipelining import STEP, Pipeline, pipeline, times
from tilesim.kernel_costs.default import default_costs
from tilesim.ladder.file import ladders, read
from tilesim.ladder.reports import report
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.kit.amounts import Amount, Amounts
from tilesim_scenes.kit.few_sms import OneProcessor
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, label, lines, px
from tilesim_scenes.look.theme import mixed
from tilesim_scenes.mobjects.drawing.quads import bracket, levels, rectangle, strokes, uprights
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
    "seconds": 79,
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
TILES, APART = 3, 60
"""Tiles that lanes show, and ns that are free between two loads."""


class Ladder(OneProcessor):
    """One product by four kernels: the idea of each, how long it takes, and how much of that is waiting."""

    def prepare(self) -> None:
        ladder = read(self.given["ladder"]) if "ladder" in self.given else ladders()[0]
        steps = {step.name: step for step in ladder.rows if (step.m, step.n, step.k) == SHAPE}
        self.guard({*TOLD, "coalesced"} <= set(steps), "four programs compute one product")
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
        self.alone = alone[-1]
        self.guard(max(alone) < 1.1 * min(alone), "they multiply for about equally long")
        self.small = (near := steps["coalesced"]).us
        self.guard(near.tile == first.tile and near.us > second.us, "the tiles of program 1 take longer")
        self.each = SECTOR // 2
        pieces = (first.load_sectors or 0.0) / (near.load_sectors or 1.0)
        self.guard(pieces == self.each, "the first program uses one number of each piece, the second all")
        self.guard(first.load_sectors == WARP * (first.load_requests or 0), "each thread needs its own piece")
        same = all((one.tile, one.order) == (PART.tile, "grouped:8") for one in (second, third, last))
        same &= [one.stages for one in (second, third, last)] == [1, 3, 4]
        self.guard(same, "program 3 only loads ahead, two pairs of chunks")
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
        count = PART.k_steps
        self.writes = apart.epilogue, early.epilogue
        self.second, self.third = (pipeline(count, stages, load, multiply) for stages in (1, third.stages))
        self.guard(not self.third.bubbles[1:].any(), "loads that run ahead come in time")
        pause, lost = apart.epilogue + apart.launch, early.epilogue_overlap_penalty // count
        self.apart = tiles_of(third.stages, load, multiply, pause)
        self.early = tiles_of(last.stages, load, multiply, early.tile_gap, lost, early=True)
        each = [one.makespan + pause for one in (self.second, self.third)]
        each.append(count * (multiply + lost) + early.tile_gap)
        saved = zip(pairwise(each), pairwise(self.us[1:]), strict=True)
        close = all(abs((b / a) / (d / c) - 1) < 0.1 for (a, b), (c, d) in saved)
        self.guard(close, "the model saves about as much as was measured")

    def construct(self) -> None:
        self.ask("Tensor cores are the parts of a GPU that multiply matrices.")
        self.the_work()
        self.the_slowest()
        self.neighbors()
        self.loads_ahead()
        self.loads_early()
        self.all_of_them()
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
        words = VGroup(self.bold("result: 8192 × 8192 numbers"), self.word("drawn: 1024 × 1024 of them"))
        words.arrange(DOWN, buff=px(24), aligned_edge=LEFT)
        fit(words, (1.0 if self.narrow else 0.42) * area.width)
        both = VGroup(VGroup(shown, grid, tile, row, column), words)
        both.arrange(DOWN if self.narrow else RIGHT, buff=px(40)).move_to(area.center)
        places = (tr("tile"), tile, RIGHT), (tr("strip"), row, DOWN), (tr("strip"), column, RIGHT)
        names = VGroup(*(label(word, 46, bold=True).next_to(at, side, px(12)) for word, at, side in places))
        self.badge(Badge(tr("model"), "model"))
        self.say("A tile of the result needs two strips of input. A processor loads them in pairs of chunks.")
        self.play(FadeIn(shown, grid, words), FadeIn(tile, names[0]), run_time=0.8)
        self.play(FadeIn(row, column, names[1:]))
        pairs = [VGroup(*pair) for pair in zip(row, column, strict=True)]
        self.play(*(pair.animate.set_opacity(0.25) for pair in pairs), run_time=0.4)
        self.play(LaggedStart(*(pair.animate.set_opacity(1.0) for pair in pairs), lag_ratio=0.6, run_time=4))
        self.work = VGroup(both, names)

    # Bars, two at a time, below the pictures.

    def bars_of(self, *numbers: int, large: bool = False) -> Amounts:
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
        bar, size = (34, 34) if self.narrow else (46, 40)
        bars = Amounts(amounts, self.area.width, bar=2 * bar if large else bar, size=size, gap=10)
        return bars.move_to([self.area.left, self.floor + px(12), 0], DOWN + LEFT)

    def the_slowest(self) -> None:
        """The first program alone: almost all of its bar is waiting."""
        self.badge(Badge(tr("drawings: model; bars: measured"), "model"))
        key = self.key(Entry(tr("multiply"), [self.hue]), Entry(tr("tensor cores wait"), [self.theme.wait]))
        self.bars = self.bars_of(0, 1)
        self.places = [row.get_center() for row in self.bars]
        about = self.panel(self.bold("Four programs compute the same matrix product.", 50))
        self.say(
            "Program 1 takes {us:,.0f} µs. For {share:.0%} of that time, its tensor cores only wait.",
            us=self.us[0],
            share=1 - self.shares[0],
        )
        self.play(FadeOut(self.work), *key, run_time=0.5)
        self.play(FadeIn(about), run_time=0.3)
        self.play(self.bars.come(0), run_time=3)
        self.leave(about)

    def enlarge(self) -> None:
        """From here on, the second program's bar is as wide as the first one's was."""
        large = self.bars_of(*range(1, len(TOLD)))
        for row in large:
            row.move_to(self.places[1])
        large[0].move_to(self.places[0])
        self.note = self.word(
            "Its tiles are larger, too. With the tiles of program 1, it takes {small:.0f} µs.", 38
        )
        self.note.move_to(self.places[1]).align_to(self.bars, LEFT)
        self.play(FadeOut(self.bars[0]), run_time=0.3)
        self.play(ReplacementTransform(self.bars[1], large[0]), run_time=0.7)
        self.play(FadeIn(self.note), run_time=0.3)
        self.bars = large

    def another(self, number: int) -> None:
        """The bar of a program, counted from the second, below the bar of the one before."""
        self.play(FadeOut(self.bars[number - 2] if number > 1 else self.note), run_time=0.3)
        if number > 1:
            self.play(self.bars[number - 1].animate.move_to(self.places[0]), run_time=0.4)
        self.play(self.bars.come(number))

    @property
    def room(self) -> tuple[float, float]:
        """From where to where a picture may reach: above the bars, below the badge."""
        return self.places[0][1] + px(74), self.area.top - px(20)

    def panel(self, *parts: Mobject) -> VGroup:
        """Parts side by side, or in a tall frame below each other, above the bars."""
        low, top = self.room
        picture = VGroup(*parts).arrange(DOWN if self.tall else RIGHT, buff=px(90))
        fit(picture, self.area.width, top - low)
        return picture.move_to([self.area.center[0], (low + top) / 2, 0])

    # Who reads what.

    def reading(self, name: str, note: str, apart: int) -> VGroup:
        """Threads beside rows of a matrix, each a piece of memory; rays, what is sent and used, and a note.

        Each thread reads one number, `apart` after that of the thread before.
        """
        theme, wide, high = self.theme, px(28), px(17)
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
        title.add(label(tr("threads"), 40 * em).next_to(dots, UP, px(20)))
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
        self.say(
            "To load, program 1’s threads read down columns. A read brings {each} numbers; {rest} go unused.",
            rest=self.each - 1,
        )
        for one in panel:
            if one is near:
                self.say(
                    "Program 2’s threads read along rows and use all {each}. It takes only {us:.0f} µs.",
                    us=self.us[1],
                )
            self.play(FadeIn(one[0], run_time=0.5))
            self.play(Create(one[1], run_time=0.8))
            self.play(FadeIn(*one[2:], run_time=0.6))
        self.play(self.bars.come(1))
        self.leave(panel)
        self.enlarge()

    # Lanes of one processor.

    def lanes_of(self, title: Mobject, *programs: Mapping[str, Sequence[Bar]]) -> list[PhaseRows]:
        """Rows of programs, one program below the other, under a title."""
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
        """Rows come, and time runs through them."""
        self.play(FadeIn(rows), *along)
        self.play(PlayTrace(rows, until=self.until, run_time=2.4))

    def loads_ahead(self) -> None:
        """Chunks of a tile: each pair loaded before its multiplication, and loads that run ahead."""
        write = self.writes[0]
        self.until = float(self.second.makespan + write)
        title = self.word("one tile in one processor, over time →", 38)
        loads = {tr("loading"): slice(None)}
        pairs = {tr("loading odd pairs"): slice(0, None, 2), tr("loading even pairs"): slice(1, None, 2)}
        before, after = self.lanes_of(
            title,
            rows_of(tr("program 2"), self.second, loads, write),
            rows_of(tr("program 3"), self.third, pairs, write),
        )
        self.say("Program 2 loads a pair of chunks, multiplies it, and only then loads the next.")
        self.roll(before, FadeIn(title))
        self.say("Program 3 loads two pairs ahead. The loads are no faster, but they overlap.")
        self.roll(after)
        self.another(1)
        self.leave(title, before, after)

    def loads_early(self) -> None:
        """Tiles: loads that begin after a write, and loads that run ahead into the next tile."""
        self.until = float(self.apart.makespan + self.writes[0])
        title = self.word("three tiles in one processor, over time →", 38)
        count = PART.k_steps
        odd = np.arange(TILES * count) // count % 2 == 0
        loads = {tr("loading tiles 1, 3"): odd, tr("loading tile 2"): ~odd}
        before, after = self.lanes_of(
            title,
            rows_of(tr("program 3"), self.apart, loads, self.writes[0]),
            rows_of(tr("program 4"), self.early, loads, self.writes[1]),
        )
        self.say("But program 3 writes a tile before it begins to load for the next one.")
        self.roll(before, FadeIn(title))
        self.say(
            "Program 4 loads ahead into the next tile and multiplies during the write. Short waits remain."
        )
        self.roll(after)
        self.another(2)
        self.leave(title, before, after, self.bars[1], self.bars[2])

    def all_of_them(self) -> None:
        """The bars of all programs but the first."""
        self.badge(Badge(self.tr("measured and counted on {gpu}"), "measured"))
        bars = self.bars_of(*range(1, len(TOLD)), large=True)
        note = self.word("Program 1’s bar, {us:,.0f} µs, does not fit on this scale.", 38, us=self.us[0])
        note.next_to(bars, UP, px(30)).align_to(bars, LEFT)
        blue = bars.bars[-1][0]
        line = bracket(
            blue.get_left()[0], blue.get_right()[0], blue.get_bottom()[1] - px(20), self.theme.text
        )
        alone = VGroup(line, self.word("{alone:.0f} µs", 48, self.theme.text).next_to(line, DOWN, px(10)))
        picture = VGroup(note, bars, alone)
        fit(picture, np.inf, self.area.top - self.floor - px(60))
        picture.move_to([self.area.left, (self.area.top + self.floor) / 2, 0], LEFT)
        self.say("All four do the same multiplications, so blue stays about as long. Red is what shrinks.")
        self.play(FadeIn(note))
        self.play(bars.come(), run_time=4)
        self.say(
            "Program 4 still waits {share:.0%} of the time. Multiplying alone, at full speed, would take "
            "{alone:.0f} µs.",
            share=1 - self.shares[-1],
        )
        self.play(FadeIn(alone))
        self.leave(picture)


def tiles_of(
    stages: int, load: int, multiply: int, pause: int, lost: int = 0, early: bool = False
) -> Pipeline:
    """Tiles one after the other, `pause` ns apart, in which an `early` program loads for the next one.

    `load`, `multiply`: ns for a pair of chunks; `lost`: ns that then pass before the next pair.
    """
    number = np.arange(TILES * PART.k_steps)
    tile = number // PART.k_steps
    steps = np.zeros(len(number), STEP)
    begin = load + number * (multiply + lost) + tile * (pause if early else pause + load)
    asked, first = number - stages + 1, 0 if early else tile * PART.k_steps
    steps["load"] = np.where(asked < first, begin[first] - load, begin[np.maximum(asked, 0)])
    steps["loaded"], steps["multiply"], steps["done"] = steps["load"] + load, begin, begin + multiply
    return Pipeline(stages, steps)


def bars(kind: str, starts: np.ndarray, ends: np.ndarray) -> list[Bar]:
    """Bars of a kind, each from a start to its end."""
    return [Bar(kind, *both) for both in zip(starts.tolist(), ends.tolist(), strict=True)]


def rows_of(
    program: str, one: Pipeline, loads: Mapping[str, slice | np.ndarray], write: int
) -> dict[str, list[Bar]]:
    """What a program's tensor cores do, when which chunks are loaded, and when tiles are written.

    `loads`: which steps' loads a row shows, by its name. `write`: ns that it takes.
    """
    steps = one.steps
    done = steps["done"][PART.k_steps - 1 :: PART.k_steps]
    waits = bars("wait", steps["multiply"] - one.bubbles, steps["multiply"])
    rows = {
        program: bars("multiply", steps["multiply"], steps["done"])
        + waits
        + bars("wait", done[-1:], done[-1:] + write)
    }
    for name, which in loads.items():
        # They end a little early, so that two in a row stand apart.
        rows[name] = bars("load", steps["load"][which], steps["loaded"][which] - APART)
    return rows | {tr("writing"): bars("write", done, done + write)}
