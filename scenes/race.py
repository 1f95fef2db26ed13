"""Race: what makes a persistent kernel faster?

manim render scenes/race.py

Three recorded runs of one product: a thread block for each tile; blocks that stay; blocks that stay and
request the next tile's data early. One SM is followed from its first tile to its last, then all 132.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Animation, ManimColor, Mobject, VGroup, smoothstep

from tilesim import Device, Problem, Trace
from tilesim.ladder import reports
from tilesim.metrics import in_turn
from tilesim_scenes.animations.fade import Fade, FadeIn, FadeOut, Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Deal, Travel
from tilesim_scenes.animations.unroll import Unroll
from tilesim_scenes.animations.zoom import Zoom
from tilesim_scenes.film.race_film import RaceFilm
from tilesim_scenes.film.runs import pauses, shared_kb, written_after_hand_over
from tilesim_scenes.film.traces import Default, shipped
from tilesim_scenes.kit.lane_words import below_lane, in_lane
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.kit.work import Work
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import Figure, fit, label, lines, px
from tilesim_scenes.look.theme import Colour, ink_on, mixed
from tilesim_scenes.mobjects.drawing.quads import rectangle, stroke_width
from tilesim_scenes.mobjects.hardware.memory import SM
from tilesim_scenes.mobjects.hardware.thread_block import ThreadBlock
from tilesim_scenes.mobjects.traces.lane_image import LaneImage
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors
from tilesim_scenes.mobjects.traces.lanes import Lanes
from tilesim_scenes.mobjects.traces.time_bracket import TimeBracket
from tilesim_scenes.mobjects.words.badge import Badge, of_trace
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Naive and persistent kernels",
    "question": "What makes a persistent kernel faster?",
    "finding": (
        "On an H200, a persistent kernel that writes one tile while it multiplies the next takes 13% less"
        " time than a naive one."
    ),
    "part": "Schedules",
    "place": 150,
    "seconds": 85,
    "shows": "Three recorded kernels for one product: one SM from its first tile to its last, then all 132.",
    "takes": "traces",
    "gallery": [
        {"output": "race.gif", "size": "480p", "fps": 12, "from": 63.9, "to": 77.1},
        {"output": "race.mp4", "poster": "race.png", "size": "720p"},
    ],
}

PRODUCT = "4096x4096x512-grouped8"
LANE, SIDE = 180, 330
"""Pixels of the height of one lane alone, and of the column with the runs' names."""
BEFORE, AROUND, PACE = 1200, (-2400, 5000), 1500
"""ns before a pause from which a close-up runs, that it shows around the pause's begin, and in a second."""


def unnumbered() -> ThreadBlock:
    """A thread block without its number: which one it is does not matter here."""
    block = ThreadBlock(0, px(120))
    block.remove(block[1])
    return block


