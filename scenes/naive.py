"""Naive: which processor computes which tile?

manim render scenes/naive.py

Thread blocks wait in one queue, and an SM that becomes free gets the next one: first on four simulated SMs,
where each step can be watched, then in a recorded run on 132.
"""

from itertools import pairwise

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, LaggedStart, VGroup

from tilesim import simulate
from tilesim.analysis.item_times import behind_the_first
from tilesim.devices.occupancy import occupancy
from tilesim_scenes.animations.fade import Fade, FadeIn
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.film.run_film import RunFilm
from tilesim_scenes.film.runs import time_shares
from tilesim_scenes.film.traces import Default, shipped
from tilesim_scenes.kit.few_sms import DEVICE, PRODUCT, SMS, FewSMs
from tilesim_scenes.kit.many_sms import alike_together
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, label, px
from tilesim_scenes.mobjects.charts.share_bar import ShareBar
from tilesim_scenes.mobjects.drawing.quads import bracket
from tilesim_scenes.mobjects.hardware.thread_block import ThreadBlock
from tilesim_scenes.mobjects.traces.lane_image import LaneImage
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors
from tilesim_scenes.mobjects.words.badge import of_trace
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.mobjects.words.key import Entry

RECORDED = "traces/h200-naive-4096x4096x512-grouped8.npz"

FILM = {
    "title": "Naive",
    "question": "Which processor computes which tile?",
    "finding": (
        "On an H200, each waiting thread block goes to the next free SM, and only there can it load. "
        "An average SM does not multiply for 14.2 of 33.8 µs."
    ),
    "part": "Schedules",
    "place": 130,
    "seconds": 77,
    "shows": "Thread blocks in one queue: four simulated SMs, then a recorded run on 132.",
    "takes": "traces",
}


SEED = 3
"""Of a simulated run in which one SM is free so much earlier than the others that it can be seen."""
FLIGHT = 300.0
"""ns of the simulated run that a block flies: short, so that few are in the air at once."""
TICKS = 64
"""ns: two steps of the timer whose instants the recorded run has."""


