"""Split-K and friends: how much of a matrix product should be cut?

manim render scenes/split_k_and_friends.py

Four recorded runs of one kernel and one product, which differ only in which tiles are cut: none, all, as many
as equal shares take, and those beyond whole waves with one wave more.
"""

import numpy as np
from manim import DOWN, LEFT, FadeIn, LaggedStart, Mobject, VGroup

from tilesim import Device, Problem, Trace
from tilesim.analysis.time_account import LOOPS, account
from tilesim_scenes.animations.fade import Fade, Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.film.race_film import RaceFilm
from tilesim_scenes.film.scene import DIMMED
from tilesim_scenes.film.traces import Default, shipped
from tilesim_scenes.kit.many_sms import ManySMs, Stacks
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import px
from tilesim_scenes.mobjects.words.badge import Badge, of_trace
from tilesim_scenes.mobjects.words.key import Entry

SCHEDULES = ("naive", "split-k:2", "stream-k", "stream-k-hybrid")
PRODUCT = "1408x6912x4096-grouped8"

FILM = {
    "title": "Split-K and friends",
    "question": "How much of a matrix product should be cut?",
    "part": "Schedules",
    "place": 190,
    "seconds": 74,
    "shows": "One product with no tile cut, every tile cut, and two ways of equal shares.",
    "takes": "traces",
}


def cut_tiles(trace: Trace) -> int:
    """How many tiles are computed in parts."""
    return int(np.sum(np.bincount(trace.spans["tile"]) > 1))


def steps_of_sms(trace: Trace) -> np.ndarray:
    """How many steps each SM computes: int64, shape [SMs]."""
    spans, sms = trace.spans, trace.device.sms
    return np.bincount(spans["sm"], spans["k1"] - spans["k0"], sms).astype(np.int64)


def printed(trace: Trace) -> tuple[float, float, float]:
    """An average SM's µs of multiplying, of all else, and of waiting at the end, as they stand on screen.

    They add up to the time of the run as it is printed.
    """
    found, sms = account(trace), trace.device.sms
    multiply = round(sum(found[part] for part in LOOPS) / sms / 1000, 1)
    wait = round(found["tail"] / sms / 1000, 1)
    return multiply, round(round(trace.makespan / 1000, 1) - multiply - wait, 1), wait


