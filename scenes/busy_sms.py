"""Busy SMs: what if another program holds one processor?

manim render scenes/busy_sms.py

Recorded runs of one product: a fixed list of tiles for each SM, with all SMs free and with one held; and two
kernels without fixed lists, with one SM held as well.
"""

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, FadeIn, FadeOut, LaggedStart, Mobject, VGroup

from tilesim import Device, Problem, Trace
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.film.configured_scene import Area
from tilesim_scenes.film.race_film import RaceFilm
from tilesim_scenes.film.traces import Default, shipped
from tilesim_scenes.kit.many_sms import ManySMs, alike_together, round_ends
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import Figure, label, px
from tilesim_scenes.look.theme import Colour, ink_on, mixed
from tilesim_scenes.mobjects.drawing.quads import diagonals, rectangle, strokes
from tilesim_scenes.mobjects.hardware.sm import SM
from tilesim_scenes.mobjects.hardware.thread_block import ThreadBlock
from tilesim_scenes.mobjects.traces.lane_image import LaneImage
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors
from tilesim_scenes.mobjects.words.badge import Badge, of_trace
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Busy SMs",
    "question": "What if another program holds one processor?",
    "part": "Schedules",
    "place": 200,
    "seconds": 80,
    "shows": "A kernel with fixed lists of tiles while one SM is held, and kernels without lists beside it.",
    "takes": "traces",
}

