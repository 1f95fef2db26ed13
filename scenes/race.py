"""Race: what makes a persistent kernel faster?

manim render scenes/race.py

Three recorded runs of one product: a thread block for each tile; blocks that stay; blocks that stay and write
a tile while they multiply the next one. One SM is followed from its first tile to its last, then all 132.
"""

from collections.abc import Sequence

import numpy as np
from manim import (
    DOWN,
    LEFT,
    RIGHT,
    UP,
    Animation,
    FadeIn,
    FadeOut,
    LaggedStart,
    ManimColor,
    Mobject,
    VGroup,
    smoothstep,
)

from tilesim import Device, Problem, Trace
from tilesim_scenes.animations.fade import Fade, Leave
from tilesim_scenes.animations.into_bars import Tip
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Deal, Travel
from tilesim_scenes.animations.unroll import Unroll
from tilesim_scenes.animations.zoom import Zoom
from tilesim_scenes.film.race_film import RaceFilm
from tilesim_scenes.film.runs import written_after_hand_over
from tilesim_scenes.film.traces import Default, shipped
from tilesim_scenes.kit.lane_words import below_lane, in_lane
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.kit.work import Work
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import Figure, fit, lines, px
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.drawing.quads import rectangle, stroke_width
from tilesim_scenes.mobjects.hardware.memory import SM
from tilesim_scenes.mobjects.hardware.thread_block import ThreadBlock
from tilesim_scenes.mobjects.traces.lane_image import LaneImage
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors
from tilesim_scenes.mobjects.traces.next_loads import NextLoads
from tilesim_scenes.mobjects.traces.time_bracket import TimeBracket
from tilesim_scenes.mobjects.words.badge import Badge, of_trace

FILM = {
    "title": "Naive and persistent kernels",
    "question": "What makes a persistent kernel faster?",
    "finding": (
        "On an H200, a persistent kernel that writes one tile while it multiplies the next takes 13% less"
        " time than a naive one."
    ),
    "part": "Schedules",
    "place": 150,
    "seconds": 83,
    "shows": "Three recorded kernels for one product: one SM from its first tile to its last, then all 132.",
    "takes": "traces",
    "gallery": [
        {"output": "race.gif", "size": "480p", "fps": 12, "from": 56.9, "to": 70.4},
        {"output": "race.mp4", "poster": "race.png", "size": "720p"},
    ],
}

PRODUCT = "4096x4096x512-grouped8"
WAITING = 4
"""Thread blocks, and then tiles, that are seen to wait."""
LANE, SIDE = 180, 330
"""Pixels of the height of one lane alone, and of the column with the runs' names."""
BEFORE = 1600
"""ns before a pause, at which a close-up begins."""


def unnumbered() -> ThreadBlock:
    """A thread block without its number: which one it is does not matter here."""
    block = ThreadBlock(0, px(120))
    block.remove(block[1])
    return block


