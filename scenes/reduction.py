"""Reduction: why is adding up numbers hard for a GPU?

manim render scenes/reduction.py

Threads add pairs in a tree, and wait for each other at every level. Where each thread first adds eight
numbers by itself, an eighth as many trees are needed. Two kernels, measured.
"""

from itertools import pairwise

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Circle, Create, DashedLine, LaggedStart, Line, VGroup

from tilesim.analysis.memory_system import MemorySystem
from tilesim.ideas.reduction import ADDED, THREADS, sequential, steps
from tilesim.ladder.reports import row
from tilesim_scenes.animations.fade import Fade, FadeIn, Leave
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, lines, px
from tilesim_scenes.look.theme import ink_on
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.drawing.quads import disc, edged, rectangle
from tilesim_scenes.mobjects.words.badge import Badge

FILM = {
    "title": "Reduction",
    "question": "Why is adding up numbers hard for a GPU?",
    "finding": (
        "In a tree, most threads have nothing to add. If each first adds eight numbers by itself, an H200 "
        "is 4.9 times as fast."
    ),
    "part": "Kernels",
    "place": 210,
    "seconds": 77,
    "shows": "The sum of 268 million numbers as a tree, and with eight numbers added by each thread first.",
    "takes": "report",
}

DIGITS = (3, 1, 4, 1, 5, 9, 2, 6)
VALUES = 2**28
SHOWN = 8
"""Threads that are drawn of a block."""


