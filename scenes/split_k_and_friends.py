"""Split-K and friends: which way of cutting tiles is fastest?

manim render scenes/split_k_and_friends.py

Four recorded runs of one kernel and one product, which differ only in which tiles are cut: none, all, as many
as equal shares take, and those beyond whole waves with one wave more.
"""

import numpy as np
from manim import DOWN, LEFT, Animation, FadeIn, LaggedStart, Mobject, VGroup

from tilesim import Device, Problem, Trace
from tilesim.analysis.time_account import LOOPS, account
from tilesim_scenes.animations.fade import Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.film.race_film import RaceFilm
from tilesim_scenes.film.traces import Default, shipped
from tilesim_scenes.kit.many_sms import ManySMs, Stacks
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import lines, px
from tilesim_scenes.look.theme import ink_on, sm_colour
from tilesim_scenes.mobjects.models.k_steps import Piece, Ribbon
from tilesim_scenes.mobjects.words.badge import Badge, of_trace
from tilesim_scenes.mobjects.words.key import Entry

SCHEDULES = ("naive", "split-k:2", "stream-k", "stream-k-hybrid")
PRODUCT = "1408x6912x4096-grouped8"
GROUP, NINE, LETTERS = 4, 9, "ABCD"
"""SMs, the tiles that are theirs together, and their names."""

