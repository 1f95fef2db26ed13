"""Busy SMs: what if another program holds one processor?

manim render scenes/busy_sms.py

Recorded runs of one product: a fixed list of tiles for each SM, with all SMs free and with one held; and a
block for each tile, with one SM held as well.
"""

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, FadeIn, FadeOut, LaggedStart, Mobject, VGroup

from tilesim import Device, Problem, Trace
from tilesim.gemm import kernel_of
from tilesim.gemm.fit import limits_of
from tilesim.ladder.reports import report
from tilesim.products import Product
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.film.race_film import RaceFilm
from tilesim_scenes.film.runs import written_after_hand_over
from tilesim_scenes.film.traces import Default, shipped
from tilesim_scenes.kit.lane_words import in_lane
from tilesim_scenes.kit.many_sms import ManySMs, alike_together, round_ends
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, lines, px
from tilesim_scenes.look.theme import Colour, ink_on, mixed
from tilesim_scenes.mobjects.drawing.quads import diagonals, rectangle, strokes
from tilesim_scenes.mobjects.hardware.memory import SM
from tilesim_scenes.mobjects.hardware.thread_block import ThreadBlock
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors
from tilesim_scenes.mobjects.traces.time_bracket import TimeBracket
from tilesim_scenes.mobjects.words.badge import Badge, of_trace
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Busy SMs",
    "question": "What if another program holds one processor?",
    "finding": (
        "On an H200 with one of its 132 SMs held, fixed lists of tiles take 1.9 times as long. With a "
        "block for each tile, it is only 217.2 µs."
    ),
    "part": "Schedules",
    "place": 200,
    "seconds": 79,
    "shows": "A kernel with fixed lists of tiles while one SM is held, and one with a block for each tile.",
    "takes": "traces",
}

PRODUCT = "4224x4096x4096-grouped8"
HELD, PALE = 1, 0.35
"""SMs held in the run without lists; the share of gray behind the hatch of what is held."""
LANE = 84
"""Pixels of a lane that is shown by itself."""


def rounds(trace: Trace) -> int:
    """How many tiles the busiest SM computes.

    >>> from tilesim import simulate
    >>> rounds(simulate("naive", Problem(128, 1280, 64), Device(4)))
    2
    """
    return int(np.bincount(trace.spans["sm"]).max())


