"""Persistent: if a thread block never leaves, how does it find its next tile?

manim render scenes/persistent.py

As many thread blocks as SMs find their tiles by counting, so each tile has an owner before the run begins.
Writes do not overlap here, as the rule is the same without, and `race` tells what overlap is.
First four simulated SMs are watched, then a recorded run on 132. `naive` is the other half of the pair.
"""

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, FadeIn, FadeOut, ManimColor, VGroup

from tilesim import Trace, simulate
from tilesim.kernel_costs.default import default_costs
from tilesim.orders import rasterize
from tilesim_scenes.animations.fade import Fade
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.film.run_film import RunFilm
from tilesim_scenes.film.traces import Default, shipped
from tilesim_scenes.kit.few_sms import DEVICE, PRODUCT, SMS, TOP, FewSMs
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import Figure, px
from tilesim_scenes.look.theme import mixed, sm_colour
from tilesim_scenes.mobjects.hardware.thread_block import ThreadBlock
from tilesim_scenes.mobjects.words.badge import of_trace
from tilesim_scenes.mobjects.words.key import Entry

RECORDED, OTHER = (
    f"traces/h200-{name}-4096x4096x512-grouped8.npz" for name in ("persistent-no-overlap", "naive")
)
KERNEL = "persistent-tma"
"""What ran the recorded run, and what the simulated one costs."""

FILM = {
    "title": "Persistent",
    "question": "How does a thread block that stays on its processor find its next tile?",
    "finding": (
        "A persistent thread block adds the number of blocks to find its next tile. On an H200, all 380 "
        "tiles after the first 132 ran where that rule says."
    ),
    "part": "Schedules",
    "place": 140,
    "seconds": 80,
    "shows": "Blocks that count their way from tile to tile: four simulated SMs, then a recorded run on 132.",
    "takes": "traces",
}


def on_the_same_sm(trace: Trace) -> np.ndarray:
    """Of the tiles after the first round, in order: whether each ran on the SM of the tile a round before."""
    sm_of = np.empty(trace.problem.tiles, int)
    sm_of[trace.spans["tile"]] = trace.spans["sm"]
    order, sms = rasterize(trace.problem), trace.device.sms
    return sm_of[order[sms:]] == sm_of[order[:-sms]]


