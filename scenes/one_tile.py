"""One tile: how does a GPU multiply two matrices?

manim render scenes/one_tile.py

The opening of the course. One processor computes one tile of a recorded run, pair by pair of chunks; then its
work is seen as a lane, and then that of all processors. How single pairs travel is a model, because no
stamp tells; lanes and times are measured.
"""

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Animation, FadeIn, FadeOut, LaggedStart, Line, ManimColor, VGroup

from tilesim.metrics import launch_end
from tilesim.problems import DTYPE_BYTES
from tilesim_scenes.animations.fade import Fade
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Travel, WriteBack
from tilesim_scenes.animations.unroll import SplitIntoTiles, Unroll
from tilesim_scenes.film.settings import LOOK
from tilesim_scenes.film.traces import shipped
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import Figure, label, lines, px
from tilesim_scenes.mobjects.drawing.quads import quad, rectangle, shape, stroke_width
from tilesim_scenes.mobjects.hardware.k_pair import KPair
from tilesim_scenes.mobjects.hardware.memory_level import MemoryLevel
from tilesim_scenes.mobjects.hardware.operands import Operands
from tilesim_scenes.mobjects.hardware.sm import SM
from tilesim_scenes.mobjects.traces.lane_image import LaneImage
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors
from tilesim_scenes.mobjects.traces.tile_grid import TileGrid
from tilesim_scenes.mobjects.words.badge import Badge, of_trace

FILM = {
    "title": "One tile",
    "question": "How does a GPU multiply two matrices?",
    "part": "How the machine works",
    "place": 10,
    "seconds": 73,
    "shows": "One tile of a matrix product, pair by pair of chunks, then as a lane, and all lanes of a GPU.",
}
RECORDED = "traces/h200-naive-4096x4096x512-grouped8.npz"
SHARED_KB = 227
"""Of shared memory for one thread block, compute capability 9.0: CUDA C++ Programming Guide."""
SLOWEST, FASTER = 3.6, 1.5
"""Seconds that the first pair takes from memory to the tensor cores, and how much faster each next one is."""


