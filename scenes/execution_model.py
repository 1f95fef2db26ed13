"""Execution model: how many thread blocks can a GPU run at once?

manim render scenes/execution_model.py

A recorded product, of whose thread blocks two fit on an SM. Why there are not three follows from what a block
takes of the SM, by NVIDIA's rules; that there were two was seen.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Line, ManimColor, VGroup

from tilesim.devices.hardware import Hardware
from tilesim.devices.occupancy import occupancy
from tilesim.ladder.reports import row
from tilesim_scenes.animations.fade import Fade, FadeIn, FadeOut, Leave, late
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.film.configured_scene import Area
from tilesim_scenes.film.traces import shipped
from tilesim_scenes.kit.many_sms import ManySMs, round_ends
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, label, lines, px
from tilesim_scenes.look.theme import ink_on
from tilesim_scenes.mobjects.drawing.quads import edged, rectangle, stroke_width
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors
from tilesim_scenes.mobjects.words.badge import Badge, of_trace
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Execution model",
    "question": "How many thread blocks can a GPU run at once?",
    "finding": (
        "An H200 runs 264 of these 576 thread blocks at once, two on each SM. An SM’s shared memory has "
        "no room for a third."
    ),
    "part": "How the machine works",
    "place": 20,
    "seconds": 78,
    "shows": "Thread blocks of a recorded product: two fit on each SM, and the others wait.",
    "takes": "report",
}
RECORDED = "traces/h200-naive-3072x3072x1024-tile128x128x64-grouped8.npz"
NAME, TILE, STAGES = "naive-tma", [128, 128, 64], 3
"""The recorded kernel, in the report of `tilesim bench execution-model`."""
THREADS = 128
PACE = 3400
"""ns that pass in a second while one SM is seen."""
OVER = 1.3
"""What three blocks take of shared memory, in what an SM has; a little more."""


class ExecutionModel(ManySMs):
    """How many thread blocks run, how many wait, and why."""

    def prepare(self) -> None:
        kernels = self.report("execution_model")["kernels"]
        kernel = row({"rows": kernels}, name=NAME, tile=TILE, stages=STAGES)
        self.run = run = shipped(RECORDED)
        self.sms, self.blocks = run.device.sms, run.problem.tiles
        room = occupancy("h200", THREADS, kernel["registers"], kernel["shared_bytes"])
        self.guard(room.binding == ("shared memory",), "shared memory runs out first")
        uses = {use.limit: use for use in room.uses}
        self.shared = uses["shared memory"]
        self.own, self.of_sm = self.shared.of_block // 1024, self.shared.of_sm // 1024
        pieces = STAGES * (TILE[0] + TILE[1]) * TILE[2] * 2
        self.guard(0.95 < pieces / self.shared.of_block < 1, "shared memory is for what a block multiplies")
        third = 3 * self.shared.of_block / self.shared.of_sm
        self.guard(1 < third < OVER, "a third block does not fit")
        self.guard(room.residents == kernel["seen"] == kernel["driver"] == 2, "two blocks were seen")
        self.at_once = 2 * self.sms
        spans = run.spans
        edges = np.concatenate([spans["issue"], spans["done"]])
        change = np.repeat([1, -1], len(spans))[np.lexsort((np.repeat([1, 0], len(spans)), edges))]
        self.guard(int(np.cumsum(change).max()) == self.at_once, "264 blocks run at once")
        self.guard(len(np.unique(spans["cta"])) == self.blocks, "each tile has a block of its own")
        places = spans["slot"].astype(np.int64) * self.sms + spans["sm"]
        counts = np.bincount(places, minlength=self.at_once)
        self.last = int((counts == 3).sum())
        few = self.last < self.at_once / 2 and set(counts.tolist()) == {2, 3}
        self.guard(few, "each place has two blocks, and few have a third")
        self.second = float(spans["done"][np.isin(places, np.flatnonzero(counts == 2))].max())
        # The run once more, each place for a block as an SM of its own.
        alone, theirs = replace(run.device, sms=self.at_once, ctas_per_sm=1, sm_order=()), spans.copy()
        theirs["sm"], theirs["slot"] = places, 0
        self.by_place = replace(run, device=alone, spans=theirs)
        self.ours = int(np.flatnonzero(counts == 3)[0]) % self.sms
        mine = self.mine = np.sort(spans[spans["sm"] == self.ours], order=["issue", "cta"])
        self.took = (mine["done"] - mine["issue"]) / 1000
        self.done, self.alone = self.took[0], self.took[4]
        self.guard(mine["issue"][2] == mine["done"][:2].min(), "a block waits for another one to end")
        self.guard(mine["done"][:4].max() < mine["start"][4], "the last block multiplies alone")
        # Tensor cores at their peak rate would take longer for two blocks than they did for the last one.
        for_two = 2 * run.problem.k_steps * Hardware.named("h200", run.problem.dtype).peak_ns(run.problem)
        self.guard(1.3 * (mine["drain"] - mine["start"])[4] < for_two, "two blocks share an SM's arithmetic")
        # Of what a block does, only its end matters here.
        self.fills = dict.fromkeys(self.theme.by_phase, self.hue) | {"write": self.theme.write}

    def construct(self) -> None:
        self.names = (
            tr("first block"),
            tr("second block"),
            tr("third block"),
            tr("fourth block"),
            tr("fifth block"),
        )
        self.ask("A GPU runs the same small program many times at once. Each run is called a thread.")
        self.a_block_for_each_tile()
        self.two_for_each_sm()
        self.no_third()
        self.it_stays()
        self.until_none_is_left()
        self.close(
            "An H200 runs {second:,.0f} of these {first:,.0f} thread blocks at once, two on each SM. "
            "An SM’s shared memory has no room for a third.",
            [(tr("all thread blocks"), self.blocks), (tr("running at once"), self.at_once)],
            "part",
            "{:,.0f}",
            of_trace(self.run),
            tr("{all} blocks of {threads} threads; each block takes {own} of the {of_sm} KB of shared memory",
                all=self.blocks, threads=THREADS, own=self.own, of_sm=self.of_sm),
        )  # fmt: skip

    def two_areas(self) -> Sequence[Area]:
        """Rooms for C and for the SMs, with a line below each for a count; in a square it stands beside."""
        below = 0.0 if self.narrow and not self.tall else px(90)
        return [half._replace(bottom=half.bottom + below) for half in self.halves()]

    def a_block_for_each_tile(self) -> None:
        """C in its tiles; one of them comes near, with the threads that compute it."""
        self.badge(Badge(tr("schematic"), "model"))
        left, right = self.two_areas()
        tiles = self.tiles(self.run.problem, left)
        name = self.title_of_tiles
        self.say("To multiply two matrices on a GPU, we cut the result C into tiles.")
        self.play(FadeIn(tiles, name, run_time=0.5))
        side = min(0.66 * right.height, 0.8 * right.width)
        launch = ManimColor(self.theme.launch)
        one = rectangle(side, side, self.theme.launch, 0.3).move_to(right.center)
        edged(one, self.theme.launch, 6)
        dots = VGroup(*(rectangle(0.032 * side, 0.032 * side, self.theme.text) for _ in range(THREADS)))
        dots.arrange_in_grid(cols=16, buff=(0.026 * side, 0.075 * side)).move_to(one)
        title = self.word("the thread block of one tile", 46, self.theme.text).next_to(one, UP, px(24))
        words = self.word("{threads} threads", 46, self.theme.text, threads=THREADS)
        words.next_to(one, DOWN, px(24))
        self.say("{n} threads work on each tile. Together they form a thread block.", n=THREADS)
        self.queue, self.queue_name = tiles, self.word("{blocks} thread blocks", 46, self.theme.text)
        self.queue_name.move_to(name, LEFT)
        first = tiles[self.run.problem.tiles_n - 1]
        self.play(first.animate.set_fill(launch), run_time=0.4)
        self.play(FadeIn(one, title, target_position=first, scale=0.05, run_time=1.0))
        self.play(FadeIn(dots, lag_ratio=0.01, run_time=1.2), FadeIn(words))
        lit = (tile.animate.set_fill(launch) for tile in tiles)
        self.play(*lit, FadeOut(name), FadeIn(self.queue_name), run_time=1.0)
        self.leave(one, dots, title, words)

    def two_for_each_sm(self) -> None:
        """Blocks fly to SMs in the order in which they began, one for each, and then one more."""
        _, right = self.two_areas()
        boxes, corner = self.boxes(self.sms, right), self.queue.get_corner(DOWN + LEFT)
        self.say("The GPU has {sms} processors, called SMs. Each one first takes one block.")
        # They come once the caption before has gone.
        come = (Fade(one, 0.0, 1.0, 0.6, rate_func=late) for one in (boxes, self.title_of_boxes))
        self.play(*come)
        # In the queue, blocks are in the order in which they began; here are the first two of each SM.
        order = np.argsort(self.run.spans, order=["issue", "cta"])
        turns = [np.flatnonzero(self.run.spans["sm"][order] == sm)[:2].tolist() for sm in range(self.sms)]
        counts = VGroup()
        for turn in range(2):
            if turn:
                self.say("Then each gets a second one, so that {n} blocks are running.", n=self.at_once)
            sms = sorted(range(self.sms), key=lambda sm: turns[sm][turn])
            tiles = self.queue[turn * self.sms : (turn + 1) * self.sms]
            off = (turn - 0.5) * 0.4 * boxes[0].width
            ways = [[boxes[sm].get_center() + off * RIGHT] for sm in sms]
            sizes = [[min(1.0, 0.34 * boxes[0].width / tiles[0].width)]] * len(tiles)
            self.bring_to_front(*tiles)
            self.play(Travel(tiles, ways, sizes, leg=0.7, apart=0.016, run_time=2.4))
            tiles.set_fill(ManimColor(self.hue))
            before, counts = counts, self.counts((turn + 1) * self.sms, corner, boxes)
            self.play(FadeIn(counts), FadeOut(before), run_time=0.4)
        last, box = self.queue[-1], boxes[0]
        home, title = last.get_center(), self.title_of_boxes
        full = self.word("no room for a third", 46, self.theme.wait_text, bold=True).move_to(title, LEFT)
        self.say("The other {n} blocks wait. Why does no SM take a third?", n=self.blocks - self.at_once)
        self.bring_to_front(last)
        self.play(Travel([last], [[box.get_center()]], leg=0.9))
        refused = ManimColor(self.theme.wait_text)
        red = last.animate.set_fill(refused), box.animate.set_stroke(refused, stroke_width(8))
        self.play(*red, FadeOut(title), FadeIn(full), run_time=0.4)
        self.wait(0.5)
        self.play(Travel([last], [[home]], leg=0.9))
        self.one, self.rest = box, VGroup(*self.queue, *boxes, self.queue_name, full, counts)

    def counts(self, running: int, queue: np.ndarray, boxes: VGroup) -> VGroup:
        """How many blocks wait and run, in their colors: below the left end of the queue, and of boxes."""
        words = VGroup()
        for place, text, hue in (
            (queue, tr("{n} blocks wait", n=self.blocks - running), self.theme.launch),
            (boxes.get_corner(DOWN + LEFT), tr("{n} blocks run", n=running), self.hue),
        ):
            name = VGroup(rectangle(px(40), px(40), hue), label(text, 50, bold=True))
            name.arrange(RIGHT, buff=px(16))
            if self.narrow and not self.tall:
                fit(name, self.area.right - boxes.get_right()[0] - px(24))
                name.move_to([self.area.right, place[1], 0], DOWN + RIGHT)
            else:
                name.move_to([place[0], place[1] - px(60), 0], LEFT)
            words.add(name)
        return words

    def no_third(self) -> None:
        """What blocks take of an SM's shared memory: two fit, and a third at once does not."""
        area, theme = self.area, self.theme
        wide, high = area.width / OVER, px(130)
        ground = rectangle(wide, high, theme.idle).move_to([area.left, area.center[1], 0], LEFT)
        name = self.word("shared memory, the SM's own fast memory: {of_sm} KB", 50, theme.text)
        name.next_to(ground, UP, px(40), aligned_edge=LEFT)
        each, blocks, ends = wide * self.shared.of_block / self.shared.of_sm, VGroup(), VGroup()
        for number, text in enumerate((*self.names[:2], tr("a third at once"))):
            fill, opacity, ink = self.hue, 1.0, ink_on(self.hue)
            if number == 2:
                fill, opacity, ink = theme.wait, 0.35, theme.text
            part = edged(rectangle(0.98 * each, 0.86 * high, fill, opacity), fill, 5)
            part.move_to(ground.get_left() + (number + 0.5) * each * RIGHT)
            words = lines(tr("{block}: {kb} KB", block=text, kb=self.own), 42, 0.9 * each, color=ink)
            blocks.add(VGroup(part, words.move_to(part)))
        for right, kb in ((wide, self.of_sm), (3 * each, 3 * self.own)):
            edge = ground.get_left() + right * RIGHT
            ticks = (
                (edge + near * high * UP, edge + far * high * UP) for near, far in ((-0.5, -0.8), (0.5, 0.7))
            )
            mark = edged(VGroup(*(Line(*tick) for tick in ticks)), theme.text, 5)
            word = (
                label(tr("{kb} KB", kb=kb), 44, bold=True).next_to(mark, DOWN, px(10)).align_to(mark, RIGHT)
            )
            ends.add(VGroup(mark, word))
        # The SM becomes its memory, and its two blocks what they take of it.
        memory = VGroup(ground, name, blocks[:2], ends[0])
        self.say("Each block reserves {own} KB of shared memory for the numbers that it multiplies.")
        near = FadeIn(memory, target_position=self.one, scale=0.05, run_time=1.2)
        self.play(near, Leave(self.rest))
        self.say("Three blocks would need {three} KB, so the third has to wait.", three=3 * self.own)
        self.play(FadeIn(VGroup(blocks[2], ends[1]), shift=px(260) * LEFT), run_time=1.4)
        self.leave(memory, blocks[2], ends[1])

    def it_stays(self) -> None:
        """One SM's two places over time, as recorded."""
        area = self.area
        self.badge(of_trace(self.run))
        self.ticking = self.clock(self.run.makespan)
        key = self.key(
            Entry(tr("a block loads and multiplies"), [self.hue]),
            Entry(tr("it writes its tile"), [self.theme.write]),
            Entry(tr("no block"), [self.theme.idle]),
        )
        lane = LaneVectors(
            self.run, [self.ours], (0.0, float(self.run.makespan)), area.width, px(380), numbers=False,
            labels=False, ticks=False, fills=self.fills,
        )  # fmt: skip
        lane.move_to([area.center[0], (area.top + self.floor) / 2 - px(20), 0])
        name = self.word("one SM with room for two blocks", 46, self.theme.text)
        name.next_to(lane.grounds, UP, px(44)).align_to(lane.grounds, LEFT)
        mine, named = self.mine, VGroup()
        for text, one, us in zip(self.names, mine, self.took, strict=True):
            left, right = lane.x(one["start"]), lane.x(one["drain"])
            text = tr("{block}: {us:.1f} µs", block=text, us=us)
            word = lines(text, 46, 0.9 * (right - left), color=ink_on(self.hue), bold=True)
            named.add(word.move_to([(left + right) / 2, lane.grounds[int(one["slot"])].get_y(), 0]))
        self.say("A block stays on its SM until it is done.")
        self.play(FadeIn(lane, name), *key)
        now = 0.0
        for number, names in enumerate((named[:2], named[2:4], named[4:])):
            until = float(mine["done"].max()) if number == 2 else float(mine["issue"][2 * number + 2])
            if number == 2:
                self.say(
                    "The last block has the SM's tensor cores to itself, so it takes only {alone:.1f} µs."
                )
            self.play(PlayTrace(self.ticking, lane, until=until, run_time=(until - now) / PACE))
            if now == 0:
                self.say("After {done:.1f} µs, the first block is done, and a waiting one replaces it.")
            self.play(FadeIn(names, run_time=0.4))
            now = until
        self.leave(lane, name, named)

    def until_none_is_left(self) -> None:
        area = self.area._replace(bottom=self.floor)
        title = self.tr("{at_once} thin rows, two for each SM; on top, those with three blocks")
        lanes, name = self.rows(self.by_place, area, title, fills=self.fills)
        self.say("All {sms} SMs work like this: {at_once} blocks run, then {at_once} more.")
        self.play(*self.appear(lanes, name), PlayTrace(self.ticking, until=0.0, run_time=0.5))
        self.play(PlayTrace(self.ticking, lanes, until=float(self.run.makespan), run_time=3.4))
        words, edges = VGroup(), [0.0, *round_ends(self.by_place)]
        y = lanes.get_top()[1] - self.last / self.at_once / 2 * lanes.height
        texts = self.tr("{at_once} blocks"), self.tr("{at_once} more"), self.tr("{last} left")
        for number, text in enumerate(texts):
            left, right = map(lanes.x, edges[number : number + 2])
            word = label(text, 46, ink_on(self.hue), bold=True)
            words.add(fit(word, 0.7 * (right - left)).move_to([(left + right) / 2, y, 0]))
        empty = tr("{n} empty", n=self.at_once - self.last)
        words.add(self.note_in(lanes, self.second, self.last / self.at_once, 1.0, empty))
        self.play(FadeIn(words[:2]), run_time=1.0)
        self.say("Only {last} are left for the last round, so most places stay empty.")
        self.play(FadeIn(words[2:]), run_time=1.0)
        self.leave(lanes, name, words, self.ticking)
