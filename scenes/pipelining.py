"""Pipelining: how can a GPU avoid waiting for its data?

manim render scenes/pipelining.py

One, two and three buffers between memory and tensor cores. Lanes are a model's, with the times of a load and
a multiplication that follow from measured steps; the times at the end are those of the GPU.
"""

from itertools import pairwise

import numpy as np
from manim import DOWN, LEFT, RIGHT, LaggedStart, Mobject, Transform, VGroup

from tilesim import Device, Problem
from tilesim.ideas.pipelining import pipeline, times
from tilesim_scenes.animations.fade import Fade, FadeIn, Leave, late
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.kit.amounts import Amount, Amounts
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.kit.work import Work
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, label, px
from tilesim_scenes.mobjects.drawing.quads import bracket
from tilesim_scenes.mobjects.models.pipelined_sm import PipelinedSM, PipelineRows
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Pipelining",
    "question": "How can a GPU avoid waiting for its data?",
    "finding": ("On an H200, a whole matrix product is 2.3 times as fast with three buffers as with one."),
    "part": "Hiding waits",
    "place": 100,
    "seconds": 79,
    "shows": "One, two and three buffers between memory and tensor cores, and what a GPU gains by them.",
    "takes": "report",
}
STEPS = 6
"""Of a tile, as many as a lane has room for."""
ENOUGH = 3
"""Buffers with which the film ends."""
PACE = 1000.0
"""Of a lane, ns in a second of film."""
NAMES = 260
"""Pixels for the name of a lane, left of it."""