FILM = {
    "title": "Split-K and friends",
    "question": "Which way of cutting tiles is fastest?",
    "finding": (
        "For 297 tiles on an H200, it is fastest to start with equal shares and to end with a whole tile "
        "on each SM. That takes 18% less time than whole tiles alone."
    ),
    "part": "Schedules",
    "place": 190,
    "seconds": 75,
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
        self.guard(4 * self.n == 9 * self.sms, "the halves are four and a half rounds")
        self.guard(
            [cut_tiles(t) for t in (whole, split)] == [0, self.n], "Split-K cuts all tiles, and none is whole"
        )
        self.guard(
            all(cut_tiles(t) * NINE == (GROUP - 1) * self.n for t in (stream, hybrid)),
            "Stream-K and the hybrid cut three of every nine tiles",
        )
        self.share = int(steps_of_sms(stream)[0])
        self.guard(
            all(set(steps_of_sms(t)) == {self.share} for t in (stream, hybrid)), "all SMs get as many steps"
        )
        self.guard(GROUP * self.share == NINE * self.steps, "four SMs share nine tiles")
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
        self.hues = [sm_colour(sm, GROUP) for sm in range(GROUP)]

    def construct(self) -> None:
        self.ask("A tile is a piece of a matrix that one processor computes at a time.")
        self.the_work()
        self.a_tile_can_be_cut()
        self.stage()
        self.no_cut()
        self.split_k()
        self.stream_k()
        self.hybrid()
        self.the_best()

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
            "Every number in a tile is a long sum, added up in {steps} steps.",
            steps=self.steps,
        )
        self.show_loaf(self.steps, self.four[0].problem.k)
        self.say("Two SMs can each do half the steps. One then adds the two results.")
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
            Entry(tr("load, write, add partial sums"), [rest]),
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
        # A square frame has no room for a run above all bars, so they take turns.
        self.in_turns = self.narrow and not self.tall
        self.upper = area if self.in_turns else area._replace(bottom=self.head.get_top()[1] + px(24))
        self.bars: list[Mobject] = [self.head]
        self.shown: list[Mobject] = []

    def clear_run(self) -> list[Animation]:
        """What is shown of a run leaves."""
        bars = self.bars[1:] and self.in_turns
        return [Leave(one) for one in self.shown + (self.bars if bars else [])]

    def run_of(self, number: int, title: str, seconds: float = 2.8) -> None:
        """The rows of a run in place of the one before, and what SMs wait at its end."""
        trace = self.four[number]
        lanes, name = self.rows(trace, self.upper, title, self.longest, self.fills)
        self.badge(of_trace(trace))
        self.play(*self.opening, *self.clear_run(), *self.appear(lanes, name))
        self.opening = []
        clock = self.clock(self.longest)
        self.lanes, self.shown = lanes, [lanes, name, clock]
        self.play(PlayTrace(clock, lanes, until=float(trace.makespan), run_time=seconds))
        # Right of all rows, so that it does not lie half on what is empty of them.
        end = self.ends(lanes, self.us[number]).set_x(lanes.get_right()[0] + px(12), LEFT)
        waiting = self.waiting(lanes)
        self.shown += [end, waiting]
        self.play(FadeIn(end, waiting, run_time=0.4))

    def bar_of(self, number: int) -> None:
        """The bar of an average SM's time in a run."""
        parts = self.stacks.parts[number]
        row = [self.stacks.names[number], *(part for part in parts if len(part)), self.stacks.sums[number]]
        new = [*self.bars, *row] if self.in_turns or number == 0 else row
        if self.in_turns:
            self.play(*map(Leave, self.shown))
            self.shown = []
        self.play(LaggedStart(*map(FadeIn, new), lag_ratio=0.3, run_time=1.8))
        self.bars += row

    def nine_tiles(self, text: str, shares: list[Piece]) -> None:
        """Nine tiles end to end, those that are cut lighter, and below them how four SMs share them."""
        self.badge(Badge(tr("schematic"), "model"))
        area, total, high = self.upper, NINE * self.steps, px(64)
        whole = []
        for begin in range(0, total, self.steps):
            end = begin + self.steps
            cut = any(begin < share.end < end for share in shares)
            hue = self.theme.operand if cut else self.theme.idle
            whole.append(Piece(begin, end, tr("cut") if cut else tr("whole"), hue))
        self.guard(
            sum(hue == self.theme.operand for *_, hue in whole) == GROUP - 1, "three of nine tiles are cut"
        )
        tiles, cuts = (Ribbon(row, total, area.width, high, size=40) for row in (whole, shares))
        above = self.word("{tiles} tiles of {steps} steps each", 40, self.theme.text,
                          tiles=NINE, steps=self.steps)  # fmt: skip
        below = lines(text, 40, area.width, color=self.theme.text)
        picture = VGroup(above, tiles, cuts, below).arrange(DOWN, buff=px(16))
        picture.scale(min(1.0, area.height / picture.height, area.width / picture.width))
        picture.move_to(area.center)
        self.play(
            *self.clear_run(), FadeIn(above),
            LaggedStart(*map(FadeIn, tiles), lag_ratio=0.1, run_time=1.0),
        )  # fmt: skip
        self.play(LaggedStart(*map(FadeIn, cuts), lag_ratio=0.3, run_time=1.6), FadeIn(below))
        self.shown = [picture]

    def no_cut(self) -> None:
        self.say(
            "After two rounds only {left} tiles are left, so {idle} of the {sms} SMs wait.",
            left=self.left,
            sms=self.sms,
            idle=self.sms - self.left,
        )
        self.run_of(0, tr("whole tiles on 132 SMs, one thin row each; time runs to the right"))
        note = self.note_in(
            self.lanes, self.last_round + 3000, self.left / self.sms, 1.0,
            tr("{idle} SMs wait", idle=self.sms - self.left), ink_on(self.theme.wait),
        )  # fmt: skip
        self.shown.append(note)
        self.play(FadeIn(note))
        self.bar_of(0)

    def split_k(self) -> None:
        self.say("The first way to cut, called Split-K, halves every tile.")
        rounds = 2 * self.n / self.sms
        self.run_of(1, tr("Split-K: {n} halves take {rounds:.1f} rounds", n=2 * self.n, rounds=rounds))
        self.say(
            "SMs wait {less:.1f} µs less, but loading and adding the halves costs {more:.1f} µs more.",
            less=self.parts[0][2] - self.parts[1][2],
            more=self.parts[1][1] - self.parts[0][1],
        )
        self.bar_of(1)

    def stream_k(self) -> None:
        self.say("Stream-K gives every SM {share} steps.", share=self.share)
        shares = [
            Piece(n * self.share, (n + 1) * self.share, f"{LETTERS[n]}: {self.share}", hue)
            for n, hue in enumerate(self.hues)
        ]
        self.nine_tiles(
            tr(
                "{n} tiles × {steps} steps / {sms} SMs = {share} steps",
                n=self.n, steps=self.steps, sms=self.sms, share=self.share,
            ),
            shares,
        )  # fmt: skip
        self.say("That cuts only three of every nine tiles.")
        self.run_of(2, tr("Stream-K: equal shares"))
        self.say(
            "Hardly any SM waits, but multiplying takes {slow:.1f} µs instead of {fast:.1f}.",
            slow=self.parts[2][0],
            fast=self.parts[0][0],
        )
        self.bar_of(2)

    def hybrid(self) -> None:
        self.say("A hybrid also starts with equal shares, but ends with a whole tile on each SM.")
        first = self.share - self.steps
        shares = []
        for begin, steps in ((0, first), (GROUP * first, self.steps)):
            for n, hue in enumerate(self.hues):
                at = begin + n * steps
                shares.append(Piece(at, at + steps, f"{LETTERS[n]}: {steps}", hue))
        self.nine_tiles(
            tr(
                "{share} steps for each SM = {first} of shared tiles + {steps} of its own",
                share=self.share,
                first=first,
                steps=self.steps,
            ),
            shares,
        )
        self.say("Again, three of every nine tiles are cut.")
        self.run_of(3, tr("hybrid: equal shares, then whole tiles"))
        self.say(
            "The hybrid cuts just as many tiles, yet multiplying takes {us:.1f} µs, not {slow:.1f}.",
            us=self.parts[3][0],
            slow=self.parts[2][0],
        )
        self.bar_of(3)

    def the_best(self) -> None:
        """The end card."""
        self.leave(*self.bars, *self.shown)
        self.close(
            "For {n} tiles on an H200, it is fastest to start with equal shares and to end with a whole tile "
            "on each SM. That takes {less:.0%} less time than whole tiles alone.",
            [
                (tr("whole tiles"), self.us[0]),
                (tr("hybrid"), self.us[3]),
            ],
            "less time",
            "{:.1f} µs",
            of_trace(self.four[0]),
            tr("C has 1408 × 6912 numbers, each a sum of 4096 products of 16-bit numbers."),
            n=self.n,
        )
