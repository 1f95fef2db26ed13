"""Thread indexing: which cell of a matrix is a thread's own, and who are its neighbours?

manim render scenes/thread_indexing.py
"""

from collections.abc import Mapping, Sequence
from typing import Any

from manim import (
    DOWN,
    RIGHT,
    UP,
    FadeIn,
    FadeOut,
    LaggedStart,
    ManimColor,
    Rectangle,
    ReplacementTransform,
    VGroup,
    smoothstep,
)

from tilesim.ideas.thread_indexing import Launch
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.film.report_film import ReportFilm
from tilesim_scenes.film.settings import REPORT, whole
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import sm_colour
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.drawing.quads import quad, rectangle, stroke_width
from tilesim_scenes.mobjects.hardware.element_grid import ElementGrid
from tilesim_scenes.mobjects.models.tiles.cell_sweep import CellSweep
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.count import Count
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.story.ideas import thread_indexing as told
from tilesim_scenes.story.ideas.thread_indexing import (
    CELL,
    COLUMNS,
    LINE,
    PLAIN,
    ROWS,
    SWAPPED,
    Story,
    Way,
    tell,
)

FILM = {
    "title": "Thread indexing",
    "question": "Which cell of the matrix is mine?",
    "part": "How the machine works",
    "place": 40,
    "seconds": 38,
    "shows": "Threads and their cells, by one number and by two, and what swapped axes cost.",
    "takes": "report",
    "options": {"stride": None},
}
SLOW = 4.5
"""Seconds that the slower way to sum takes."""