def with_whole_pauses(trace: Trace) -> Trace:
    """The same run, with each pause as one part: no stamp tells its write from its load."""
    spans, (before, after) = trace.spans.copy(), in_turn(trace)
    for name in ("ready", "fixup", "done"):
        spans[name][before] = spans["drain"][before]
    spans["issue"][after] = spans["drain"][before]
    return replace(trace, spans=spans)


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
        self.naive, stays, overlaps = (
            shipped(f"traces/h200-{name}-{PRODUCT}.npz")
            for name in ("naive", "persistent-no-overlap", "persistent")
        )
        self.stays, self.overlaps = with_whole_pauses(stays), written_after_hand_over(overlaps)
        self.three = self.naive, self.stays, self.overlaps
        same = "gpu", "date", "driver", "stages", "warps"
        alike = {(t.problem.title, *(t.meta[name] for name in same)) for t in self.three}
        self.guard(len(alike) == 1, "three kernels compute one product on one GPU")
        blocks = [len(np.unique(t.spans["cta"])) for t in self.three]
        product, sms = self.naive.problem, self.naive.device.sms
        self.m, self.n, self.k = product.m, product.n, product.k
        self.guard(blocks == [product.tiles, sms, sms], "only the naive kernel has a block per tile")
        # Tiles that each SM computes in each run.
        self.counts = np.array([np.bincount(t.spans["sm"], minlength=sms) for t in self.three])
        most = set(self.counts.flat) == {3, 4} and self.counts.mean() > 3.5
        self.guard(most, "most SMs compute four tiles, and some three")
        lengths = [float(np.median([one.length for one in pauses(t)])) for t in self.three]
        longest, shorter, self.hand_over = lengths
        self.guard(longest > shorter > self.hand_over, "each step makes pauses shorter")
        self.guard(0.2 < self.hand_over / longest < 0.3, "with overlap, pauses shrink to a quarter")
        self.sm = self.followed()
        rows = self.rows(self.naive)
        self.guard(bool((rows["issue"][1:] >= rows["done"][:-1]).all()), "an SM has room for one block")
        self.own, self.of_sm = shared_kb(self.naive)
        self.parts = self.sums(self.sm)
        (pause, loops_us, _), _, (less, longer, _) = self.parts
        self.shorter, self.slower = 3 * (pause - less), longer - loops_us
        beside, alone = (one["drain"] - one["start"] for one in map(self.rows, (self.overlaps, self.naive)))
        first, *later = beside / alone
        self.guard(first < 1.03 < 1.1 < min(later), "only tiles multiplied beside a write take longer")
        stamped = reports.report("between_tiles")
        alone = reports.row(stamped, m=self.m, kernel="persistent-tma", written=True)["multiply_cycles"]
        free = reports.row(stamped, m=self.m, kernel="persistent-tma-overlap", written=False)[
            "multiply_cycles"
        ]
        self.guard(free < 1.01 * alone, "where nothing is written, overlap does not slow multiplying down")
        self.ends = [t.makespan for t in self.three]
        self.us = [round(end / 1000, 1) for end in self.ends]
        self.stay, self.more = -np.diff(self.us)
        self.guard(0 < 2 * self.stay < self.more, "blocks that stay save less than overlap does")

    def rows(self, trace: Trace, sm: int | None = None) -> np.ndarray:
        """The tiles of an SM, by default the followed one's, in time."""
        mine = trace.spans[trace.spans["sm"] == (self.sm if sm is None else sm)]
        return mine[np.argsort(mine["start"])]

    def sums(self, sm: int) -> list[list[float]]:
        """How long each of an SM's pauses is on average, and it multiplies and runs: µs, as printed."""
        found = []
        for rows in (self.rows(trace, sm) for trace in self.three):
            between = rows["start"][1:] - rows["drain"][:-1]
            ns = between.mean(), (rows["drain"] - rows["start"]).sum(), rows["done"][-1]
            found.append([round(float(each) / 1000, n) for each, n in zip(ns, (2, 1, 1), strict=True)])
        return found

    def followed(self) -> int:
        """The first SM of four tiles in all runs that loads first and writes last for as long in each."""
        for sm in np.flatnonzero(np.all(self.counts == 4, axis=0)).tolist():
            rests = [end - 3 * pause - loops_us for pause, loops_us, end in self.sums(sm)]
            if np.ptp(rests) < 0.05:
                return sm
        self.guard(False, "what one SM saves is shorter pauses less slower multiplication")
        return 0

    def construct(self) -> None:
        self.write_and_load = mixed(self.theme.first_load, self.theme.write, 0.35)
        self.times = Badge(tr("times measured on {gpu}", gpu=self.naive.gpu), "measured")
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
        self.play(FadeIn(boxes, lag_ratio=0.01, run_time=1.8))
        ours = boxes[self.sm]
        name = self.bold("We follow this one.").next_to(boxes, UP, px(30)).align_to(ours, LEFT)
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
        self._heading = VGroup(self.bold(name, 56))
        self._heading.next_to([self.area.left, self.area.top - px(30), 0], RIGHT, 0)
        return [*changes, Fade(self._heading, 0.0, 1.0)]

    def waiting(self, what: str, blocks: bool) -> tuple[VGroup, VGroup]:
        """Four tiles in a row, each below its thread block if it has one, and below them `what` waits."""
        row = VGroup()
        for _ in range(4):
            one = VGroup(rectangle(px(104), px(52), self.theme.hand_over))
            if blocks:
                one.add(unnumbered().next_to(one[0], UP, px(26)))
            row.add(one)
        row.arrange(RIGHT, buff=px(46))
        fit(row, (0.9 if self.tall else 0.44) * self.area.width)
        row.set_x(self.area.left + row.width / 2).set_y(self.box.get_y() + px(70 * self.narrow))
        if self.tall:
            row.set_x(0).set_y(self.area.top - px(170))
        words = lines(what, 44, (0.7 if self.tall else 0.54) * self.area.width, color=self.theme.text)
        return row, words.next_to(row, DOWN, px(40), aligned_edge=LEFT)

    def a_block_per_tile(self) -> None:
        row, queue = self.waiting(tr("waiting thread blocks, each with its tile"), blocks=True)
        about = self.word("A thread block is a group of threads that work together on one SM.", 44)
        about.move_to([0, self.area.bottom, 0], DOWN)
        self.badge(Badge(tr("schematic"), "model"))
        self.say("The naive kernel launches a new thread block for every tile.")
        self.play(*self.heading("Naive"), Fade(row, 0.0, 1.0), Fade(queue, 0.0, 1.0), Fade(about, 0.0, 1.0))
        box = self.box.box
        for number, (tile, block) in enumerate(row[:2]):
            into = Travel([tile], [[box.get_center() + px(120) * DOWN]], leg=0.5)
            self.play(Deal([block], [box], [self.hue]), into)
            if number == 0:
                # Its tile is written, and the block ends.
                self.play(
                    FadeOut(block, shift=px(200) * UP), FadeOut(tile, shift=px(260) * RIGHT), run_time=0.6
                )
        self.leave(row, queue, about)

    def lane_alone(self, trace: Trace, window: tuple[float, float]) -> LaneVectors:
        """The followed SM's lane across the frame."""
        lane = LaneVectors(
            trace, [self.sm], None, self.area.width, px(LANE), labels=False, ticks=False, numbers=False,
            cursor=False, fills=self.fills(trace),
        )  # fmt: skip
        lane.move_to(self.area.center + px(30) * UP)
        lane.window = window
        return self.one_color_at_a_time(lane).show(window[0])

    def fills(self, trace: Trace) -> dict:
        """The colors of what happens."""
        colors = self.theme.by_phase
        if trace is self.stays:
            return colors | {"hand over": self.write_and_load}
        return colors | {"fix up": colors["hand over"]}

    def one_color_at_a_time(self, lane: LaneVectors) -> LaneVectors:
        """A lane in which a main loop under which a tile is written has one color, as in thin rows."""
        for number, part in enumerate(lane.pieces):
            if part.kind == "write under":
                lane.pieces[number] = part._replace(kind="write")
                lane.parts[number].set_fill(ManimColor(self.theme.both))
        return lane

    def first_tile(self) -> None:
        """The SM unrolls into its lane; each part is named as it begins."""
        first = self.rows(self.naive)[0]
        issue, start, drain, done = (int(first[name]) for name in ("issue", "start", "drain", "done"))
        lane = self.lane = self.lane_alone(self.naive, (0.0, 1.12 * done))
        self.ticking = self.clock(max(self.ends))
        self.badge(self.times.copy())
        whose = self.bold("Our SM computes its first tile.").next_to(lane, UP, px(40), aligned_edge=LEFT)
        self.say("Each block is launched, loads its first data, multiplies, and writes its tile.")
        self.box.remove(self.box.heading)
        self.play(Unroll([self.box], lane, run_time=1.2), FadeIn(whose))
        launched = issue + self.naive.meta["launch_ns"]["p50"]
        names = self.below(lane, tr("copy unit: loads and writes"), RIGHT)
        box = names[0].get_center()
        data = self.freight(tr("data"), self.theme.first_load).move_to(box)
        tile = self.freight(tr("tile"), self.theme.write).move_to([lane.x(drain), lane.get_y(), 0])
        above = [lane.x((launched + start) / 2), lane.get_y(), 0]
        moves = {"first load": [Travel([data], [[above]], leg=0.5)], "launch": [FadeIn(names, run_time=0.3)],
                 "write": [Travel([tile], [[box]], leg=0.5)]}  # fmt: skip
        for word, begin, end in (
            ("launch", issue, launched), ("first load", launched, start), ("multiply", start, drain),
            ("write", drain, done),
        ):  # fmt: skip
            self.play(PlayTrace(self.ticking, lane, until=float(end), pace=2 * PACE), *moves.get(word, []))
            if word == "launch":
                name = below_lane(lane, begin, end, self.bold(word, 50), 20).align_to(lane, LEFT)
            else:
                name = in_lane(lane, begin, end, tr(word), self.theme.by_phase[word], 50)
            names.add(name)
            self.play(FadeIn(name), *([FadeOut(data)] if word == "first load" else []), run_time=0.2)
        self.leave(names, whose, tile)

    # Pauses of one SM.

    def second_pause(self, trace: Trace) -> tuple[float, float, float]:
        """When the second tile's main loop ends, when it is written, and when the third's begins, ns."""
        rows = self.rows(trace)
        return float(rows["drain"][1]), float(rows["done"][1]), float(rows["start"][2])

    def below(self, lane: LaneVectors, name: str, side: np.ndarray) -> VGroup:
        """A part of the SM, below one end of the lane: a box with its name."""
        box = SM("", self.theme.quiet, min(px(720), 0.48 * self.area.width), px(100))
        box.move_to([lane.get_edge_center(side)[0], lane.get_bottom()[1] - px(120), 0], UP + side)
        word = fit(label(name, 40, self.theme.text), box.width)
        return VGroup(box, word.next_to(box, DOWN, px(12)))

    def freight(self, text: str, fill: Colour, width: float = px(120), count: int = 1) -> VGroup:
        """Small, labeled boxes that the copy unit moves."""
        box = rectangle(width, px(68), fill).set_stroke(ManimColor(self.theme.background), stroke_width(4))
        one = VGroup(box, fit(label(text, 36, ink_on(fill), bold=True), 0.86 * width))
        return VGroup(*(one.copy() for _ in range(count))).arrange(RIGHT, buff=0)

    def close_up(self, trace: Trace) -> None:
        """The lane around the second pause, its bracket, and the copy unit with what it writes and loads."""
        begin, done, end = self.second_pause(trace)
        low, high = (begin + ns for ns in AROUND)
        lane = self.lane = self.lane_alone(trace, (low, high)).show(begin - BEFORE)
        self.names = VGroup(
            in_lane(lane, low, begin, tr("multiply tile 2"), self.hue),
            in_lane(lane, max(end, done), high, tr("multiply tile 3"), self.hue),
        )
        us = tr("no multiplication: {us:.1f} µs", us=(end - begin) / 1000)
        self.bracket = TimeBracket(lane, begin, end, self.sm, us, size=52)
        self.memory = self.below(lane, tr("shared memory: {of_sm} KB", of_sm=self.of_sm), LEFT)
        self.unit = self.below(lane, tr("copy unit: loads and writes"), RIGHT)
        kb, (high, wide, _) = (self.memory[0].width - px(24)) / self.of_sm, trace.problem.tile
        slots = self.theme.first_load, self.own / trace.meta["stages"] * kb, trace.meta["stages"]
        self.used, self.data = (self.freight(name, *slots) for name in (tr("data 2"), tr("data 3")))
        self.tile = self.freight(tr("tile 2"), self.theme.write, 2 * high * wide / 1024 * kb)
        self.tile.move_to([lane.x(begin), lane.get_y(), 0])
        self.gone = FadeOut(self.used.move_to(self.within(self.memory, self.used)), run_time=0.3)
        self.data.move_to(self.within(self.unit, self.data))

    def within(self, part: VGroup, one: VGroup) -> np.ndarray:
        """Where data, or a tile beside them or in their place, stand in a part of the SM."""
        side = RIGHT if one is self.tile and self.lane.trace is not self.naive else LEFT
        return part[0].get_edge_center(side) - (one.width / 2 + px(12)) * side

    def through(self, one: VGroup, *parts: VGroup, leg: float = 0.5) -> Travel:
        """Data or a tile go from part to part of the SM, in so many seconds each."""
        return Travel([one], [[self.within(part, one) for part in parts]], leg=leg)

    def word_from(self, begin: float, end: float, text: str) -> Mobject:
        """A label below the lane, from one instant on, to another at most, in ns."""
        word, left = self.bold(text, 38), self.lane.x(begin)
        fit(word, self.lane.x(end) - left)
        return word.move_to([left, self.lane.get_bottom()[1] - px(20), 0], UP + LEFT)

    def pass_by(self, until: float, *along: Animation) -> None:
        """Let time pass at the pace that all close-ups share."""
        self.play(PlayTrace(self.lane, self.bracket, until=until, pace=PACE), *along)

    def close_up_ends(self, *parts: Mobject) -> None:
        """The third tile's main loop, and all leaves."""
        self.pass_by(
            self.lane.window[1], *(FadeIn(one, run_time=0.3) for one in parts if one not in self.mobjects)
        )
        self.play(FadeIn(self.names[1]), run_time=0.3)
        self.leave(self.names, self.bracket, self.memory, self.data, self.unit, self.lane, *parts)

    def naive_pause(self) -> None:
        """The lane goes on into its second pause, which passes slowly."""
        drain, done, start = self.second_pause(self.naive)
        self.say("A block needs {own} KB. Two do not fit into the SM's {of_sm}, so the next one waits.")
        self.play(
            Leave(self.ticking), Zoom(self.lane, window=(drain + AROUND[0], drain + AROUND[1]), run_time=1.2),
            PlayTrace(self.lane, until=drain - BEFORE, run_time=1.2),
        )  # fmt: skip
        self.remove(self.lane)
        self.close_up(self.naive)
        self.add(self.lane)
        self.pass_by(drain, FadeIn(self.memory, self.used, self.unit, run_time=0.3))
        named = FadeIn(self.names[0], run_time=0.3)
        self.pass_by(done, named, self.through(self.tile, self.memory, self.unit))
        launched = done + self.naive.meta["launch_ns"]["p50"]
        load = in_lane(self.lane, launched, start, tr("first load"), self.theme.first_load, 40)
        parts = VGroup(
            in_lane(self.lane, drain, done, tr("write"), self.theme.write, 40),
            below_lane(self.lane, done, launched, self.bold("launch", 44), 20),
        )
        self.pass_by(
            launched, FadeIn(parts, run_time=0.3), FadeOut(self.tile, run_time=0.3), self.gone,
            FadeIn(self.data, shift=px(60) * UP, run_time=0.3),
        )  # fmt: skip
        self.pass_by(start, self.through(self.data, self.memory))
        self.close_up_ends(parts, load)

    def a_block_that_stays(self) -> None:
        """One block flies in and stays; tiles come to it."""
        self.box = self.our_sm()
        row, queue = self.waiting(tr("waiting tiles"), blocks=False)
        block = unnumbered().resident(self.hue).move_to(self.box.box)
        self.badge(Badge(tr("schematic"), "model"))
        self.say("A persistent block stays and takes one tile after another.")
        self.play(*self.heading("Persistent"), FadeIn(self.box, block, queue), Fade(row, 0.0, 1.0))
        for (tile,) in row[:2]:
            self.play(Travel([tile], [[block.get_center() + px(120) * DOWN]], leg=0.4))
            self.play(FadeOut(tile, shift=px(260) * RIGHT), run_time=0.4)
        self.leave(self.box, block, queue, row)

    def pause_without_overlap(self) -> None:
        """Nothing is launched, but the third tile's data are requested after the second tile's hand-over."""
        drain, _, start = self.second_pause(self.stays)
        self.close_up(self.stays)
        self.badge(self.times.copy())
        self.say("It puts its finished tile into shared memory. The copy unit writes it from there.")
        self.play(Fade(self.lane, 0.0, 1.0), FadeIn(self.memory, self.used, self.unit))
        self.pass_by(drain, FadeIn(self.names[0], run_time=0.3))
        way = self.through(self.tile, self.memory, self.unit, leg=0.9)
        self.pass_by(drain + self.hand_over, self.gone, way)
        self.say("Only then does this simple kernel ask for the next data, so multiplying stops again.")
        self.play(FadeIn(self.data, shift=px(60) * UP, run_time=0.4))
        self.pass_by(start, FadeOut(self.tile, run_time=0.4), self.through(self.data, self.memory, leg=1.2))
        both = in_lane(self.lane, drain, start, tr("hand over, write and load"), self.write_and_load, 40)
        self.close_up_ends(both)

    def pause_with_overlap(self) -> None:
        """The third tile's first data arrive before the second tile is finished."""
        drain, done, start = self.second_pause(self.overlaps)
        self.close_up(self.overlaps)
        self.say("A third kernel loads the next data early, into memory that has already been read.")
        self.play(
            *self.heading("Persistent with overlap"), Fade(self.lane, 0.0, 1.0),
            FadeIn(self.memory, self.used, self.unit, self.names[0]),
        )  # fmt: skip
        self.data, read, last = self.data[:-1], self.used[:-1], self.used[-1]
        self.play(FadeIn(self.data, shift=px(60) * UP), FadeOut(read), run_time=0.4)
        self.pass_by(drain, self.through(self.data, self.memory, leg=0.9))
        self.say("Multiplying takes longer only because the copy unit writes at the same time.")
        self.pass_by(start, FadeOut(last), self.through(self.tile, self.memory, leg=(start - drain) / PACE))
        handed = self.word_from(drain - 700 * self.narrow, start, "hand over")
        slower = self.word_from(start, self.lane.window[1], "multiply while a tile is written")
        self.pass_by(done, FadeIn(handed, slower, run_time=0.3), self.through(self.tile, self.unit))
        self.play(FadeOut(self.tile), run_time=0.4)
        self.close_up_ends(handed, slower)

    # All three kernels.

    def trio(
        self, make: type[Lanes], height: float, top: float, step: float, sms: Sequence[list[int]]
    ) -> list[Any]:
        """Lanes of some SMs of each run, one run below the other, with one clock."""
        left = self.area.left + (0 if self.tall else px(SIDE))
        window, wide = (0.0, float(max(self.ends))), self.area.right - left - px(190)
        rows = []
        for number, (trace, some) in enumerate(zip(self.three, sms, strict=True)):
            lanes = make(
                trace, some, window, wide, height=height, labels=False, ticks=False, numbers=False,
                fills=self.fills(trace),
            )  # fmt: skip
            rows.append(lanes.move_to([left, top - number * step, 0], LEFT + UP))
        return rows

    def names_beside(self, rows: Sequence[Lanes]) -> VGroup:
        names = VGroup()
        for name, lanes in zip(self.kernels, rows, strict=True):
            if self.tall:
                word = lines(name, 44, self.area.width, bold=True).next_to(lanes.grounds, UP, px(90), LEFT)
            else:
                word = lines(name, 44, px(SIDE - 60), bold=True).next_to(lanes.grounds, LEFT, px(30))
            names.add(word)
        return names

    def ends_of(self, rows: Sequence[Lanes], us: Sequence[float]) -> VGroup:
        """The times at which the three runs end, in µs, each to the right of its lanes."""
        ends = VGroup()
        for lanes, end in zip(rows, us, strict=True):
            figure = Figure(tr("{us:.1f} µs", us=end), 44)
            ends.add(figure.move_to(lanes.grounds.get_right() + px(24) * RIGHT, LEFT))
        return ends

    def three_lanes(self) -> None:
        """The followed SM in all three runs."""
        area = self.area
        key = self.key(
            Entry(tr("launch, first load"), [self.theme.launch, self.theme.first_load]),
            *self.phases("multiply", "write"), Entry(tr("hand over, write and load"), [self.write_and_load]),
            Entry(tr("multiply while a tile is written"), [self.theme.both]), *self.phases("hand over"),
        )  # fmt: skip
        step = (area.top - self.floor) / 3
        lanes = self.trio(LaneVectors, 0.42 * step, area.top - 0.42 * step, step, 3 * [[self.sm]])
        self.lanes = [*map(self.one_color_at_a_time, lanes)]
        self.names = self.names_beside(self.lanes)
        self.badge(of_trace(self.naive))
        self.ticking.show(0.0)
        self.say("")
        self.play(
            *key, *self.heading("" if self.narrow and not self.tall else "Our SM"),
            Fade(self.ticking, 0.0, 1.0), FadeIn(self.names), *(Fade(one, 0.0, 1.0) for one in self.lanes),
        )  # fmt: skip
        brackets = [
            TimeBracket(lanes, float(rows["drain"][n]), float(rows["start"][n + 1]), self.sm, "", size=38)
            for lanes, rows in zip(self.lanes, map(self.rows, self.three), strict=True)
            for n in range(3)
        ]
        self.add(*brackets)
        last = max(float(self.rows(trace)["done"][-1]) for trace in self.three)
        self.play(PlayTrace(self.ticking, *self.lanes, *brackets, until=last, run_time=1.4))
        ends = self.ends_of(self.lanes, [end for *_, end in self.parts])
        for lanes, (pause, loops_us, end) in zip(self.lanes, self.parts, strict=True):
            sum_of = self.word(
                "multiply {loops:.1f} + 3 × average pause {pause:.2f} + rest {rest:.1f} =",
                36, self.theme.text, loops=loops_us, pause=pause, rest=end - 3 * pause - loops_us,
            )  # fmt: skip
            fit(sum_of, area.width).next_to(lanes.grounds, UP, px(34), aligned_edge=RIGHT)
            sum_of.shift(max(0, area.left - sum_of.get_left()[0]) * RIGHT)
            ends.add(sum_of)
        self.say(
            "The third kernel multiplies {slower:.1f} µs longer than naive, but pauses {shorter:.1f} µs less."
        )
        self.play(FadeIn(ends, run_time=0.3))
        self.leave(ends, *brackets)

    def all_sms(self) -> None:
        """The three lanes shrink into the rasters of all 132 SMs."""
        top = self.area.top - px(160 if self.tall else 70)
        step = (top - self.floor) / 3
        orders = [
            sorted(range(len(counts)), key=lambda sm: (sm != self.sm, -counts[sm])) for counts in self.counts
        ]
        rasters = self.trio(LaneImage, (0.78 if self.tall else 0.9) * step, top, step, orders)
        for raster in rasters:
            raster.show(self.lanes[0].t)
        self.say("The slowest SM sets the time. Staying saves {stay:.1f} µs, overlap another {more:.1f} µs.")
        self.play(
            *self.heading("All SMs, a thin row each"),
            *(Fade(raster, 0.0, 1.0, run_time=1.2) for raster in rasters),
            *(Fade(lanes, 1.0, 0.0, run_time=0.8) for lanes in self.lanes),
            *(name.animate(run_time=1.2).set_y(raster.get_top()[1] + px(36) if self.tall else raster.get_y())
              for name, raster in zip(self.names, rasters, strict=True)),
        )  # fmt: skip
        self.remove(*self.lanes)
        self.play(PlayTrace(self.ticking, *rasters, until=0.0, run_time=1.2, rate_func=smoothstep))
        self.play(PlayTrace(self.ticking, *rasters, until=float(max(self.ends)), run_time=1.4))
        ends = self.ends_of(rasters, self.us)
        self.play(FadeIn(ends))
        self.close(
            "On an H200, a persistent kernel that writes one tile while it multiplies the next "
            "takes {less:.0%} less time than a naive one.",
            list(zip(self.kernels, self.us, strict=True)), "less time", "{:.1f} µs", of_trace(self.naive),
            self.tr("C has {m} × {n} numbers, each a sum of {k} products of 16-bit numbers."),
        )  # fmt: skip