class Pipelining(Lesson):
    """The same steps through one, two and three buffers."""

    def prepare(self) -> None:
        report = self.report("pipelining")
        rows = {one["stages"]: one for one in report["rows"]}
        self.guard({1, 2, 3, 4} <= set(rows), "one to four buffers were measured")
        self.gpu, row = report["machine"]["gpu"], rows[1]
        self.m, self.n, self.k = row["m"], row["n"], row["k"]
        self.problem = Problem(self.m, self.n, self.k, tuple(row["tile"]), row["dtype"], row["order"])
        self.steps, self.tiles = self.problem.k_steps, self.problem.tiles
        self.guard("H200" in self.gpu, "the product ran on an H200")
        self.guard(self.tiles <= Device.named("h200").sms, "all tiles are computed at the same time")
        self.step_ns = {buffers: one["k_step_ns"] for buffers, one in rows.items()}
        self.us = {buffers: one["us"] for buffers, one in rows.items()}
        self.load, self.multiply = times(self.step_ns)
        self.load_us, self.multiply_us = self.load / 1000, self.multiply / 1000
        self.step, self.two, self.three = (self.step_ns[buffers] / 1000 for buffers in (1, 2, 3))
        self.guard(self.load > self.multiply, "a load takes longer than a multiplication")
        self.guard(self.load <= 2 * self.multiply, "two multiplications take longer than a load")
        shorter = self.step > 1.1 * self.two and self.two > 1.1 * self.three
        self.guard(shorter, "each buffer makes a step shorter")
        self.guard(self.two > self.load_us, "a step with two buffers takes longer than a load")
        self.guard(self.step_ns[4] > 0.97 * self.step_ns[3], "a fourth buffer saves nearly nothing")
        self.guard(self.three < 1.03 * self.multiply_us, "two loads at once end within two multiplications")
        self.pipelines = {n: pipeline(STEPS, n, self.load, self.multiply) for n in (1, 2, ENOUGH)}
        self.guard(not self.pipelines[ENOUGH].bubbles[1:].any(), "three buffers leave one wait")
        self.until, self.work = self.pipelines[1].makespan, VGroup()
        self.note = VGroup()

    def construct(self) -> None:
        self.ask(
            "A GPU multiplies matrices in its tensor cores. They can only work on data that has arrived."
        )
        if self.given.get("work", True):
            self.the_work()
        self.one_pair()
        self.one_buffer()
        self.two_buffers()
        self.three_buffers()
        self.step_times()
        self.close(
            "On an H200, a whole matrix product is {times:.1f} times as fast with three buffers as with one.",
            [(tr("one buffer"), self.us[1]), (tr("three buffers"), self.us[ENOUGH])],
            "times",
            "{:.1f} µs",
            self.measured(),
            self.tr("whole time, start and writing included; {m} × {n} numbers of 16 bits"),
        )

    def the_work(self) -> None:
        """The product, and a tile's strips, along which its steps run."""
        self.work = Work(self.problem, self.area, tile=3 * self.problem.tiles_n + 4)
        self.badge(Badge(tr("schematic"), "model"))
        self.say("The product is cut into tiles. Each of {tiles} processors of the GPU computes one tile.")
        for act in self.work.come():
            self.play(*act)
        self.say(
            "The strips are cut into {steps} chunks. Each step multiplies a pair: a chunk of A by one of B."
        )
        strips = self.work.strips
        pairs = zip(strips[: self.steps], strips[self.steps :], strict=True)
        self.play(*(chunk.animate.set_opacity(0.2) for chunk in strips), run_time=0.4)
        lit = (VGroup(*pair).animate(run_time=0.3).set_opacity(1.0) for pair in pairs)
        self.play(LaggedStart(*lit, lag_ratio=0.4))

    def one_pair(self) -> None:
        """The first step: its pair comes into the only buffer, and from there to the tensor cores."""
        self.badge(Badge(tr("model, from measured steps"), "model"))
        key = self.key(
            Entry(tr("load"), [self.hue], hatched=True),
            Entry(tr("multiply"), [self.hue]),
            Entry(tr("tensor cores wait"), [self.theme.wait]),
        )
        self.say("A processor loads a pair into its buffer. Its tensor cores read it there and multiply it.")
        self.sm = self.machine(1)
        self.lanes, self.names = [self.lane(1)], [self.name(1)]
        shown = fit(self.word("steps 1 to {shown} of {steps}", 38, shown=STEPS), 1.1 * px(NAMES))
        self.axis = VGroup(self.above(self.word("time →", 38), self.area.right, RIGHT))
        self.axis.add(self.above(shown, self.area.left, LEFT))
        self.play(Leave(self.work), FadeIn(self.sm), *key)
        self.ticking = self.clock(self.until)
        self.play(FadeIn(self.lanes[0], self.names[0], self.axis))
        self.run_to(self.load + self.multiply, 3.0)

    def one_buffer(self) -> None:
        """More steps, in each of which a load comes before its multiplication."""
        self.say("With one buffer, the next load must wait, or it would overwrite what is being multiplied.")
        self.run_to(self.until / 2)
        self.say(
            "So loading and multiplying take turns: {load_us:.2f} plus {multiply_us:.2f}, "
            "or {step:.2f} µs a step."
        )
        self.run_to(self.until)
        lane, begin = self.lanes[-1], self.pipelines[1].steps["load"][2]
        y, brackets = lane.grounds.get_bottom()[1] - px(30), VGroup()
        for since, until in pairwise((begin, begin + self.load, begin + self.load + self.multiply)):
            left, right = lane.x(since) + px(4), lane.x(until) - px(4)
            brackets.add(bracket(left, right, y, self.theme.text))
        total = self.bold("load {load_us:.2f} + multiply {multiply_us:.2f} = {step:.2f} µs", 44)
        brackets.add(total.next_to(brackets, DOWN, px(16)))
        self.play(FadeIn(brackets))
        self.leave(brackets)

    def two_buffers(self) -> None:
        self.say(
            "With two buffers, it loads one pair while it multiplies another. This is called pipelining."
        )
        self.another(2, self.word("one buffer is kept for the pair in use", 38))
        self.run_to(self.pipelines[2].makespan / 2)
        self.say("But a load takes longer than a multiplication, so the tensor cores still wait.")
        self.another_note(self.bold("load {load_us:.2f} µs > multiply {multiply_us:.2f} µs", 38))
        self.run_to(self.pipelines[2].makespan)

    def three_buffers(self) -> None:
        self.say("With three buffers, two loads can run at once, because memory can serve both.")
        self.another(ENOUGH, self.word("model: neither load slows the other down", 38))
        self.run_to(self.pipelines[ENOUGH].makespan / 2)
        self.say(
            "Each load may now take as long as two multiplications, "
            "so the tensor cores wait only for the first one."
        )
        self.another_note(self.bold("load {load_us:.2f} µs < multiply 2 × {multiply_us:.2f} µs", 38))
        self.run_to(self.pipelines[ENOUGH].makespan)
        self.leave(*self.lanes, *self.names, self.axis, self.note, self.sm, self.ticking)

    def another(self, buffers: int, note: Mobject) -> None:
        """The same steps once more with one more buffer; the lane before makes room below."""
        machine = self.machine(buffers)
        lane, name = self.lane(buffers), self.name(buffers)
        moves = [Leave(self.note)]
        for place, (old, its) in enumerate(zip(reversed(self.lanes), reversed(self.names), strict=True), 1):
            target = self.slot(place)
            moves += [old.animate.move_to(target), its.animate.set_y(target[1])]
        back = PlayTrace(self.ticking, until=0)
        self.play(Transform(self.sm.buffers, machine.buffers), *moves, back, run_time=1.2)
        self.remove(self.sm)
        self.sm = machine
        self.add(self.sm)
        self.lanes.append(lane)
        self.names.append(name)
        self.note = self.noted(note)
        self.play(FadeIn(lane, name, self.note), Fade(self.lanes[-2], 1.0, 0.5), run_time=0.4)

    def another_note(self, words: Mobject) -> None:
        old, self.note = self.note, self.noted(words)
        self.play(Leave(old), Fade(self.note, 0.0, 1.0, rate_func=late))

    def noted(self, words: Mobject) -> Mobject:
        """A note above the lanes, between the two words of their axis."""
        left, right = self.axis[1].get_right()[0] + px(30), self.axis[0].get_left()[0] - px(30)
        return self.above(fit(words, right - left), left, LEFT)

    def step_times(self) -> None:
        """What a step took on the GPU with one to four buffers."""
        self.badge(self.measured())
        us = {buffers: self.step_ns[buffers] / 1000 for buffers in (1, 2, 3, 4)}
        rows = [
            Amount(self.buffers(n), [(one, self.theme.measured)], tr("{us:.2f} µs", us=one))
            for n, one in us.items()
        ]
        two = self.tr("two buffers (our model says {load_us:.2f} µs)")
        rows[1] = rows[1]._replace(name=two)
        self.say(
            "On the real GPU, three buffers cut a step from {step:.2f} to {three:.2f} µs. "
            "A fourth hardly helps."
        )
        bars, title = Amounts(rows, self.area.width, bar=72, gap=30), self.bold("time of one step", 50)
        note = self.word(
            "memory serves two loads at once: a pair arrives every {three:.2f} µs, not every {two:.2f}",
            42, self.theme.text,
        )  # fmt: skip
        picture = VGroup(title, bars, note).arrange(DOWN, buff=px(30), aligned_edge=LEFT)
        fit(picture, np.inf, self.area.height).move_to(self.area.center)
        self.play(FadeIn(title), *self.key(), bars.come())
        self.play(FadeIn(note, run_time=0.3))
        self.leave(picture)

    def run_to(self, until: float, seconds: float | None = None) -> None:
        moving = (self.sm, self.lanes[-1], self.ticking)
        self.play(PlayTrace(*moving, until=float(until), pace=PACE, run_time=seconds))

    # How it is laid out

    def machine(self, buffers: int) -> PipelinedSM:
        """Memory, buffers and tensor cores, in the upper half."""
        area, high = self.area, self.machine_height
        sm = PipelinedSM(self.pipelines[buffers], area.width, high, room_for=ENOUGH, colour=self.hue)
        return sm.move_to([area.center[0], area.top - high / 2, 0])

    @property
    def machine_height(self) -> float:
        return min(0.38 * self.area.height, 0.42 * self.area.width)

    @property
    def lane_height(self) -> float:
        return (self.area.top - self.machine_height - px(64) - self.floor) / 3.5

    def slot(self, place: int) -> list[float]:
        """The middle of a lane: 0 is the newest, on top."""
        y = self.floor + (2.9 - 1.2 * place) * self.lane_height
        return [self.area.right - self.lane_width / 2, y, 0]

    def above(self, word: Mobject, x: float, side: np.ndarray) -> Mobject:
        """A word above the lanes, its left or right side at `x`."""
        return word.move_to([x, self.slot(0)[1] + self.lane_height / 2 + px(10), 0], side + DOWN)

    @property
    def lane_width(self) -> float:
        return self.area.width - px(NAMES)

    def lane(self, buffers: int) -> PipelineRows:
        """Loads and multiplications over time."""
        size = self.lane_width, self.lane_height
        return PipelineRows(self.pipelines[buffers], self.until, *size, self.hue).move_to(self.slot(0))

    def name(self, buffers: int) -> Mobject:
        name = fit(label(self.buffers(buffers), 40, self.theme.text, bold=True), 0.92 * px(NAMES))
        return name.move_to([self.area.left, self.slot(0)[1], 0], LEFT)

    def buffers(self, count: int) -> str:
        return [tr("one buffer"), tr("two buffers"), tr("three buffers"), tr("four buffers")][count - 1]