class ThreadIndexing(ReportFilm):
    """The axes of a matrix swapped, unless a stride is asked for.

    The report is of `tilesim bench coalescing`, and with a stride of `thread-indexing`.
    """

    bench = "coalescing"
    asked = REPORT | {"stride": whole(2, 2**20)}

    @classmethod
    def story_of(cls, report: Mapping[str, Any], settings: Mapping[str, Any]) -> Story:
        return tell(report, settings.get("stride", 0))

    @classmethod
    def bench_of(cls, settings: Mapping[str, Any]) -> str:
        return "thread_indexing" if "stride" in settings else cls.bench

    def construct(self) -> None:
        area = self.area
        side = min(area.width / COLUMNS, 0.74 * area.height / ROWS)
        self.grid = ElementGrid(ROWS, COLUMNS, COLUMNS * side, ROWS * side)
        self.grid.move_to([area.center[0], area.bottom + self.grid.height / 2 + 0.02 * area.height, 0])
        if self.tall:
            self.grid.set_y(area.center[1] - 0.1 * area.height)
        self.add(self.grid)
        self.title(tr("Thread indexing"))
        self.one_number()
        self.two_numbers()
        self.neighbours()
        self.swap()
        self.same_sum()
        self.tell_the_finding()

    def one_number(self) -> None:
        """Blocks in a line, one after the other through the rows, and the cell of one of their threads."""
        story = self.story
        self.blocks = self.outlines(LINE)
        self.say(story.question)
        each = (FadeIn(block, shift=px(20) * DOWN) for block in self.blocks)
        self.play(LaggedStart(*each, lag_ratio=0.15, run_time=2.6))
        self.badge(Badge(tr("model")))
        self.cell = self.grid.elements(*CELL).scale(1.6).set_z_index(2).set_fill(opacity=0)
        self.cell.set_stroke(ManimColor(self.theme.text), stroke_width(5))
        mine = told.mine_of(LINE).block[0]
        self.words = self.formulas(story.in_one_dimension)
        self.say(story.one_number)
        self.mine = self.blocks[mine]
        self.play(self.mine.animate.set_fill(opacity=0.5), FadeIn(self.words[0]), run_time=0.6)
        self.play(FadeIn(self.words[1], shift=px(20) * DOWN), run_time=0.8)
        self.wait(0.3)
        lands = FadeIn(self.cell, target_position=self.words[1], scale=0.3)
        self.play(lands, FadeIn(self.words[2]), run_time=1.2)
        self.wait(0.4)

    def two_numbers(self) -> None:
        """The same blocks with two sides each; row and column come apart."""
        story = self.story
        words = self.formulas(story.in_two_dimensions)
        self.say(story.two_numbers)
        self.play(FadeOut(self.words), self.become(PLAIN), run_time=1.8)
        self.words = words
        self.play(FadeIn(words[0]), run_time=0.3)
        row, column = (self.line(*ends) for ends in ((CELL[0], None), (None, CELL[1])))
        self.play(FadeIn(words[1], row, shift=px(30) * RIGHT), run_time=0.8)
        self.play(FadeIn(words[2], column, shift=px(30) * DOWN), run_time=0.8)
        self.wait(0.3)
        self.play(FadeIn(words[3], shift=px(20) * UP), FadeOut(row, column), run_time=0.5)
        self.wait(0.6)

    def neighbours(self) -> None:
        """The warp of that thread, lane by lane along the row."""
        self.say(self.story.neighbours)
        self.lanes = self.warp(self.story.near)
        self.add(self.lanes, self.cell)
        self.play(PlayTrace(self.lanes, until=32, run_time=3, rate_func=smoothstep))
        self.wait(0.2)

    def swap(self) -> None:
        """The same cells by other threads: the blocks turn, and so does the warp."""
        story = self.story
        self.say(story.swap)
        words = self.formulas(story.when_swapped)
        turn = [FadeOut(*self.blocks)] if story.stride else [self.become(SWAPPED)]
        still = [self.words[-1]]
        self.play(FadeOut(self.lanes, *self.words[:-1]), *turn, run_time=1.8)
        self.remove(*still)
        self.words = words
        self.add(words[-1])
        if len(words) > 1:
            self.play(FadeIn(*words[:-1]), run_time=0.8)
            self.wait(0.2)
        self.say(story.other_neighbours)
        self.lanes = self.warp(story.far)
        self.add(self.lanes, self.cell)
        self.play(PlayTrace(self.lanes, until=32, run_time=3, rate_func=smoothstep))
        self.wait(0.2)

    def same_sum(self) -> None:
        """Both ways sum up all cells, each at the pace of its kernel; the sums are equal in the end."""
        story, area = self.story, self.area
        wide = (
            min(0.47 * area.width, 0.62 * area.height * COLUMNS / ROWS) if not self.tall else 0.8 * area.width
        )
        sweeps, names = [], VGroup()
        for number, (way, us) in enumerate(((story.near, story.sum.near), (story.far, story.sum.far))):
            grid = ElementGrid(ROWS, COLUMNS, wide, wide * ROWS / COLUMNS)
            aside = (-1 if number == 0 else 1) * (area.width - wide) / 2
            place = area.center + aside * RIGHT + 0.02 * area.height * UP
            if self.tall:
                place = area.center + (0.24 if number == 0 else -0.2) * area.height * UP
            pace = len(way.rows) * story.sum.far / us
            sweep = CellSweep(grid.move_to(place), way.rows, way.columns, story.values, pace)
            names.add(label(way.name, 48, bold=True).next_to(grid, UP, px(24)))
            sweeps.append(sweep)
        sums = [
            Count(lambda _, sweep=sweep: tr("sum {sum:,}", sum=sweep.sum), size=54, align=0.5).move_to(
                sweep.grid.get_bottom() + px(60) * DOWN
            )
            for sweep in sweeps
        ]
        if not self.tall:
            names[1].align_to(names[0], UP)  # so that their letters stand on one line
        copies = [ReplacementTransform(self.grid.copy(), sweep.grid, run_time=0.9) for sweep in sweeps]
        gone = FadeOut(self.lanes, self.cell, self.words, *self.blocks, run_time=0.4)
        self.play(gone)
        self.remove(self.grid)
        self.play(*copies)
        self.say(story.race)
        self.play(FadeIn(names, *sums), run_time=0.3)
        self.badge(Badge(tr("measured on {gpu}", gpu=story.sum.gpu), "measured"))
        self.add(*sweeps)
        self.play(PlayTrace(*sweeps, *sums, until=1, run_time=SLOW))
        self.wait(0.8)

    def tell_the_finding(self) -> None:
        story, cost = self.story, self.story.cost
        rows = [
            (story.far.name, cost.far / 1000, "measured"),
            (story.near.name, cost.near / 1000, "measured"),
        ]
        bars = Bars(rows, "ms", self.area.width, form="{:.2f}")
        badge = Badge(tr("measured on {gpu}", gpu=cost.gpu), "measured")
        self.finding(Finding(story.finding, story.number, bars, badge, story.aside), [bars.grow()])

    # How it is laid out

    def outlines(self, launch: Launch) -> VGroup:
        """The blocks of one of the three launches, on the matrix."""
        blocks = VGroup()
        count = launch.grid[0] * launch.grid[1]
        for number in range(count):
            x, y = number % launch.grid[0], number // launch.grid[0]
            wide, high = launch.block
            if launch is LINE:
                wide, high, x, y = COLUMNS, launch.block[0] // COLUMNS, 0, number
            if launch is SWAPPED:
                wide, high, x, y = high, wide, y, x
            block: Rectangle = rectangle(1, 1, sm_colour(number, count), 0.14)
            block.points = quad(
                self.grid.ground, x * wide / COLUMNS, (x + 1) * wide / COLUMNS,
                1 - (y + 1) * high / ROWS, 1 - y * high / ROWS,
            )  # fmt: skip
            block.set_stroke(ManimColor(sm_colour(number, count)), stroke_width(4))
            blocks.add(block)
        return blocks

    def become(self, launch: Launch) -> LaggedStart:
        """The blocks turn into those of another launch, in which the film's cell is another one's."""
        new = self.outlines(launch)
        mine = told.mine_of(launch)
        self.mine = new[mine.block[1] * launch.grid[0] + mine.block[0]].set_fill(opacity=0.4)
        turn = [ReplacementTransform(old, one) for old, one in zip(self.blocks, new, strict=True)]
        self.blocks = new
        return LaggedStart(*turn, lag_ratio=0.06)

    def formulas(self, texts: Sequence[str]) -> VGroup:
        """Words above the matrix: who, and beneath that how, side by side or in a tall frame in lines.

        Where they have no room side by side, two stand in lines, and of three the address stands beside who.
        """
        words = VGroup(*(label(text, 48, bold=True, mono=True) for text in texts))
        how = VGroup(*words[1:]) if len(words) > 1 else words
        how.arrange(RIGHT, buff=px(80), aligned_edge=UP)
        gap = px(32)
        if self.tall or (how.width > self.area.width and len(words) < 4):
            gap = px(32 if self.tall else 20)
            how.arrange(DOWN, buff=gap)
        who = words[:1]
        if how.width > self.area.width and len(words) > 3:
            who, how = VGroup(words[0], words[-1]), words[1:-1]
            who.arrange(RIGHT, buff=px(60), aligned_edge=UP)
            how.arrange(RIGHT, buff=px(60), aligned_edge=UP)
        for line in (who, how):
            line.scale(min(1.0, self.area.width / line.width))
        how.next_to(self.grid, UP, gap)
        if len(words) > 1:
            who.next_to(how, UP, gap)
        return words

    def line(self, row: int | None, column: int | None) -> Rectangle:
        """A row, or a column, of the matrix."""
        whole_line = self.grid.place(
            row or 0, column or 0, ROWS if row is None else 1, COLUMNS if column is None else 1
        )
        one = rectangle(1, 1, self.theme.text, 0.8)
        one.points = whole_line
        return one.stretch(0.3, 1 if column is None else 0)

    def warp(self, way: Way) -> CellSweep:
        """The cells of the warp that takes the film's cell, a lane at a time."""
        rows, columns = way.rows[way.warp][:, None], way.columns[way.warp][:, None]
        sweep = CellSweep(self.grid, rows, columns)
        sweep.remove(self.grid)
        # In the hue of the block, which has a part of it.
        sweep.set_fill(self.mine.get_stroke_color())
        return sweep
