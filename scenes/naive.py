"""Naive: which processor computes which tile?

manim render scenes/naive.py

Thread blocks wait in one queue, and an SM that becomes free gets the next one: first on four simulated SMs,
where each step can be watched, then in a recorded run on 132.
"""

from itertools import pairwise

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, FadeIn, LaggedStart, VGroup

from tilesim import simulate
from tilesim.analysis.item_times import behind_the_first
from tilesim_scenes.animations.fade import Fade, Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.zoom import Zoom
from tilesim_scenes.film.run_film import RunFilm
from tilesim_scenes.film.traces import Default, shipped
from tilesim_scenes.kit.few_sms import DEVICE, PRODUCT, SMS, FewSMs
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import Figure, fit, label, px
from tilesim_scenes.mobjects.drawing.quads import bracket
from tilesim_scenes.mobjects.traces.lane_image import LaneImage
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors
from tilesim_scenes.mobjects.words.badge import of_trace

RECORDED = "traces/h200-naive-4096x4096x512-grouped8.npz"

FILM = {
    "title": "Naive",
    "question": "Which processor computes which tile?",
    "finding": (
        "On an H200, each thread block that waits goes to the next SM that is free. So no SM knows its next "
        "tile, and none can load it early."
    ),
    "part": "Schedules",
    "place": 130,
    "seconds": 80,
    "shows": "Thread blocks in one queue: four simulated SMs, then a recorded run on 132.",
    "takes": "traces",
}


