"""Busy SMs: what if another kernel holds one processor?

manim render scenes/busy_sms.py

Recorded runs of one product: a fixed list of tiles for each SM, with all SMs free and with one held; and a
block for each tile, with one SM held as well. What all of it takes is from a benchmark without stamps.
"""

from collections.abc import Sequence

import numpy as np
from manim import DOWN, LEFT, UP, Group, LaggedStart, Mobject, VGroup

from tilesim import Device, Problem, Trace
from tilesim.gemm import kernel_of
from tilesim.gemm.fit import limits_of
from tilesim.ladder.reports import report
from tilesim.products import Product
from tilesim_scenes.animations.fade import FadeIn, FadeOut, Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.film.race_film import RaceFilm
from tilesim_scenes.film.traces import Default, shipped
from tilesim_scenes.kit.many_sms import TITLE, ManySMs, alike_together, round_ends
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, lines, px
from tilesim_scenes.look.theme import Colour, ink_on, mixed
from tilesim_scenes.mobjects.drawing.quads import diagonals, rectangle, strokes
from tilesim_scenes.mobjects.hardware.memory import SM
from tilesim_scenes.mobjects.hardware.thread_block import ThreadBlock
from tilesim_scenes.mobjects.traces.lane_image import LaneImage
from tilesim_scenes.mobjects.words.badge import Badge, of_trace
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Busy SMs",
    "question": "What if another kernel holds one processor?",
    "finding": (
        "On an H200, fixed lists of tiles save 2% of the time with all SMs free. With one of 132 held, they "
        "take 1.8 times as long as with none."
    ),
    "part": "Schedules",
    "place": 200,
    "seconds": 73,
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
    """Fixed lists of tiles, and tiles that free SMs take, while another kernel holds SMs."""

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
        self.rounds = [rounds(t) for t in every]
        few = -(-self.n // self.others)
        self.guard(self.rounds[2] == few, "tiles that free SMs take need no more rounds than they must")
        self.full, self.left_over = (few - 1) * self.others, self.n - (few - 1) * self.others
        self.guard(sum(counts[2] == few) == self.left_over, "the last round has only the tiles left over")
        size = self.free.problem.m, self.free.problem.n, self.free.problem.k
        rows = [r for r in report("busy_sms")["rows"] if (r["m"], r["n"], r["k"]) == size]
        took = {(row["kernel"], row["busy_sms"]): row for row in rows}
        self.samples = took["naive", 0]["samples"]
        kinds = [(kernel, held) for held in (0, HELD) for kernel in ("persistent", "naive")]
        self.us = lists, blocks, lists_held, blocks_held = [took[kind]["us"] for kind in kinds]
        self.saved, self.longer = 1 - lists / blocks, lists_held / lists
        self.guard(0.01 < self.saved < 0.2, "fixed lists are a little faster while all SMs are free")
        self.guard(self.longer > 1.7, "one held SM nearly doubles the time")
        self.guard(blocks_held < 0.75 * lists_held, "the naive kernel is faster while one SM is held")

    def construct(self) -> None:
        # A block that goes on has written a part of its tile itself: into shared memory.
        self.fills = self.theme.by_phase | {"hand over": self.theme.by_phase["write"]}
        self.ask("A kernel is a program that runs on a GPU, in groups of threads called thread blocks.")
        self.the_work()
        self.lists()
        self.all_free()
        self.one_is_held()
        self.eight_rounds()
        self.a_block_per_tile()
        self.five_rounds()
        self.the_end()

    def turn(self, *gone: Mobject) -> None:
        """Keep a picture until the next one comes, so that the frame is never empty."""
        self.gone = Group(*gone)

    def the_work(self) -> None:
        left, right = self.halves(0.5)
        tiles, boxes = self.tiles(self.free.problem, left), self.boxes(self.sms, right)
        self.say(
            "This matrix product is cut into {n} tiles: {each} for each of {sms} processors, called SMs."
        )
        self.play(
            LaggedStart(*map(FadeIn, tiles), lag_ratio=0.004, run_time=2.2), FadeIn(self.title_of_tiles)
        )
        self.play(FadeIn(boxes, lag_ratio=0.01, run_time=1.6), FadeIn(self.title_of_boxes))
        self.turn(tiles, boxes, self.title_of_tiles, self.title_of_boxes)

    # Blocks and tiles, drawn.

    def stage(self, words: str, held: bool) -> None:
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
        title = lines(words, 46, area.width).move_to([area.left, area.top - px(20), 0], LEFT)
        self.shown = VGroup(*self.sm_boxes, dots, title)
        self.top = (self.sm_boxes[0].get_top()[1] + title.get_bottom()[1]) / 2
        if held:
            box = self.sm_boxes[-1].box
            sign = self.bold("held").move_to(box)
            paper = rectangle(sign.width + px(30), sign.height + px(24), self.ground).move_to(box)
            ground = rectangle(0.86 * box.width, 0.7 * box.height).move_to(box)
            ground.align_to(box.get_bottom() + 0.07 * box.width * UP, DOWN)
            self.hatch = VGroup(*self.hatched(ground), paper, sign)

    def block(self, number: int, tiles: int) -> VGroup:
        """A thread block and the tiles that it has to compute."""
        side = px(84) if self.narrow else px(130)
        row = VGroup(*(rectangle(0.36 * side, 0.18 * side, self.theme.operand) for _ in range(tiles)))
        block = ThreadBlock(number, side)
        # Its threads are not spoken of.
        block.remove(block.pips)
        return VGroup(block, row.arrange_in_grid(cols=2, buff=px(8)).next_to(block, DOWN, px(14)))

    def inside(self, place: int) -> np.ndarray:
        """Where a block stands in one of the SMs."""
        return self.sm_boxes[place].box.get_center() + px(14) * DOWN

    def enter(self, groups: list[VGroup], places: list[int]) -> Travel:
        """Blocks fly into SMs."""
        for group in groups:
            group[0].resident(self.theme.by_phase["multiply"])
        return Travel(groups, [[self.inside(place)] for place in places], leg=0.8, apart=0.25)

    def lists(self) -> None:
        """A block for each SM, with its list."""
        self.say("One way: each SM gets one thread block, which has a fixed list of {each} tiles.")
        self.stage(tr("thread blocks, each with its list of tiles"), held=False)
        numbers = (0, 1, 2, self.sms - 1)
        groups = [
            self.block(n, self.each).move_to([x, self.top, 0])
            for n, x in zip(numbers, self.columns, strict=True)
        ]
        come = LaggedStart(*map(FadeIn, groups), lag_ratio=0.3, run_time=1.8)
        self.play(Leave(self.gone), FadeIn(self.shown, run_time=0.5), come, *self.states)
        self.play(self.enter(groups, [0, 1, 2, 3]))
        self.turn(*groups, self.shown)

    def one_is_held(self) -> None:
        """The last of the SMs is taken; its block finds no room."""
        self.say("Another kernel now holds one SM, so the last block and its {each} tiles must wait.")
        self.stage(tr("thread blocks, each with its list of tiles"), held=True)
        *groups, late = [
            self.block(n, self.each).move_to([x, self.top, 0])
            for n, x in zip((0, 1, 2, self.sms - 1), self.columns, strict=True)
        ]
        come = FadeIn(self.shown, *groups, late, run_time=0.5)
        self.play(Leave(self.gone), come, *self.states)
        self.play(FadeIn(self.hatch))
        self.play(self.enter(groups, [0, 1, 2]))
        self.say("A block needs over half of an SM's shared memory, so two do not fit.")
        full = VGroup(*(self.word("full", 40, self.theme.text) for _ in groups))
        for word, box in zip(full, self.sm_boxes, strict=False):
            word.move_to(box.box.get_bottom() + px(12) * UP, DOWN)
        self.play(FadeIn(full))
        self.turn(self.shown, *groups, self.hatch, late, full)

    def a_block_per_tile(self) -> None:
        """A queue of blocks with a tile each; whenever an SM is free, the next one enters."""
        self.say("The other way is a block for each tile. Whenever a block ends, the next one gets its SM.")
        self.stage(tr("thread blocks that wait, each with one tile"), held=True)
        running = [self.block(n, 1).move_to(self.inside(n)) for n in range(3)]
        for one in running:
            one[0].resident(self.theme.by_phase["multiply"])
        queue = [self.block(n, 1) for n in range(self.others, self.others + 4)]
        room = self.area.width / (len(queue) + 1)
        for slot, group in enumerate(queue):
            group.move_to([self.area.left + (slot + 0.5) * room, self.top, 0])
        more = label("…", 90).move_to([self.area.right - 0.5 * room, self.top, 0])
        come = FadeIn(self.shown, self.hatch, more, *running, *queue, run_time=0.5)
        self.play(Leave(self.gone), come, *self.states)
        for place, new in zip((1, 0, 2), queue, strict=False):
            self.play(FadeOut(running[place], shift=px(120) * DOWN), run_time=0.4)
            self.play(self.enter([new], [place]))
        self.turn(self.shown, self.hatch, more, *queue)

    @property
    def ground(self) -> Colour:
        """Behind the hatch of what is held."""
        return mixed(self.theme.background, self.theme.quiet, PALE)

    def hatched(self, box: Mobject) -> VGroup:
        """A place as it looks while another kernel holds it."""
        place = rectangle(box.width, box.height, self.ground).move_to(box)
        hatch = strokes(self.theme.quiet, 2.5)
        hatch.points = diagonals(place, 0, 1, px(16))
        return VGroup(place, hatch)

    # Recorded runs.

    def total(self, lanes: LaneImage, rounds: int) -> Mobject:
        """How many rounds a run takes, where it ends."""
        end = lanes.x(lanes.trace.makespan) + px(20)
        return self.bold("{rounds} rounds", 46, rounds=rounds).move_to([end, lanes.get_y(), 0], LEFT)

    def come_after(self, names: Sequence[Mobject], seconds: float) -> LaggedStart:
        """Names of rounds that take so long together, each when its round is done."""
        each = (FadeIn(VGroup()), *map(FadeIn, names))
        return LaggedStart(*each, lag_ratio=1.0, run_time=seconds * (1 + 1 / len(names)))

    def all_free(self) -> None:
        """Four rounds."""
        key = self.key(*self.phases("launch", "first load", "multiply", "write", "both"))
        area = self.area._replace(bottom=self.floor)
        words = tr("132 SMs, one thin row each; time runs to the right")
        lanes, title = self.rows(self.free, area, words, self.one.makespan, self.fills)
        ends = round_ends(self.free)
        names = self.round_names(lanes, ends)
        self.say("With all SMs free, the tiles are done after {each} rounds.")
        self.badge(of_trace(self.free))
        run_on = PlayTrace(lanes, until=float(self.free.makespan), run_time=2.4)
        self.play(Leave(self.gone), *key, *self.appear(lanes, title))
        self.play(run_on, self.come_after(names, 2.4))
        total = self.total(lanes, self.rounds[0])
        self.play(FadeIn(total))
        self.turn(lanes, title, names, total)

    def eight_rounds(self) -> None:
        """131 SMs do their lists; below them stand the one that is held and the one that does two."""
        run, area = self.one, self.area
        key = self.key(*self.phases("launch", "first load", "multiply", "write", "both"))
        foot = self.floor
        step = px(LANE + TITLE)
        others = [sm for sm in alike_together(run) if sm not in (self.twice, *self.held[1])]
        lanes, title = self.rows(
            run,
            area._replace(bottom=foot + 2 * step),
            tr("{n} other SMs, one thin row each", n=len(others)),
            fills=self.fills,
            sms=others,
        )
        below = area._replace(bottom=foot, top=foot + step)
        words = tr("one SM: its own list, then the last one, a little faster")
        # So that what is multiplied and written looks in a high row as in the thin ones.
        fills = self.fills | {"write under": self.theme.both}
        lane, name = self.rows(run, below, words, sms=[self.twice], fills=fills)
        held = self.hatched(rectangle(lanes.width, px(LANE)).move_to(lane).shift(step * UP))
        whose = self.word("the SM that another kernel holds", 44, self.theme.text)
        whose.next_to(held, UP, px(14), aligned_edge=LEFT)
        names = self.round_names(lanes, round_ends(run))[: self.each]
        numbers, mine = VGroup(), np.sort(run.spans[run.spans["sm"] == self.twice], order="issue")
        for number, span in enumerate(mine, 1):
            word = label(str(number), 44, ink_on(self.hue), bold=True)
            numbers.add(word.move_to([lane.x((span["start"] + span["drain"]) / 2), lane.get_y(), 0]))
        self.say("The last block starts only when another has ended, with all {each} tiles still to do.")
        self.badge(of_trace(run))
        around = VGroup(title, held, whose, name)
        self.play(Leave(self.gone), *key, *self.appear(lanes, lane, around))
        both = [VGroup(*pair) for pair in zip(names, numbers, strict=False)]
        self.play(PlayTrace(lanes, lane, until=self.begins, run_time=2.4), self.come_after(both, 2.4))
        idle = self.others - 1
        self.say(
            "{each} rounds become {all}: no other block may take tiles of a list, so {idle} SMs stand idle.",
            all=self.rounds[1], idle=idle,
        )  # fmt: skip
        run_on = PlayTrace(lanes, lane, until=float(run.makespan), run_time=2.4)
        self.play(run_on, self.come_after(numbers[self.each :], 2.4))
        total, waiting = self.total(lane, self.rounds[1]), self.waiting(lanes)
        words, ink = tr("{idle} SMs have nothing to do", idle=idle), ink_on(self.theme.wait)
        note = self.note_in(lanes, self.begins, 0.0, 1.0, words, ink)
        self.play(FadeIn(total, waiting))
        self.play(FadeIn(note))
        self.turn(lanes, lane, around, names, numbers, total, waiting, note)

    def five_rounds(self) -> None:
        """A block for each tile, with one SM held."""
        run = self.naive
        key = self.key(*self.phases("launch", "first load", "multiply", "write"))
        others = [sm for sm in alike_together(run) if sm not in self.held[2]]
        lanes, title = self.rows(
            run,
            self.area._replace(bottom=self.floor),
            tr("a block for each tile, on the {n} SMs that are not held", n=len(others)),
            self.one.makespan,
            sms=others,
        )
        ends = round_ends(run)
        names = self.round_names(lanes, ends)[:-1]
        self.say("In {few} rounds, {others} SMs do {full} tiles.", few=self.rounds[2] - 1)
        self.badge(of_trace(run))
        self.play(Leave(self.gone), *key, *self.appear(lanes, title))
        self.play(PlayTrace(lanes, until=ends[-2], run_time=2.4), self.come_after(names, 2.4))
        self.say("The last {left} tiles take only one more round.", left=self.left_over)
        self.play(PlayTrace(lanes, until=float(run.makespan), run_time=0.7))
        total, waiting = self.total(lanes, self.rounds[2]), self.waiting(lanes)
        words = tr("{idle} SMs have nothing to do", idle=self.others - self.left_over)
        note = lines(words, 46, lanes.get_right()[0] - total.get_left()[0], color=self.theme.wait_text)
        note.next_to(total, DOWN, px(20), aligned_edge=LEFT)
        self.play(FadeIn(total, waiting, note))
        self.turn(lanes, title, names, waiting, note, total)

    def the_end(self) -> None:
        names = (
            tr("fixed lists, all SMs free"),
            tr("block per tile, all SMs free"),
            tr("fixed lists, one SM held"),
            tr("block per tile, one SM held"),
        )
        self.close(
            "On an H200, fixed lists of tiles save {saved:.0%} of the time with all SMs free. With one of "
            "{sms} held, they take {times:.1f} times as long as with none.",
            list(zip(names, self.us, strict=True)),
            self.tr("{longer:.1f} times as long"),
            "{:.1f} µs",
            of_trace(self.one),
            self.tr("medians of {samples} runs; 4224 × 4096 sums of 4096 products of 16-bit numbers"),
        )