PRODUCT = "4224x4096x4096-grouped8"
HELD, PALE = 1, 0.35
"""SMs held in the runs without lists; the share of gray behind the hatch of what is held."""
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
        self.free, self.one, self.naive, self.dynamic = every = [
            shipped(f"busy_sms/h200-{name}-{PRODUCT}.npz")
            for name in (
                "persistent-busy0", "persistent-busy1", f"naive-busy{HELD}", f"persistent-dynamic-busy{HELD}",
            )
        ]  # fmt: skip
        self.sms, self.n = self.free.device.sms, self.free.problem.tiles
        alike = {(t.problem.title, t.meta["gpu"]) for t in every}
        self.guard(len(alike) == 1, "all runs are of one product on one GPU")
        config = {t.meta["kernel_config"] for t in (self.free, self.one)}
        self.guard(len(config) == 1, "one kernel ran with all SMs free and with one held")
        self.us = [round(t.makespan / 1000, 1) for t in every]
        counts = [np.bincount(t.spans["sm"], minlength=self.sms) for t in every]
        self.each = self.n // self.sms
        self.guard(set(counts[0]) == {self.each}, "there are as many tiles for each SM")
        self.guard(
            sorted(counts[1]) == [0, *[self.each] * (self.sms - 2), 2 * self.each],
            "one SM does two lists while one is held",
        )
        blocks = [len(np.unique(t.spans["cta"])) for t in every]
        self.guard(blocks[:3] == [self.sms, self.sms, self.n], "only the naive kernel has a block per tile")
        self.others = self.sms - 1
        self.twice = int(counts[1].argmax())
        self.held = [np.flatnonzero(count == 0).tolist() for count in counts]
        self.guard([len(one) for one in self.held] == [0, 1, HELD, HELD], "so many SMs are held")
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
        few = -(-self.n // (self.sms - HELD))
        self.guard(
            self.rounds[2:] == [few, few], "tiles that free SMs take need no more rounds than they must"
        )
        self.guard(max(self.us[2:]) < 0.75 * self.us[1], "kernels without lists are faster, even then")

    def construct(self) -> None:
        self.ask("A kernel is a program that runs on a GPU, in groups of threads called thread blocks.")
        self.the_work()
        self.lists()
        self.all_free()
        self.one_is_held()
        self.four_rounds()
        self.four_more()
        self.a_block_per_tile()
        self.a_counter()
        self.five_rounds()

    def the_work(self) -> None:
        left, right = self.halves(0.5)
        tiles, boxes = self.tiles(self.free.problem, left), self.boxes(self.sms, right)
        self.say(
            "This matrix product has {n} tiles, {each} for each of the GPU's {sms} processors, called SMs.",
            n=self.n,
            each=self.each,
            sms=self.sms,
        )
        self.play(
            LaggedStart(*map(FadeIn, tiles), lag_ratio=0.004, run_time=2.2), FadeIn(self.title_of_tiles)
        )
        self.play(FadeIn(boxes, lag_ratio=0.01, run_time=1.6), FadeIn(self.title_of_boxes))
        self.leave(tiles, boxes, self.title_of_tiles, self.title_of_boxes)

    # Blocks and tiles, drawn.

    def stage(self, held: bool) -> None:
        """The first three SMs and the last, which may be held; dots stand for those between."""
        area = self.area
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
            sign = self.word("held", 46, self.theme.text, bold=True).move_to(box)
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
            "A persistent kernel starts one block per SM. Each block has a fixed list of {each} tiles.",
            each=self.each,
        )
        self.play(FadeIn(self.shown, word), LaggedStart(*map(FadeIn, groups), lag_ratio=0.3, run_time=1.8))
        self.play(self.enter(groups, [0, 1, 2, 3]))
        self.leave(*groups, word, self.shown)

    def one_is_held(self) -> None:
        """The last of the SMs is taken; its block finds no room."""
        self.stage(held=True)
        *groups, late = [self.block(n, self.each) for n in (0, 1, 2, self.sms - 1)]
        for place, group in enumerate(groups):
            group.move_to([self.columns[place], self.top, 0])
        self.say("Now another program holds one SM. The last block finds no SM, so it waits with its list.")
        self.play(FadeIn(self.shown), *self.key())
        self.play(FadeIn(self.hatch), *map(FadeIn, groups))
        self.play(self.enter(groups, [0, 1, 2]))
        late.move_to([self.columns[-1], self.top, 0])
        waits = self.word("waits", 46, self.theme.text).next_to(late, LEFT, px(30))
        self.play(FadeIn(late, shift=px(40) * DOWN), FadeIn(waits))
        self.leave(self.shown, *groups, self.hatch, late, waits)

    def a_block_per_tile(self) -> None:
        """A queue of blocks with a tile each; whenever an SM is free, the next one enters."""
        self.stage(held=True)
        groups = [self.block(n, 1) for n in range(7)]
        room = self.area.width / len(groups)
        for n, group in enumerate(groups):
            group.move_to([self.area.left + (n + 0.5) * room, self.top, 0])
        self.say("A naive kernel has no lists: it starts a block per tile, and a free SM gets the next.")
        self.play(FadeIn(self.shown, self.hatch), *map(FadeIn, groups), *self.key())
        self.play(self.enter(groups[:3], [0, 1, 2]))
        for done, place in ((1, 1), (0, 0), (2, 2)):
            self.play(FadeOut(groups[done], shift=px(120) * DOWN), run_time=0.4)
            self.play(self.enter([groups[3 + (1, 0, 2).index(done)]], [place]))
        self.leave(self.shown, self.hatch, *groups[3:])

    def a_counter(self) -> None:
        """Blocks that stay draw the number of their next tile."""
        self.stage(held=True)
        blocks = [self.block(n, 1).move_to(self.inside(n)) for n in range(3)]
        for group in blocks:
            group[0].resident(self.theme.by_phase["multiply"])
        name = self.word("shared counter, next tile:", 46, self.theme.text)
        figure = Figure("3", 72, align=0.5)
        both = VGroup(name, figure).arrange(RIGHT, buff=px(30)).move_to([self.area.center[0], self.top, 0])
        self.say("A persistent kernel can do the same if its blocks draw their tiles from a shared counter.")
        self.play(FadeIn(self.shown, self.hatch, both, *blocks))
        for number, place in enumerate((1, 0, 2), 3):
            block, old = blocks[place], blocks[place][1]
            tile = old.copy().move_to(figure.get_center() + px(80) * DOWN)
            figure.write(str(number + 1))
            self.play(FadeOut(old, shift=px(60) * DOWN), FadeIn(tile), run_time=0.4)
            self.play(Travel([tile], [[old.get_center()]], leg=0.6))
            block.remove(old).add(tile)
        self.leave(self.shown, self.hatch, both, *blocks)

    @property
    def ground(self) -> Colour:
        """Behind the hatch of what is held."""
        return mixed(self.theme.background, self.theme.quiet, PALE)

    def hatched(self, box: Mobject) -> VGroup:
        """A place as it looks while another program holds it."""
        place = rectangle(box.width, box.height, self.ground).move_to(box)
        lines = strokes(self.theme.quiet, 2.5)
        lines.points = diagonals(place, 0, 1, px(16))
        return VGroup(place, lines)

    # Recorded runs.

    def all_free(self) -> None:
        """Four rounds."""
        self.badge(of_trace(self.free))
        self.ticking = self.clock(self.free.makespan)
        key = self.key(*self.phases("first load", "multiply", "write", "both"))
        area = self.area._replace(bottom=self.floor)
        lanes, title = self.rows(self.free, area, tr("132 SMs, one thin row each; time runs to the right"))
        names = self.round_names(lanes, round_ends(self.free))
        end = self.ends(lanes, self.us[0])
        self.say(
            "While all SMs are free, each block works through its list: {each} rounds of tiles, {us:.1f} µs.",
            each=self.each,
            us=self.us[0],
        )
        self.play(*key, *self.appear(lanes, title, self.ticking))
        self.play(
            PlayTrace(self.ticking, lanes, until=float(self.free.makespan), run_time=4.0),
            LaggedStart(*map(FadeIn, names), lag_ratio=1.0, run_time=4.0),
        )
        self.play(FadeIn(end))
        self.leave(lanes, title, names, end, self.ticking)

    def four_rounds(self) -> None:
        """131 SMs do their lists; below them stand the one that is held and the one that is free first."""
        run, area = self.one, self.area
        self.badge(of_trace(run))
        self.ticking = self.clock(run.makespan)
        key = self.key(*self.phases("first load", "multiply", "write", "both"))
        foot = self.floor
        step = px(LANE + 62)
        upper = area._replace(bottom=foot + 2 * step)
        others = [sm for sm in alike_together(run) if sm not in (self.twice, *self.held[1])]
        self.lanes, title = self.rows(
            run, upper, tr("{n} other SMs, one thin row each", n=len(others)), sms=others
        )
        window, wide = (0.0, float(run.makespan)), self.lanes.width
        self.lane = LaneVectors(
            run, [self.twice], window, wide, px(LANE), labels=False, ticks=False, numbers=False,
            fills=self.theme.by_phase,
        )  # fmt: skip
        self.lane.shift([area.left, foot, 0] - self.lane.grounds.get_corner(LEFT + DOWN))
        place = rectangle(wide, px(LANE)).move_to(self.lane.grounds).shift(step * UP)
        held = self.hatched(place)
        names = VGroup(
            self.word("the SM that is held by the other program", 40, self.theme.text),
            self.word("the SM that is free first", 40, self.theme.text),
        )
        for name, lane in zip(names, (place, self.lane.grounds), strict=True):
            name.next_to(lane, UP, px(8), aligned_edge=LEFT)
        self.say(
            "The other {others} blocks do their lists. After {us:.1f} µs, the first SM is free again.",
            others=self.others,
            us=self.begins / 1000,
        )
        self.around = VGroup(title, held, names)
        self.play(*key, *self.appear(self.lanes, self.lane, self.around, self.ticking))
        self.play(PlayTrace(self.ticking, self.lanes, self.lane, until=self.begins, run_time=3.2))
        self.first = self.in_lane(0.0, self.begins, tr("its own block's list"))
        self.play(FadeIn(self.first))

    def in_lane(self, begin: float, end: float, text: str) -> Mobject:
        """A word in the lane of the SM that does two lists."""
        word = label(text, 42, ink_on(self.theme.by_phase["multiply"]), bold=True)
        word.scale(min(1.0, 0.9 * (self.lane.x(end) - self.lane.x(begin)) / word.width))
        return word.move_to([(self.lane.x(begin) + self.lane.x(end)) / 2, self.lane.grounds.get_y(), 0])

    def four_more(self) -> None:
        """The block that waited has the GPU to itself."""
        end = float(self.one.makespan)
        self.say(
            "Only now can the last block begin. So {each} rounds become {all}.",
            each=self.each,
            all=self.rounds[1],
        )
        second = self.in_lane(self.begins, end, tr("the last block's list"))
        self.play(
            PlayTrace(self.ticking, self.lanes, self.lane, until=end, run_time=3.4),
            FadeIn(second, run_time=0.6),
        )
        figure = self.ends(self.lanes, self.us[1]).set_y(self.lane.grounds.get_y())
        self.play(FadeIn(figure))
        idle = self.others - 1
        note = self.note_in(self.lanes, self.begins, 0.0, 1.0, tr("{idle} SMs have nothing to do", idle=idle))
        self.say("{idle} SMs stand idle, as no other block may take tiles from this list.", idle=idle)
        self.play(FadeIn(note, run_time=0.8))
        self.leave(self.lanes, self.lane, self.around, self.first, second, figure, note, self.ticking)

    def five_rounds(self) -> None:
        """Both, with one SM held."""
        runs, area = (self.naive, self.dynamic), self.area
        self.badge(of_trace(self.naive))
        longest = float(max(run.makespan for run in runs))
        held = Entry(tr("held by another program"), [self.theme.quiet], hatched=True)
        key = self.key(*self.phases("first load", "multiply", "write"), held)
        area = area._replace(bottom=self.floor)
        middle = (area.top + area.bottom) / 2
        titles = tr("a block for each tile (naive)"), tr("tiles from a shared counter (persistent)")
        halves = area._replace(bottom=middle + px(10)), area._replace(top=middle - px(10))
        both = [
            self.with_held(run, half, title, longest)
            for run, half, title in zip(runs, halves, titles, strict=True)
        ]
        self.ticking = self.clock(longest)
        self.say(
            "{n} tiles need {rounds} rounds on {others} SMs. "
            "Both kernels take no more: {a:.1f} and {b:.1f} µs.",
            n=self.n,
            others=self.others,
            rounds=self.rounds[2],
            a=self.us[2],
            b=self.us[3],
        )
        self.play(*key, *self.appear(*(one for run in both for one in run), self.ticking))
        lanes = [run[0] for run in both]
        names = [self.round_names(one, round_ends(run)) for one, run in zip(lanes, runs, strict=True)]
        each = [FadeIn(VGroup(*two)) for two in zip(*names, strict=True)]
        self.play(
            PlayTrace(self.ticking, *lanes, until=longest, run_time=3.6),
            LaggedStart(*each, lag_ratio=1.0, run_time=3.6),
        )
        ends = [self.ends(one, us) for one, us in zip(lanes, self.us[2:], strict=True)]
        for end, one in zip(ends, lanes, strict=True):
            end.set_x(one.get_right()[0] + px(20), LEFT)
        self.play(*map(FadeIn, ends))
        self.leave(*(one for run in both for one in run), *names, *ends, self.ticking)
        self.close(
            "On an H200, a kernel with fixed lists of tiles takes {times:.1f} times as long "
            "when another program holds one of the {sms} SMs.",
            [(tr("one SM held"), self.us[1]), (tr("no SM held"), self.us[0])],
            "times",
            "{:.1f} µs",
            of_trace(self.one),
            tr("C has 4224 × 4096 numbers, each a sum of 4096 products of 16-bit numbers."),
            sms=self.sms,
        )

    def with_held(
        self, run: Trace, area: Area, title: str, longest: float
    ) -> tuple[LaneImage, Mobject, VGroup]:
        """Rows of a run, at whose foot those that are held are hatched."""
        held = np.flatnonzero(np.bincount(run.spans["sm"], minlength=self.sms) == 0).tolist()
        order = [sm for sm in alike_together(run) if sm not in held]
        lanes, name = self.rows(run, area, title, longest, sms=[*order, *held])
        band = rectangle(lanes.width, lanes.height * len(held) / self.sms)
        return lanes, name, self.hatched(band.move_to(lanes.get_corner(LEFT + DOWN), LEFT + DOWN))