class BusySms(ManySMs):
    """Fixed lists of tiles, and tiles that free SMs take, while another program holds SMs."""

    neutral = RaceFilm
    default = Default(
        ("naive", "persistent", "persistent-dynamic"),
        Problem(4224, 4096, 4096, order="grouped:8"),
        Device.named("h200", busy_sms=HELD),
        shipped=tuple(
            f"busy_sms/h200-{name}-busy{HELD}-{PRODUCT}.npz"
            for name in ("naive", "persistent", "persistent-dynamic")
        ),
    )

    def prepare(self) -> None:
        self.free, self.one, self.naive = every = [
            shipped(f"busy_sms/h200-{name}-{PRODUCT}.npz")
            for name in ("persistent-busy0", "persistent-busy1", f"naive-busy{HELD}")
        ]
        self.sms, self.n = self.free.device.sms, self.free.problem.tiles
        alike = {(t.problem.title, t.meta["gpu"]) for t in every}
        self.guard(len(alike) == 1, "all runs are of one product on one GPU")
        config = {t.meta["kernel_config"] for t in (self.free, self.one)}
        self.guard(len(config) == 1, "one kernel ran with all SMs free and with one held")
        self.us = [round(t.makespan / 1000, 1) for t in every]
        counts = [np.bincount(t.spans["sm"], minlength=self.sms) for t in every]
        two = limits_of(self.free.device.name).shared_bytes(2)
        needs = [kernel_of(t.config).shared_bytes(t.config, Product.of(t.problem)) for t in every]
        self.guard(min(needs) > two, "an SM's shared memory holds only one block")
        self.each = self.n // self.sms
        self.guard(set(counts[0]) == {self.each}, "there are as many tiles for each SM")
        self.guard(
            sorted(counts[1]) == [0, *[self.each] * (self.sms - 2), 2 * self.each],
            "one SM does two lists while one is held",
        )
        blocks = [len(np.unique(t.spans["cta"])) for t in every]
        self.guard(blocks == [self.sms, self.sms, self.n], "only the naive kernel has a block per tile")
        self.others = self.sms - 1
        self.twice = int(counts[1].argmax())
        self.held = [np.flatnonzero(count == 0).tolist() for count in counts]
        self.guard([len(one) for one in self.held] == [0, 1, HELD], "so many SMs are held")
        mine = np.sort(self.one.spans[self.one.spans["sm"] == self.twice], order="issue")
        self.late = int(mine["cta"][-1])
        self.begins = float(mine["issue"][self.each])
        early = self.one.spans[self.one.spans["cta"] != self.late]
        ends = [early["done"][early["cta"] == cta].max() for cta in np.unique(early["cta"])]
        self.guard(
            min(ends) <= self.begins < self.begins + 10_000 > max(ends), "the last block waits for an SM"
        )
        self.guard(self.us[1] > 1.7 * self.us[0], "one held SM nearly doubles the time")
        self.rounds = [rounds(t) for t in every]
        few = -(-self.n // self.others)
        self.guard(self.rounds[2] == few, "tiles that free SMs take need no more rounds than they must")
        self.full, self.left_over = (few - 1) * self.others, self.n - (few - 1) * self.others
        self.guard(sum(counts[2] == few) == self.left_over, "the last round has only the tiles left over")
        self.guard(self.us[2] < 0.75 * self.us[1], "the naive kernel is faster while one SM is held")
        self.sm = next(sm for sm in range(self.sms) if sm not in self.held[2])
        mine = [np.sort(t.spans[t.spans["sm"] == self.sm], order="issue") for t in (self.free, self.naive)]
        self.seams = [(float(one["drain"][1]), float(one["start"][2])) for one in mine]
        self.guard(
            self.seams[0][1] < mine[0]["done"][1], "a block with a list goes on while a tile is written"
        )
        size = self.free.problem.m, self.free.problem.n, self.free.problem.k
        rows = [row for row in report("busy_sms")["rows"] if row["busy_sms"] == 0]
        took = {row["kernel"]: row for row in rows if (row["m"], row["n"], row["k"]) == size}
        self.samples = took["naive"]["samples"]
        self.saved = 1 - took["persistent"]["us"] / took["naive"]["us"]
        self.guard(0.01 < self.saved < 0.2, "fixed lists are a little faster while all SMs are free")

    def construct(self) -> None:
        self.ask("A kernel is a program that runs on a GPU, in groups of threads called thread blocks.")
        self.the_work()
        self.lists()
        self.all_free()
        self.one_is_held()
        self.four_rounds()
        self.a_block_per_tile()
        self.five_rounds()
        self.the_pause()
        self.the_end()

    def the_work(self) -> None:
        left, right = self.halves(0.5)
        tiles, boxes = self.tiles(self.free.problem, left), self.boxes(self.sms, right)
        self.say(
            "This matrix product is cut into {n} tiles: {each} for each of the GPU's {sms} processors, "
            "called SMs."
        )
        self.play(
            LaggedStart(*map(FadeIn, tiles), lag_ratio=0.004, run_time=2.2), FadeIn(self.title_of_tiles)
        )
        self.play(FadeIn(boxes, lag_ratio=0.01, run_time=1.6), FadeIn(self.title_of_boxes))
        self.leave(tiles, boxes, self.title_of_tiles, self.title_of_boxes)

    # Blocks and tiles, drawn.

    def stage(self, held: bool) -> None:
        """The first three SMs and the last, which may be held; dots stand for those between."""
        runs = Entry(tr("runs"), [self.theme.by_phase["multiply"]])
        self.states = self.key(Entry(tr("waits"), [self.theme.launch]), runs)
        area = self.area._replace(bottom=self.floor)
        self.badge(Badge(tr("schematic"), "model"))
        column = area.width / 5
        high = min(px(330), 0.5 * area.height)
        self.columns = [area.left + (place + 0.5) * column for place in (0, 1, 2, 4)]
        self.sm_boxes = [SM("SM", self.theme.quiet, column - px(28), high, size=44) for _ in range(4)]
        for x, box in zip(self.columns, self.sm_boxes, strict=True):
            box.move_to([x, area.bottom + high / 2, 0])
        dots = label("…", 90).move_to([area.left + 3.5 * column, area.bottom + high / 2, 0])
        self.shown = VGroup(*self.sm_boxes, dots)
        self.top = (self.sm_boxes[0].get_top()[1] + area.top) / 2
        if held:
            box = self.sm_boxes[-1].box
            sign = self.bold("held").move_to(box)
            paper = rectangle(sign.width + px(30), sign.height + px(24), self.ground).move_to(box)
            ground = rectangle(0.86 * box.width, 0.7 * box.height).move_to(box)
            ground.align_to(box.get_bottom() + 0.07 * box.width * UP, DOWN)
            self.hatch = VGroup(*self.hatched(ground), paper, sign)

    def block(self, number: int, tiles: int) -> VGroup:
        """A thread block and the tiles that it has to compute."""
        side = px(84) if self.narrow else px(140)
        row = VGroup(*(rectangle(0.36 * side, 0.2 * side, self.theme.operand) for _ in range(tiles)))
        block = ThreadBlock(number, side)
        return VGroup(block, row.arrange(RIGHT, buff=px(10)).next_to(block, DOWN, px(20)))

    def inside(self, place: int) -> np.ndarray:
        """Where a block stands in one of the SMs."""
        return self.sm_boxes[place].box.get_center() + px(24) * DOWN

    def enter(self, groups: list[VGroup], places: list[int]) -> Travel:
        """Blocks fly into SMs."""
        for group in groups:
            group[0].resident(self.theme.by_phase["multiply"])
        return Travel(groups, [[self.inside(place)] for place in places], leg=0.8, apart=0.25)

    def lists(self) -> None:
        """A block for each SM, with its list."""
        self.stage(held=False)
        numbers = (0, 1, 2, self.sms - 1)
        groups = [
            self.block(n, self.each).move_to([x, self.top, 0])
            for n, x in zip(numbers, self.columns, strict=True)
        ]
        word = self.word("thread blocks, each with its list of tiles", 46, self.theme.text)
        word.move_to([self.area.left, self.area.top - px(20), 0], LEFT)
        self.say(
            "A persistent kernel starts one block on each SM. "
            "Each block works through a fixed list of {each} tiles."
        )
        come = LaggedStart(*map(FadeIn, groups), lag_ratio=0.3, run_time=1.8)
        self.play(FadeIn(self.shown, word), come, *self.states)
        self.play(self.enter(groups, [0, 1, 2, 3]))
        self.leave(*groups, word, self.shown)

    def one_is_held(self) -> None:
        """The last of the SMs is taken; its block finds no room."""
        self.stage(held=True)
        *groups, late = [self.block(n, self.each) for n in (0, 1, 2, self.sms - 1)]
        for place, group in enumerate(groups):
            group.move_to([self.columns[place], self.top, 0])
        self.say("Another program now holds one SM, so the last block and its {each} tiles have to wait.")
        self.play(FadeIn(self.shown), *self.states)
        self.play(FadeIn(self.hatch), *map(FadeIn, groups))
        self.play(self.enter(groups, [0, 1, 2]))
        late.move_to([self.columns[-1], self.top, 0])
        self.play(FadeIn(late, shift=px(40) * DOWN))
        self.say("With tiles this large, an SM has room for only one block.")
        full = VGroup(*(self.word("full", 40, self.theme.text) for _ in groups))
        for word, box in zip(full, self.sm_boxes, strict=False):
            word.move_to(box.box.get_corner(UP + RIGHT) + px(18) * (DOWN + LEFT), UP + RIGHT)
        self.play(FadeIn(full))
        self.leave(self.shown, *groups, self.hatch, late, full)

    def a_block_per_tile(self) -> None:
        """A queue of blocks with a tile each; whenever an SM is free, the next one enters."""
        self.stage(held=True)
        groups = [self.block(n, 1) for n in (0, 1, 2, *range(self.others, self.others + 4))]
        room = self.area.width / (len(groups) + 1)
        for slot, group in zip((0, 1, 2, 4, 5, 6, 7), groups, strict=True):
            group.move_to([self.area.left + (slot + 0.5) * room, self.top, 0])
        between = label("…", 90).move_to([self.area.left + 3.5 * room, self.top, 0])
        self.say("The naive kernel starts one block for each tile. Whichever SM is free gets the next one.")
        self.play(FadeIn(self.shown, self.hatch, between), *map(FadeIn, groups), *self.states)
        self.play(self.enter(groups[:3], [0, 1, 2]))
        for place, new in zip((1, 0, 2), groups[3:], strict=False):
            self.play(FadeOut(groups[place], shift=px(120) * DOWN), run_time=0.4)
            self.play(self.enter([new], [place]))
        self.leave(self.shown, self.hatch, between, *groups[3:])

    @property
    def ground(self) -> Colour:
        """Behind the hatch of what is held."""
        return mixed(self.theme.background, self.theme.quiet, PALE)

    def hatched(self, box: Mobject) -> VGroup:
        """A place as it looks while another program holds it."""
        place = rectangle(box.width, box.height, self.ground).move_to(box)
        hatch = strokes(self.theme.quiet, 2.5)
        hatch.points = diagonals(place, 0, 1, px(16))
        return VGroup(place, hatch)

    # Recorded runs.

    def all_free(self) -> None:
        """Four rounds."""
        self.badge(of_trace(self.free))
        self.ticking = self.clock(self.free.makespan)
        key = self.key(*self.phases("launch", "first load", "multiply", "write", "both"))
        area = self.area._replace(bottom=self.floor)
        words = tr("132 SMs, one thin row each; time runs to the right")
        lanes, title = self.rows(self.free, area, words, self.one.makespan)
        names = self.round_names(lanes, round_ends(self.free))
        end = self.ends(lanes, self.us[0])
        self.say("With all SMs free, {each} rounds take {us:.1f} microseconds.", us=self.us[0])
        self.play(*key, *self.appear(lanes, title, self.ticking))
        self.play(
            PlayTrace(self.ticking, lanes, until=float(self.free.makespan), run_time=3.4),
            LaggedStart(*map(FadeIn, names), lag_ratio=1.0, run_time=3.4),
        )
        self.play(FadeIn(end))
        self.leave(lanes, title, names, end, self.ticking)

    def four_rounds(self) -> None:
        """131 SMs do their lists; below them stand the one that is held and the one that is free first."""
        run, area = self.one, self.area
        self.badge(of_trace(run))
        self.ticking = self.clock(run.makespan)
        key = self.key(*self.phases("launch", "first load", "multiply", "write", "both"))
        foot = self.floor
        step = px(LANE + 62)
        upper = area._replace(bottom=foot + 2 * step)
        others = [sm for sm in alike_together(run) if sm not in (self.twice, *self.held[1])]
        lanes, title = self.rows(
            run, upper, tr("{n} other SMs, one thin row each", n=len(others)), sms=others
        )
        window, wide = (0.0, float(run.makespan)), lanes.width
        lane = LaneVectors(
            run, [self.twice], window, wide, px(LANE), labels=False, ticks=False, numbers=False,
            fills=self.theme.by_phase,
        )  # fmt: skip
        lane.shift([area.left, foot, 0] - lane.grounds.get_corner(LEFT + DOWN))
        place = rectangle(wide, px(LANE)).move_to(lane.grounds).shift(step * UP)
        held = self.hatched(place)
        names = VGroup(
            self.word("the SM that is held by the other program", 40, self.theme.text),
            self.word("the SM that is free first", 40, self.theme.text),
        )
        for name, below in zip(names, (place, lane.grounds), strict=True):
            name.next_to(below, UP, px(8), aligned_edge=LEFT)
        self.say("The last block has to wait for another one to finish.")
        around = VGroup(title, held, names)
        self.play(*key, *self.appear(lanes, lane, around, self.ticking))
        self.play(PlayTrace(self.ticking, lanes, lane, until=self.begins, run_time=2.4))
        us, end, idle = self.begins / 1000, float(run.makespan), self.others - 1
        first = in_lane(lane, 0.0, self.begins, tr("its own list: {us:.1f} µs", us=us), self.hue, 42)
        self.play(FadeIn(first))
        self.say(
            "{each} rounds become {all}: {us:.1f} microseconds. "
            "{idle} SMs stand idle, because those tiles belong to one block.",
            all=self.rounds[1], us=self.us[1], idle=idle,
        )  # fmt: skip
        words = tr("the last list: {us:.1f} µs", us=end / 1000 - us)
        second = in_lane(lane, self.begins, end, words, self.hue, 42)
        run_on = PlayTrace(self.ticking, lanes, lane, until=end, run_time=2.6)
        self.play(run_on, FadeIn(second, run_time=0.6))
        figure = self.ends(lanes, self.us[1]).set_y(lane.grounds.get_y())
        waiting = self.waiting(lanes)
        words, ink = tr("{idle} SMs have nothing to do", idle=idle), ink_on(self.theme.wait)
        note = self.note_in(lanes, self.begins, 0.0, 1.0, words, ink)
        self.play(FadeIn(figure, waiting))
        self.play(FadeIn(note, run_time=0.8))
        self.leave(lanes, lane, around, first, second, figure, waiting, note, self.ticking)

    def five_rounds(self) -> None:
        """The naive kernel, with one SM held."""
        run = self.naive
        self.badge(of_trace(run))
        self.ticking = self.clock(run.makespan)
        key = self.key(*self.phases("launch", "first load", "multiply", "write"))
        others = [sm for sm in alike_together(run) if sm not in self.held[2]]
        lanes, title = self.rows(
            run,
            self.area._replace(bottom=self.floor),
            tr("a block for each tile (naive); the {n} SMs that are not held", n=len(others)),
            self.one.makespan,
            sms=others,
        )
        ends = round_ends(run)
        names = self.round_names(lanes, ends)[:-1]
        self.say("In {few} rounds, {others} SMs do {full} tiles.", few=self.rounds[2] - 1)
        self.play(*key, *self.appear(lanes, title, self.ticking))
        self.play(
            PlayTrace(self.ticking, lanes, until=ends[-2], run_time=2.9),
            LaggedStart(*map(FadeIn, names), lag_ratio=1.0, run_time=2.9),
        )
        self.say(
            "The last {left} take one more round: {us:.1f} microseconds.", left=self.left_over, us=self.us[2]
        )
        self.play(PlayTrace(self.ticking, lanes, until=float(run.makespan), run_time=0.7))
        end, waiting = self.ends(lanes, self.us[2]), self.waiting(lanes)
        words = tr("{idle} SMs have nothing to do", idle=self.others - self.left_over)
        note = lines(words, 46, lanes.get_right()[0] - end.get_left()[0], color=self.theme.wait_text)
        note.next_to(end, DOWN, px(20), aligned_edge=LEFT)
        self.play(FadeIn(end, waiting, note))
        self.leave(lanes, title, names, waiting, note, end, self.ticking)

    def the_pause(self) -> None:
        """What fixed lists are good for: one SM between its second tile and its third."""
        self.badge(of_trace(self.free))
        key = self.key(*self.phases("launch", "first load", "multiply", "write", "hand over"))
        colors, area = self.theme.by_phase, self.area._replace(bottom=self.floor)
        high, names, lanes, plays = px(56 if self.narrow else LANE), VGroup(), [], []
        for row, run, name, (begin, end) in (
            (0.35, written_after_hand_over(self.free), tr("a fixed list for each block"), self.seams[0]),
            (0.81, self.naive, tr("a block for each tile"), self.seams[1]),
        ):
            lane = LaneVectors(
                run, [self.sm], (begin - 2500, begin + 6000), area.width, high, labels=False, ticks=False,
                numbers=False, cursor=False, fills=colors | {"fix up": colors["hand over"]},
            )  # fmt: skip
            lane.move_to([area.center[0], area.top - row * area.height, 0]).show(begin - 2500)
            us = (end - begin) / 1000
            bracket = TimeBracket(lane, begin, end, self.sm, tr("no multiplication: {us:.1f} µs", us=us))
            names.add(label(name, 46).next_to(lane, UP, px(114), aligned_edge=LEFT))
            lanes += [lane, bracket]
            plays.append(PlayTrace(lane, bracket, until=begin + 6000, run_time=4.0))
        share = self.word(
            "all SMs free: {share:.0%} less time with fixed lists (medians of {n} runs)",
            share=self.saved, n=self.samples,
        )  # fmt: skip
        share.move_to([0, self.floor, 0], DOWN)
        self.say("Why use fixed lists? A copy unit writes a tile while the block begins the next.")
        self.play(*key, *self.appear(*lanes, names))
        self.play(*plays)
        if self.tall or not self.narrow:
            self.play(FadeIn(share))
            names.add(share)
        self.leave(*lanes, names)

    def the_end(self) -> None:
        self.close(
            "On an H200 with one of its {sms} SMs held, fixed lists of tiles take {times:.1f} times as long. "
            "With a block for each tile, it is only {naive:.1f} µs.",
            [
                (tr("fixed lists, no SM held"), self.us[0]),
                (tr("fixed lists, one SM held"), self.us[1]),
                (tr("naive, one SM held"), self.us[2]),
            ],
            "times",
            "{:.1f} µs",
            of_trace(self.one),
            tr("C has 4224 × 4096 numbers, each a sum of 4096 products of 16-bit numbers."),
            naive=self.us[2],
        )