SEED = 3
"""Of a simulated run in which one SM is free so much earlier than the others that it can be seen."""
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
        self.waited = len(real) - sms
        self.dealt = real["sm"][sms:] == real["sm"][:-sms]
        self.guard(self.dealt.mean() < 0.1, "hardly any block runs where dealing would put it")
        self.free_first = behind_the_first(self.run) <= TICKS
        self.guard(bool(self.free_first.all()), "each block that waits runs on the SM that is free first")
        self.followed = int(real["sm"][0])
        mine = self.run.spans[self.run.spans["sm"] == self.followed]
        self.mine = mine[np.argsort(mine["start"])]
        self.dealt_to_it = list(range(0, len(real), sms))
        self.guard(
            len(self.mine) == len(self.dealt_to_it)
            and not set(self.mine["cta"][1:]) & set(self.dealt_to_it[1:]),
            "the first block's SM got other blocks than dealing would give it",
        )

    def construct(self) -> None:
        self.ask("A kernel is a program that runs on a GPU. The simplest kind is called naive.")
        self.a_queue()
        self.first_tiles()
        self.the_next_block()
        self.the_end()
        self.a_real_gpu()
        self.one_of_many()
        self.close(
            "On an H200, each thread block that waits goes to the next SM that is free. "
            "So no SM knows its next tile, and none can load it early.",
            [(tr("the next free SM"), self.free_first.sum()), (tr("dealt like cards"), self.dealt.sum())],
            "count",
            "{:.0f}",
            of_trace(self.run),
            self.tr(
                "of {tiles} thread blocks, {all} waited; {few} ran where dealing in turn would put them",
                tiles=self.run.problem.tiles,
                all=self.waited,
                few=int(self.dealt.sum()),
            ),
            all=self.waited,
        )

    def a_queue(self) -> None:
        self.say("A small GPU with four processors multiplies matrices. We cut the result into 18 tiles.")
        self.badge(of_trace(self.trace))
        self.play(*self.show_tiles())
        self.say("A naive kernel starts one group of threads, a thread block, for each tile.")
        self.play(*self.rise(range(PRODUCT.tiles)))
        self.play(self.line_up(), self.to_corner())
        waiting = self.word("waiting thread blocks", 42)
        waiting.next_to(self.queue, DOWN, px(14), aligned_edge=LEFT)
        self.say("Each processor, called an SM, has room for one block. The others wait.")
        self.play(*self.boxes(), FadeIn(waiting))
        self.play(self.deal())
        self.leave(waiting)

    def first_tiles(self) -> None:
        self.say("Each of the four blocks computes its tile and ends.")
        end = float(self.first["done"].max())
        key = self.key(*self.colors())
        self.play(*self.unroll(self.trace, (0.0, 1.7 * end)), *key)
        self.ready()
        self.run_to(float(self.first["done"].min()) - 300, 2.5)

    def the_next_block(self) -> None:
        """The first SM to be free gets the next block; time passes slowly."""
        begin, end = float(self.first["done"].min()), float(self.first["done"].max())
        early = self.first[np.argsort(self.first["done"])]
        self.say(
            "Delays vary. Here, SM {sm} finishes first, so it gets the next block, number 4.",
            sm=int(early["sm"][0]),
        )  # fmt: skip
        ends = VGroup()
        for block in self.first:
            lane = self.lanes.lane(int(block["sm"]))
            figure = self.word("free at {us:.2f} µs", 38, self.theme.text, us=block["done"] / 1000)
            fit(figure, 0.8 * (lane.get_right()[0] - self.lanes.x(1.15 * end)))
            figure.move_to([lane.get_right()[0] - px(24), lane.get_y(), 0], RIGHT)
            ends.add(figure)
        self.run_to(begin + 20, 1.2)
        self.run_to(end + 1700, 3.0, along=[FadeIn(ends, lag_ratio=0.2)])
        self.leave(ends)

    def the_end(self) -> None:
        self.say("The blocks wait in line, and whichever SM finishes first gets the next one.")
        self.play(
            Zoom(self.lanes, window=(0.0, float(self.trace.makespan)), over=[self.blocks, self.traffic])
        )
        self.run_to(min(self.idle_since.values()), 2.4)
        makespan = float(self.trace.makespan)
        words = VGroup(*(self.idle(sm, since, makespan) for sm, since in self.idle_since.items()))
        self.run_to(makespan, 1.8, along=[FadeIn(words)])
        self.leave(words)
        large = min(1.6, self.area.width / self.grid.width)
        self.say("So nobody knows beforehand which SM will compute which tile.")
        self.play(
            *(Fade(one, 1.0, 0.15) for one in (self.lanes,)), Leave(self.blocks),
            run_time=0.4,
        )  # fmt: skip
        self.remove(self.traffic)
        self.play(*self.key())
        colored = VGroup(self.grid, self.traffic)
        self.add(colored)
        self.play(colored.animate(run_time=1.2).scale(large).move_to(self.area.center))
        self.leave(colored, self.lanes, self.ticking)

    def a_real_gpu(self) -> None:
        """132 lanes in one color, as here it does not matter which SM is which."""
        self.badge(of_trace(self.run))
        self.ticking = self.clock(self.run.makespan)
        key = self.key(*self.phases("launch", "first load", "multiply", "write"))
        sms = [self.followed, *(sm for sm in range(self.many) if sm != self.followed)]
        high = self.area.top - self.floor - px(90)
        self.all = LaneImage(
            self.run, sms, (0.0, float(self.run.makespan)), self.area.width, height=high,
            fills=self.theme.by_phase,
        )  # fmt: skip
        self.all.move_to([self.area.center[0], self.floor + high / 2 + px(10), 0])
        self.title_of_all = self.word("132 SMs, one thin row each", 44, self.theme.text)
        self.title_of_all.next_to(self.all, UP, px(20), aligned_edge=LEFT)
        self.say(
            "On a real GPU, {sms} blocks start at once. Each of the other {all} goes to the next free SM.",
            sms=self.many,
            all=self.waited,
        )
        self.play(*key, Fade(self.all, 0.0, 1.0), FadeIn(self.title_of_all))
        self.play(PlayTrace(self.ticking, self.all, until=float(self.run.makespan), run_time=2.8))

    def one_of_many(self) -> None:
        """The lane of the SM that ran block 0 comes forward, with the blocks that it ran."""
        area, colors = self.area, self.theme.by_phase
        lane = LaneVectors(
            self.run, [self.followed], (0.0, float(self.run.makespan)), area.width, px(170), labels=False,
            ticks=False, numbers=False, cursor=False, fills=colors,
        ).show(float(self.run.makespan))  # fmt: skip
        lane.move_to(area.center + px(20) * UP)
        name = self.word("the SM that ran block 0", 46, self.theme.text, bold=True)
        name.move_to([area.left, area.top - px(30), 0], LEFT)
        blocks = [int(row["cta"]) for row in self.mine]
        self.say(
            "This SM ran block {a} first, and then blocks {b}, {c} and {d}.",
            **dict(zip("abcd", blocks, strict=True)),
        )
        self.play(
            Leave(self.all), Leave(self.title_of_all), Leave(self.ticking), Fade(lane, 0.0, 1.0), FadeIn(name)
        )
        dealt, real = VGroup(), VGroup()
        for row, number, block in zip(self.mine, self.dealt_to_it, blocks, strict=True):
            x = lane.x(float(row["start"] + row["drain"]) / 2)
            figure = Figure(str(block), 56, color=self.theme.text, align=0.5)
            real.add(figure.move_to([x, lane.get_top()[1] + px(60), 0]))
            figure = Figure(str(number), 56, color=self.theme.quiet, align=0.5)
            dealt.add(figure.move_to([x, lane.get_bottom()[1] - px(120), 0]))
        left, top, foot = lane.get_left()[0], lane.get_top()[1], lane.get_bottom()[1]
        above = self.word("recorded:", 42, self.theme.text).move_to([left, top + px(130), 0], LEFT)
        below = self.word("if dealt like cards:", 42).move_to([left, foot - px(50), 0], LEFT)
        self.play(FadeIn(above, real, lag_ratio=0.2, run_time=1.6))
        self.say(
            "If blocks were dealt in turn, like cards, it would have got {a}, {b} and {c}.",
            **dict(zip("abc", self.dealt_to_it[1:], strict=True)),
        )
        self.play(FadeIn(below, dealt, lag_ratio=0.2, run_time=1.6))
        self.leave(dealt, below)
        marks = VGroup()
        for row, after in pairwise(self.mine):
            begin, end = float(row["done"]), float(after["start"])
            mark = bracket(lane.x(begin), lane.x(end), foot - px(40), self.theme.text)
            us = tr("{us:.1f} µs", us=(end - begin) / 1000)
            marks.add(VGroup(mark, label(us, 46, self.theme.text, bold=True).next_to(mark, DOWN, px(14))))
        self.say("This SM could not load data for its next tile early. So it waits for a launch and a load.")
        self.play(LaggedStart(*map(FadeIn, marks), lag_ratio=0.5, run_time=1.8))
        self.leave(lane, name, real, above, marks)
