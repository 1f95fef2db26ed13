"""Persistent: if a thread block never leaves, how does it find its next tile?

manim render scenes/persistent.py

As many thread blocks as SMs find their tiles by counting, so each tile has an owner before the run begins,
and its data can be loaded early. Writes do not overlap here, as the rule is the same without, and `race`
tells what overlap is. First four simulated SMs are watched, then recorded runs on 132, beside a naive one.
"""

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, FadeIn, FadeOut, ManimColor, VGroup

from tilesim import Trace, simulate
from tilesim.kernel_costs.default import default_costs
from tilesim_scenes.animations.fade import Fade
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.film.run_film import RunFilm
from tilesim_scenes.film.runs import time_shares
from tilesim_scenes.film.traces import Default, shipped
from tilesim_scenes.kit.amounts import Amount, Amounts
from tilesim_scenes.kit.few_sms import DEVICE, PRODUCT, SMS, TOP, FewSMs
from tilesim_scenes.kit.two_runs import two_runs
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import Figure, label, px
from tilesim_scenes.look.theme import ink_on, mixed, sm_colour
from tilesim_scenes.mobjects.drawing.quads import stroke_width
from tilesim_scenes.mobjects.hardware.thread_block import ThreadBlock
from tilesim_scenes.mobjects.traces.next_loads import NextLoads
from tilesim_scenes.mobjects.words.badge import of_trace
from tilesim_scenes.mobjects.words.key import Entry

RECORDED, OTHER = (
    f"traces/h200-{name}-4096x4096x512-grouped8.npz" for name in ("persistent-no-overlap", "naive")
)
KERNEL = "persistent-tma"
"""What ran the recorded run, and what the simulated one costs."""

FILM = {
    "title": "Persistent",
    "question": "If a thread block stays on its processor, how does it find its next tile?",
    "finding": (
        "A persistent thread block adds the number of blocks to find its next tile, and loads it early. "
        "On an H200, that takes 3% less time than naive blocks do."
    ),
    "part": "Schedules",
    "place": 140,
    "seconds": 80,
    "shows": "Blocks that count their way from tile to tile: four simulated SMs, then recorded runs on 132.",
    "takes": "traces",
}


def shares(run: Trace) -> list[float]:
    """µs that an average SM launches and loads, multiplies, writes, and has no tile left, as printed."""
    of, each = time_shares(run), (("launch", "first load", "hand over"), ("multiply",), ("write",), ("idle",))
    return [round(sum(of.get(name, 0.0) for name in names) * run.makespan / 1000, 1) for names in each]