class OneTile(Lesson):
    """The first tile of a recorded run, from its operands to its lane."""

    asked = LOOK

    def prepare(self) -> None:
        self.run = run = shipped(RECORDED)
        row = int(np.flatnonzero(run.spans["cta"] == 0)[0])
        self.problem, first = run.problem, run.spans[row]
        self.tile, self.sm = int(first["tile"]), int(first["sm"])
        marks = [int(launch_end(run)[row]), *(int(first[name]) for name in ("start", "drain", "done"))]
        self.launch, self.load, self.multiply, self.write = np.diff([0, *marks]).tolist()
        self.done = marks[-1]
        (tile_m, tile_n, _), size = self.problem.tile, DTYPE_BYTES[self.problem.dtype]
        self.read_kb = (tile_m + tile_n) * self.problem.k * size // 1024
        self.pair_kb = self.read_kb // self.problem.k_steps
        self.guard(self.read_kb > SHARED_KB > 3 * self.pair_kb, "strips do not fit, and three pairs do")
        us = [round(ns / 1000, 1) for ns in (self.launch, self.load, self.multiply, self.write)]
        self.guard(abs(sum(us) - round(self.done / 1000, 1)) < 0.01, "the parts of a tile add up")
        self.guard(us[2] > max(us[1], us[3]), "most of a tile's time is multiplying")
        of_each = run.spans[np.unique(run.spans["sm"], return_index=True)[1]]
        typical = np.median(of_each["done"] - of_each["issue"])
        self.guard(abs(typical - self.done) <= 64, "the first tiles of all SMs take about as long")

    def construct(self) -> None:
        self.hue = self.theme.by_phase["multiply"]
        self.ask("A GPU computes with many small processors at once.")
        self.badge(Badge(tr("model"), "model"))
        operands = self.a_row_times_a_column()
        grid, strips, edge = self.a_tile_and_its_strips(operands)
        self.an_sm(operands, grid, strips, edge)
        self.pairs()
        lane = self.a_lane()
        self.both_ends(lane)
        self.all_of_them()
        self.close(
            "On an H200, an SM takes {first:.1f} µs for a tile, and multiplies for {second:.1f} of them.",
            [(tr("whole tile"), self.done / 1000), (tr("multiplying"), self.multiply / 1000)],
            "share",
            "{:.1f} µs",
            of_trace(self.run),
            tr("a tile of 128 × 256 numbers, each a sum of {k} products of 16-bit numbers", k=self.problem.k),
        )

    def a_row_times_a_column(self) -> Operands:
        """A row of A and a column of B sweep in and meet in one number of C."""
        area = self.area
        operands = Operands(self.problem, 0.92 * area.width, 0.92 * area.height).move_to(area.center)
        a, b = operands.a, operands.b
        thin, at = px(16), (0.38, 0.36)
        row, column, cell = (
            rectangle(wide, high, self.hue)
            for wide, high in ((a.width, thin), (thin, b.height), (thin, thin))
        )
        row.move_to([a.get_x(), a.get_top()[1] - at[1] * a.height, 0])
        column.move_to([b.get_left()[0] + at[0] * b.width, b.get_y(), 0])
        cell.move_to([column.get_x(), row.get_y(), 0])
        self.say("Each number of C adds up {k} products of numbers from A and B.", k=self.problem.k)
        self.play(FadeIn(operands, run_time=0.5))
        self.play(FadeIn(row, shift=px(300) * RIGHT), FadeIn(column, shift=px(300) * DOWN), run_time=1.2)
        self.play(
            row.copy().animate.stretch_to_fit_width(thin).move_to(cell),
            column.copy().animate.stretch_to_fit_height(thin).move_to(cell),
            FadeIn(cell),
            run_time=1.0,
        )
        self.wait(0.6)
        self.remove(*(one for one in self.mobjects if one.width <= 1.01 * thin and one is not cell))
        self.play(FadeOut(row, column, cell), run_time=0.3)
        return operands

    def a_tile_and_its_strips(self, operands: Operands) -> tuple[TileGrid, VGroup, VGroup]:
        """C falls into tiles; one is lit, with its strips."""
        grid = TileGrid(self.problem, width=operands.c.width, numbers=False).move_to(operands.c)
        self.say(
            "C is cut into {tiles} tiles. Each needs a strip of A and a strip of B.", tiles=self.problem.tiles
        )
        self.play(SplitIntoTiles(operands.c, grid))
        strips = VGroup(operands.row_panel(self.tile, self.hue), operands.column_panel(self.tile, self.hue))
        edge = shape(self.hue)
        edge.points = quad(grid.tile(self.tile)[0], 0, 1)
        self.play(FadeIn(edge), run_time=0.6)
        self.play(LaggedStart(*map(FadeIn, strips), lag_ratio=0.6, run_time=1.6))
        return grid, strips, edge

    def an_sm(self, operands: Operands, grid: TileGrid, strips: VGroup, edge: VGroup) -> None:
        """Memories and the SM, and the tile, empty, in it; the strips fall into pairs of chunks."""
        self.say(
            "One of the GPU's {sms} processors, called SMs, computes this tile.", sms=self.run.device.sms
        )
        area = self.area
        high, wide = 0.9 * area.height, area.width
        names = tr("main memory"), tr("cache (L2)"), tr("shared memory")
        memory, cache, shared = (
            MemoryLevel(name, share * wide, (0.84 if name == names[2] else 1.0) * high, 42)
            for name, share in zip(names, (0.27, 0.14, 0.18), strict=True)
        )
        box = SM(tr("our SM"), self.theme.text, 0.54 * wide, high)
        box.box.set_fill(opacity=0.0)
        VGroup(memory, cache, box).arrange(RIGHT, buff=0.02 * wide).move_to(area.center)
        shared.move_to(box.box.get_corner(DOWN + LEFT), DOWN + LEFT).shift((RIGHT + UP) * px(24))
        free = box.box.get_right()[0] - shared.get_right()[0]
        core = rectangle(
            0.66 * free, 0.66 * free * self.problem.tile_m / self.problem.tile_n, self.theme.idle
        )
        core.move_to([shared.get_right()[0] + 0.56 * free, shared.shelf.get_y(), 0])
        core.set_stroke(ManimColor(self.hue), stroke_width(4))
        heading = lines(tr("tensor cores multiply"), 42, 0.9 * free, color=self.theme.quiet, bold=True)
        heading.next_to(core, UP, px(120))
        below = lines(tr("the tile"), 42, 0.9 * free, color=self.theme.quiet).next_to(core, DOWN, px(20))
        self.memory, self.cache, self.shared, self.core = memory, cache, shared, core
        self.box, self.shelves = box, VGroup(memory, cache, box, shared, heading, below)
        whole = [*operands.submobjects, grid]
        self.play(*(Fade(one, 1.0, 0.0) for one in whole), run_time=0.6)
        self.remove(operands, grid)
        self.bring_to_back(self.shelves)
        self.play(Fade(self.shelves, 0.0, 1.0), FadeIn(core), edge.animate.become(_edge_of(core, self.hue)))
        self.edge = edge
        self.say(
            "The strips hold {read} KB, more than the {room} KB of an SM's shared memory. "
            "So they come in {pairs} pairs.",
            read=self.read_kb,
            room=SHARED_KB,
            pairs=self.problem.k_steps,
        )
        self.play(*self.into_pairs(strips), run_time=1.6)
        self.remove(strips, *strips, *(chunk for strip in strips for chunk in strip))
        self.add(*self.chunks)

    def into_pairs(self, strips: VGroup) -> list[Animation]:
        """Chunks of both strips come together in main memory, in two columns."""
        shelf = self.memory.shelf
        steps = self.problem.k_steps
        top = self.memory.heading.get_bottom()[1] - px(20)
        rows, room = -(-steps // 2), top - shelf.get_bottom()[1] - px(20)
        size = min(0.44 * shelf.width, 1.3 * room / rows)
        self.chunks = []
        moves: list[Animation] = []
        for k, (a, b) in enumerate(zip(*strips, strict=True)):
            # Of two in a row the nearer goes first, so that none passes over another.
            x = shelf.get_left()[0] + shelf.width * (0.74 - 0.48 * (k % 2))
            pair = KPair(self.hue).put(np.array([x, top - room * (k // 2 + 0.5) / rows, 0.0]), size)
            self.chunks.append(pair)
            moves += [a.animate.become(pair[0]), b.animate.become(pair[1])]
        return moves

    def pairs(self) -> None:
        """Each pair travels to the tensor cores, which add its products to the tile."""
        self.say("The first pair travels through a cache into shared memory, and then to the tensor cores.")
        count = Figure("", 50, align=0.5).shift([self.core.get_x(), self.core.get_bottom()[1] - px(110), 0])
        self.add(count)
        seconds, steps = SLOWEST, len(self.chunks)
        for k, chunk in enumerate(self.chunks):
            if k == 1:
                self.say("They add its products to the tile. Meanwhile the next pairs are on their way.")
            middle = chunk.get_center()
            ends = [self.core.get_left() + px(46) * LEFT, self.core.get_top() + px(46) * UP]
            stops = []
            for part, end in zip(chunk, ends, strict=True):
                off = part.get_center() - middle
                beside = np.array([self.cache.shelf.get_x(), middle[1], 0.0])
                stops.append([beside + off, self.shared.shelf.get_center() + off, end])
            fit = 0.8 * self.core.height / chunk[0].height, 0.8 * self.core.width / chunk[1].width
            sizes = [[1.0, 1.0, min(1.0, share)] for share in fit]
            self.bring_to_front(*chunk)
            self.play(Travel([*chunk], stops, sizes, leg=seconds / 3, apart=0.0, run_time=seconds))
            self.remove(chunk, *chunk)
            self.core.set_fill(ManimColor(self.hue), opacity=(k + 1) / steps)
            count.write(tr("{done} of {steps} pairs", done=k + 1, steps=steps))
            seconds = max(0.4, seconds / FASTER)
        self.shelves.add(count)
        self.wait(0.3)

    def a_lane(self) -> LaneVectors:
        """The SM unrolls into its lane, which grows with the clock; each part gets its name and its time."""
        area = self.area
        window = (0.0, 1.02 * self.done)
        lane = LaneVectors(
            self.run, [self.sm], window, area.width, px(190), numbers=False, labels=False,
            fills=self.theme.by_phase,
        )  # fmt: skip
        lane.move_to([area.center[0], area.center[1] - px(90), 0])
        self.grid = TileGrid(self.problem, width=0.2 * area.width, height=0.3 * area.height, numbers=False)
        self.grid.move_to([area.right, area.top, 0], UP + RIGHT)
        letter = label("C", 48, bold=True).next_to(self.grid, LEFT, px(20))
        title = self.word("our SM: time runs to the right", 44, self.theme.text)
        title.next_to(lane.grounds, UP, px(20)).align_to(lane.grounds, LEFT)
        self.say("Here is the same work over time, as it was measured.")
        self.badge(of_trace(self.run))
        self.ticking = self.clock(self.run.makespan)
        tile = VGroup(self.edge, self.core)
        waits = [letter.get_x() - px(200), self.grid.get_y(), 0]
        self.play(
            Fade(self.shelves, 1.0, 0.0),
            Unroll([self.box], lane),
            FadeIn(self.grid, letter, title),
            tile.animate.scale_to_fit_height(px(90)).move_to(waits),
            run_time=1.0,
        )
        self.remove(self.shelves)
        self.bring_to_front(tile)
        self.names = VGroup()
        parts = (
            (tr("launch"), self.launch), (tr("first load"), self.load), (tr("multiply"), self.multiply),
            (tr("write"), self.write),
        )  # fmt: skip
        at = 0.0
        for number, (name, ns) in enumerate(parts):
            word = label(f"{name} {ns / 1000:.1f}", 44, self.theme.text, bold=True)
            x = (lane.x(at) + lane.x(at + ns)) / 2
            word.move_to([x, lane.grounds.get_bottom()[1] - px(40 + 64 * (number == 0)), 0])
            word.shift(max(0.0, area.left - word.get_left()[0]) * RIGHT)
            at += ns
            home = [WriteBack(tile, self.grid.tile(self.tile))] if number == 3 else []
            self.play(
                PlayTrace(self.ticking, lane, until=at, run_time=0.8 if number == 0 else 1.6),
                FadeIn(word, run_time=0.4),
                *home,
            )
            self.names.add(word)
        unit = label(tr("in µs"), 44, self.theme.quiet).next_to(self.names[-1], DOWN, px(16))
        self.names.add(unit)
        self.play(FadeIn(unit), run_time=0.3)
        self.title, self.letter = title, letter
        return lane

    def both_ends(self, lane: LaneVectors) -> None:
        """Brackets over the times in which nothing is multiplied."""
        self.say("At both ends nothing is multiplied: the first pair is not there yet, or none is left.")
        y, tick, marks = lane.grounds.get_top()[1] + px(26), px(14), VGroup()
        ends = (0.0, self.launch + self.load), (self.done - self.write, self.done)
        for since, until in ends:
            x0, x1 = lane.x(since) + px(4), lane.x(until) - px(4)
            mark = VGroup(Line([x0, y, 0], [x1, y, 0]))
            mark.add(*(Line([x, y - tick, 0], [x, y + tick, 0]) for x in (x0, x1)))
            mark.set_stroke(ManimColor(self.theme.wait_text), stroke_width(5))
            word = label(tr("{us:.1f} µs", us=(until - since) / 1000), 44, self.theme.wait_text, bold=True)
            marks.add(VGroup(mark, word.next_to(mark, UP, px(14))))
        self.play(Fade(self.title, 1.0, 0.0, run_time=0.3))
        self.play(LaggedStart(*map(FadeIn, marks), lag_ratio=0.8, run_time=2.0))
        self.leave(marks, self.names, lane, self.grid, self.letter, self.edge, self.core)

    def all_of_them(self) -> None:
        """All lanes of the GPU, and C beside them, until the run ends."""
        area, makespan = self.area, float(self.run.makespan)
        key = self.key(*self.phases("launch", "first load", "multiply", "write"))
        high = area.top - px(66) - self.floor
        lanes = LaneImage(
            self.run, range(self.run.device.sms), (0.0, makespan), area.width, height=high,
            fills=self.theme.by_phase,
        )  # fmt: skip
        lanes.move_to([area.center[0], self.floor, 0], DOWN)
        name = self.word("{sms} SMs, one thin row each; time runs to the right", 42, sms=self.run.device.sms)
        name.next_to(lanes, UP, px(14)).align_to(lanes, LEFT)
        self.say(
            "All {sms} SMs work like this until all {tiles} tiles are done, after {us:.1f} µs.",
            sms=self.run.device.sms,
            tiles=self.problem.tiles,
            us=makespan / 1000,
        )
        self.play(Fade(lanes, 0.0, 1.0), FadeIn(name), PlayTrace(self.ticking, until=0.0), *key)
        self.play(PlayTrace(self.ticking, lanes, until=makespan, run_time=5.0))
        self.leave(lanes, name, self.ticking)


def _edge_of(core: VGroup, hue: tuple[float, ...]) -> VGroup:
    """An outline where the tensor cores compute the tile."""
    edge = shape((0, 0, 0), 0.0).set_stroke(ManimColor(hue), stroke_width(6))
    edge.points = core.points.copy()
    return edge
