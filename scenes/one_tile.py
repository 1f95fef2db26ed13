"""One tile: how does a GPU multiply two matrices?

manim render scenes/one_tile.py

The opening of the course. One processor computes one tile of a recorded run, pair by pair of chunks; then its
work is seen as a lane, and then that of all processors. How single pairs travel is a model, because no
stamp tells; lanes and times are measured.
"""

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Group, LaggedStart, ManimColor, VGroup, VMobject

from tilesim.metrics import launch_end
from tilesim.problems import DTYPE_BYTES
from tilesim_scenes.animations.fade import Fade, FadeIn, FadeOut, Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Travel, WriteBack
from tilesim_scenes.animations.unroll import SplitIntoTiles, Unroll
from tilesim_scenes.film.traces import shipped
from tilesim_scenes.kit.amounts import Amount, Amounts
from tilesim_scenes.kit.many_sms import ManySMs
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import Figure, fit, label, lines, px
from tilesim_scenes.look.theme import mixed
from tilesim_scenes.mobjects.drawing.quads import bracket, edged, place, quad, rectangle, shape
from tilesim_scenes.mobjects.hardware.memory import SM, MemoryLevel
from tilesim_scenes.mobjects.hardware.operands import Operands
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors
from tilesim_scenes.mobjects.traces.tile_grid import TileGrid
from tilesim_scenes.mobjects.words.badge import Badge, of_trace

FILM = {
    "title": "One tile",
    "question": "How does a GPU multiply two matrices?",
    "finding": (
        "On an H200, an SM spends 8.3 µs on a tile but multiplies for only 5.0. Later films show how to "
        "use the other 3.3."
    ),
    "part": "How the machine works",
    "place": 10,
    "seconds": 79,
    "shows": "One tile of a matrix product, pair by pair of chunks, then as a lane, and all lanes of a GPU.",
}
RECORDED = "traces/h200-naive-4096x4096x512-grouped8.npz"
SHARED_KB = 228
"""Of shared memory in an SM, compute capability 9.0: CUDA C++ Programming Guide."""
SLOW, FAST, SLOWLY = 1.3, 0.5, 6
"""Seconds that a pair takes from one place to the next: in so many first beats, and then."""