class Persistent(FewSMs):
    """Blocks that stay, on four simulated SMs and on 132 recorded ones."""

    neutral = RunFilm
    default = Default(("persistent",), PRODUCT, DEVICE, any_work=True)

    def prepare(self) -> None:
        costs = default_costs("persistent", PRODUCT, DEVICE, KERNEL)
        self.trace = simulate("persistent", PRODUCT, DEVICE, costs)
        self.run, self.naive = shipped(RECORDED), shipped(OTHER)
        spans = self.trace.spans
        self.guard(
            bool(np.all(spans["cta"] == spans["tile"] % SMS)), "a block counts on by the number of blocks"
        )
        self.guard(len(np.unique(self.run.spans["cta"])) == self.run.device.sms, "there is one block per SM")
        places = {(int(span["cta"]), int(span["sm"])) for span in self.run.spans}
        self.guard(len(places) == self.run.device.sms, "no block leaves its SM")
        self.both = {tr("naive"): self.naive, tr("persistent"): self.run}
        self.us = [float(f"{one.makespan / 1000:.1f}") for one in self.both.values()]
        self.guard(self.us[1] < 0.98 * self.us[0], "persistent blocks need less time than naive ones")
        self.parts = [shares(one) for one in self.both.values()]
        sums = [round(sum(parts), 1) for parts in self.parts]
        self.guard(sums == self.us, "the parts of an average SM add up to the run")
        (loads, _, writes, _), (fewer, _, more, _) = self.parts
        self.guard(fewer < 0.7 * loads, "persistent blocks wait less for launches and loads")
        self.guard(more > 1.2 * writes, "the writes of persistent blocks take longer")
        begun = spans["issue"] == 0
        waits = spans["start"] - spans["issue"]
        self.guard(
            float(waits[~begun].max()) < float(waits[begun].min()),
            "later loads begin during the write before",
        )
        self.rest = PRODUCT.tiles % SMS
        self.hues = [sm_colour(sm, SMS) for sm in range(SMS)]
        self.waits = Entry(tr("wait for the next load"), [self.theme.hand_over])

    def construct(self) -> None:
        self.ask("A thread block is a group of threads that computes a tile of a matrix.")
        self.four_blocks()
        self.count()
        self.onto_sms()
        self.lists()
        self.run_them()
        self.real_gpus()

    def four_blocks(self) -> None:
        self.say("A small GPU with four processors, called SMs, computes 18 tiles of a matrix.")
        self.badge(of_trace(self.trace))
        self.play(*self.show_tiles())
        self.say(
            "A naive GPU program starts a block for each tile. Only when one has left can the next one load."
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
        self.say("To find its next tile, a block adds four. Block 1 takes tiles 1, 5, 9, 13 and 17.")
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
        self.say("So each block can work out its whole list of tiles before it starts.")
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
        self.say("The block knows its next tile, so it begins to load it while it is still writing this one.")
        key = self.key(*self.colors(), self.waits)
        self.play(*self.unroll(self.trace, (0.0, makespan)), *key)
        self.ready()
        self.moving.append(NextLoads(self.lanes, self.hues))
        spans = self.trace.spans
        ends = {sm: float(spans["done"][spans["sm"] == sm].max()) for sm in range(SMS)}
        idle = VGroup(*(self.idle(sm, ends[sm], makespan) for sm in range(self.rest, SMS)))
        for mark in np.linspace(0.0, makespan, 9)[1:]:
            self.run_to(mark, 0.7, along=self.done(mark))
        self.play(FadeIn(idle))
        self.leave(idle, self.list_rows)
        self.clear()

    def real_gpus(self) -> None:
        """All SMs of a naive run and of a persistent one, on one clock; then the end card."""
        sms, tiles, longest = self.run.device.sms, self.run.problem.tiles, float(self.naive.makespan)
        self.badge(of_trace(self.run))
        self.ticking = self.clock(longest)
        load = Entry(tr("load"), [self.theme.by_phase["first load"]])
        launch, multiply, write = self.phases("launch", "multiply", "write")
        key = self.key(launch, load, multiply, write, self.waits)
        rasters, words, ends = two_runs(self, self.both, self.us, self.theme.by_phase)
        self.say(
            "Here are both programs on a real GPU, with {tiles} tiles on {sms} SMs.", sms=sms, tiles=tiles
        )
        self.play(*key, *(Fade(one, 0.0, 1.0) for one in rasters), FadeIn(words))
        self.play(PlayTrace(self.ticking, *rasters, until=longest, run_time=4.0))
        self.play(FadeIn(ends))
        self.leave(*rasters, words, ends, self.ticking)
        self.average()
        self.close(
            "A persistent thread block adds the number of blocks to find its next tile, and loads it early. "
            "On an H200, that takes {less:.0%} less time than naive blocks do.",
            list(zip(self.both, self.us, strict=True)),
            "less time",
            "{:.1f} µs",
            of_trace(self.run),
            tr("512 tiles on 132 SMs; in both, nothing is multiplied during a write"),
        )

    def average(self) -> None:
        """What an average SM does in both runs, in bars that add up to them."""
        theme = self.theme
        hues = [theme.by_phase["first load"], theme.by_phase["multiply"], theme.write, theme.idle]
        rows = [
            Amount(name, list(zip(parts, hues, strict=True)), tr("{us:.1f} µs", us=us))
            for name, us, parts in zip(self.both, self.us, self.parts, strict=True)
        ]
        chart = Amounts(rows, self.area.width).move_to(self.area.center)
        for bar, parts in zip(chart.bars, self.parts, strict=True):
            for part, hue, us in zip(bar, hues, parts, strict=True):
                figure = label(f"{us:.1f}", 40, ink_on(hue), bold=True).move_to(part)
                if figure.width < part.width:
                    part.add(figure)
        loads = Entry(tr("launch, load, or wait for a load"), hues[:1])
        (naive, _, write, _), (mine, _, longer, _) = self.parts
        self.say(
            "Launches and loads take a naive SM {naive:.1f} µs on average, "
            "a persistent one {us:.1f}.",
            naive=naive, us=mine,
        )  # fmt: skip
        self.play(chart.come(), *self.key(loads, *self.phases("multiply", "write", "idle")))
        self.say(
            "But loading and writing then happen at the same time, and the writes take {more:.1f} µs longer.",
            more=longer - write,
        )
        edge = {"color": ManimColor(theme.wait_text), "width": stroke_width(6), "family": False}
        self.play(*(bar[2].animate.set_stroke(**edge) for bar in chart.bars))
        self.leave(chart)