class Reduction(Lesson):
    """A tree for every 256 numbers, and one for every 2,048."""

    def prepare(self) -> None:
        measured = self.report("reductions")
        self.gpu = measured["machine"]["gpu"]
        self.count, self.threads = VALUES, THREADS
        self.tree, self.alone, shuffles = (
            row(measured, name=name, n=VALUES)["us"] for name in ("sequential", "unrolled", "shuffles")
        )
        self.levels = [len(level.owns) for level in sequential(THREADS)]
        self.guard(self.levels == [128, 64, 32, 16, 8, 4, 2, 1], "half as many threads add at each level")
        self.mean = sum(self.levels) / len(self.levels)
        waits = {name: steps()[name].barriers for name in ("sequential", "unrolled")}
        self.guard(set(waits.values()) == {len(self.levels)}, "both kernels wait behind each of eight levels")
        self.many, self.few = -(-VALUES // THREADS), -(-VALUES // (ADDED * THREADS))
        self.guard(self.many == ADDED * self.few, "an eighth as many blocks are needed")
        self.guard(self.tree > 4 * self.alone, "adding eight numbers first is much faster")
        self.memory = 4 * VALUES / MemorySystem.named("h200").read_gb_per_s["DRAM"] / 1000
        self.guard(0.9 < self.memory / self.alone <= 1, "little is left to gain over what memory needs")
        self.guard(abs(shuffles / self.alone - 1) < 0.03, "a faster tree saves little more")

    def construct(self) -> None:
        self.ask("A GPU runs thousands of threads, each with a small part of the work.")
        self.a_tree()
        self.eight_levels()
        self.a_million_blocks()
        self.eight_numbers_alone()
        self.one_tree_instead_of_eight()
        self.two_bars()
        self.close(
            "In a tree, most threads have nothing to add. If each first adds eight numbers by itself, "
            "an H200 is {times:.1f} times as fast.",
            [(tr("a tree right away"), self.tree), (tr("eight numbers first"), self.alone)],
            "times",
            "{:,.0f} µs",
            self.measured(),
            self.tr("sum of {count:,} numbers of 4 bytes, {threads} threads per block"),
        )

    # A tree of eight numbers.

    def node(self, number: int, radius: float) -> VGroup:
        """A thread, with the sum that it has found."""
        figure = label(str(number), max(24, 0.9 * radius / px(1)), ink_on(self.hue), bold=True)
        return VGroup(disc(radius, self.hue), figure)

    def a_tree(self) -> None:
        """Threads add others' numbers to theirs, and then sums; those that have nothing to add are hollow."""
        area = self.area
        left = 0.19 * area.width if not self.narrow else 0.0
        step = (area.width - left) / SHOWN
        high, size = (area.height - px(130)) / 3, 36 if not self.narrow else 28
        rows = [area.top - px(60) - n * high for n in range(4)]
        radius = min(px(46), 0.36 * step)
        at = [area.left + left + (n + 0.5) * step for n in range(SHOWN)]
        cells = VGroup()
        for digit, x in zip(DIGITS, at, strict=True):
            cell = rectangle(min(px(100), 0.84 * step), px(80), self.theme.hand_over)
            cells.add(VGroup(cell, label(str(digit), 50, bold=True)).move_to([x, rows[0], 0]))
        count = self.word("… {count:,} numbers in all", 40).next_to(cells, DOWN, px(16), aligned_edge=RIGHT)
        self.badge(Badge(tr("schematic"), "model"))
        self.say("To add up 268 million numbers, many threads can add pairs at the same time.")
        self.play(FadeIn(cells, lag_ratio=0.06, run_time=1.4), FadeIn(count))
        tree = VGroup(cells, self.beside(tr("8 threads, a number each"), left, rows[0]))
        self.play(Leave(count), FadeIn(tree[1]))
        sums, before = list(DIGITS), list(cells)
        for level, y in zip(sequential(SHOWN), rows[1:], strict=True):
            nodes, links, idle = VGroup(), VGroup(), VGroup()
            for own, other in zip(level.owns, level.others, strict=True):
                sums[own] += sums[other]
                nodes.add(self.node(sums[own], radius).move_to([at[own], y, 0]))
                for part in (before[own], before[other]):
                    links.add(edged(Line(part.get_bottom(), nodes[-1].get_top()), self.hue, 4))
            for x in at[level.stride :]:
                idle.add(edged(Circle(0.8 * radius), self.theme.quiet, 3).move_to([x, y, 0]))
            if len(nodes) == SHOWN / 2:
                note = self.word("nothing to add", size).next_to(idle, DOWN, px(4))
            if len(nodes) == SHOWN / 4:
                self.say("Then they add pairs of sums. At each level, half as many threads add.")
            name = self.beside(tr("{busy} of 8 threads add", busy=len(nodes)), left, y)
            self.play(LaggedStart(*map(Create, links), lag_ratio=0.1, run_time=1.2), FadeIn(name))
            self.play(*map(FadeIn, nodes), FadeIn(idle, note), run_time=0.6)
            before = nodes
            tree.add(links, *nodes, idle, name, note)
        bars = VGroup()
        for y, lower in pairwise(rows):
            ends = ([x, (y + lower) / 2, 0] for x in (at[0] - step / 2, at[-1] + step / 2))
            bars.add(edged(DashedLine(*ends, dash_length=px(16)), self.theme.wait_text, 5))
        here = self.word("all threads wait here", size, self.theme.wait_text)
        here.next_to(bars[1], DOWN, px(8), aligned_edge=RIGHT)
        self.say("Before each level, all of them wait, because each sum needs a number from another thread.")
        self.play(LaggedStart(*map(Create, bars), lag_ratio=0.6, run_time=3.0), FadeIn(here))
        self.wait(1.0)
        self.leave(tree, bars, here)

    def beside(self, words: str, wide: float, y: float) -> VGroup:
        """What is said of a row, left of it; where there is no room, the picture has to do."""
        name = lines(words, 36, wide - px(30), color=self.theme.text) if wide else VGroup()
        return name.move_to([self.area.left, y, 0], LEFT)

    # A block of 256 threads.

    def eight_levels(self) -> None:
        """How many of 256 threads add at each level, and on average."""
        area = self.area
        low, high = area.bottom + px(60), area.top - px(70 if not self.narrow else 130)
        step = (area.width - px(40)) / len(self.levels)
        whole, parts, names = VGroup(), VGroup(), VGroup()
        for n, busy in enumerate(self.levels):
            foot = [area.left + px(20) + (n + 0.5) * step, low, 0]
            frame = rectangle(0.66 * step, high - low, self.theme.idle).move_to(foot, DOWN)
            whole.add(frame)
            part = rectangle(0.66 * step, (high - low) * busy / THREADS, self.hue)
            parts.add(part.move_to(foot, DOWN))
            figure = label(str(busy), 50, bold=True).next_to(frame.get_top(), DOWN, px(20))
            level = self.word("level {n}", 40 if not self.narrow else 30, n=n + 1)
            names.add(VGroup(figure, level.next_to(frame, DOWN, px(14))))
        head = self.word("threads that add, of the 256 in a block", 40, self.theme.text)
        head.move_to([area.left, area.top - px(24), 0], LEFT)
        self.say(
            "A group of threads is called a block. "
            "Here, {threads} of them add {threads} numbers in eight levels."
        )
        self.play(FadeIn(head), FadeIn(whole, lag_ratio=0.1, run_time=1.0))
        for part, name in zip(parts, names, strict=True):
            self.play(FadeIn(part, shift=px(20) * UP), FadeIn(name), run_time=0.4)
        y = low + (high - low) * self.mean / THREADS
        line = DashedLine([area.left, y, 0], [area.right, y, 0], dash_length=px(16))
        edged(line, self.theme.text, 4)
        note = self.bold("average: {mean:.0f}", 44).next_to(line, UP, px(10), aligned_edge=RIGHT)
        self.say("On average, only {mean:.0f} of {threads} threads have something to add.")
        self.play(Create(line, run_time=1.2), FadeIn(note))
        self.wait(1.0)
        self.leave(whole, parts, names, head, line, note)

    def a_million_blocks(self) -> None:
        area = self.area
        rows = [
            (tr("a tree right away"), self.tree, "measured"),
            (tr("eight numbers first"), self.alone, "measured"),
        ]
        size = 50 if not self.narrow else 36
        self.both = Bars(rows, "µs", area.width, row=px(190), size=size, form="{:,.0f}")
        self.both.move_to([area.center[0], area.top - px(170), 0])
        self.badge(self.measured())
        count = self.word(
            "{count:,} blocks, 1,000 in each square; adding their sums is included", 40, count=self.many
        )
        across = 81 if not self.narrow else 60
        step = area.width / across
        squares = VGroup()
        for n in range(round(self.many / 1000)):
            place = [n % across * step, -(n // across) * step, 0]
            squares.add(rectangle(0.7 * step, 0.7 * step, self.hue).move_to(place))
        squares.move_to([area.center[0], area.bottom, 0], DOWN)
        count.next_to(squares, UP, px(24))
        self.say("A million such blocks add up all numbers in {us:,.0f} microseconds.", us=self.tree)
        self.play(FadeIn(squares, lag_ratio=0.005, run_time=2.0), FadeIn(count))
        self.play(self.both.grow(0, run_time=1.6))
        self.wait(1.0)
        self.leave(self.both.rows[0], count, squares)

    # Eight numbers for each thread.

    def eight_numbers_alone(self) -> None:
        """Eight numbers fall onto each thread."""
        area = self.area
        step = area.width / SHOWN
        foot = area.bottom + px(150 if self.narrow else 110)
        high = (area.top - foot - px(90)) / ADDED
        numbers = np.random.default_rng(7).integers(1, 10, (SHOWN, ADDED))
        at = [area.left + (n + 0.5) * step for n in range(SHOWN)]
        radius, columns = min(px(50), 0.36 * step), []
        for x, own in zip(at, numbers, strict=True):
            column = VGroup()
            for k, number in enumerate(own):
                cell = rectangle(min(px(120), 0.7 * step), 0.84 * high, self.theme.hand_over)
                cell = VGroup(cell, label(str(number), min(40, 0.66 * high / px(1)), bold=True))
                column.add(cell.move_to([x, foot + px(90) + (k + 0.5) * high, 0]))
            columns.append(column)
        name = self.word("8 of 256 threads, each with 8 numbers of its own", 44, self.theme.text)
        name.move_to([area.center[0], area.bottom + px(24), 0])
        self.badge(Badge(tr("schematic"), "model"))
        self.say("Now each thread first adds up eight numbers by itself. It waits for no other thread.")
        discs = VGroup(*(disc(radius, self.hue).move_to([x, foot, 0]) for x in at))
        self.play(FadeIn(VGroup(*columns)), FadeIn(discs), FadeIn(name))
        for k in range(ADDED):
            cells = [column[k] for column in columns]
            ways = [[[x, foot + radius + 0.42 * high, 0]] for x in at]
            self.play(Travel(cells, ways, leg=0.4, apart=0.0))
            self.remove(*cells, discs)
            sums = numbers[:, : k + 1].sum(axis=1)
            nodes = (self.node(n, radius).move_to([x, foot, 0]) for n, x in zip(sums, at, strict=True))
            discs = VGroup(*nodes)
            self.add(discs)
        self.say(
            "Then the {threads} threads build one tree. It covers {numbers:,} numbers.",
            numbers=ADDED * THREADS,
        )
        self.play(discs.animate.set_y(area.top - px(50)), run_time=0.8)
        tree = self.small_tree(area.width, discs.get_bottom()[1] - name.get_top()[1] - px(30))
        tree.next_to(discs, DOWN, px(10))
        self.play(Create(tree, run_time=2.4))
        self.wait(0.8)
        self.leave(discs, name, tree)

    def small_tree(self, width: float, height: float, numbers: int = 0) -> VGroup:
        """The tree without its sums, under a stack of so many `numbers` for each of eight threads."""
        tree, step = VGroup(), width / SHOWN
        low = height / len(sequential(SHOWN))
        for depth, level in enumerate(sequential(SHOWN)):
            for own, other in zip(level.owns, level.others, strict=True):
                end = [(own + 0.5) * step, -(depth + 1) * low, 0]
                for n in (own, other):
                    tree.add(edged(Line([(n + 0.5) * step, -depth * low, 0], end), self.hue, 4))
        for place in range(numbers * SHOWN):
            cell = rectangle(0.6 * step, px(12), self.theme.operand)
            tree.add(cell.move_to([(place % SHOWN + 0.5) * step, px(14 + 17 * (place // SHOWN)), 0]))
        return tree

    def one_tree_instead_of_eight(self) -> None:
        """What 2,048 numbers take before and now."""
        area = self.area
        half = 0.5 * area.width - px(30)
        each, tall = half / 4 - px(24), px(150)
        eight = VGroup(*(self.small_tree(each, tall, 1) for _ in range(ADDED)))
        eight.arrange_in_grid(cols=4, buff=(px(24), px(40)))
        one = self.small_tree(each, tall, ADDED)
        size = 46 if not self.narrow else 34
        heads, foots = VGroup(), VGroup()
        for side, trees, words, count in (
            (-1, eight, tr("before: 8 trees for 2,048 numbers"), self.many),
            (1, one, tr("now: 1 tree for 2,048 numbers"), self.few),
        ):
            x = area.center[0] + side * area.width / 4
            trees.move_to([x, area.center[1] + px(20), 0])
            heads.add(lines(words, size, half, bold=True).move_to([x, area.top - px(50), 0]))
            foots.add(label(tr("{count:,} blocks in all", count=count), size, bold=True))
            foots[-1].move_to([x, area.bottom + px(60), 0])
        self.say("Before, that took eight trees. So an eighth as many trees and blocks are enough.")
        self.play(FadeIn(heads[0]), LaggedStart(*map(FadeIn, eight), lag_ratio=0.2, run_time=1.2))
        self.play(FadeIn(heads[1], one))
        self.play(FadeIn(foots, lag_ratio=0.5, run_time=1.6))
        self.wait(1.2)
        self.leave(eight, one, heads, foots)

    def two_bars(self) -> None:
        """Both times, and what memory needs for the numbers alone."""
        self.badge(self.measured())
        bars = self.both.move_to(self.area.center + px(50) * UP)
        change = {"short": self.alone, "long": self.tree}
        self.say("The same sum now takes {short:,.0f} microseconds instead of {long:,.0f}.", **change)
        self.play(Fade(bars.rows[0], 0.0, 1.0))
        self.play(bars.grow(1, run_time=1.6))
        self.wait(1.0)
        ground = bars.grounds[0]
        x = ground.get_left()[0] + self.memory / self.tree * ground.width
        top, low = bars.get_top()[1] + px(30), bars.get_bottom()[1] - px(40)
        line = edged(DashedLine([x, top, 0], [x, low, 0], dash_length=px(16)), self.theme.text, 5)
        name = self.word("just reading the numbers: {us:.0f} µs", 46, self.theme.text, us=self.memory)
        name.next_to([x, low, 0], DOWN, px(16))
        name.set_x(min(max(x, self.area.left + name.width / 2), self.area.right - name.width / 2))
        self.say(
            "Just reading the numbers from memory takes {us:.0f} µs, so little is left to gain.",
            us=self.memory,
        )
        self.play(Create(line, run_time=1.2), FadeIn(name))
        self.wait(1.5)
        self.leave(line, name)