class OneTile(ManySMs):
    """A tile of a recorded run, from its operands to its lane."""

    def prepare(self) -> None:
        self.run = run = shipped(RECORDED)
        spans = run.spans
        ends = launch_end(run)
        parts = np.diff([spans["issue"], ends, spans["start"], spans["drain"], spans["done"]], axis=0)
        # The tile that is told is the one that comes closest to the mean of all.
        mean = parts.mean(axis=1, keepdims=True)
        row = int(np.abs(parts - mean).sum(axis=0).argmin())
        self.guard(np.abs(parts[:, row] - mean[:, 0]).max() < 100, "a tile's parts are close to the average")
        self.problem, ours = run.problem, spans[row]
        self.tile, self.sm, self.begin = int(ours["tile"]), int(ours["sm"]), float(ours["issue"])
        self.launch, self.load, self.multiply, self.write = parts[:, row].tolist()
        self.done = int(ours["done"]) - int(ours["issue"])
        (m, n, _), size = self.problem.tile, DTYPE_BYTES[self.problem.dtype]
        self.k, self.steps, self.sms = self.problem.k, self.problem.k_steps, run.device.sms
        self.a, self.b = (side * self.k * size // 1024 for side in (m, n))
        self.kb = self.a + self.b
        self.pair_kb = self.kb // self.steps
        self.guard(self.kb > SHARED_KB > 2 * self.pair_kb, "strips do not fit, and several pairs do")
        us = [round(ns / 1000, 1) for ns in (self.launch, self.load, self.multiply, self.write)]
        self.guard(abs(sum(us) - round(self.done / 1000, 1)) < 0.01, "the parts of a tile add up")
        self.guard(us[2] > max(us[1], us[3]), "most of a tile's time is multiplying")
        self.whole, self.waits = sum(us), (us[0] + us[1], us[3])
        self.idle = sum(self.waits)
        one = np.sort(spans, order=["sm", "issue"])
        apart = (one["sm"][1:] != one["sm"][:-1]) | (one["issue"][1:] >= one["done"][:-1])
        self.guard(apart.all(), "an SM computes one tile after another")
        counts = np.bincount(spans["sm"], minlength=self.sms)
        self.guard(set(counts.tolist()) == {3, 4}, "each SM computes three or four tiles")
        self.four, self.three = int((counts == 4).sum()), int((counts == 3).sum())

    def construct(self) -> None:
        self.ask("A GPU has many processors that work at the same time.")
        self.badge(Badge(tr("schematic"), "model"))
        self.a_row_times_a_column()
        self.a_tile_and_its_strips()
        self.an_sm()
        self.too_large()
        self.chunks_of_strips()
        self.memories()
        self.pairs()
        lane = self.a_lane()
        self.both_ends(lane)
        self.all_of_them()
        self.close(
            "On an H200, an SM spends {first:.1f} µs on a tile but multiplies for only {second:.1f}. "
            "Later films show how to use the other {idle:.1f}.",
            [(tr("whole tile"), self.done / 1000), (tr("multiplying"), self.multiply / 1000)],
            self.tr("idle for {idle:.1f} of {whole:.1f} µs"),
            "{:.1f} µs",
            of_trace(self.run),
            self.tr("a tile of 128 × 256 numbers, each a sum of {k} products of 16-bit numbers"),
        )

    def chunk(self, width: float, height: float) -> VMobject:
        """A chunk of A or of B."""
        fill = mixed(self.theme.background, self.theme.operand, 0.3)
        return edged(rectangle(width, height, fill), self.theme.operand, 3)

    # The product and one tile of it.

    def beside(self, *texts: str) -> VGroup:
        """Lines of words in the second half of the picture; the first one is bold."""
        _, free = self.halves(0.54)
        words = VGroup()
        for number, text in enumerate(texts):
            words.add(lines(text, 48 if number else 58, free.width, bold=not number))
        words.arrange(DOWN, buff=px(30), aligned_edge=LEFT)
        return fit(words, np.inf, free.height).move_to([free.left, free.center[1], 0], LEFT)

    def a_row_times_a_column(self) -> None:
        """A row of A and a column of B sweep in and meet in one number of C."""
        whole, _ = self.halves(0.54)
        problem = self.problem
        side = px(230)
        self.operands = operands = Operands(problem, whole.width - side, whole.height, names=False)
        left = whole.left + side + operands.width / 2
        operands.move_to([whole.center[0] if self.narrow else left, whole.center[1], 0])
        a, b = operands.a, operands.b
        letters = VGroup(*(label(one, 64, bold=True) for one in "ABC"))
        letters[0].next_to(a, LEFT, px(24))
        letters[1].next_to(b, LEFT, px(24))
        letters[2].move_to(operands.c.get_corner(DOWN + LEFT) + px(60) * (UP + RIGHT)).set_z_index(1)
        operands.add(letters)
        thin = px(16)  # To scale, a row and a column would not be seen.
        row = rectangle(a.width, thin, self.theme.operand).move_to(place(a, 0.5, 0.64))
        column = rectangle(thin, b.height, self.theme.operand).move_to(place(b, 0.38, 0.5))
        cell = rectangle(1.6 * thin, 1.6 * thin, self.hue).move_to([column.get_x(), row.get_y(), 0])
        sizes = {"m": problem.m, "n": problem.n, "k": problem.k}
        words = self.beside(
            tr("C = A × B"),
            tr("A: {m} × {k} numbers", **sizes),
            tr("B: {k} × {n} numbers", **sizes),
            tr("C: {m} × {n} numbers", **sizes),
        )
        self.say("Each number of C is a sum of {k} products, from one row of A and one column of B.")
        self.play(FadeIn(operands, words, run_time=0.5))
        self.play(FadeIn(row, shift=px(300) * RIGHT), FadeIn(column, shift=px(300) * DOWN), run_time=1.2)
        along, down = row.copy(), column.copy()
        into = along.animate.stretch_to_fit_width(thin), down.animate.stretch_to_fit_height(thin)
        self.play(*(one.move_to(cell) for one in into), FadeIn(cell), run_time=1.2)
        self.remove(along, down)
        self.gone = VGroup(row, column, cell, words)

    def a_tile_and_its_strips(self) -> None:
        """C falls into tiles; one is lit, with its strips."""
        operands, problem, tile = self.operands, self.problem, self.tile
        self.cut = TileGrid(problem, width=operands.c.width, numbers=False).move_to(operands.c)
        m, n, _ = problem.tile
        words = self.beside(
            tr("our tile: {m} × {n}", m=m, n=n),
            self.tr("its strip of A: {m} × {k}", m=m),
            self.tr("its strip of B: {k} × {n}", n=n),
        )
        self.say(
            "C is cut into {tiles} tiles. Each needs a strip of A and a strip of B.", tiles=problem.tiles
        )
        self.play(SplitIntoTiles(operands.c, self.cut), Leave(self.gone))
        panels = operands.row_panel, operands.column_panel
        self.strips = VGroup(*(panel(tile, self.theme.operand) for panel in panels))
        self.lit = shape(self.hue)
        self.lit.points = quad(self.cut.tile(tile)[0], 0, 1)
        self.play(FadeIn(self.lit, words[0]), run_time=0.6)
        come = (FadeIn(VGroup(*both)) for both in zip(self.strips, words[1:], strict=True))
        self.play(LaggedStart(*come, lag_ratio=0.6, run_time=1.6))
        self.gone = words

    def an_sm(self) -> None:
        """The processors, one of which gets the tile."""
        _, free = self.halves(0.54)
        boxes = self.boxes(self.sms, free)
        ours = boxes[self.sm]
        self.say("This GPU has {sms} processors, called SMs. One computes our tile.")
        self.play(Leave(self.gone), *self.appear(boxes, self.title_of_boxes))
        tile = self.lit.copy()
        fly = Travel([tile], [[ours.get_center()]], [[0.5 * ours.width / tile.width]], leg=1.4)
        self.play(fly, edged(ours.animate(run_time=1.4), self.hue, 6))
        self.gone = Group(self.operands, self.cut, self.strips, self.lit, boxes, self.title_of_boxes, tile)

    def too_large(self) -> None:
        """What strips hold beside what an SM's shared memory holds, and the pairs into which they are cut."""
        strips = self.tr("the strip of A, {a} KB, and the strip of B, {b} KB")
        shared = tr("shared memory, an SM's own fast memory")
        rows = [
            Amount(strips, [(self.kb, self.theme.operand)], self.tr("{kb} KB")),
            Amount(shared, [(SHARED_KB, self.theme.hand_over)], tr("{kb} KB", kb=SHARED_KB)),
        ]
        chart = Amounts(rows, self.area.width, size=50, gap=56)
        fit(chart, np.inf, self.area.height).move_to(self.area.center)
        self.say("With 16-bit numbers, the two strips do not fit into the SM's own fast memory.")
        self.play(Leave(self.gone))
        self.play(chart.come(0, 1), run_time=3.0)
        self.gone = chart

    def chunks_of_strips(self) -> None:
        """The tile with its strips, flush and to scale, which are cut into numbered chunks."""
        whole, _ = self.halves(0.54)
        (m, n, step), steps = self.problem.tile, self.steps
        scale = min(whole.width / (self.problem.k + n), whole.height / (self.problem.k + m)) * 0.87
        tile = edged(rectangle(n * scale, m * scale, self.theme.idle), self.hue, 4)
        left = VGroup(*(self.chunk(step * scale, m * scale) for _ in range(steps)))
        top = VGroup(*(self.chunk(n * scale, step * scale) for _ in range(steps)))
        left.arrange(RIGHT, buff=0).next_to(tile, LEFT, px(16))
        top.arrange(DOWN, buff=0).next_to(tile, UP, px(16))
        aside = px(40 if self.narrow else 12) * (DOWN + RIGHT)
        picture = VGroup(tile, left, top).move_to(whole.center + aside)
        names = VGroup(
            fit(self.bold("our tile").move_to(tile), 0.9 * tile.width),
            self.bold("strip of A").next_to(left, UP, px(16)),
            self.bold("strip of B").next_to(top, LEFT, px(20)),
        )
        words = self.beside(
            tr("{n} pairs of chunks", n=steps),
            tr("{a} KB of A and {b} KB of B", a=self.a // steps, b=self.b // steps),
            tr("{kb} KB per pair, so several fit", kb=self.pair_kb),
        )
        self.say("So the SM cuts each strip into {n} chunks and works through them pair by pair.", n=steps)
        self.play(Leave(self.gone), FadeIn(picture, names, run_time=0.6))
        apart = px(10)
        moves = [one.animate.shift((number - steps + 1) * apart * RIGHT) for number, one in enumerate(left)]
        moves += [one.animate.shift((steps - 1 - number) * apart * UP) for number, one in enumerate(top)]
        self.play(*moves, run_time=1.2)
        numbers = VGroup()
        for strip in (left, top):
            numbers.add(*(label(str(n), 34, bold=True).move_to(one) for n, one in enumerate(strip, 1)))
        self.play(LaggedStart(*map(FadeIn, numbers), lag_ratio=0.15, run_time=1.5))
        self.play(FadeIn(words))
        self.gone = VGroup(picture, names, numbers, words)

    # Pair by pair.

    def memories(self) -> None:
        """Main memory with the pairs, the cache, and the SM with its empty tile."""
        area = self.area
        high, wide = area.height, area.width
        memory = MemoryLevel(tr("main memory"), 0.26 * wide, high, 44)
        cache = MemoryLevel(tr("cache of all SMs"), 0.15 * wide, high, 44)
        shared = MemoryLevel(tr("shared memory"), 0.18 * wide, 0.84 * high, 44)
        box = SM(tr("our SM"), self.theme.text, 0.55 * wide, high)
        box.box.set_fill(opacity=0.0)
        VGroup(memory, cache, box).arrange(RIGHT, buff=0.02 * wide).move_to(area.center)
        shared.move_to(box.box.get_corner(DOWN + LEFT), DOWN + LEFT).shift((RIGHT + UP) * px(24))
        free = box.box.get_right()[0] - shared.get_right()[0]
        wide = 0.62 * free
        self.core = core = rectangle(wide, wide * self.problem.tile_m / self.problem.tile_n, self.theme.idle)
        core.move_to([shared.get_right()[0] + 0.58 * free, shared.shelf.get_y() - px(50), 0])
        edged(core, self.hue, 4)
        heading = lines(tr("tensor cores: they multiply"), 44, 0.92 * free, color=self.theme.quiet, bold=True)
        heading.move_to([shared.get_right()[0] + 0.5 * free, shared.shelf.get_top()[1] - px(20), 0], UP)
        self.count = Figure(self.tr("our tile: {done} of {steps} pairs", done=0), 44, align=0.5)
        fit(self.count, 0.92 * free).shift([heading.get_x(), core.get_bottom()[1] - px(70), 0])
        self.cache, self.shared, self.box = cache, shared, box
        self.shelves = VGroup(memory, cache, box, shared, heading)
        shelf, top = memory.shelf, memory.heading.get_bottom()[1] - px(20)
        rows, room = -(-self.steps // 2), top - shelf.get_bottom()[1] - px(20)
        (m, n, step), self.chunks = self.problem.tile, []
        for k in range(self.steps):
            # A chunk of A and one of B beside each other, to scale.
            pair = VGroup(self.chunk(step, m), self.chunk(n, step)).arrange(RIGHT, buff=0.1 * n)
            pair.scale(min(0.44 * shelf.width, 1.3 * room / rows) / pair.width)
            # Of two in a row the nearer goes first, so that none passes over another.
            x = shelf.get_left()[0] + shelf.width * (0.74 - 0.48 * (k % 2))
            self.chunks.append(pair.move_to([x, top - room * (k // 2 + 0.5) / rows, 0]))

    def pairs(self) -> None:
        """Copies of pairs go to the tensor cores, which add each one's products to the tile."""
        self.say("Pairs are copied from main memory through a cache into the SM.")
        come = FadeIn(self.core, self.count, *self.chunks, run_time=0.5)
        self.play(Leave(self.gone), Fade(self.shelves, 0.0, 1.0, run_time=0.5), come)
        self.shelves.add(self.count, *self.chunks)
        self.copies = [pair.copy() for pair in self.chunks]
        for beat in range(self.steps + 3):
            if beat == 3:
                self.say("Its tensor cores multiply a pair and add the products to the tile.")
            if beat == SLOWLY:
                self.say("Meanwhile, the next pairs arrive in the shared memory.")
            self.beat(beat, SLOW if beat < SLOWLY else FAST)

    def beat(self, beat: int, seconds: float) -> None:
        """Each pair that is on its way goes to the next place; the one at the tile is multiplied."""
        movers, ways, sizes, uses = [], [], [], []
        for number in range(max(0, beat - 2), min(self.steps, beat + 1)):
            pair, place = self.copies[number], beat - number
            if place < 2:
                shelf = (self.cache, self.shared)[place].shelf
                movers.append(pair)
                ways.append([[shelf.get_x(), shelf.get_y() + px(10), 0]])
                sizes.append([min(1.0, 0.86 * shelf.width / pair.width)])
                continue
            self.bring_to_front(*pair)
            a, b = pair
            movers += [a, b]
            large = self.core.height / a.height
            ways.append([self.core.get_left() + (large * a.width / 2 + px(6)) * LEFT])
            ways.append([self.core.get_top() + (large * b.height / 2 + px(6)) * UP])
            sizes += [[large], [large]]
        done = beat - 2
        if done > 0:
            # A moves along the rows of the tile and B along its columns.
            a, b = self.copies[done - 1]
            uses = [FadeOut(a, shift=self.core.width * RIGHT), FadeOut(b, shift=self.core.height * DOWN)]
            uses.append(self.core.animate.set_fill(ManimColor(self.hue), opacity=done / self.steps))
        if movers:
            uses.append(Travel(movers, ways, sizes, leg=seconds, apart=0.0))
        self.play(*uses, run_time=seconds)
        if done > 0:
            self.count.write(self.tr("our tile: {done} of {steps} pairs", done=done))

    # The lane.

    def a_lane(self) -> LaneVectors:
        """The SM unrolls into its lane, which grows with the clock; each part gets its name and its time."""
        area = self.area
        small, high, gap = (130, 170, 80) if self.narrow else (210, 220, 34)
        lane = LaneVectors(
            self.run, [self.sm], (self.begin, self.begin + self.done), area.width, px(high), numbers=False,
            labels=False, fills=self.theme.by_phase,
        )  # fmt: skip
        lane.move_to([area.center[0], area.top - px(small + gap + high / 2), 0])
        self.grid = TileGrid(self.problem, width=0.22 * area.width, height=px(small), numbers=False)
        self.grid.move_to([area.center[0] + px(160), area.top, 0], UP)
        letter = label("C", 44, self.theme.text)
        letter.next_to(self.grid, LEFT, px(30)).align_to(self.grid, UP)
        title = self.word("our SM; time runs to the right", 46, self.theme.text)
        lane.show(self.begin)
        title.next_to(lane.grounds, UP, px(20)).align_to(lane.grounds, LEFT)
        self.say("This is what we measured for a typical tile, from its start until it is written.")
        self.badge(of_trace(self.run))
        tile = self.core
        waits = self.grid.get_right() + px(150) * RIGHT
        whose = label(tr("our tile"), 44, self.theme.text).next_to(waits, DOWN, px(44))
        self.play(
            Fade(self.shelves, 1.0, 0.0),
            Unroll([self.box], lane),
            FadeIn(self.grid, letter, title, whose),
            tile.animate.scale_to_fit_height(px(64)).move_to(waits),
            run_time=1.0,
        )
        self.remove(self.shelves)
        self.bring_to_front(tile)
        self.names = VGroup()
        parts = (
            (tr("launch: threads start"), self.launch),
            (tr("first load"), self.load),
            (tr("multiply {n} pairs, load the next ones", n=self.steps), self.multiply),
            (tr("write"), self.write),
        )
        at, below = self.begin, 182 if self.narrow else 124
        for number, (name, ns) in enumerate(parts):
            took = label(tr("{us:.1f} µs", us=ns / 1000), 46, mono=True)
            room = max(px(500), 0.9 * (lane.x(at + ns) - lane.x(at)))
            word = VGroup(lines(name, 46, room, bold=True), took)
            word.arrange(DOWN if number else RIGHT, buff=px(14 if number else 24))
            foot = lane.grounds.get_bottom()[1] - px(24 + below * (number == 0))
            word.move_to([(lane.x(at) + lane.x(at + ns)) / 2, foot, 0], UP)
            if number:
                # Whichever letters the name has.
                word[1].set_y(foot - px(below - 40))
            word.shift(max(0.0, area.left + px(36) * (number < 2) - word.get_left()[0]) * RIGHT)
            if number == 0:
                stem = rectangle(px(5), px(below + 40), self.theme.launch)
                stem.move_to([lane.x(at + ns / 2), lane.grounds.get_bottom()[1], 0], UP)
                word.add(stem)
            at += ns
            home = [WriteBack(tile, self.grid.tile(self.tile)), Leave(whose)] if number == 3 else []
            grow = PlayTrace(lane, until=at, run_time=0.8 if number == 0 else 1.3)
            self.play(grow, FadeIn(word, run_time=0.4), *home)
            self.names.add(word)
        self.others = [letter, self.grid, tile, title]
        return lane

    def both_ends(self, lane: LaneVectors) -> None:
        """Brackets over the times in which nothing is multiplied."""
        self.say(
            "For {idle:.1f} of {whole:.1f} µs, the tensor cores stand idle: until the first pair arrives, "
            "and during the write."
        )
        y, ink, marks = lane.grounds.get_top()[1] + px(30), self.theme.wait_text, VGroup()
        begin, end = self.begin, self.begin + self.done
        edges = (begin, begin + self.launch + self.load), (end - self.write, end)
        for us, (since, until) in zip(self.waits, edges, strict=True):
            x0, x1 = lane.x(since) + px(4), lane.x(until) - px(4)
            mark = bracket(x0, x1, y, ink, 5)
            word = fit(label(tr("idle: {us:.1f} µs", us=us), 46, ink, bold=True), x1 - x0)
            marks.add(VGroup(mark, word.next_to(mark, UP, px(14))))
        self.play(Fade(self.others[-1], 1.0, 0.0, run_time=0.3))
        self.play(LaggedStart(*map(FadeIn, marks), lag_ratio=0.8, run_time=2.0))
        self.gone = Group(marks, self.names, lane, *self.others)

    def all_of_them(self) -> None:
        """All lanes of the GPU until the run ends."""
        makespan = float(self.run.makespan)
        key = self.key(*self.phases("launch", "first load", "multiply", "write", "idle"))
        title = self.tr("{sms} SMs, one thin row each: {four} compute four tiles, {three} compute three")
        lanes, name = self.rows(self.run, self.area._replace(bottom=self.floor), title)
        self.say(
            "All {sms} SMs work like this, tile after tile, until all {tiles} are done.",
            tiles=self.problem.tiles,
        )
        self.play(Leave(self.gone), *self.appear(lanes, name), *key)
        self.play(PlayTrace(lanes, until=makespan, run_time=4.0))
        self.play(FadeIn(self.ends(lanes, makespan / 1000)))
        self.wait(1.0)
