"""Reduction: why is adding up numbers hard for a GPU?

manim render scenes/reduction.py

Threads add pairs in a tree, and wait for each other at every level. Where each thread first adds eight
numbers alone, an eighth as many trees are needed. Two kernels, measured.
"""

from itertools import pairwise

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Circle, Create, DashedLine, FadeIn, LaggedStart, Line, VGroup

from tilesim.analysis.memory_system import MemorySystem
from tilesim.ideas.reduction import ADDED, THREADS, sequential, steps
from tilesim.ladder.reports import row
from tilesim_scenes.animations.fade import Fade, Leave
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, lines, px
from tilesim_scenes.look.theme import ink_on
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.drawing.quads import disc, edged, rectangle
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Reduction",
    "question": "Why is adding up numbers hard for a GPU?",
    "finding": (
        "Threads that add up in a tree wait for each other. If each first adds eight numbers alone, an "
        "H200 is 4.9 times as fast."
    ),
    "part": "Kernels",
    "place": 210,
    "seconds": 78,
    "shows": "The sum of 268 million numbers as a tree, and with eight numbers added by each thread first.",
    "takes": "report",
}

DIGITS = (3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3)
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
        self.additions, self.mean = sum(self.levels), sum(self.levels) / len(self.levels)
        waits = {name: steps()[name].barriers for name in ("sequential", "unrolled")}
        self.guard(set(waits.values()) == {len(self.levels)}, "both kernels wait behind each of eight levels")
        self.many, self.few = -(-VALUES // THREADS), -(-VALUES // (ADDED * THREADS))
        self.guard(self.many == ADDED * self.few, "an eighth as many blocks are needed")
        self.guard(self.tree > 4 * self.alone, "adding eight numbers alone first is much faster")
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
            "Threads that add up in a tree wait for each other. If each first adds eight numbers alone, "
            "an H200 is {times:.1f} times as fast.",
            [(tr("a tree at once"), self.tree), (tr("eight numbers alone first"), self.alone)],
            "times",
            "{:,.0f} µs",
            self.measured(),
            self.tr("sum of {count:,} numbers of 4 bytes, {threads} threads per block"),
        )

    # A tree of 16 numbers.

    def node(self, number: int, radius: float) -> VGroup:
        """A thread, with the sum that it has found."""
        figure = label(str(number), max(24, 0.9 * radius / px(1)), ink_on(self.hue), bold=True)
        return VGroup(disc(radius, self.hue), figure)

    def a_tree(self) -> None:
        """Pairs of digits, pairs of sums, and so on; threads that have nothing to add are hollow."""
        area = self.area
        left = 0.17 * area.width if not self.narrow else 0.0
        step = (area.width - left) / len(DIGITS)
        high = (area.height - px(180 if not self.narrow else 240)) / 4
        rows = [area.top - px(40) - n * high for n in range(5)]
        radius = min(px(40), 0.8 * step)
        at = [area.left + left + (n + 0.5) * step for n in range(len(DIGITS))]
        cells = VGroup()
        for digit, x in zip(DIGITS, at, strict=True):
            cell = rectangle(0.84 * step, px(72), self.theme.hand_over)
            cells.add(VGroup(cell, label(str(digit), 44, bold=True)).move_to([x, rows[0], 0]))
        count = self.word("… {count:,} numbers in all", 40).next_to(cells, DOWN, px(16), aligned_edge=RIGHT)
        low = 0.36 * area.height * DOWN
        VGroup(cells, count).shift(low)
        self.badge(Badge(tr("schematic"), "model"))
        key = self.key(
            Entry(tr("a thread adds"), [self.hue]),
            Entry(tr("a thread has nothing to add"), [self.theme.quiet]),
            Entry(tr("all threads wait here"), [self.theme.wait_text]),
        )
        self.say("To add up 268 million numbers, many threads can add pairs at the same time.")
        self.play(FadeIn(cells, lag_ratio=0.06, run_time=1.4), FadeIn(count), *key)
        self.play(Leave(count), cells.animate.shift(-low), run_time=0.8)
        sums, before = list(DIGITS), list(cells)
        threads = [(at[2 * n] + at[2 * n + 1]) / 2 for n in range(8)]
        tree = VGroup(cells)
        for level in range(4):
            y, every = rows[level + 1], 2**level
            sums = [one + other for one, other in zip(sums[::2], sums[1::2], strict=True)]
            nodes = [self.node(number, radius) for number in sums]
            idle, links = VGroup(), VGroup()
            for n, x in enumerate(threads):
                if n % every:
                    idle.add(edged(Circle(0.8 * radius), self.theme.quiet, 3).move_to([x, y, 0]))
            for n, node in enumerate(nodes):
                node.move_to([threads[n * every], y, 0])
                for part in before[2 * n : 2 * n + 2]:
                    links.add(edged(Line(part.get_bottom(), node.get_top()), self.hue, 4))
            words = tr("{busy} of 8 threads add", busy=len(nodes))
            # Where there is no room beside the tree, the key has to do.
            name = lines(words, 36, left - px(30), color=self.theme.text) if left else VGroup()
            name.move_to([area.left, y, 0], LEFT)
            if level == 1:
                self.say("Then they add pairs of sums, but only half as many threads have something to add.")
            self.play(LaggedStart(*map(Create, links), lag_ratio=0.1, run_time=1.0), FadeIn(name))
            self.play(*map(FadeIn, nodes), FadeIn(idle), run_time=0.6)
            before = nodes
            tree.add(links, *nodes, idle, name)
            if level == 0:
                self.wait(0.6)
        bars, ends = VGroup(), (at[0] - step / 2, at[-1] + step / 2)
        for y, lower in pairwise(rows[1:]):
            line = DashedLine(*([x, (y + lower) / 2, 0] for x in ends), dash_length=px(16))
            bars.add(edged(line, self.theme.wait_text, 5))
        self.say("Before each level, they all wait, because a thread needs a sum that another has found.")
        self.play(LaggedStart(*map(Create, bars), lag_ratio=0.6, run_time=3.0))
        self.wait(1.0)
        self.let_read()
        self.play(*self.key(), *map(Leave, (tree, bars)))

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
            "In our program, {threads} threads form a block. It adds up {threads} numbers in eight levels."
        )
        self.play(FadeIn(head), FadeIn(whole, lag_ratio=0.1, run_time=1.0))
        for part, name in zip(parts, names, strict=True):
            self.play(FadeIn(part, shift=px(20) * UP), FadeIn(name), run_time=0.4)
        y = low + (high - low) * self.mean / THREADS
        line = DashedLine([area.left, y, 0], [area.right, y, 0], dash_length=px(16))
        edged(line, self.theme.text, 4)
        note = label(self.tr("{additions} additions in 8 levels: {mean:.0f} on average"), 40, bold=True)
        note.move_to([area.right, area.top - px(24 if not self.narrow else 84), 0], RIGHT)
        self.say("On average, only {mean:.0f} of {threads} threads have something to add.")
        self.play(Create(line, run_time=1.2), FadeIn(note))
        self.wait(1.0)
        self.leave(whole, parts, names, head, line, note)

    def a_million_blocks(self) -> None:
        area = self.area
        rows = [
            (tr("a tree at once"), self.tree, "measured"),
            (tr("eight numbers alone first"), self.alone, "measured"),
        ]
        size = 50 if not self.narrow else 36
        self.both = Bars(rows, "µs", area.width, row=px(190), size=size, form="{:,.0f}")
        self.both.move_to([area.center[0], area.top - px(170), 0])
        self.badge(self.measured())
        count = self.word(
            "{count:,} blocks, 1,000 in each square; their sums are added likewise", 40, count=self.many
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
        random = np.random.default_rng(7)
        threads, columns = VGroup(), []
        for n in range(SHOWN):
            x = area.left + (n + 0.5) * step
            numbers = random.integers(1, 10, ADDED).tolist()
            threads.add(self.node(sum(numbers), min(px(50), 0.36 * step)).move_to([x, foot, 0]))
            column = VGroup()
            for k, number in enumerate(numbers):
                cell = rectangle(min(px(120), 0.7 * step), 0.84 * high, self.theme.hand_over)
                cell = VGroup(cell, label(str(number), min(40, 0.66 * high / px(1)), bold=True))
                column.add(cell.move_to([x, foot + px(90) + (k + 0.5) * high, 0]))
            columns.append(column)
        name = self.word("8 of 256 threads, each with 8 numbers of its own", 44, self.theme.text)
        name.move_to([area.center[0], area.bottom + px(24), 0])
        self.badge(Badge(tr("schematic"), "model"))
        self.say("Now each thread first adds up eight numbers alone. It waits for no other thread.")
        discs = VGroup(*(thread[0] for thread in threads))
        self.play(FadeIn(VGroup(*columns)), FadeIn(discs), FadeIn(name))
        for k in range(ADDED):
            cells = [column[k] for column in columns]
            ways = [[disc.get_center()] for disc in discs]
            self.play(Travel(cells, ways, leg=0.4, apart=0.0))
            self.remove(*cells)
        self.remove(discs)
        self.add(threads)
        self.play(*(FadeIn(thread[1]) for thread in threads))
        self.play(VGroup(threads, name).animate.set_y(area.center[1]), run_time=0.8)
        self.leave(threads, name)

    def small_tree(self, width: float, height: float) -> VGroup:
        """A tree in small: eight leaves and three levels."""
        tree = VGroup()
        ends = [((n + 0.5) / 8, 1.0) for n in range(8)]
        for level in (2, 1, 0):
            low = level / 3
            found = [((a[0] + b[0]) / 2, low) for a, b in zip(ends[::2], ends[1::2], strict=True)]
            for n, end in enumerate(ends):
                points = ([x * width, y * height, 0] for x, y in (end, found[n // 2]))
                tree.add(edged(Line(*points), self.hue, 4))
            ends = found
        return tree

    def one_tree_instead_of_eight(self) -> None:
        """What 2,048 numbers take before and now."""
        area = self.area
        half = 0.5 * area.width - px(30)
        each, tall = half / 4 - px(24), px(180)
        eight = VGroup(*(self.small_tree(each, tall) for _ in range(ADDED)))
        eight.arrange_in_grid(cols=4, buff=(px(24), px(40)))
        one = self.small_tree(each, tall)
        size = 46 if not self.narrow else 34
        heads, foots = VGroup(), VGroup()
        for side, trees, words, count in (
            (-1, eight, tr("before: 8 trees for 2,048 numbers"), self.many),
            (1, one, tr("now: 1 tree for 2,048 numbers"), self.few),
        ):
            x = area.center[0] + side * area.width / 4
            trees.move_to([x, area.center[1] + px(20), 0])
            heads.add(lines(words, size, half, bold=True).move_to([x, area.top - px(50), 0]))
            foots.add(label(tr("{count:,} blocks", count=count), size + 10, bold=True))
            foots[-1].move_to([x, area.bottom + px(100), 0])
        note = self.word("Which of these saves most was not measured.", 36)
        note.move_to([area.center[0], area.bottom + px(20), 0])
        self.say("Then a block needs only one tree for 2,048 numbers, where eight were needed before.")
        self.play(FadeIn(heads[0]), LaggedStart(*map(Create, eight), lag_ratio=0.2, run_time=2.4))
        self.play(FadeIn(heads[1]), Create(one, run_time=1.0))
        self.wait(0.6)
        self.say("So an eighth as many blocks have to start, wait for their numbers and build a tree.")
        self.play(FadeIn(foots, lag_ratio=0.5, run_time=1.6))
        self.play(FadeIn(note))
        self.wait(1.2)
        self.leave(eight, one, heads, foots, note)

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
        name = self.word("reading the numbers alone: {us:.0f} µs", 46, self.theme.text, us=self.memory)
        name.next_to([x, low, 0], DOWN, px(16))
        name.set_x(min(max(x, self.area.left + name.width / 2), self.area.right - name.width / 2))
        self.say(
            "Just reading the numbers from memory takes {us:.0f}, so little is left to gain.", us=self.memory
        )
        self.play(Create(line, run_time=1.2), FadeIn(name))
        self.wait(1.5)
        self.leave(line, name)
