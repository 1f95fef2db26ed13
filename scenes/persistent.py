"""Persistent: if a thread block never leaves, how does it find its next tile?

manim render scenes/persistent.py

As many thread blocks as SMs find their tiles by counting, so each tile has an owner before the run begins,
and its data can be loaded early. Nothing is multiplied during a write here, as the rule is the same without,
and `race` tells what overlap is. First simulated SMs are watched, then recorded runs on 132.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, ManimColor, VGroup

from tilesim import Trace, simulate
from tilesim.kernel_costs.default import default_costs
from tilesim.metrics import next_in_slot
from tilesim_scenes.animations.fade import Fade, FadeIn, FadeOut
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.film.run_film import RunFilm
from tilesim_scenes.film.runs import pauses, shared_kb
from tilesim_scenes.film.traces import Default, shipped
from tilesim_scenes.kit.few_sms import BLOCK, DEVICE, PRODUCT, SMS, TOP, FewSMs
from tilesim_scenes.kit.many_sms import alike_together
from tilesim_scenes.kit.two_runs import two_runs
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import Figure, fit, label, px
from tilesim_scenes.look.theme import ink_on, mixed, sm_colour
from tilesim_scenes.mobjects.drawing.quads import rectangle
from tilesim_scenes.mobjects.hardware.thread_block import ThreadBlock
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors
from tilesim_scenes.mobjects.traces.lanes import KINDS
from tilesim_scenes.mobjects.traces.next_loads import NextLoads
from tilesim_scenes.mobjects.traces.time_bracket import TimeBracket
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
        "A persistent thread block finds its next tile by adding, and loads a little earlier. On an H200, "
        "a run then takes 3% less time, although it still stops multiplying to write."
    ),
    "part": "Schedules",
    "place": 140,
    "seconds": 81,
    "shows": "Blocks that count their way from tile to tile: four simulated SMs, then recorded runs on 132.",
    "takes": "traces",
}


CLOSE, BEFORE, AFTER = 1, 1800, 4600
"""The SM whose pause is looked at closely, and ns that are shown before its begin, and after that."""
SEED = 2
"""Of simulated runs in which that SM's second tile is the same, naive or persistent."""