class SplitKAndFriends(ManySMs):
    """Four plans of one product: which tiles are cut, and what an average SM's time goes to."""

    neutral = RaceFilm
    default = Default(
        SCHEDULES,
        Problem(1408, 6912, 4096, order="grouped:8"),
        Device.named("h200"),
        shipped=tuple(
            f"split_k_and_friends/h200-{name.replace(':', '')}-{PRODUCT}.npz" for name in SCHEDULES
        ),
    )

    def prepare(self) -> None:
        self.four = whole, split, stream, hybrid = [shipped(name) for name in self.default.shipped]
        self.sms, self.n, self.steps = whole.device.sms, whole.problem.tiles, whole.problem.k_steps
        alike = {(t.problem.title, t.meta["kernel"], t.meta["gpu"], t.meta["date"]) for t in self.four}
        self.guard(len(alike) == 1, "one kernel ran all plans on one day")
        self.rounds, self.left = divmod(self.n, self.sms)
        self.guard(self.rounds == 2, "33 tiles are left after two rounds")
        self.guard(
            [cut_tiles(t) for t in (whole, split)] == [0, self.n], "Split-K cuts all tiles, and none is whole"
        )
        self.cut = cut_tiles(stream)
        self.guard(cut_tiles(hybrid) == self.cut, "the hybrid cuts as many tiles as Stream-K")
        self.share = int(steps_of_sms(stream)[0])
        self.guard(
            all(set(steps_of_sms(t)) == {self.share} for t in (stream, hybrid)), "all SMs get as many steps"
        )
        self.shared = self.n - self.sms
        in_parts = hybrid.spans[hybrid.spans["k1"] - hybrid.spans["k0"] < self.steps]
        later = np.sort(hybrid.spans, order=["sm", "issue"])[np.cumsum(np.bincount(hybrid.spans["sm"])) - 1]
        self.guard(
            bool(np.all(later["k1"] - later["k0"] == self.steps))
            and not set(later["tile"]) & set(in_parts["tile"]),
            "each SM computes a whole tile at the end of the hybrid",
        )
        self.us = [round(t.makespan / 1000, 1) for t in self.four]
        self.parts = [printed(t) for t in self.four]
        multiply, rest, wait = (np.array(column) for column in zip(*self.parts, strict=True))
        self.guard(
            rest[1] - rest[0] > wait[0] - wait[1] > 0,
            "in Split-K, the cuts cost more than less waiting saves",
        )
        self.guard(max(wait[2:]) < 0.15 * wait[0], "hardly any SM waits in Stream-K and in the hybrid")
        self.guard(multiply[2] > 1.15 * multiply[0], "multiplying takes longer in Stream-K")
        self.guard(multiply[3] < 1.06 * multiply[0], "multiplying hardly takes longer in the hybrid")
        self.guard(
            self.us[3] == min(self.us) and self.us[1] == max(self.us),
            "the hybrid is fastest, Split-K slowest",
        )
        begun = np.sort(whole.spans["issue"])[self.n - self.left]
        self.last_round = float(begun)

    def construct(self) -> None:
        self.ask("A tile is a piece of a matrix that one processor computes at a time.")
        self.the_work()
        self.a_tile_can_be_cut()
        self.stage()
        self.no_cut()
        self.split_k()
        self.stream_k()
        self.hybrid()
        self.four_ways()

    def the_work(self) -> None:
        left, right = self.halves(0.66)
        tiles, boxes = self.tiles(self.four[0].problem, left), self.boxes(self.sms, right)
        self.say(
            "This matrix product has {n} tiles. The GPU has {sms} processors, called SMs.",
            n=self.n,
            sms=self.sms,
        )
        self.play(
            LaggedStart(*map(FadeIn, tiles), lag_ratio=0.005, run_time=2.0), FadeIn(self.title_of_tiles)
        )
        self.play(FadeIn(boxes, lag_ratio=0.01, run_time=1.4), FadeIn(self.title_of_boxes))
        self.leave(tiles, boxes, self.title_of_tiles, self.title_of_boxes)

    def a_tile_can_be_cut(self) -> None:
        """The picture of Stream-K: two SMs, and the price."""
        self.badge(Badge(tr("schematic"), "model"))
        self.say(
            "A tile is a sum of {steps} steps. Two SMs can share it, but adding their parts costs time.",
            steps=self.steps,
        )
        self.show_loaf(self.steps)
        self.halve_loaf()
        self.add_partial()
        self.leave(self.split)

    # Rows of the run that is spoken of, and below them the bars of all runs so far.

    def stage(self) -> None:
        """Where both go, on one scale of time."""
        theme = self.theme
        blue, rest = theme.by_phase["multiply"], theme.partial
        self.fills = dict.fromkeys(theme.by_phase, rest) | {"multiply": blue}
        self.entries = (
            Entry(tr("multiply"), [blue]),
            Entry(tr("start, load, write, add partial sums"), [rest]),
            Entry(tr("wait at the end"), [theme.wait]),
        )
        self.names = tr("whole tiles"), tr("Split-K"), tr("Stream-K"), tr("hybrid")
        self.longest = float(max(t.makespan for t in self.four))
        self.opening = list(self.key(*self.entries))
        area = self.area._replace(bottom=self.floor)
        row = px(118 if self.narrow else 78)
        self.stacks = Stacks(
            list(zip(self.names, self.parts, strict=True)), [blue, rest, theme.wait], area.width, row,
            size=40, above=self.narrow,
        )  # fmt: skip
        self.stacks.move_to([area.center[0], area.bottom, 0], DOWN)
        head = self.word("an average SM's time, in µs", 38, theme.quiet)
        self.head = head.next_to(self.stacks, np.array([0, 1, 0]), px(14)).set_x(area.left, LEFT)
        self.upper = area._replace(bottom=self.head.get_top()[1] + px(24))
        self.ticking = self.clock(self.longest)
        self.lanes: Mobject | None = None

    def run_of(self, number: int, title: str, seconds: float = 3.4) -> None:
        """The rows of a run in place of the one before, then its bar."""
        trace = self.four[number]
        lanes, name = self.rows(trace, self.upper, title, self.longest, self.fills)
        self.badge(of_trace(trace))
        before = [] if self.lanes is None else [Leave(one) for one in self.shown]
        self.ticking.show(0.0)
        self.play(*self.opening, *before, *self.appear(lanes, name))
        self.opening = []
        self.lanes, self.shown = lanes, [lanes, name]
        self.play(PlayTrace(self.ticking, lanes, until=float(trace.makespan), run_time=seconds))
        end = self.ends(lanes, self.us[number])
        self.shown.append(end)
        self.play(FadeIn(end, run_time=0.3))

    def bar_of(self, number: int) -> None:
        """The bar of an average SM's time in a run."""
        parts = self.stacks.parts[number]
        row = [self.stacks.names[number], *(part for part in parts if len(part)), self.stacks.sums[number]]
        if number == 0:
            row.insert(0, self.head)
        self.play(LaggedStart(*map(FadeIn, row), lag_ratio=0.3, run_time=1.6))

    def no_cut(self) -> None:
        self.say(
            "After {rounds} rounds, {left} whole tiles are left. {left} SMs compute them, and {idle} wait.",
            rounds=self.rounds,
            left=self.left,
            idle=self.sms - self.left,
        )
        self.run_of(0, tr("whole tiles on 132 SMs, one thin row each; time runs to the right"))
        note = self.note_in(self.lanes, self.last_round + 3000, self.left / self.sms, 1.0,
                            tr("{idle} SMs wait", idle=self.sms - self.left))  # fmt: skip
        self.shown.append(note)
        self.play(FadeIn(note))
        self.bar_of(0)

    def split_k(self) -> None:
        self.say("The first way, called Split-K, cuts every tile in two.")
        self.run_of(1, tr("Split-K: {n} halves", n=2 * self.n))
        self.say(
            "SMs wait less, but starting {halves} halves and adding them up costs more than this saves.",
            halves=2 * self.n,
        )
        self.bar_of(1)
        self.wait(0.5)

    def stream_k(self) -> None:
        self.say("Stream-K cuts only where an SM's equal share ends: every {share} steps.", share=self.share)
        self.run_of(2, tr("Stream-K: {cut} of {n} tiles cut", cut=self.cut, n=self.n))
        self.say(
            "Hardly any SM waits now, but multiplying takes {slow:.1f} µs instead of {fast:.1f}.",
            slow=self.parts[2][0],
            fast=self.parts[0][0],
        )
        self.bar_of(2)
        self.wait(0.5)

    def hybrid(self) -> None:
        self.say(
            "A hybrid splits only {shared} tiles this way. Then each SM computes one whole tile.",
            shared=self.shared,
        )
        self.run_of(
            3, tr("hybrid: {shared} tiles shared out, then {sms} whole", shared=self.shared, sms=self.sms)
        )
        self.say(
            "It cuts {cut} tiles too, yet multiplying takes {us:.1f} µs. So cuts alone do not slow it.",
            cut=self.cut,
            us=self.parts[3][0],
        )
        self.bar_of(3)
        self.wait(0.5)

    def four_ways(self) -> None:
        """The winner is lit; then the end card."""
        self.say("So share out just enough tiles to give each SM equal work, and leave the rest whole.")
        others = [
            one
            for number in (1, 2)
            for one in (self.stacks.names[number], *self.stacks.parts[number], self.stacks.sums[number])
        ]
        self.play(*(Fade(one, 1.0, DIMMED) for one in (*others, *self.shown)))
        self.wait(1.0)
        rows = VGroup(
            *self.stacks.names, *(p for parts in self.stacks.parts for p in parts), *self.stacks.sums
        )
        self.leave(*rows, self.head, *self.shown, self.ticking)
        self.close(
            "On an H200, sharing out the first {shared} of {n} tiles in equal parts "
            "takes {less:.0%} less time than computing all of them whole.",
            [
                (tr("whole tiles"), self.us[0]),
                (tr("first {shared} tiles shared out", shared=self.shared), self.us[3]),
            ],
            "less time",
            "{:.1f} µs",
            of_trace(self.four[0]),
            tr("C has 1408 × 6912 numbers, each a sum of 4096 products of 16-bit numbers."),
            shared=self.shared,
            n=self.n,
        )
