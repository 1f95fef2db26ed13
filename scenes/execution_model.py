"""Execution model: what does a GPU do with more threads than it can run?

manim render scenes/execution_model.py

A recorded product, of whose thread blocks two fit on an SM. Why there are not three follows from what a block
takes of the SM, by NVIDIA's rules; that there were two was seen.
"""

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, FadeIn, FadeOut, ManimColor

from tilesim.devices.occupancy import occupancy
from tilesim.ladder.reports import row
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.film.settings import REPORT
from tilesim_scenes.film.traces import shipped
from tilesim_scenes.kit.many_sms import ManySMs, in_turn
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import Figure, px
from tilesim_scenes.mobjects.hardware.sm import SM
from tilesim_scenes.mobjects.hardware.thread_block import ThreadBlock
from tilesim_scenes.mobjects.models.warps.limit_bars import LimitBars
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors
from tilesim_scenes.mobjects.words.badge import Badge, of_trace

FILM = {
    "title": "Execution model",
    "question": "What does a GPU do with more threads than it can run?",
    "part": "How the machine works",
    "place": 20,
    "seconds": 70,
    "shows": "Thread blocks of a recorded product: two fit on each SM, and the others wait.",
    "takes": "report",
}
RECORDED = "traces/h200-naive-3072x3072x1024-tile128x128x64-grouped8.npz"
NAME, TILE, STAGES = "naive-tma", [128, 128, 64], 3
"""The recorded kernel, in the report of `tilesim bench execution-model`."""
THREADS = 128
SIDE = 64.0
"""Pixels of a block as it flies to an SM."""


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

    def construct(self) -> None:
        self.hue = self.theme.by_phase["multiply"]
        self.ask("A thread runs a program on its own piece of the work.")
        self.a_block_for_each_tile()
        self.two_for_each_sm()
        self.no_third()
        self.it_stays()
        self.until_none_is_left()
        self.close(
            "An H200 runs {first:.0f} of these {all} thread blocks at once, two on each SM. The others wait.",
            [(tr("running at once"), self.at_once), (tr("waiting"), self.blocks - self.at_once)],
            "count",
            "{:.0f}",
            of_trace(self.run),
            tr("each block needs {own} of the {all_kb} KB of an SM's shared memory", **self.kb()),
            all=self.blocks,
        )

    def kb(self) -> dict[str, int]:
        """KB of shared memory that a block takes, and that an SM has."""
        return {"own": self.shared.of_block // 1024, "all_kb": self.shared.of_sm // 1024}

    def a_block_for_each_tile(self) -> None:
        self.badge(Badge(tr("schematic"), "model"))
        left, right = (half._replace(bottom=half.bottom + px(90)) for half in self.halves(0.5))
        tiles = self.tiles(self.run.problem, left)
        name = self.title_of_tiles
        self.say("To multiply two matrices, a GPU cuts the result into tiles.")
        self.play(*self.appear(tiles, name))
        self.say("For each tile, {n} threads work together. They are called a thread block.", n=THREADS)
        block = ThreadBlock(0, px(220)).move_to([(right.left + right.right) / 2, self.area.center[1], 0])
        words = self.word("{threads} threads", 46, threads=THREADS).next_to(block, DOWN, px(24))
        self.play(tiles[0].animate.set_fill(ManimColor(self.theme.launch)), run_time=0.4)
        self.play(FadeIn(block, target_position=tiles[0], scale=0.2, run_time=1.0), FadeIn(words))
        self.play(*(tile.animate.set_fill(ManimColor(self.theme.launch)) for tile in tiles), run_time=1.0)
        self.play(FadeOut(block, words))
        self.queue, self.queue_name = tiles, name

    def counts(self, running: int) -> None:
        """Writes how many blocks run, and how many wait."""
        self.running.write(tr("running: {n}", n=running))
        self.waiting.write(tr("waiting: {n}", n=self.blocks - running))

    def two_for_each_sm(self) -> None:
        """Blocks fly to SMs in the order in which they began, one for each, and then one more."""
        _, right = (half._replace(bottom=half.bottom + px(90)) for half in self.halves(0.5))
        boxes = self.boxes(self.sms, right)
        self.say("The GPU has {sms} processors, called SMs. Each of them gets a block.", sms=self.sms)
        self.play(*self.appear(boxes, self.title_of_boxes))
        self.running, self.waiting = Figure("", 50, align=0.0), Figure("", 50, align=0.0)
        self.waiting.move_to([self.queue.get_left()[0], self.queue.get_bottom()[1] - px(60), 0], LEFT)
        self.running.move_to([boxes.get_left()[0], boxes.get_bottom()[1] - px(60), 0], LEFT)
        self.counts(0)
        self.add(self.running, self.waiting)
        begun = in_turn(self.run)
        for turn in range(2):
            if turn:
                self.say("Then each gets a second one, so that {n} blocks are running.", n=self.at_once)
            moving = begun[turn * self.sms : (turn + 1) * self.sms]
            tiles = [self.queue[tile] for tile in moving]
            sms = [int(self.run.spans["sm"][self.run.spans["tile"] == tile][0]) for tile in moving]
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
        self.focus(boxes[self.ours], *(self.queue[t] for t in begun if self.on_ours(t)))
        self.wait(2.0)
        self.unfocus()
        self.leave(self.queue, self.queue_name, boxes, self.title_of_boxes, self.running, self.waiting)

    def on_ours(self, tile: int) -> bool:
        return int(self.run.spans["sm"][self.run.spans["tile"] == tile][0]) == self.ours

    def no_third(self) -> None:
        """What blocks take of an SM: two fit, and a third does not."""
        area = self.area
        high = 0.9 * area.height
        box = SM(tr("one SM"), self.theme.text, area.width, high).move_to(area.center)
        box.box.set_fill(opacity=0.0)
        uses = {
            "shared memory": tr("shared memory"), "registers": tr("registers"), "threads": tr("threads"),
            "blocks": tr("blocks"),
        }  # fmt: skip
        shown = [self.shared, *(use for use in self.room.uses if use.limit in ("registers", "threads"))]
        bars = LimitBars(
            shown, uses, self.hue, 0.92 * area.width, 0.56 * high, self.room.residents, above=self.tall
        )
        bars.move_to(box.box.get_bottom() + (bars.height / 2 + px(50)) * UP)
        blocks = [ThreadBlock(n, px(110)).resident(self.hue) for n in range(2)]
        for n, block in enumerate(blocks):
            block.move_to([area.center[0] + px(150) * (n - 0.5), box.box.get_top()[1] - px(100), 0])
        self.say(
            "A block keeps its data in its SM's shared memory. Each needs {own} of {all_kb} KB.", **self.kb()
        )
        self.play(FadeIn(box, bars.grounds, bars.names, bars.amounts))
        self.add(bars)
        for n, block in enumerate(blocks, 1):
            self.play(FadeIn(block, shift=px(80) * DOWN), PlayTrace(bars, until=n, run_time=1.4))
        third = ThreadBlock(2, px(110)).move_to([area.right - px(120), box.box.get_top()[1] - px(100), 0])
        gate = third.get_center() + px(200) * LEFT
        self.say(
            "A third does not fit. It could have registers and threads, but shared memory runs out first."
        )
        self.play(FadeIn(third, shift=px(80) * LEFT), run_time=0.4)
        self.play(
            Travel([third], [[gate, third.get_center()]], leg=0.8), PlayTrace(bars, until=3, run_time=1.8)
        )
        self.leave(box, bars, third, *blocks)

    def it_stays(self) -> None:
        """One SM's two places over time, as recorded."""
        area = self.area
        self.badge(of_trace(self.run))
        self.ticking = self.clock(self.run.makespan)
        key = self.key(*self.phases("launch", "first load", "multiply", "write"))
        lane = LaneVectors(
            self.run, [self.ours], (0.0, float(self.run.makespan)), area.width, px(300), numbers=False,
            labels=False, ticks=False, fills=self.theme.by_phase,
        )  # fmt: skip
        lane.move_to(area.center)
        name = self.word("one SM with its two places; time runs to the right", 46, self.theme.text)
        name.next_to(lane.grounds, UP, px(20)).align_to(lane.grounds, LEFT)
        self.say("A block never moves. It stays on its SM, with its data, until it ends.")
        self.play(FadeIn(lane, name), *key)
        self.play(PlayTrace(self.ticking, lane, until=self.leaves, run_time=4.0))
        self.say("Then its room is free, and the next waiting block moves in.")
        self.play(PlayTrace(self.ticking, lane, until=float(self.run.makespan), run_time=5.0))
        self.leave(lane, name)

    def until_none_is_left(self) -> None:
        area = self.area._replace(bottom=self.floor)
        lanes, name = self.rows(self.run, area, tr("{sms} SMs, one thin row each", sms=self.sms))
        self.say("All {sms} SMs work that way until no block is left.", sms=self.sms)
        self.play(*self.appear(lanes, name), PlayTrace(self.ticking, until=0.0, run_time=0.5))
        self.play(PlayTrace(self.ticking, lanes, until=float(self.run.makespan), run_time=5.0))
        end = self.ends(lanes, self.run.makespan / 1000)
        self.play(FadeIn(end))
        self.leave(lanes, name, end, self.ticking)