class Persistent(FewSMs):
    """Blocks that stay, on four simulated SMs and on 132 recorded ones."""

    neutral = RunFilm
    default = Default(("persistent",), PRODUCT, DEVICE, any_work=True)

    def prepare(self) -> None:
        costs = default_costs("persistent", PRODUCT, DEVICE, KERNEL)
        # Stamps tell that a write has ended too late where the block goes on, but pauses are right. Both
        # programs' loads and writes are taken to be as long as the naive one's.
        plain = default_costs("naive", PRODUCT, DEVICE)
        gap = costs.tile_gap + costs.epilogue - plain.epilogue
        costs = replace(costs, prologue=plain.prologue, epilogue=plain.epilogue, tile_gap=gap)
        self.trace = simulate("persistent", PRODUCT, DEVICE, costs, seed=SEED)
        self.queued = simulate("naive", PRODUCT, DEVICE, seed=SEED)
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
        lengths = [[pause.length for pause in pauses(one)] for one in self.both.values()]
        self.pauses_us = [round(float(np.mean(one)) / 1000, 1) for one in lengths]
        saved, less = (sum(lengths[0]) - sum(lengths[1])) / self.run.device.sms, np.ptp(self.us) * 1000
        self.guard(0.9 < saved / less < 1.1, "all that persistent blocks save is part of the pauses")
        self.guard({one.device.ctas_per_sm for one in self.both.values()} == {1}, "one block fits into an SM")
        self.own, self.of_sm = shared_kb(self.naive)
        self.guard(2 * self.own > self.of_sm, "an SM's shared memory holds only one naive block")
        self.guard(0 < costs.tile_gap < costs.prologue, "later loads begin during the write before")
        for one in self.both.values():
            written = next_in_slot(one, "start") >= one.spans["done"]
            self.guard(bool(written.all()), "nothing is multiplied during a write")
        self.rest, self.tiles, self.many = PRODUCT.tiles % SMS, self.run.problem.tiles, self.run.device.sms
        self.hues = [sm_colour(sm, SMS) for sm in range(SMS)]

    def construct(self) -> None:
        self.ask("A thread block is a group of threads that computes a tile of a matrix.")
        self.four_blocks()
        self.count()
        self.lists()
        self.run_them()
        self.one_pause()
        self.real_gpus()

    def four_blocks(self) -> None:
        self.say("Four processors, called SMs, multiply two matrices. The result is cut into 18 tiles.")
        self.badge(of_trace(self.trace))
        self.play(*self.show_tiles())
        self.say("A naive GPU program starts a thread block for each tile.")
        self.play(*self.rise(range(PRODUCT.tiles)))
        self.play(self.line_up())
        self.say("A persistent program starts only four blocks, one for each SM.")
        self.let_read()
        self.play(FadeOut(*self.queue[SMS:], shift=px(60) * UP))
        self.queue.remove(*self.queue[SMS:])
        self.homes = self.homes[:SMS]

    def count(self) -> None:
        """Blocks jump over C by fours, all at once, and leave the pale color of their SM there."""
        self.say("To get its next tile, each block adds four, the number of blocks.")
        rule = self.bold("next tile = this tile + number of blocks", 44)
        rule.move_to([self.area.right, self.area.top - px(TOP / 2), 0], RIGHT)
        self.play(FadeIn(rule))
        for block, hue in zip(self.queue, self.hues, strict=True):
            block.resident(hue)
        for first in range(0, PRODUCT.tiles, SMS):
            tiles = range(first, min(first + SMS, PRODUCT.tiles))
            ways = [[self.grid.tile(tile).get_center()] for tile in tiles]
            self.play(Travel(self.queue[: len(tiles)], ways, leg=0.5, apart=0.0, arc=0.2))
            paint = []
            for tile, hue in zip(tiles, self.hues, strict=False):
                pale = ManimColor(mixed(self.theme.idle, hue, 0.45))
                paint.append(self.grid.tile(tile)[0].animate(run_time=0.2).set_fill(pale))
            self.play(*paint)
        self.play(self.line_up(), FadeOut(rule))

    def lists(self) -> None:
        """Each SM's list of tiles, beside C."""
        self.list_rows = VGroup()
        for sm, hue in enumerate(self.hues):
            row, ink = VGroup(), hue if self.theme.dark else self.theme.text
            for place, tile in enumerate(range(sm, PRODUCT.tiles, SMS)):
                row.add(Figure(str(tile), 40, ink, align=1.0).shift(px(place * 90) * RIGHT))
            name = self.word("block {n}", 40, ink, bold=True, n=sm)
            name.next_to(row, LEFT, px(60)).set_x(px(-210), LEFT)
            self.list_rows.add(VGroup(name, row).shift(px(sm * 52) * DOWN))
        self.list_rows.move_to([self.area.left, self.area.top - px(TOP / 2 - 10), 0], LEFT)
        if self.tall:
            self.list_rows.shift(px(TOP) * DOWN)
        self.say("So every block's list of tiles is fixed from the start.")
        self.play(self.to_corner(), *self.boxes())
        self.play(self.deal())
        self.play(FadeIn(self.list_rows, lag_ratio=0.2))

    def done(self, since: float, until: float) -> list:
        """Tiles that are written in that time get their full color."""
        changes, done = [], self.trace.spans["done"]
        for span in self.trace.spans[(since < done) & (done <= until)]:
            ground, number, _ = self.grid.tile(int(span["tile"]))
            hue = self.hues[span["sm"]]
            changes.append(ground.animate.set_fill(ManimColor(hue)))
            changes.append(number.animate.set_color(ManimColor(ink_on(hue))))
        return changes

    def run_them(self) -> None:
        """The four lists on the clock."""
        makespan = float(self.trace.makespan)
        self.say(
            "For each tile, a block loads parts of both matrices, multiplies them, and writes the result."
        )
        key = self.key(*self.colors())
        self.play(*self.unroll(self.trace, (0.0, makespan)), *key)
        self.ready()
        self.remove(self.traffic)
        self.moving = [self.ticking, self.lanes, self.blocks, NextLoads(self.lanes, self.hues)]
        spans = self.trace.spans
        ends = {sm: float(spans["done"][spans["sm"] == sm].max()) for sm in range(SMS)}
        idle = VGroup(*(self.idle(sm, ends[sm], makespan) for sm in range(self.rest, SMS)))
        first = float(spans["drain"].min()) + 1000
        self.run_to(first, 2.2)
        self.say(
            "A block knows its next tile, so it starts to load once it has handed its result to a copy unit."
        )
        for since, mark in pairwise([first, *np.linspace(first, makespan, 9)[1:]]):
            self.run_to(mark, 0.35, along=self.done(since, mark))
        self.play(FadeIn(idle, run_time=0.3))
        self.moving += [idle, self.list_rows]
        self.let_read()
        self.clear()

    def one_pause(self) -> None:
        """One SM between two tiles: a naive block has to leave first, and a persistent one stays."""
        mine = self.queued.spans[self.queued.spans["sm"] == CLOSE]
        self.say(
            "An SM has {of_sm} KB of shared memory, and two naive blocks need {two}. "
            "So block {new} waits until block {old} is gone.",
            two=2 * self.own, old=mine["cta"][0], new=mine["cta"][1],
        )  # fmt: skip
        naive, (name, old, new) = self.close_up(tr("naive"), self.queued, 0)
        end, place = naive[0].window[1], old.get_center()
        self.play(PlayTrace(*naive, until=float(mine["done"][0]), run_time=1.4))
        self.play(FadeOut(old, shift=px(120) * DOWN), Travel([new], [[place]]))
        new.resident(self.hues[CLOSE])
        self.play(PlayTrace(*naive, until=end, run_time=1.6))
        self.say("A persistent block needs no launch, and it loads while the copy unit is still writing.")
        stays, words = self.close_up(tr("persistent"), self.trace, 1)
        lane, _, loads = stays
        begin, left = loads.loads[0][1], lane.x(loads.loads[0][1])
        tick = rectangle(px(5), px(20), self.theme.text).next_to([left, lane.get_top()[1], 0], UP, 0)
        word = fit(self.bold("handed over, load starts", 42), self.area.right - left)
        mark = VGroup(tick, word.next_to(tick, UP, px(6), aligned_edge=LEFT))
        self.play(PlayTrace(*stays, until=begin, run_time=1.2))
        self.play(PlayTrace(*stays, until=lane.window[1], run_time=1.9), FadeIn(mark, run_time=0.3))
        self.leave(*naive, name, new, *stays, *words, mark)

    def close_up(self, name: str, trace: Trace, row: int) -> tuple[list, list]:
        """An SM's lane around its first pause and all that moves with time, and then its name and blocks."""
        old, new = trace.spans[trace.spans["sm"] == CLOSE][:2]
        begin, area = float(old["drain"]), self.area
        lane = LaneVectors(
            trace, [CLOSE], (begin - BEFORE, begin + AFTER), area.width - px(BLOCK), px(130), labels=False,
            ticks=False, fills={"hand over": self.theme.idle},
        )  # fmt: skip
        y = area.top - row * (area.top - self.floor) / 2 - px(150)
        lane.move_to([area.right, y, 0], RIGHT).show(begin)
        words = [label(f"SM {CLOSE}: {name}", 48, bold=True).next_to(lane, UP, px(20), aligned_edge=LEFT)]
        for number in dict.fromkeys((int(old["cta"]), int(new["cta"]))):
            up = px((len(words) - 1) * 100) * UP
            words.append(ThreadBlock(number).move_to([area.left, y, 0], LEFT).shift(up))
        words[1].resident(self.hues[CLOSE])
        self.play(Fade(lane, 0.0, 1.0), FadeIn(*words, run_time=0.4))
        end = float(new["start"])
        pause = TimeBracket(lane, begin, end, CLOSE, tr("pause between two tiles"), below=True)
        timed = [lane, pause, *([NextLoads(lane, [self.hues[CLOSE]]).show(begin)] if row else [])]
        self.add(*timed)
        return timed, words

    def real_gpus(self) -> None:
        """All SMs of a naive run and of a persistent one, on one clock; then the end card."""
        longest = float(self.naive.makespan)
        pale = mixed(self.theme.idle, self.theme.text, 0.35)
        fills = dict.fromkeys(KINDS, pale) | {"multiply": self.hue}
        self.badge(of_trace(self.run))
        self.ticking = self.clock(longest)
        multiply, idle = self.phases("multiply", "idle")
        key = self.key(multiply, Entry(tr("write, launch or load"), [pale]), idle)
        rasters, words, ends = two_runs(self, self.both, self.us, fills, alike_together)
        for raster, us in zip(rasters, self.us, strict=True):
            edge = rectangle(px(6), raster.height, self.theme.text)
            ends.add(edge.move_to([raster.x(1000 * us), raster.get_y(), 0]))
        self.say("These are whole runs of {tiles} tiles on a real GPU's {many} SMs. Watch the gray gaps.")
        self.play(*key, *(Fade(one, 0.0, 1.0) for one in rasters), FadeIn(words))
        self.play(PlayTrace(self.ticking, *rasters, until=longest, run_time=2.8))
        self.play(FadeIn(ends, run_time=0.3))
        marks = VGroup()
        for raster, us in zip(rasters, self.pauses_us, strict=True):
            mark = self.bold("average pause: {us:.1f} µs", us=us)
            marks.add(mark.next_to(raster, UP, px(10)).align_to(raster, RIGHT))
        self.say("Both stop multiplying to write. The persistent program's pauses are a bit shorter.")
        self.play(FadeIn(marks), FadeOut(words[-1]))
        self.leave(*rasters, *words[:-1], marks, ends, self.ticking)
        self.close(
            "A persistent thread block finds its next tile by adding, and loads a little earlier. On an "
            "H200, a run then takes {less:.0%} less time, although it still stops multiplying to write.",
            list(zip(self.both, self.us, strict=True)),
            "less time",
            "{:.1f} µs",
            of_trace(self.run),
            tr("512 tiles on 132 SMs, from first launch to last write"),
        )