class Naive(FewSMs):
    """Blocks in a queue, on four simulated SMs and on 132 recorded ones."""

    neutral = RunFilm
    default = Default(("naive",), PRODUCT, DEVICE, any_work=True)

    def prepare(self) -> None:
        self.trace, self.run = simulate("naive", PRODUCT, DEVICE, seed=SEED), shipped(RECORDED)
        spans = self.trace.spans[np.argsort(self.trace.spans["cta"])]
        waited = spans[SMS:]
        free = [(spans["done"] == block["issue"]) & (spans["sm"] == block["sm"]) for block in waited]
        self.guard(all(map(np.any, free)), "a free SM gets the next block")
        self.guard(bool(np.all(np.diff(waited["issue"]) >= 0)), "blocks begin in the order of their numbers")
        turns = spans["sm"].reshape(-1)[: PRODUCT.tiles - PRODUCT.tiles % SMS].reshape(-1, SMS)
        self.guard(len(np.unique(turns, axis=0)) > 1, "SMs do not take turns")
        self.first = spans[:SMS]
        last = set(spans["sm"][-(PRODUCT.tiles % SMS) :].tolist())
        self.guard(len(last) == 2, "the last two blocks occupy two SMs")
        idle = set(range(SMS)) - last
        self.idle_since = {sm: float(spans["done"][spans["sm"] == sm].max()) for sm in idle}

        real = self.run.spans[np.argsort(self.run.spans["cta"])]
        self.many = sms = self.run.device.sms
        self.guard(
            bool(np.diff(real["issue"][sms:]).min() >= -TICKS), "blocks begin in the order of their numbers"
        )
        self.guard(self.run.device.ctas_per_sm == 1, "one block fits into an SM")
        work, meta = self.run.problem, self.run.meta
        pairs = 2 * (work.tile_m + work.tile_n) * work.tile_k * meta["stages"]
        shared = occupancy("h200", 32 * meta["warps"], 128, pairs).uses[1]
        self.guard(shared.of_block > shared.of_sm / 2, "a block needs most of an SM's shared memory")
        self.waited = len(real) - sms
        dealt = real["sm"][sms:] == real["sm"][:-sms]
        self.guard(dealt.mean() < 0.1, "hardly any block runs where dealing would put it")
        free_first = behind_the_first(self.run) <= TICKS
        self.guard(bool(free_first.all()), "each block that waits runs on the SM that is free first")
        self.followed = int(real["sm"][0])
        self.mine = real[real["sm"] == self.followed]
        self.guard(len(self.mine) == 4, "the first block's SM runs four blocks")
        shares = time_shares(self.run)
        busy = {tr("launch and load"): shares["launch"] + shares["first load"], tr("write"): shares["write"]}
        self.shares = busy | {tr("no tile left"): shares["idle"], tr("multiply"): shares["multiply"]}

    def construct(self) -> None:
        self.ask("A kernel is a program that runs on a GPU. The simplest kind is called naive.")
        self.a_queue()
        self.first_tiles()
        self.the_next_block()
        self.the_end()
        self.a_real_gpu()
        self.one_of_many()
        self.an_average_sm()

    def a_queue(self) -> None:
        self.say("Four processors, called SMs, multiply two matrices. The result is cut into 18 tiles.")
        self.badge(of_trace(self.trace))
        self.play(*self.show_tiles())
        self.say("A naive kernel starts one group of threads, a thread block, for each tile.")
        self.play(*self.rise(range(PRODUCT.tiles)))
        self.play(self.line_up(), self.to_corner())
        waiting = self.word("waiting thread blocks", 42)
        waiting.next_to(self.queue, DOWN, px(14), aligned_edge=LEFT)
        self.say("A block takes most of an SM's memory, so only one fits into each. The others wait.")
        self.play(*self.boxes(), FadeIn(waiting))
        self.play(self.deal())
        self.leave(waiting)

    def first_tiles(self) -> None:
        self.say("A block is launched, loads parts of both matrices, multiplies, writes its tile, and ends.")
        key = self.key(*self.colors())
        self.play(*self.unroll(self.trace, (0.0, float(self.trace.makespan))), *key)
        self.ready()
        self.blocks.flight = FLIGHT
        self.run_to(float(self.first["done"].min()) - 300, 2.5)

    def the_next_block(self) -> None:
        """The first SM to be free gets the next block; time passes slowly."""
        begin, end = float(self.first["done"].min()), float(self.first["done"].max())
        early = self.first[np.argsort(self.first["done"])]
        self.say("Some blocks take longer. SM {sm} is free first, so it gets block 4.", sm=early["sm"][0])
        ends = VGroup()
        for block in early:
            lane = self.lanes.lane(int(block["sm"]))
            figure = (self.word if ends else self.bold)("free at {us:.2f} µs", 42, us=block["done"] / 1000)
            figure.move_to([lane.get_right()[0] - px(24), lane.get_y(), 0], RIGHT)
            ends.add(figure)
        self.run_to(begin + 20, 1.2)
        self.run_to(end + 1700, 3.0, along=[FadeIn(ends, lag_ratio=0.2)])
        self.leave(ends)

    def the_end(self) -> None:
        self.say(
            "Whichever SM is free first gets the next block. So nobody knows beforehand which SM computes "
            "which tile."
        )
        since, makespan = min(self.idle_since.values()), float(self.trace.makespan)
        self.run_to(since, 4.4)
        words = VGroup(*(self.idle(sm, since, makespan) for sm, since in self.idle_since.items()))
        self.run_to(makespan, 1.8, along=[FadeIn(words)])
        self.leave(words)
        self.clear()

    def a_real_gpu(self) -> None:
        """132 lanes in one color, as it does not matter here which SM is which; fewest tiles last."""
        end = float(self.run.makespan)
        self.badge(of_trace(self.run))
        self.ticking = self.clock(end)
        launch, multiply, write = self.phases("launch", "multiply", "write")
        load = Entry(tr("load"), [self.theme.by_phase["first load"]])
        key = self.key(launch, load, multiply, write)
        high = self.area.top - self.floor - px(90)
        self.all = LaneImage(
            self.run, alike_together(self.run), (0.0, end), self.area.width, height=high,
            fills=self.theme.by_phase,
        )  # fmt: skip
        self.all.move_to([self.area.center[0], self.floor + high / 2 + px(10), 0])
        title = self.word("132 SMs, one thin row each", 44, self.theme.text)
        title.next_to(self.all, UP, px(20), aligned_edge=LEFT)
        rest = fit(self.bold("no tile left", 44), 0.2 * self.area.width)
        rest.move_to(self.all, DOWN + RIGHT).shift(px(12) * (UP + LEFT))
        self.say(
            "Of {all} blocks on a real GPU, {sms} start at once. The other {rest} wait for a free SM.",
            all=self.many + self.waited, sms=self.many, rest=self.waited,
        )  # fmt: skip
        self.play(*key, Fade(self.all, 0.0, 1.0), FadeIn(title))
        self.play(PlayTrace(self.ticking, self.all, until=end, run_time=2.5))
        self.play(FadeIn(rest, run_time=0.3))
        self.leave(self.all, title, rest, self.ticking)

    def one_of_many(self) -> None:
        """The lane of the SM that ran block 0; each of its blocks waits above it, and then enters."""
        area, end = self.area, float(self.run.makespan)
        lane = LaneVectors(
            self.run, [self.followed], (0.0, end), area.width, px(170), labels=False,
            ticks=False, numbers=False, fills=self.theme.by_phase,
        ).move_to(area.center + px(40) * DOWN)  # fmt: skip
        name = self.bold("the SM that ran block 0").next_to(lane, UP, px(220), aligned_edge=LEFT)
        self.ticking = self.clock(end)
        blocks = [ThreadBlock(int(row["cta"])) for row in self.mine]
        for block, row in zip(blocks, self.mine, strict=True):
            block.move_to([lane.x(float(row["issue"])), lane.get_top()[1] + px(150), 0], LEFT)
        second, third, fourth = (block.number for block in blocks[1:])
        down = [px(90) * DOWN + block.get_center() for block in blocks]
        blocks[0].move_to(down[0]).resident(self.hue)
        self.say("As long as block 0 runs, block {b} has no SM, so it cannot even start to load.", b=second)
        self.play(Fade(lane, 0.0, 1.0), FadeIn(name, *blocks))
        self.play(PlayTrace(self.ticking, lane, until=float(self.mine["done"][0]), run_time=4.0))
        self.say(
            "Once the SM is free, block {b} is launched and loads. Blocks {c} and {d} follow.",
            b=second, c=third, d=fourth,
        )  # fmt: skip
        for left, block, row, place in zip(blocks, blocks[1:], self.mine[1:], down[1:], strict=False):
            self.play(Fade(left, 1.0, 0.35), Travel([block], [[place]]))
            block.resident(self.hue)
            self.play(PlayTrace(self.ticking, lane, until=float(row["done"]), run_time=1.4))
        marks, us = VGroup(), []
        for row, after in pairwise(self.mine):
            begin, end = float(row["drain"]), float(after["start"])
            us.append(round((end - begin) / 1000, 1))
            mark = bracket(lane.x(begin), lane.x(end), lane.get_bottom()[1] - px(40), self.theme.text)
            text = tr("{us:.1f} µs", us=us[-1])
            marks.add(VGroup(mark, label(text, 46, self.theme.text, bold=True).next_to(mark, DOWN, px(14))))
        self.say(
            "In its three pauses, this SM writes, launches and loads: {us:.1f} µs without multiplying.",
            us=sum(us),
        )
        self.play(LaggedStart(*map(FadeIn, marks), lag_ratio=0.5, run_time=1.8))
        self.leave(lane, name, *blocks, marks, self.ticking)

    def an_average_sm(self) -> None:
        """The end card: what an average SM spends its time on, in one bar."""
        load, multiply, write = (self.theme.by_phase[kind] for kind in ("first load", "multiply", "write"))
        fills = dict(zip(self.shares, ([load], [write], [self.theme.idle], [multiply]), strict=True))
        bar = ShareBar(self.shares, fills, {name: name for name in fills}, self.area.width, px(150))
        share, us = 1 - self.shares[tr("multiply")], self.run.makespan / 1000
        sentence = self.tr(
            "On an H200, each waiting thread block goes to the next free SM, and only there can it load. "
            "An average SM does not multiply for {second:.1f} of {first:.1f} µs.",
            second=share * us, first=us,
        )  # fmt: skip
        number = tr("{share:.0%} not multiplying", share=share)
        self.finding(Finding(sentence, number, bar, of_trace(self.run), self.tr("average of {many} SMs")))