class Persistent(FewSMs):
    """Blocks that stay, on four simulated SMs and on 132 recorded ones."""

    neutral = RunFilm
    default = Default(("persistent",), PRODUCT, DEVICE, any_work=True)

    def prepare(self) -> None:
        costs = default_costs("persistent", PRODUCT, DEVICE, KERNEL)
        self.trace = simulate("persistent", PRODUCT, DEVICE, costs)
        self.run, other = shipped(RECORDED), shipped(OTHER)
        spans = self.trace.spans
        self.guard(
            bool(np.all(spans["cta"] == spans["tile"] % SMS)), "a block counts on by the number of blocks"
        )
        self.guard(len(np.unique(self.run.spans["cta"])) == self.run.device.sms, "there is one block per SM")
        places = {(int(span["cta"]), int(span["sm"])) for span in self.run.spans}
        self.guard(len(places) == self.run.device.sms, "no block leaves its SM")
        self.hits, self.naive_hits = on_the_same_sm(self.run), on_the_same_sm(other)
        self.guard(bool(self.hits.all()), "each later tile ran where the list says")
        self.guard(self.naive_hits.mean() < 0.1, "hardly any tile of the naive kernel did")
        self.guard(self.run.makespan < other.makespan, "persistent blocks need less time than naive ones")
        self.us, self.naive_us = (float(one.makespan) / 1000 for one in (self.run, other))
        begun = spans["issue"] == 0
        waits = spans["start"] - spans["issue"]
        self.guard(
            float(waits[~begun].max()) < float(waits[begun].min()),
            "later loads begin during the write before",
        )
        self.rest = PRODUCT.tiles % SMS
        self.hues = [sm_colour(sm, SMS) for sm in range(SMS)]
        self.later_loads = Entry(tr("later loads"), [self.theme.hand_over])

    def construct(self) -> None:
        self.ask("A thread block is a group of threads that computes a tile of a matrix.")
        self.four_blocks()
        self.count()
        self.onto_sms()
        self.lists()
        self.run_them()
        self.a_real_gpu()
        self.count_hits()

    def four_blocks(self) -> None:
        self.say("A small GPU with four processors, called SMs, computes 18 tiles of a matrix.")
        self.badge(of_trace(self.trace))
        self.play(*self.show_tiles())
        self.say(
            "A naive GPU program starts 18 thread blocks, one for each tile. They wait in line for free SMs."
        )
        self.play(*self.rise(range(PRODUCT.tiles)))
        self.play(self.line_up())
        self.say("A persistent program starts only four blocks, one for each SM.")
        self.let_read()
        self.play(FadeOut(*self.queue[SMS:], shift=px(60) * UP))
        self.queue.remove(*self.queue[SMS:])
        self.homes = self.homes[:SMS]

    def count(self) -> None:
        """A copy of block 1 jumps over C by fours; then the others do, all at once."""
        self.say("To find its next tile, a block counts on by four. Block 1 takes tiles 1, 5, 9, 13 and 17.")
        rule = self.bold("next tile = this tile + number of blocks", 44)
        rule.move_to([self.area.right, self.area.top - px(TOP / 2), 0], RIGHT)
        self.play(FadeIn(rule))
        self.jump([1], 0.45)
        self.jump([0, 2, 3], 0.35)
        self.play(FadeOut(rule))

    def jump(self, blocks: list[int], leg: float) -> None:
        """Copies of blocks fly from tile to tile, and leave the pale color of their SM there."""
        tokens = {}
        for block in blocks:
            token = ThreadBlock(block, px(84)).resident(self.hues[block])
            tokens[block] = token.move_to(self.queue[block])
        for first in range(0, PRODUCT.tiles, SMS):
            tiles = {block: first + block for block in blocks if first + block < PRODUCT.tiles}
            ways = [[self.grid.tile(tile).get_center()] for tile in tiles.values()]
            self.play(Travel([tokens[block] for block in tiles], ways, leg=leg, apart=0.0, arc=0.2))
            paint = []
            for block, tile in tiles.items():
                pale = ManimColor(mixed(self.theme.idle, self.hues[block], 0.45))
                paint.append(self.grid.tile(tile)[0].animate(run_time=0.2).set_fill(pale))
            self.play(*paint)
        self.play(*map(FadeOut, tokens.values()), run_time=0.3)

    def onto_sms(self) -> None:
        self.say("Each block stays on its SM until all of its tiles are done.")
        self.play(self.to_corner(), *self.boxes())
        self.play(self.deal())

    def lists(self) -> None:
        """Each SM's list of tiles, beside C."""
        self.list_rows = VGroup()
        self.entries, self.crossed = {}, set()
        for sm, hue in enumerate(self.hues):
            row, ink = VGroup(), hue if self.theme.dark else self.theme.text
            for place, tile in enumerate(range(sm, PRODUCT.tiles, SMS)):
                self.entries[tile] = Figure(str(tile), 40, ink, align=1.0).shift(px(place * 90) * RIGHT)
                row.add(self.entries[tile])
            name = self.word("block {n}", 40, ink, bold=True, n=sm)
            name.next_to(row, LEFT, px(60)).set_x(px(-210), LEFT)
            self.list_rows.add(VGroup(name, row).shift(px(sm * 52) * DOWN))
        self.list_rows.move_to([self.area.left, self.area.top - px(TOP / 2 - 10), 0], LEFT)
        if self.tall:
            self.list_rows.shift(px(TOP) * DOWN)
        self.say("So before any work starts, we know which block computes which tile.")
        self.play(FadeIn(self.list_rows, lag_ratio=0.2, run_time=1.6))

    def done(self, until: float) -> list:
        """Tiles that are written by then are crossed off: their numbers fade."""
        spans = self.trace.spans
        tiles = spans["tile"][spans["done"] <= until].tolist()
        changes = [self.entries[tile].animate.set_opacity(0.25) for tile in tiles if tile not in self.crossed]
        self.crossed |= set(tiles)
        return changes

    def run_them(self) -> None:
        """The four lists on the clock."""
        makespan = float(self.trace.makespan)
        self.say("As a block knows its next tile, it begins to load that one's data while it writes.")
        key = self.key(*self.colors(), self.later_loads)
        self.play(*self.unroll(self.trace, (0.0, makespan)), *key)
        self.ready()
        spans = self.trace.spans
        ends = {sm: float(spans["done"][spans["sm"] == sm].max()) for sm in range(SMS)}
        idle = VGroup(*(self.idle(sm, ends[sm], makespan) for sm in range(self.rest, SMS)))
        for mark in np.linspace(0.0, makespan, 9)[1:]:
            self.run_to(mark, 0.7, along=self.done(mark))
        self.play(FadeIn(idle))
        self.leave(idle, self.list_rows)
        self.clear()

    def a_real_gpu(self) -> None:
        sms, tiles = self.run.device.sms, self.run.problem.tiles
        self.badge(of_trace(self.run))
        self.ticking = self.clock(self.run.makespan)
        key = self.key(*self.phases("launch", "first load", "multiply", "write"), self.later_loads)
        lanes, title = self.all_sms(self.run, range(sms), self.theme.by_phase)
        self.say(
            "On a real GPU, {sms} such blocks need {us:.1f} µs for {tiles} tiles. "
            "A naive program needs {naive_us:.1f}.",
            sms=sms,
            tiles=tiles,
        )
        self.play(*key, Fade(lanes, 0.0, 1.0), FadeIn(title))
        self.play(PlayTrace(self.ticking, lanes, until=float(self.run.makespan), run_time=3.5))
        self.leave(lanes, title, self.ticking)

    def count_hits(self) -> None:
        """Where each tile ran, and where the rule says; then the end card."""
        listed, naive = self.tally("persistent", self.hits), self.tally("naive", self.naive_hits)
        key = self.key(*self.there_and_elsewhere())
        rows, figures = self.tallies(listed, naive), {"sms": self.run.device.sms, "all": len(self.hits)}
        self.say(
            "Each block found its first tile by its number, and the other {all} by the rule. All were right.",
            **figures,
        )
        self.play(FadeIn(listed, lag_ratio=0.002, run_time=1.6), *key)
        self.say(
            "In the naive program, whichever SM is free gets the next tile. "
            "The rule is right for only {hits}.",
            hits=int(self.naive_hits.sum()),
        )
        self.play(FadeIn(naive, lag_ratio=0.002, run_time=1.6))
        self.leave(rows)
        self.close(
            "A persistent thread block adds the number of blocks to find its next tile. "
            "On an H200, all {all} tiles after the first {sms} ran where that rule says.",
            [(tr("persistent"), self.hits.sum()), (tr("naive"), self.naive_hits.sum())],
            "count",
            "{:.0f}",
            of_trace(self.run),
            **figures,
        )
