"""Naive: which processor computes which tile?

manim render scenes/naive.py

Thread blocks wait in one queue, and an SM that becomes free gets the next one: first on four simulated SMs, where
it looks like dealing in turn, then in a recorded run on 132, where it does not.
"""

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, FadeIn, ManimColor, Rectangle, VGroup

from tilesim import simulate
from tilesim_scenes.animations.fade import Fade, Leave
from tilesim_scenes.animations.run import Run
from tilesim_scenes.animations.zoom import Zoom
from tilesim_scenes.film.traces import shipped
from tilesim_scenes.kit.few_sms import DEVICE, PRODUCT, SMS, FewSMs
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import Figure, px
from tilesim_scenes.look.theme import ink_on
from tilesim_scenes.mobjects.traces.lane_image import LaneImage
from tilesim_scenes.mobjects.traces.lanes import LaneVectors
from tilesim_scenes.mobjects.words.badge import of_trace

RECORDED = "traces/h200-naive-4096x4096x512-grouped8.npz"


class Naive(FewSMs):
    """Blocks in a queue, on four simulated SMs and on 132 recorded ones."""

    def prepare(self) -> None:
        self.trace, self.run = simulate("naive", PRODUCT, DEVICE), shipped(RECORDED)
        spans = self.trace.spans[np.argsort(self.trace.spans["cta"])]
        self.done = np.sort(spans["done"])
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
        ticks = 64  # ns: the timer's steps are 32 ns
        self.guard(
            bool(np.diff(real["issue"][sms:]).min() >= -ticks), "blocks begin in the order of their numbers"
        )
        self.expected = np.arange(sms, len(real))[real["sm"][sms:] == real["sm"][: len(real) - sms]]
        self.waited = len(real) - sms
        self.guard(len(self.expected) < 0.1 * self.waited, "hardly any block runs where dealing would put it")
        self.followed = int(real["sm"][0])
        mine = self.run.spans[self.run.spans["sm"] == self.followed]
        self.mine = mine[np.argsort(mine["start"])]
        self.dealt_to_it = list(range(0, len(real), sms))
        self.guard(
            len(self.mine) == len(self.dealt_to_it)
            and not set(self.mine["cta"][1:]) & set(self.dealt_to_it[1:]),
            "the first block's SM got other blocks than dealing would give it",
        )

    def lesson(self) -> None:
        self.open("Naive", "Which processor computes which tile?", "A GPU is made of many small processors.")
        self.a_queue()
        self.first_tiles()
        self.the_next_block()
        self.the_end()
        self.a_real_gpu()
        self.one_of_many()
        self.fourteen()

    def a_queue(self) -> None:
        self.say("A small GPU with four processors computes 18 tiles of a matrix product.")
        self.badge(of_trace(self.trace))
        self.play(*self.show_tiles())
        self.say("The naive kernel starts a thread block, a group of threads, for each tile.")
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
        self.play(*self.unroll(self.trace, (0.0, 1.35 * end)), *self.key(*self.colors()))
        self.ready()
        self.run_to(float(self.first["done"].min()) - 300, 3.5)

    def the_next_block(self) -> None:
        """The first SM to be free gets the next block; time passes slowly."""
        begin, end = float(self.first["done"].min()), float(self.first["done"].max())
        early = self.first[np.argsort(self.first["done"])]
        self.say(
            "SM {sm} is free first, by {ns} nanoseconds, so it gets the next block, number 4.",
            sm=int(early["sm"][0]), ns=int(early["done"][1] - early["done"][0]),
        )  # fmt: skip
        ends = VGroup()
        for block in self.first:
            lane = self.lanes.lane(int(block["sm"]))
            figure = self.word("free at {us:.3f} µs", 38, self.theme.text, us=block["done"] / 1000)
            figure.move_to([lane.get_right()[0] - px(24), lane.get_y(), 0], RIGHT)
            ends.add(figure)
        self.run_to(begin + 20, 1.2)
        self.run_to(end + 1200, 3.0, along=[FadeIn(ends, lag_ratio=0.2)])
        self.leave(ends)

    def the_end(self) -> None:
        self.say("No plan says so. A free SM simply gets the next block.")
        self.play(
            Zoom(self.lanes, window=(0.0, float(self.trace.makespan)), over=[self.blocks, self.traffic])
        )
        self.run_to(min(self.idle_since.values()), 4.0)
        makespan = float(self.trace.makespan)
        words = VGroup(*(self.idle(sm, since, makespan) for sm, since in self.idle_since.items()))
        self.say("The last two blocks occupy two SMs. The other two have nothing left to do.")
        self.run_to(makespan, 3.0, along=[FadeIn(words)])
        self.leave(words)
        large = 1.6
        self.say("So nobody knows in advance which SM will compute which tile.")
        self.play(
            *(Fade(one, 1.0, 0.15) for one in (self.lanes,)), Leave(self.blocks),
            run_time=0.4,
        )  # fmt: skip
        self.remove(self.traffic)
        colored = VGroup(self.grid, self.traffic)
        self.add(colored)
        self.play(colored.animate(run_time=1.2).scale(large).move_to(self.area.center))
        self.leave(colored, self.lanes, self.ticking)
        self.play(*self.key())

    def a_real_gpu(self) -> None:
        """132 lanes in one color, as here it does not matter which SM is which."""
        area, colors = self.area, self.theme.by_phase
        self.badge(of_trace(self.run))
        self.ticking = self.clock(self.run.makespan)
        key = self.key(
            ("launch", colors["launch"]),
            ("load", colors["first load"]),
            ("multiply", colors["multiply"]),
            ("write", colors["write"]),
        )
        high = area.top - self.floor - px(90)
        self.all = LaneImage(
            self.run, [self.followed, *(sm for sm in range(self.many) if sm != self.followed)],
            (0.0, float(self.run.makespan)), area.width, height=high, fills=colors,
        )  # fmt: skip
        self.all.move_to([area.center[0], self.floor + high / 2 + px(10), 0])
        title = self.word("132 SMs, one thin row each", 44, self.theme.text).next_to(
            self.all, UP, px(20), aligned_edge=LEFT
        )
        self.say(
            "But look at a real GPU with {sms} SMs and {tiles} tiles.",
            sms=self.many,
            tiles=self.run.problem.tiles,
        )
        self.play(*key, Fade(self.all, 0.0, 1.0), FadeIn(title))
        self.play(Run(self.ticking, self.all, until=float(self.run.makespan), run_time=3.5))
        self.title_of_all = title

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
        self.say(
            "Dealt in turn, block 0 would be followed by blocks {a}, {b} and {c}.",
            a=self.dealt_to_it[1],
            b=self.dealt_to_it[2],
            c=self.dealt_to_it[3],
        )
        self.play(
            Leave(self.all), Leave(self.title_of_all), Leave(self.ticking), Fade(lane, 0.0, 1.0), FadeIn(name)
        )
        dealt, real = VGroup(), VGroup()
        for row, number in zip(self.mine, self.dealt_to_it, strict=True):
            x = lane.x(float(row["start"] + row["drain"]) / 2)
            dealt.add(
                Figure(str(number), 56, color=self.theme.quiet, align=0.5).move_to(
                    [x, lane.get_top()[1] + px(60), 0]
                )
            )
            real.add(
                Figure(str(int(row["cta"])), 64, color=ink_on(colors["multiply"]), align=0.5).move_to(
                    [x, lane.get_y(), 0]
                )
            )
        left = lane.get_left()[0]
        above = self.word("dealt in turn:", 42).move_to([left, lane.get_top()[1] + px(130), 0], LEFT)
        below = self.word("recorded:", 42, self.theme.text).move_to(
            [left, lane.get_bottom()[1] - px(50), 0], LEFT
        )
        self.play(FadeIn(above, dealt, lag_ratio=0.2, run_time=1.6))
        blocks = [int(row["cta"]) for row in self.mine]
        self.say(
            "In fact, {a}, {b} and {c} followed, because other SMs had become free earlier.",
            a=blocks[1],
            b=blocks[2],
            c=blocks[3],
        )
        self.play(FadeIn(below, real, lag_ratio=0.2, run_time=1.6))
        self.leave(lane, name, dealt, real, above, below)

    def fourteen(self) -> None:
        """Every later tile on the map of C: those where dealing would have put them."""
        area, problem = self.area, self.run.problem
        count = len(self.expected)
        columns = 38 if not self.tall else 19
        rows = -(-self.waited // columns)
        cell = min((0.62 if not self.tall else 1.0) * area.width / columns, 0.7 * area.height / rows)
        cells = VGroup()
        hit = set(int(number) for number in self.expected)
        for n in range(self.waited):
            row, column = divmod(n, columns)
            number = n + self.many
            color = self.theme.measured if number in hit else self.theme.hand_over
            one = Rectangle(
                width=0.8 * cell,
                height=0.8 * cell,
                stroke_width=0,
                fill_color=ManimColor(color),
                fill_opacity=1.0,
            )
            cells.add(one.move_to([column * cell, -row * cell, 0]))
        cells.move_to([area.left, area.center[1], 0], LEFT) if not self.tall else cells.move_to(
            area.center + px(150) * UP
        )
        right = VGroup(*(cells[n] for n in range(self.waited) if n + self.many in hit))
        number = Figure(tr("{count} of {all}", count=count, all=self.waited), 110, mono=False)
        note = self.word("blocks on the SM where dealing would put them", 40)
        beside = VGroup(number, note).arrange(DOWN, buff=px(30))
        if note.width > 0.36 * area.width:
            note.become(
                VGroup(self.word("on the SM where", 42), self.word("dealing would put them", 42))
                .arrange(DOWN, buff=px(16))
                .next_to(number, DOWN, px(30))
            )
        beside.move_to([area.right - beside.width / 2, area.center[1], 0])
        if self.tall:
            beside.next_to(cells, DOWN, px(60)).set_x(area.center[0])
        self.say(
            "Of the {all} blocks that waited, only {count} ran where dealing would put them.",
            all=self.waited,
            count=count,
        )
        self.play(FadeIn(cells, lag_ratio=0.004, run_time=1.8), *self.key())
        others = [cell for cell in cells if cell not in right.submobjects]
        self.play(*(one.animate.set_opacity(0.35) for one in others), FadeIn(beside), run_time=0.8)
        self.leave(cells, beside)
        self.close(
            "A thread block runs on whichever SM is free first. On an H200, only {second:.0f} of {all} blocks ran where dealing would put them.",
            [("elsewhere", float(self.waited - count)), ("where dealing in turn would put it", float(count))],
            "{second:.0f} of {all}",
            "{:.0f}",
            of_trace(self.run),
            "512 thread blocks on 132 SMs; the 380 that had to wait",
            all=self.waited,
        )
