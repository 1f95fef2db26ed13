"""Ladder: what makes the same matrix product almost 30 times as fast?

manim render scenes/ladder.py

Programs for one product, each with another idea than the one before, timed on an H200. Counters say for which
share of the time the tensor cores work, so that what is left is waiting; it is what the steps take away.
"""

from itertools import pairwise

from manim import DOWN, LEFT, FadeIn, VGroup

from tilesim import Problem
from tilesim.ladder.file import ladders, read
from tilesim.ladder.steps import LadderStep
from tilesim_scenes.film.settings import LADDER
from tilesim_scenes.kit.amounts import Amount, Amounts
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.kit.work import Work
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import px
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Ladder",
    "question": "What makes the same matrix product almost 30 times as fast?",
    "part": "Kernels",
    "place": 250,
    "seconds": 66,
    "shows": "Six programs for one product, each with one more idea, and how long their tensor cores wait.",
    "takes": "ladder",
}
SHAPE = (8192, 8192, 512)
"""M, N and K."""
TOLD = ("uncoalesced", "coalesced", "tiled", "pipelined", "overlapped", "ping-pong", "cublas")
"""Steps of the ladder that the film tells, and the library."""
CORES = 4
"""Tensor cores of an SM, each of which counts its own busy cycles."""


class Ladder(Lesson):
    """One product by six kernels: how long each takes, and for how much of it the tensor cores work."""

    asked = LADDER

    def prepare(self) -> None:
        ladder = read(self.given["ladder"]) if "ladder" in self.given else ladders()[0]
        steps = {step.name: step for step in ladder.rows if (step.m, step.n, step.k) == SHAPE}
        self.guard(set(TOLD) <= set(steps), "seven programs compute one product")
        self.gpu = ladder.machine["gpu"]
        self.guard("H200" in self.gpu, "they ran on an H200")
        self.steps = [steps[name] for name in TOLD]
        self.guard(
            all(step.tensor_cycles and step.sm_cycles for step in self.steps), "tensor cores are counted"
        )
        self.us = [step.us for step in self.steps]
        *own, library = self.us
        self.guard(all(a > 1.05 * b for a, b in pairwise(own)), "each step saves time")
        self.guard(27 < own[0] / own[-1] < 30, "the last program is almost 30 times as fast")
        self.shares = [self.share(step) for step in self.steps]
        self.guard(self.shares[0] < 0.03, "97 % of the first program's time is waiting")
        busy = [us * share for us, share in zip(own, self.shares, strict=False)]
        self.guard(max(busy) < 1.2 * min(busy), "multiplying takes about equally long in all of them")
        self.guard(library > own[-1], "the last program is faster than the library")

    @staticmethod
    def share(step: LadderStep) -> float:
        """Of the time, in which tensor cores work."""
        return (step.tensor_cycles or 0.0) / (CORES * (step.sm_cycles or 1.0))

    def construct(self) -> None:
        self.ask("Tensor cores are the parts of a GPU that multiply matrices.")
        if self.given.get("work", True):
            self.the_work()
        self.the_slowest()
        self.steps_up()
        self.close(
            "On an H200, the same matrix product is {times:.1f} times as fast if its tensor cores "
            "wait for {after:.0%} of the time instead of {before:.0%}.",
            [(tr("the first program"), self.us[0]), (tr("the sixth program"), self.us[-2])],
            "times",
            "{:,.1f} µs",
            Badge(tr("measured on {gpu}", gpu=self.gpu), "measured"),
            tr("8192 × 8192 numbers, each a sum of 512 products of 16-bit numbers"),
            after=1 - self.shares[-2],
            before=1 - self.shares[0],
        )

    def the_work(self) -> None:
        problem = Problem(*SHAPE)
        work = Work(problem, self.area, tile=12 * problem.tiles_n + 9)
        self.badge(Badge(tr("model"), "model"))
        self.say("We multiply two matrices by six programs. Each computes the result tile by tile.")
        for act in work.come():
            self.play(*act)
        self.leave(work)

    def amount(self, number: int, name: str) -> Amount:
        us, share = self.us[number], self.shares[number]
        parts = [(us * share, self.theme.by_phase["multiply"]), (us * (1 - share), self.theme.wait)]
        return Amount(name, parts, tr("{us:,.1f} µs", us=us))

    def the_slowest(self) -> None:
        """The first two programs, on one scale."""
        self.badge(Badge(tr("measured and counted on {gpu}", gpu=self.gpu), "measured"))
        key = self.key(
            Entry(tr("tensor cores multiply"), [self.theme.by_phase["multiply"]]),
            Entry(tr("tensor cores wait"), [self.theme.wait]),
        )
        rows = [
            self.amount(0, tr("1: threads read down columns")),
            self.amount(1, tr("2: neighboring threads read neighboring numbers")),
        ]
        bars = self.chart(Amounts(rows, self.area.width))
        self.say(
            "The first takes {us:,.0f} µs. For {share:.0%} of that time, its tensor cores stand still.",
            us=self.us[0],
            share=1 - self.shares[0],
        )
        self.play(*key)
        self.play(bars.come(0), run_time=3.4)
        self.say(
            "Its threads read numbers that lie far apart. "
            "If they read neighboring ones, it takes {us:.0f} µs.",
            us=self.us[1],
        )
        self.play(bars.come(1), run_time=3.4)
        self.leave(bars)

    def steps_up(self) -> None:
        """All programs but the first, enlarged, as each comes in turn; then the library."""
        names = [
            tr("2: neighboring threads read neighboring numbers"),
            tr("3: larger tiles"),
            tr("4: loads run two steps ahead"),
            tr("5: a tile is written while the next is multiplied"),
            tr("6: two groups of threads take turns"),
            tr("NVIDIA’s library, cuBLAS"),
        ]
        amounts = [self.amount(number, name) for number, name in enumerate(names, 1)]
        bars = Amounts(amounts, self.area.width, bar=40, size=38, gap=8)
        title = self.word("enlarged {times:.0f} times", 38, times=self.us[0] / self.us[1])
        picture = self.chart(VGroup(title, bars).arrange(DOWN, buff=px(4), aligned_edge=LEFT))
        self.say("A larger tile uses each number more often, so there is less to load.")
        self.play(FadeIn(title, bars[0]))
        self.play(bars.come(1), run_time=3.4)
        self.say("If loads run ahead, data is there when it is needed: {us:.0f} µs.", us=self.us[3])
        self.play(bars.come(2), run_time=3.4)
        self.say("If a tile is written while the next is multiplied, it takes {us:.0f} µs.", us=self.us[4])
        self.play(bars.come(3), run_time=3.4)
        self.say(
            "At last, two groups of threads take turns to multiply and to write: {us:.0f} µs.",
            us=self.us[5],
        )
        self.play(bars.come(4), run_time=3.4)
        self.say("Multiplying takes about as long in all of them. What the steps take away is waiting.")
        self.focus(*(row[2][0] for row in bars[:5]))
        self.wait(2.0)
        self.unfocus()
        self.say("For comparison, NVIDIA’s own library takes {us:.0f} µs for this product.", us=self.us[6])
        self.play(bars.come(5), run_time=3.4)
        self.leave(picture)

    def chart(self, picture: VGroup) -> VGroup:
        """A picture in the middle, above the key."""
        area = self.area
        room = area.top - self.floor - px(60)
        picture.scale(min(1.0, room / picture.height))
        return picture.move_to([area.center[0], self.floor + px(50) + room / 2, 0])