class Race(Lesson):
    """A naive kernel, a persistent one, and a persistent one that overlaps, on the same clock."""

    neutral = RaceFilm
    default = Default(
        ("naive", "persistent"),
        Problem(4096, 4096, 512),
        Device.named("h200"),
        shipped=tuple(f"traces/h200-{name}-{PRODUCT}.npz" for name in ("naive", "persistent")),
        most=4,
        any_work=True,
    )

    def prepare(self) -> None:
        naive, stays, overlaps = (
            shipped(f"traces/h200-{name}-{PRODUCT}.npz")
            for name in ("naive", "persistent-no-overlap", "persistent")
        )
        self.three = self.naive, self.stays, self.overlaps = naive, stays, written_after_hand_over(overlaps)
        alike = {(t.problem.title, t.meta["gpu"], t.meta["date"], t.meta["driver"]) for t in self.three}
        self.guard(len(alike) == 1, "three kernels compute one product on one GPU")
        blocks = [len(np.unique(t.spans["cta"])) for t in self.three]
        sms = self.naive.device.sms
        self.guard(
            blocks == [self.naive.problem.tiles, sms, sms], "only the naive kernel has a block per tile"
        )
        counts = np.concatenate([np.bincount(t.spans["sm"], minlength=sms) for t in self.three])
        self.guard(
            set(counts) == {3, 4} and np.mean(counts) > 3.5, "most SMs compute four tiles, and some three"
        )
        self.sm = self.followed()
        # The third pause is as good as the second; all of them are shown later.
        self.pauses_us = [[self.pause(t, n) for n in range(3)] for t in self.three]
        self.ends = [t.makespan for t in self.three]
        self.idle = naive, stays, overlaps = [sum(each) for each in self.pauses_us]
        self.guard(naive > stays > overlaps, "each step makes pauses shorter")
        self.guard(0.2 < overlaps / naive < 0.3, "with overlap, pauses shrink to a quarter")
        naive, overlaps = self.loops(self.naive), self.loops(self.overlaps)
        self.slower = overlaps[1:].sum() / naive[1:].sum() - 1
        first, *later = overlaps / naive
        self.guard(first < 1.03 < 1.1 < min(later), "only tiles multiplied beside a write take longer")
        gains = -np.diff(self.printed(self.ends))
        self.guard(0 < 2 * gains[0] < gains[1], "blocks that stay save less than overlap does")

    def rows(self, trace: Trace, sm: int | None = None) -> np.ndarray:
        """The tiles of an SM, by default the followed one's, in time."""
        mine = trace.spans[trace.spans["sm"] == (self.sm if sm is None else sm)]
        return mine[np.argsort(mine["start"])]

    def loops(self, trace: Trace) -> np.ndarray:
        """ns for which the followed SM multiplies each tile."""
        rows = self.rows(trace)
        return rows["drain"] - rows["start"]

    def followed(self) -> int:
        """The first SM that computes four tiles in all three runs."""
        counts = [np.bincount(t.spans["sm"], minlength=t.device.sms) for t in self.three]
        four = np.flatnonzero(np.all(np.equal(counts, 4), axis=0))
        self.guard(len(four) > 0, "there is an SM with four tiles in each run")
        return int(four[0])

    def pause(self, trace: Trace, n: int) -> float:
        """From the end of an SM's main loop `n` to the next one's begin, ns."""
        rows = self.rows(trace)
        return float(rows["start"][n + 1] - rows["drain"][n])

    @staticmethod
    def printed(ns: Sequence[float]) -> np.ndarray:
        """µs as they stand on screen."""
        return np.round(np.array(ns) / 1000, 1)

    def construct(self) -> None:
        self.hue = self.theme.by_phase["multiply"]
        self.writing = tr("write") if self.narrow else tr("write second tile")
        self.kernels = tr("naive"), tr("persistent"), tr("persistent with overlap")
        self.ask("A kernel is a program that runs on a GPU.")
        if self.given.get("work", True):
            self.the_work()
        self.the_gpu()
        self.a_block_per_tile()
        self.first_tile()
        self.naive_pause()
        self.a_block_that_stays()
        self.pause_without_overlap()
        self.pause_with_overlap()
        self.three_lanes()
        self.all_sms()
        self.three_bars()

    # The work and the GPU.

    def the_work(self) -> None:
        work = Work(self.naive.problem, self.area, tile=12 * self.naive.problem.tiles_n + 9)
        self.say("To multiply two matrices on a GPU, we cut the result into tiles.")
        for act in work.come():
            self.play(*act)
        self.leave(work)

    def the_gpu(self) -> None:
        """132 boxes, of which one is picked out, and grows."""
        area, sms = self.area, self.naive.device.sms
        columns = 22 if not self.tall else 11
        step = area.width * 0.8 / columns
        boxes = VGroup(*(SM("", self.theme.quiet, 0.8 * step, 0.95 * step) for _ in range(sms)))
        for box in boxes:
            box.box.set_stroke(width=stroke_width(3))
        boxes.arrange_in_grid(cols=columns, buff=0.2 * step).move_to(area.center + px(30) * DOWN)
        self.say("This GPU has {sms} processors, called SMs.", sms=sms)
        self.play(FadeIn(boxes, lag_ratio=0.01, run_time=1.6))
        ours = boxes[self.sm]
        name = self.word("We follow this one.", 46, self.theme.text, bold=True)
        name.next_to(boxes, UP, px(30)).align_to(ours, LEFT)
        meaning = self.word("SM: streaming multiprocessor").next_to(boxes, DOWN, px(36))
        self.play(
            ours.box.animate.set_stroke(ManimColor(self.hue), stroke_width(6)).set_fill(ManimColor(self.hue)),
            FadeIn(name, meaning),
        )
        self.box = self.our_sm()
        others = VGroup(*(box for box in boxes if box is not ours))
        self.play(
            FadeOut(others, name, meaning), FadeOut(ours, target_position=self.box, scale=4), run_time=1.0
        )
        self.play(FadeIn(self.box, run_time=0.4))

    def our_sm(self) -> SM:
        """The followed SM as a box, on the right, or in the middle of a tall frame."""
        wide, high = (px(370), px(320)) if self.narrow else (px(460), px(400))
        at = self.area.center + (0 if self.tall else 0.28 * self.area.width) * RIGHT
        return SM(tr("our SM"), self.hue, wide, high).move_to(at + px(30) * DOWN)

    # Which block computes which tile.

    def heading(self, name: str) -> list[Animation]:
        """The kernel's name, upper left, in place of the one before."""
        changes: list[Animation] = [Leave(self._heading)] if getattr(self, "_heading", None) else []
        self._heading = VGroup(self.word(name, 56, self.theme.text, bold=True))
        self._heading.next_to([self.area.left, self.area.top - px(30), 0], RIGHT, 0)
        return [*changes, Fade(self._heading, 0.0, 1.0)]

    def waiting(self, blocks: bool) -> VGroup:
        """Tiles that wait in a row, each below its thread block if it has one."""
        row = VGroup()
        for _ in range(WAITING):
            one = VGroup(rectangle(px(104), px(52), self.theme.hand_over))
            if blocks:
                one.add(unnumbered().next_to(one[0], UP, px(26)))
            row.add(one)
        row.arrange(RIGHT, buff=px(46))
        fit(row, (0.9 if self.tall else 0.44) * self.area.width)
        row.set_x(self.area.left + row.width / 2).set_y(self.box.get_y() + px(70 * self.narrow))
        if self.tall:
            row.set_x(0).set_y(self.area.top - px(170))
        return row

    def below_row(self, text: str) -> VGroup:
        """What waits in the row, in as many lines as fit beside the SM."""
        return lines(text, 44, (0.7 if self.tall else 0.54) * self.area.width, color=self.theme.text)

    def a_block_per_tile(self) -> None:
        row = self.waiting(blocks=True)
        queue = self.below_row(tr("waiting thread blocks, each with its tile"))
        queue.next_to(row, DOWN, px(40)).align_to(row, LEFT)
        about = self.word("A thread block is a group of threads that work together on one SM.", 44)
        about.move_to([0, self.area.bottom, 0], DOWN)
        self.badge(Badge(tr("schematic"), "model"))
        self.say("The naive kernel launches a new thread block for every tile.")
        self.play(*self.heading("Naive"), Fade(row, 0.0, 1.0), Fade(queue, 0.0, 1.0), Fade(about, 0.0, 1.0))
        for number in range(2):
            block, tile = row[number][1], row[number][0]
            at = self.box.box.get_center()
            self.play(
                Deal([block], [self.box.box], [self.hue]),
                Travel([tile], [[at + px(120) * DOWN]], leg=0.5),
            )
            if number == 0:
                # Its tile is written, and the block ends.
                self.play(
                    FadeOut(block, shift=px(200) * UP), FadeOut(tile, shift=px(260) * RIGHT), run_time=0.6
                )
        self.leave(row, queue, about)

    def lane_alone(self, trace: Trace, window: tuple[float, float]) -> LaneVectors:
        """The followed SM's lane across the frame."""
        area = self.area
        lane = LaneVectors(
            trace, [self.sm], None, area.width, px(LANE), labels=False, ticks=False, numbers=False,
            cursor=False, fills=self.fills(trace),
        )  # fmt: skip
        lane.move_to(area.center)
        lane.window = window
        return lane.show(window[0])

    def fills(self, trace: Trace) -> dict:
        """The colors of what happens. Without overlap, what follows a write is a load, no hand-over."""
        colors = self.theme.by_phase
        if trace is self.stays:
            return colors | {"hand over": colors["first load"]}
        return colors | {"fix up": colors["hand over"]}

    def first_tile(self) -> None:
        """The SM unrolls into its lane; each part is named as it begins."""
        first = self.rows(self.naive)[0]
        issue, start, drain, done = (int(first[name]) for name in ("issue", "start", "drain", "done"))
        window = (0.0, 1.12 * done)
        lane = self.lane = self.lane_alone(self.naive, window)
        self.ticking = self.clock(max(self.ends))
        self.badge(of_trace(self.naive))
        whose = self.word("Our SM computes its first tile.", 46, self.theme.text, bold=True)
        whose.next_to(lane, UP, px(40)).align_to(lane, LEFT)
        self.say("Each block is launched, loads its first data, multiplies, and writes its tile.")
        self.play(Unroll([self.box], lane, run_time=1.2), FadeIn(whose))
        launched = issue + self.naive.meta["launch_ns"]["p50"]
        names = VGroup()
        for word, begin, end, seconds in (
            ("launch", issue, launched, 0.6), ("first load", launched, start, 0.9),
            ("multiply", start, drain, 1.5), ("write", drain, done, 0.9),
        ):  # fmt: skip
            name = self.word(word, 50, self.theme.text, bold=True)
            below_lane(lane, begin, end, name, 40)
            if word == "launch":
                name.align_to(lane, LEFT).shift(px(80) * DOWN)
                stem = rectangle(px(4), px(110), self.theme.launch)
                names.add(stem.move_to([lane.x(end / 2), lane.get_bottom()[1] - px(6), 0], UP))
            names.add(name)
            self.play(
                PlayTrace(self.ticking, lane, until=float(end), run_time=seconds), FadeIn(name, run_time=0.3)
            )
        self.leave(names, whose)

    # Pauses of one SM.

    def second_pause(self, trace: Trace) -> tuple[float, float, float]:
        """When the second tile's main loop ends, when it is written, and when the third's begins, ns."""
        rows = self.rows(trace)
        return float(rows["drain"][1]), float(rows["done"][1]), float(rows["start"][2])

    def close_up(self, trace: Trace) -> tuple[LaneVectors, VGroup, TimeBracket]:
        """The lane around the second pause, with what the two main loops are called, and its bracket."""
        begin, done, end = self.second_pause(trace)
        window = (begin - 3600, begin + 6400)
        lane = self.lane_alone(trace, window)
        names = VGroup(
            in_lane(lane, window[0], begin, tr("multiply second tile"), self.hue),
            in_lane(lane, max(end, done), window[1], tr("multiply third tile"), self.hue),
        )
        bracket = TimeBracket(
            lane, begin, end, self.sm, tr("no multiplication: {us:.1f} µs", us=(end - begin) / 1000), size=52
        )
        return lane, names, bracket

    def naive_pause(self) -> None:
        """The lane goes on into its second pause, which passes slowly."""
        lane, names, bracket = self.close_up(self.naive)
        drain, done, start = self.second_pause(self.naive)
        self.say("Only one block fits into the SM's memory, so the next one has to wait.")
        self.play(
            Zoom(self.lane, window=lane.window, run_time=1.6),
            PlayTrace(self.ticking, self.lane, until=drain, run_time=1.6),
        )
        self.add(bracket)
        self.play(FadeIn(names[0]), run_time=0.3)
        self.play(PlayTrace(self.ticking, self.lane, bracket, until=start, run_time=1.6))
        launched = done + self.naive.meta["launch_ns"]["p50"]
        launch, load = (self.word(word, 44, self.theme.text, bold=True) for word in ("launch", "first load"))
        parts = VGroup(
            in_lane(lane, drain, done, self.writing, self.theme.write, 40),
            below_lane(lane, done, launched, launch).shift(px(70) * LEFT),
            below_lane(lane, launched, start, load).shift(px(70) * RIGHT),
        )
        self.play(
            FadeIn(parts), PlayTrace(self.ticking, self.lane, bracket, until=lane.window[1], run_time=1.2)
        )
        self.play(FadeIn(names[1]), run_time=0.3)
        self.leave(names, parts, bracket, self.lane)

    def a_block_that_stays(self) -> None:
        """One block flies in and stays; tiles come to it."""
        self.box = self.our_sm()
        row = self.waiting(blocks=False)
        block = unnumbered().resident(self.hue).move_to(self.box.box)
        queue = self.below_row(tr("waiting tiles")).next_to(row, DOWN, px(40)).align_to(row, LEFT)
        self.badge(Badge(tr("schematic"), "model"))
        self.say("A persistent block stays on its SM and takes one tile after another.")
        self.play(
            *self.heading("Persistent"), Leave(self.ticking),
            FadeIn(self.box, block, queue), Fade(row, 0.0, 1.0),
        )  # fmt: skip
        for number in range(2):
            (tile,) = row[number]
            self.play(Travel([tile], [[block.get_center() + px(120) * DOWN]], leg=0.5))
            self.wait(0.2)
            self.play(FadeOut(tile, shift=px(260) * RIGHT), run_time=0.4)
        self.leave(self.box, block, queue, row)

    def pause_without_overlap(self) -> None:
        lane, names, bracket = self.close_up(self.stays)
        drain, done, start = self.second_pause(self.stays)
        for timed in (self.ticking, lane):
            timed.show(drain - BEFORE)
        self.badge(of_trace(self.stays))
        self.say("The next load now begins during the write, but nothing is multiplied.")
        self.play(Fade(lane, 0.0, 1.0), Fade(self.ticking, 0.0, 1.0), FadeIn(names[0]))
        loads = NextLoads(lane, [self.hue]).show(lane.t)
        self.add(bracket, loads)
        self.play(PlayTrace(self.ticking, lane, bracket, loads, until=start, run_time=2.0))
        write = in_lane(lane, drain, done, self.writing, self.theme.write, 40)
        load = below_lane(lane, *loads.loads[1][1:], self.bold("next load", 44))
        self.play(
            PlayTrace(self.ticking, lane, bracket, loads, until=lane.window[1], run_time=1.2),
            FadeIn(write, load, names[1]),
        )
        self.leave(lane, names, bracket, loads, write, load)

    def pause_with_overlap(self) -> None:
        """Tile 2 goes down to the copy hardware, and the lane goes on above."""
        lane, names, bracket = self.close_up(self.overlaps)
        drain, done, start = self.second_pause(self.overlaps)
        for timed in (self.ticking, lane):
            timed.show(drain - BEFORE)
        self.say("In the third kernel, the block hands its tile over to the SM's copy unit, which writes it.")
        self.play(*self.heading("Persistent with overlap"), Fade(lane, 0.0, 1.0))
        self.add(bracket)
        copier = SM("", self.theme.quiet, lane.x(done) - lane.x(drain) + px(60), px(120))
        copier.move_to([lane.x((drain + done) / 2), lane.get_bottom()[1] - px(150), 0])
        hardware = self.word("copy unit (TMA)", 40, self.theme.text).next_to(copier, RIGHT, px(24))
        if hardware.get_right()[0] > self.area.right:
            hardware.next_to(copier, DOWN, px(16))
        tile = rectangle(px(104), px(52), self.theme.write)
        tile.move_to([lane.x(drain), lane.get_y(), 0])
        self.play(FadeIn(copier, hardware), PlayTrace(self.ticking, lane, bracket, until=drain, run_time=1.4))
        self.play(FadeIn(names[0]), run_time=0.3)
        self.play(
            PlayTrace(self.ticking, lane, bracket, until=start, run_time=1.0),
            Travel([tile], [[copier.get_left() + px(90) * RIGHT]], leg=1.0),
        )
        handed = below_lane(lane, drain, start, self.word("hand over", 38, self.theme.text), 20)
        self.play(FadeIn(handed), run_time=0.3)
        along = Travel([tile], [[copier.get_right() + px(90) * LEFT]], leg=2.0)
        self.say("Meanwhile, it multiplies its third tile, already loaded. Writing and multiplying overlap.")
        self.play(PlayTrace(self.ticking, lane, bracket, until=done, run_time=2.0), along)
        self.play(
            FadeOut(tile, shift=px(200) * DOWN),
            FadeIn(names[1]),
            PlayTrace(self.ticking, lane, bracket, until=lane.window[1], run_time=1.0),
        )
        self.leave(lane, names, bracket, copier, hardware, handed)

    # All three kernels.

    def trio(self, make: type, height: float, top: float, step: float, sms: list[int]) -> VGroup:
        """A lane, or all lanes, of each run, one below the other, with one clock."""
        area = self.area
        side = 0 if self.tall else px(SIDE)
        rows = []
        for number, trace in enumerate(self.three):
            look = {"labels": False, "ticks": False, "numbers": False, "lane_height": height}
            if make is LaneImage:
                look = {"height": height}
            lanes = make(
                trace, sms, (0.0, float(max(self.ends))), area.width - side - px(190), cursor=True,
                fills=self.fills(trace), **look,
            )  # fmt: skip
            lanes.move_to([area.left + side, top - number * step, 0], LEFT + UP)
            rows.append(lanes)
        return rows

    def names_beside(self, rows: Sequence[Mobject]) -> VGroup:
        names = VGroup()
        for name, lanes in zip(self.kernels, rows, strict=True):
            word = lines(name, 44, self.area.width if self.tall else px(SIDE - 60), bold=True)
            place = lanes.grounds
            if self.tall:
                word.next_to(place, UP, px(16), aligned_edge=LEFT)
            else:
                word.next_to(place, LEFT, px(30)).set_y(place.get_y())
            names.add(word)
        return names

    def ends_of(self, rows: Sequence[LaneVectors | LaneImage], ns: Sequence[float]) -> VGroup:
        """The times at which the three runs end, each to the right of its lanes."""
        ends = VGroup()
        for lanes, end in zip(rows, ns, strict=True):
            figure = Figure(tr("{us:.1f} µs", us=end / 1000), 44)
            ends.add(figure.move_to(lanes.grounds.get_right() + px(24) * RIGHT, LEFT))
        return ends

    def three_lanes(self) -> None:
        """The followed SM in all three runs."""
        area = self.area
        key = self.key(*self.phases("launch", "first load", "multiply", "write", "hand over"))
        step = (area.top - self.floor) / 3
        self.lanes = self.trio(LaneVectors, 0.42 * step, area.top - 0.42 * step, step, [self.sm])
        self.names = self.names_beside(self.lanes)
        for lanes in self.lanes:
            lanes.show(0.0)
        self.ticking.show(0.0)
        lasts = self.printed([self.rows(trace)["done"][-1] for trace in self.three])
        loads = NextLoads(self.lanes[1], [self.hue])
        self.add(loads)
        self.say(
            "Pauses shrink from {most:.1f} to {least:.1f} µs. "
            "But multiplying then takes {slower:.0%} longer, so {saved:.1f} µs are saved.",
            most=self.idle[0] / 1000,
            least=self.idle[2] / 1000,
            slower=self.slower,
            saved=lasts[0] - lasts[2],
        )
        self.play(
            *key, *self.heading("Our SM"), Fade(self.ticking, 0.0, 1.0), FadeIn(self.names),
            *(Fade(lanes, 0.0, 1.0) for lanes in self.lanes),
        )  # fmt: skip
        brackets = [
            TimeBracket(
                lanes, float(rows["drain"][n]), float(rows["start"][n + 1]), self.sm,
                tr("pauses between tiles: {us:.1f} µs", us=pauses / 1000) if n == 2 else "", size=38,
            )
            for lanes, rows, pauses in zip(
                self.lanes, map(self.rows, self.three), self.idle, strict=True
            )
            for n in range(3)
        ]  # fmt: skip
        self.add(*brackets)
        last = max(float(self.rows(trace)["done"][-1]) for trace in self.three)
        self.play(PlayTrace(self.ticking, *self.lanes, loads, *brackets, until=last, run_time=2.4))
        ends = self.ends_of(self.lanes, 1000 * lasts)
        self.play(FadeIn(ends, run_time=0.5))
        self.leave(ends, loads, *brackets)

    def all_sms(self) -> None:
        """The three lanes shrink into the rasters of all 132 SMs."""
        area, sms = self.area, self.naive.device.sms
        key = self.key(*self.phases("launch", "first load", "multiply", "write", "both", "hand over"))
        step = (area.top - self.floor) / 3
        counts = np.bincount(self.naive.spans["sm"], minlength=sms)
        order = sorted(range(sms), key=lambda sm: (sm != self.sm, -counts[sm], sm))
        high = (0.78 if self.tall else 0.9) * step
        rasters = self.trio(LaneImage, high, area.top - self.tall * px(70), step, order)
        last = float(self.lanes[0].t)
        for raster in rasters:
            raster.show(last)
        self.play(
            *key, *self.heading(""), *(Fade(raster, 0.0, 1.0, run_time=1.2) for raster in rasters),
            *(Fade(lanes, 1.0, 0.0, run_time=0.8) for lanes in self.lanes),
            *(
                name.animate(run_time=1.2).set_y(
                    raster.get_top()[1] + px(36) if self.tall else raster.get_y()
                )
                for name, raster in zip(self.names, rasters, strict=True)
            ),
        )  # fmt: skip
        self.remove(*self.lanes)
        self.say(
            "All {sms} SMs, a thin row each: most compute four tiles, some three. The last sets the time.",
            sms=sms,
        )
        self.play(PlayTrace(self.ticking, *rasters, until=0.0, run_time=1.2, rate_func=smoothstep))
        self.play(PlayTrace(self.ticking, *rasters, until=float(max(self.ends)), run_time=2.4))
        ends = self.ends_of(rasters, self.ends)
        self.play(FadeIn(ends))
        self.let_read()
        self.play(Leave(ends), *self.key())
        self.rasters = rasters

    def three_bars(self) -> None:
        """The rasters tip over into bars, between which stands what each step saves."""
        area, us = self.area, self.printed(self.ends)
        badge = of_trace(self.naive)
        bars = Bars(
            [(name, end, badge.kind) for name, end in zip(self.kernels, us, strict=True)],
            width=area.width, row=area.height / 3, size=50, form="{:.1f} µs",
        )  # fmt: skip
        bars.move_to(area.center)
        ink = self.theme.text
        saved = VGroup(
            self.word("Blocks that stay save {us:.1f} µs.", 46, ink, bold=True, us=us[0] - us[1]),
            self.word("Overlap saves another {us:.1f} µs.", 46, ink, bold=True, us=us[1] - us[2]),
        )
        for n, word in enumerate(saved, 1):
            upper, lower = bars.grounds[n - 1], bars.grounds[n]
            left = min(upper.get_left()[0], self.area.right - word.width)
            word.move_to([left, (upper.get_y() + lower.get_y()) / 2, 0], LEFT)
        self.say("Merely keeping the block saves little. Overlap saves more.")
        self.play(
            *(Tip(*pair, run_time=1.2) for pair in zip(self.rasters, bars.grounds, strict=True)),
            FadeOut(self.names), Leave(self.ticking),
        )  # fmt: skip
        self.play(Fade(bars, 0.0, 1.0), *(Leave(raster, run_time=0.6) for raster in self.rasters))
        self.play(LaggedStart(*map(FadeIn, saved), lag_ratio=0.8, run_time=0.9))
        self.close(
            "On an H200, a persistent kernel that writes one tile while it multiplies the next "
            "takes {less:.0%} less time than a naive one.",
            [(tr("naive"), us[0]), (tr("persistent with overlap"), us[2])],
            "less time",
            "{:.1f} µs",
            badge,
            tr("C has 4096 × 4096 numbers, each a sum of 512 products of 16-bit numbers."),
        )
