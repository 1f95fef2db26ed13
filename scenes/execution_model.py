"""Execution model: what does a GPU do with more threads than it can run?

manim render scenes/execution_model.py

A recorded product, of whose thread blocks two fit on an SM. Why there are not three follows from what a block
takes of the SM, by NVIDIA's rules; that there were two was seen.
"""

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, FadeIn, ManimColor, VGroup

from tilesim.devices.occupancy import Use, occupancy
from tilesim.ladder.reports import row
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.film.settings import REPORT
from tilesim_scenes.film.traces import shipped
from tilesim_scenes.kit.many_sms import ManySMs
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import Figure, label, lines, px
from tilesim_scenes.look.theme import ink_on, mixed
from tilesim_scenes.mobjects.drawing.quads import rectangle, stroke_width
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors
from tilesim_scenes.mobjects.words.badge import Badge, of_trace
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Execution model",
    "question": "What does a GPU do with more threads than it can run?",
    "part": "How the machine works",
    "place": 20,
    "seconds": 80,
    "shows": "Thread blocks of a recorded product: two fit on each SM, and the others wait.",
    "takes": "report",
}
RECORDED = "traces/h200-naive-3072x3072x1024-tile128x128x64-grouped8.npz"
NAME, TILE, STAGES = "naive-tma", [128, 128, 64], 3
"""The recorded kernel, in the report of `tilesim bench execution-model`."""
THREADS = 128
PACE = 4000
"""ns that pass in a second while one SM is seen."""
OVER = 1.3
"""What three blocks take of shared memory, in what an SM has; a little more."""


class ExecutionModel(ManySMs):
    """How many thread blocks run, how many wait, and why."""

    asked = REPORT

    def prepare(self) -> None:
        kernels = self.report("execution_model")["kernels"]
        kernel = row({"rows": kernels}, name=NAME, tile=TILE, stages=STAGES)
        self.run = run = shipped(RECORDED)
        self.sms, self.blocks = run.device.sms, run.problem.tiles
        self.room = occupancy("h200", THREADS, kernel["registers"], kernel["shared_bytes"])
        self.guard(self.room.binding == ("shared memory",), "shared memory runs out first")
        uses = {use.limit: use for use in self.room.uses}
        self.shared = uses["shared memory"]
        self.guard(uses["registers"].blocks > 2, "registers have room for a third block")
        self.guard(uses["threads"].blocks > 2, "there may be threads for a third block")
        self.guard(
            2 < 3 * self.shared.of_block / self.shared.of_sm * 2 < 2 * OVER, "a third block does not fit"
        )
        self.guard(self.room.residents == kernel["seen"] == kernel["driver"] == 2, "two blocks were seen")
        self.at_once = 2 * self.sms
        spans = run.spans
        edges = np.concatenate([spans["issue"], spans["done"]])
        change = np.repeat([1, -1], len(spans))[np.lexsort((np.repeat([1, 0], len(spans)), edges))]
        self.guard(int(np.cumsum(change).max()) == self.at_once, "264 blocks run at once")
        self.guard(len(np.unique(spans["cta"])) == self.blocks, "each tile has a block of its own")
        counts = np.bincount(spans["sm"], minlength=self.sms)
        self.ours = int(np.flatnonzero(counts == 5)[0])
        mine = spans[spans["sm"] == self.ours]
        self.leaves = float(np.sort(mine["done"])[0])
        self.guard(float(np.sort(mine["issue"])[2]) >= self.leaves, "a block waits for another one to end")

    def construct(self) -> None:
        self.hue = self.theme.by_phase["multiply"]
        self.ask("A thread is one run of a program. All threads run the same program on different data.")
        self.a_block_for_each_tile()
        self.two_for_each_sm()
        self.no_third()
        self.it_stays()
        self.until_none_is_left()
        self.close(
            "An H200 runs {second:,.0f} of these {first:,.0f} threads at once, two blocks on each SM. "
            "The others wait until a block ends.",
            [
                (tr("all threads"), self.blocks * THREADS),
                (tr("running at once"), self.at_once * THREADS),
            ],
            "share",
            "{:,.0f}",
            of_trace(self.run),
            tr("{all} blocks of {threads} threads; each block takes {own} of the {of_sm} KB of shared memory",
                all=self.blocks, threads=THREADS, **self.kb()),
        )  # fmt: skip

    def kb(self) -> dict[str, int]:
        """KB of shared memory that a block takes, and that an SM has."""
        return {"own": self.shared.of_block // 1024, "of_sm": self.shared.of_sm // 1024}

    def a_block_for_each_tile(self) -> None:
        """C in its tiles; one of them comes near, with the threads that compute it."""
        self.badge(Badge(tr("schematic"), "model"))
        left, right = (half._replace(bottom=half.bottom + px(90)) for half in self.halves(0.5))
        tiles = self.tiles(self.run.problem, left)
        name = self.title_of_tiles
        self.say("To multiply two matrices A and B, a GPU cuts the result C into tiles.")
        self.play(FadeIn(tiles, name, run_time=0.5))
        self.wait(1.0)
        side = min(0.66 * right.height, 0.8 * right.width)
        one = rectangle(side, side, self.theme.launch, 0.3).move_to(right.center)
        one.set_stroke(ManimColor(self.theme.launch), stroke_width(6))
        dots = VGroup(*(rectangle(0.032 * side, 0.032 * side, self.theme.text) for _ in range(THREADS)))
        dots.arrange_in_grid(cols=16, buff=(0.026 * side, 0.075 * side)).move_to(one)
        title = self.word("the thread block of one tile", 46, self.theme.text).next_to(one, UP, px(24))
        words = self.word("{threads} threads", 46, self.theme.text, threads=THREADS)
        words.next_to(one, DOWN, px(24))
        total = self.word("{blocks} blocks × {threads} = {all:,} threads", 46, self.theme.text,
            blocks=self.blocks, threads=THREADS, all=self.blocks * THREADS)  # fmt: skip
        total.scale(min(1.0, right.width / total.width)).move_to(words)
        total.next_to(words, DOWN, px(20))
        self.say("For each tile, {n} threads work together. They are called a thread block.", n=THREADS)
        first = tiles[self.run.problem.tiles_n - 1]
        self.play(first.animate.set_fill(ManimColor(self.theme.launch)), run_time=0.4)
        self.play(FadeIn(one, title, target_position=first, scale=0.05, run_time=1.0))
        self.play(FadeIn(dots, lag_ratio=0.01, run_time=1.2), FadeIn(words))
        self.play(
            *(tile.animate.set_fill(ManimColor(self.theme.launch)) for tile in tiles),
            FadeIn(total),
            run_time=1.0,
        )
        self.leave(one, dots, title, words, total)
        self.queue, self.queue_name = tiles, name

    def counts(self, running: int) -> None:
        """Writes how many blocks run, and how many wait."""
        self.running.write(tr("{n} blocks run", n=running))
        self.waiting.write(tr("{n} blocks wait", n=self.blocks - running))

    def two_for_each_sm(self) -> None:
        """Blocks fly to SMs in the order in which they began, one for each, and then one more."""
        _, right = (half._replace(bottom=half.bottom + px(90)) for half in self.halves(0.5))
        boxes = self.boxes(self.sms, right)
        self.say("The GPU has {sms} processors, called SMs. First each of them gets a block.", sms=self.sms)
        self.play(*self.appear(boxes, self.title_of_boxes))
        self.running, self.waiting = Figure("", 50, align=0.0), Figure("", 50, align=0.0)
        self.waiting.move_to([self.queue.get_left()[0], self.queue.get_bottom()[1] - px(60), 0], LEFT)
        self.running.move_to([boxes.get_left()[0], boxes.get_bottom()[1] - px(60), 0], LEFT)
        self.counts(0)
        self.add(self.running, self.waiting)
        # Of each SM the first two of its blocks, as recorded.
        order = np.argsort(self.run.spans, order=["issue", "cta"])
        of_sm = [self.run.spans[order][self.run.spans["sm"][order] == sm]["tile"] for sm in range(self.sms)]
        turns = [[int(tiles[turn]) for tiles in of_sm] for turn in range(2)]
        for turn in range(2):
            if turn:
                self.say("Then each gets a second one, so that {n} blocks are running.", n=self.at_once)
            sms = sorted(range(self.sms), key=turns[turn].__getitem__)
            tiles = [self.queue[turns[turn][sm]] for sm in sms]
            off = (turn - 0.5) * 0.4 * boxes[0].width
            ways = [[boxes[sm].get_center() + off * RIGHT] for sm in sms]
            size = 0.34 * boxes[0].width / tiles[0].width
            self.bring_to_front(*tiles)
            self.play(
                Travel(tiles, ways, [[min(1.0, size)]] * len(tiles), leg=0.7, apart=0.016, run_time=3.0)
            )
            for tile in tiles:
                tile.set_fill(ManimColor(self.hue))
            self.counts((turn + 1) * self.sms)
        self.say("The other {n} blocks wait. Why does no SM take a third?", n=self.blocks - self.at_once)
        third = self.queue[int(self.run.spans["tile"][order][self.at_once])]
        self.focus(boxes[self.ours], *(self.queue[turn[self.ours]] for turn in turns), third)
        home, gate = third.get_center(), boxes[self.ours].get_corner(DOWN + LEFT) + px(60) * (DOWN + LEFT)
        self.bring_to_front(third)
        self.play(Travel([third], [[gate, gate, home]], leg=0.9))
        self.unfocus()
        self.leave(self.queue, self.queue_name, boxes, self.title_of_boxes, self.running, self.waiting)

    def limit(self, title: str, use: Use, place: np.ndarray) -> tuple[VGroup, list[VGroup]]:
        """What an SM has of something as a bar, its title above; and what each of three blocks takes."""
        wide, high = self.area.width / OVER, px(110)
        ground = rectangle(wide, high, self.theme.idle).move_to(place, LEFT)
        name = lines(title, 46, self.area.width, most=1, color=self.theme.text)
        name.next_to(ground, UP, px(16), aligned_edge=LEFT)
        each, blocks = wide * use.of_block / use.of_sm, []
        for number in range(3):
            out = number >= use.blocks
            fill = self.theme.wait if out else self.hue if number % 2 else mixed(
                self.theme.background, self.hue, 0.7
            )  # fmt: skip
            part = rectangle(0.99 * each, 0.86 * high, fill, 0.35 if out else 1.0)
            if out:
                part.set_stroke(ManimColor(self.theme.wait), stroke_width(5))
            part.move_to(ground.get_left() + (number + 0.5) * each * RIGHT)
            words = [tr("first block"), tr("second block"), tr("third block")][number]
            kb = use.of_block // 1024
            if use is self.shared:
                words = tr("{block}: {kb} KB", block=words, kb=kb)
            word = label(words, 42, self.theme.text if out else ink_on(fill))
            if word.width < 0.94 * part.width:
                blocks.append(VGroup(part, word.move_to(part)))
            else:
                blocks.append(VGroup(part))
        return VGroup(ground, name), blocks

    def no_third(self) -> None:
        """What blocks take of an SM: two fit, and a third does not."""
        area = self.area
        uses = {use.limit: use for use in self.room.uses}
        shared, registers, threads = (uses[one] for one in ("shared memory", "registers", "threads"))
        rows = (
            (tr("shared memory, the SM's own fast memory: {of_sm} KB", **self.kb()), shared),
            (tr("registers, which hold what threads compute with: room for {n} blocks", n=registers.blocks),
                registers),
            (tr("threads: room for {n} blocks", n=threads.blocks), threads),
        )  # fmt: skip
        step = min(px(250), area.height / 3)
        bars = [
            self.limit(title, use, np.array([area.left, area.top - px(140) - number * step, 0]))
            for number, (title, use) in enumerate(rows)
        ]
        (ground, blocks), *others = bars
        both = VGroup(ground, *blocks)
        up = step * UP
        both.shift(-up)
        self.say(
            "A block keeps its part of A and B in its SM's shared memory. That takes {own} KB.", **self.kb()
        )
        self.play(FadeIn(ground))
        self.play(FadeIn(blocks[0], shift=px(260) * LEFT), run_time=1.4)
        own = self.kb()["own"]
        self.say("Two blocks take {two} KB. With a third it would be {three}, so that one has to wait.",
            two=2 * own, three=3 * own)  # fmt: skip
        self.play(FadeIn(blocks[1], shift=px(260) * LEFT), run_time=1.4)
        self.play(FadeIn(blocks[2], shift=px(260) * LEFT), run_time=1.4)
        self.say("Of registers and threads an SM has enough for a third. Shared memory runs out first.")
        self.play(both.animate.shift(up), run_time=0.6)
        rest: list[VGroup] = []
        for number, (name, parts) in enumerate(others):
            taken = VGroup(*parts)
            self.play(FadeIn(name), FadeIn(taken, lag_ratio=0.4), run_time=1.0 + 0.2 * number)
            rest += [name, taken]
        self.leave(both, *rest)

    def it_stays(self) -> None:
        """One SM's two places over time, as recorded."""
        area = self.area
        self.badge(of_trace(self.run))
        self.ticking = self.clock(self.run.makespan)
        key = self.key(*self.colors())
        lane = LaneVectors(
            self.run, [self.ours], (0.0, float(self.run.makespan)), area.width, px(380), numbers=False,
            labels=False, ticks=False, fills=self.theme.by_phase,
        )  # fmt: skip
        lane.move_to([area.center[0], (area.top + self.floor) / 2 - px(20), 0])
        name = self.word("one SM with room for two blocks; time runs to the right", 46, self.theme.text)
        name.next_to(lane.grounds, UP, px(20)).align_to(lane.grounds, LEFT)
        mine = np.sort(self.run.spans[self.run.spans["sm"] == self.ours], order=["issue", "cta"])
        words = [
            tr("first block"),
            tr("second block"),
            tr("third block"),
            tr("fourth block"),
            tr("fifth block"),
        ]
        named = VGroup()
        for text, one in zip(words, mine, strict=True):
            word = label(text, 46, ink_on(self.hue), bold=True)
            left, right = lane.x(one["start"]), lane.x(one["drain"])
            word.scale(min(1.0, 0.9 * (right - left) / word.width))
            named.add(word.move_to([(left + right) / 2, lane.grounds[int(one["slot"])].get_y(), 0]))
        self.say("A block never moves: its data are here. It stays on its SM until it ends.")
        self.play(FadeIn(lane, name), *key)
        self.play(PlayTrace(self.ticking, lane, until=self.leaves, run_time=self.leaves / PACE))
        self.play(FadeIn(named[:2], run_time=0.4))
        self.say(
            "Then its room is free, and the next waiting block moves in, here after {us:.1f} µs.",
            us=self.leaves / 1000,
        )
        now = self.leaves
        for until, names in ((float(mine["issue"][4]), named[2:4]), (float(mine["done"].max()), named[4:])):
            self.play(PlayTrace(self.ticking, lane, until=until, run_time=(until - now) / PACE))
            self.play(FadeIn(names, run_time=0.4))
            now = until
        self.leave(lane, name, named)

    def colors(self) -> list[Entry]:
        """What the colors of lanes mean."""
        return [
            *self.phases("launch", "first load", "multiply", "write"),
            Entry(tr("no block left"), [self.theme.idle]),
        ]

    def until_none_is_left(self) -> None:
        area = self.area._replace(bottom=self.floor)
        title = tr("{sms} SMs, two thin rows each", sms=self.sms)
        lanes, name = self.rows(self.run, area, title)
        self.say("All {sms} SMs work that way until no block is left.", sms=self.sms)
        self.play(*self.appear(lanes, name), PlayTrace(self.ticking, until=0.0, run_time=0.5))
        self.play(PlayTrace(self.ticking, lanes, until=float(self.run.makespan), run_time=4.0))
        end = self.ends(lanes, self.run.makespan / 1000)
        self.play(FadeIn(end))
        self.leave(lanes, name, end, self.ticking)
