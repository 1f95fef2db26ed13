"""Execution model: who decides on which SM a thread block runs, and how many fit there at once?

manim render scenes/execution_model.py
"""

from collections.abc import Mapping, Sequence
from typing import Any

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
    ReplacementTransform,
    VGroup,
)

from tilesim.devices.device import Device
from tilesim.devices.facts import REFERENCE
from tilesim.devices.occupancy import PARTS
from tilesim.devices.presets import presets
from tilesim.errors import unknown
from tilesim_scenes.animations.fade import Fade, Leave, late
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Deal, Travel
from tilesim_scenes.film.report_film import ReportFilm
from tilesim_scenes.film.settings import NAME, REPORT, TILE, FilmError, tile_sizes
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import sm_colour
from tilesim_scenes.mobjects.hardware.partitions import LANES, Partitions
from tilesim_scenes.mobjects.hardware.queue import Queue
from tilesim_scenes.mobjects.hardware.sm import SM
from tilesim_scenes.mobjects.hardware.sm_map import LEAST, SMMap
from tilesim_scenes.mobjects.hardware.thread_block import ThreadBlock
from tilesim_scenes.mobjects.hardware.warp import Warp
from tilesim_scenes.mobjects.models.warps.limit_bars import LimitBars
from tilesim_scenes.mobjects.models.warps.warp_walk import WarpWalk
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.count import Count
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.story.ideas.execution_model import TILE as USUAL_TILE
from tilesim_scenes.story.ideas.execution_model import Story, limit_name, part_name, tell

FILM = {
    "title": "Execution model",
    "question": "Who decides where a block runs?",
    "part": "How the machine works",
    "place": 20,
    "seconds": 46,
    "shows": "Blocks handed out to SMs, and what of an SM each of them holds.",
    "takes": "report",
    "options": {"device": "h200", "tile": "128x128x64"},
}
TRAVELLERS = 12
"""Blocks that fly one by one; the others' work is a front."""
MOST_SLOTS = 4
"""Warps that a partition has room to show."""


class ExecutionModel(ReportFilm):
    """A product in tiles of 128 x 128 x 64 on an H200, unless asked otherwise."""

    bench = "execution_model"
    asked = REPORT | {"device": NAME, "tile": TILE}

    @classmethod
    def story_of(cls, report: Mapping[str, Any], settings: Mapping[str, Any]) -> Story:
        device = Device.named(str(settings.get("device", REFERENCE))).name
        if device not in presets():
            raise FilmError(unknown("device", device, presets()))
        return tell(report, device, tile_sizes(settings.get("tile", USUAL_TILE)))

    def construct(self) -> None:
        story = self.story
        self.sms = presets()[story.device]["sms"]
        self.number = story.order.order[story.order.small] if story.order else 0
        self.hue = sm_colour(self.number, self.sms)
        if story.order:
            self.fill_the_gpu()
        else:
            self.one_sm()
        self.into_partitions()
        self.four_limits()
        self.walk()
        self.tell_the_finding()

    def fill_the_gpu(self) -> None:
        """Blocks leave their queue, one by one to the small groups, then by the dozen, then all."""
        story, area, order = self.story, self.area, self.story.order
        queue = Queue(range(TRAVELLERS), px(170) if self.wide else 0.9 * area.width)
        width = area.width - (queue.width + px(60) if self.wide else 0)
        height = area.height - (0 if self.wide else queue.height + px(60))
        rounds = min(story.residents, 2)
        gpu = SMMap(order.groups, order.order, rounds, width, height)
        if gpu.em < px(LEAST):
            rounds = 1
            gpu = SMMap(order.groups, order.order, rounds, width, height)
        gpu.move_to([area.right - width / 2, area.bottom + height / 2, 0])
        beside, above = (
            (area.left + queue.width / 2, area.center[1]),
            (area.center[0], area.top - queue.height / 2),
        )
        queue.move_to([*(beside if self.wide else above), 0])
        self.add(gpu.grounds)
        self.title(tr("Execution model"))
        self.say(story.question)
        names = VGroup(label(tr("grid"), 44, self.theme.launch, bold=True).next_to(queue, UP, px(28)))
        names.add(
            label(tr("{gpu}: {sms} SMs", gpu=presets()[story.device]["short"], sms=self.sms), 52, bold=True)
        )
        small = gpu.group(order.groups[0] + order.groups[1])
        names[1].move_to([(small.get_right()[0] + gpu.get_right()[0]) / 2, small.get_y(), 0])
        each = (FadeIn(block, shift=px(30) * RIGHT) for block in queue)
        self.play(FadeIn(names), LaggedStart(*each, lag_ratio=0.1, run_time=1.6))
        self.badge(Badge(tr("measured on {gpu}", gpu=order.gpu), "measured"))
        self.wait(0.2)
        self.say(story.small_groups)
        self.remove(gpu.grounds)
        self.add(gpu, *queue)
        self.deal(gpu, queue, 0, order.small)
        self.say(story.one_by_one)
        self.deal(gpu, queue, order.small, TRAVELLERS, self.landed(gpu, queue, 0, order.small))
        row = next(group for group in order.groups if self.number in group)
        gpc = label(tr("GPC"), 40, bold=True).next_to(gpu.group(row), RIGHT, px(20))
        landed = self.landed(gpu, queue, order.small, TRAVELLERS)
        self.play(FadeIn(gpc), *landed, PlayTrace(gpu, until=order.small + len(row), run_time=1.4))
        self.play(FadeOut(gpc, names[0]), PlayTrace(gpu, until=order.small + 2 * len(row), run_time=0.8))
        self.say(story.at_once)
        self.play(PlayTrace(gpu, until=self.sms, run_time=1.9))
        if rounds > 1:
            self.say(story.second_round)
            self.play(PlayTrace(gpu, until=rounds * self.sms, run_time=2.4))
        self.say(story.warps_part)
        self.play(FadeOut(names[1]), run_time=0.3)
        self.gpu = gpu

    def deal(self, gpu: SMMap, queue: Queue, first: int, last: int, along: Sequence[Animation] = ()) -> None:
        """Blocks fly from the queue to their SMs."""
        blocks = [queue.block(number) for number in range(first, last)]
        places = [gpu.cell(gpu.order[number]) for number in range(first, last)]
        hues = [sm_colour(gpu.order[number], self.sms) for number in range(first, last)]
        sizes = [
            [0.7 * min(place.width, place.height) / block.width]
            for place, block in zip(places, blocks, strict=True)
        ]
        self.play(Deal(blocks, places, hues, sizes=sizes), *along)

    def landed(self, gpu: SMMap, queue: Queue, first: int, last: int) -> list[Animation]:
        """Blocks that were dealt become their numbers in their SMs' cells."""
        gpu.show(last)
        coming = (*gpu.fills[first:last], *gpu.numbers[first:last])
        leaving = (Leave(queue.block(number)) for number in range(first, last))
        return [*leaving, *(Fade(one, 0.0, 1.0) for one in coming)]

    def one_sm(self) -> None:
        """Of a GPU whose order nobody has found: one SM."""
        self.gpu, self.box = None, self.sm_box()
        self.add(self.box.box)
        self.title(tr("Execution model"))
        self.say(self.story.question)
        self.play(FadeIn(self.box.heading), run_time=0.5)

    def sm_box(self) -> SM:
        area = self.area
        name = tr("SM {number}", number=self.number) if self.story.order else tr("one SM")
        box = SM(name, self.hue, area.width, 0.94 * area.height, 52)
        return box.move_to(area.center)

    def into_partitions(self) -> None:
        """An SM's cell grows into the SM; its blocks part into warps, and a warp into lanes."""
        story, area = self.story, self.area
        box = self.box = self.sm_box() if self.gpu else self.box
        inside = Partitions(0.94 * area.width, box.box.height - px(250), self.hue, 2 if self.tall else 4)
        inside.move_to(box.box.get_bottom() + (inside.height / 2 + px(28)) * UP)
        if self.gpu:
            cell = self.gpu.cell(self.number).copy()
            self.play(Fade(self.gpu, 1, 0), ReplacementTransform(cell, box.box), run_time=0.8)
            self.remove(self.gpu)
            self.add(box)
            self.play(FadeIn(box.heading, inside), run_time=0.4)
        else:
            self.say(story.warps_part)
            self.play(FadeIn(inside), run_time=0.4)
        self.badge(Badge(*story.inside_badge))
        slots = min(MOST_SLOTS, -(-story.residents * story.warps // PARTS))
        warps = self.part_into_warps(inside, slots)
        lanes = self.take_lanes(inside, warps[0], named=slots < 3)
        self.badge(Badge(*story.badge))
        self.say(story.four_limits)
        # In the order in which they lie: a FadeOut draws its last on top.
        self.leaving = VGroup(inside, warps, lanes)

    def part_into_warps(self, inside: Partitions, slots: int) -> VGroup:
        """The blocks that fit come, one by one, and their warps go to the partitions in turn."""
        story, seen = self.story, VGroup()
        high = inside.place(0, 0, slots)[1] - inside.place(0, 1, slots)[1]
        spacing = min(0.92 * inside.wide / (LANES + 1), high / 2.4)
        for number in range(min(story.residents, max(1, PARTS * slots // story.warps))):
            block = self.block(number)
            warps = VGroup(*(Warp(LANES, spacing, self.hue) for _ in range(story.warps)))
            for warp, one in enumerate(warps, number * story.warps):
                one.move_to(inside.place(warp % PARTS, warp // PARTS, slots))
            folded = [one.copy().scale(0.3).move_to(block) for one in warps]
            self.play(FadeIn(block, shift=px(60) * RIGHT), run_time=0.4)
            moves = (ReplacementTransform(small, one) for small, one in zip(folded, warps, strict=True))
            self.play(LaggedStart(*moves, lag_ratio=0.35, run_time=0.9 if number else 1.4))
            seen.add(*warps, block)
        return seen

    def take_lanes(self, inside: Partitions, warp: Warp, named: bool) -> VGroup:
        """The threads of a warp take the lanes of its partition; returns those, and what is written there."""
        corner = inside.boxes[1 if self.tall else -1]
        names = VGroup(label(tr("partition"), 44, bold=True).next_to(corner, UP, px(12)))
        if named:
            names.add(label(tr("lanes"), 40).next_to(inside.lanes[0], UP, px(10)))
            names.add(label(tr("warp"), 40).next_to(warp, DOWN, px(20)))
        self.play(FadeIn(names), run_time=0.3)
        lanes = VGroup(*(lane.copy().set_fill(ManimColor(self.hue)) for lane in inside.lanes[0]))
        flights = (ReplacementTransform(dot.copy(), lane) for dot, lane in zip(warp.dots, lanes, strict=True))
        self.play(LaggedStart(*flights, lag_ratio=0.04, run_time=1.4))
        return VGroup(lanes, names)

    def block(self, number: int) -> ThreadBlock:
        """One of the blocks that this SM gets, at its place beside the SM's name."""
        block = ThreadBlock(self.block_number(number), px(110)).resident(self.hue)
        return block.move_to(self.door(number))

    def door(self, number: int) -> np.ndarray:
        """Where the blocks of an SM stand in turn."""
        right = max(self.box.heading.get_right()[0], self.area.left + px(200)) + px(110)
        return np.array([right + number * px(140), self.box.box.get_top()[1] - px(95), 0])

    def block_number(self, resident: int) -> int:
        """The number of one of the blocks that this SM gets; where nobody knows, the how many-th it is."""
        if not self.story.order:
            return resident + 1
        return self.story.order.order.index(self.number) + resident * self.sms

    def four_limits(self) -> None:
        """Blocks come in until one of the four limits is used up; the next one is turned away."""
        story, box = self.story, self.box
        inner = box.box
        names = {use.limit: limit_name(use.limit) for use in story.occupancy.uses}
        wide, high = 0.92 * inner.width, 0.62 * inner.height
        bars = LimitBars(story.occupancy.uses, names, self.hue, wide, high, story.residents, above=self.tall)
        bars.move_to(inner.get_bottom() + (bars.height / 2 + 0.07 * inner.height) * UP)
        shown = min(story.residents, 4)
        blocks = [self.block(number) for number in range(shown)]
        coming = FadeIn(bars.grounds, bars.names, bars.amounts, run_time=0.8, rate_func=late)
        self.play(FadeOut(self.leaving, run_time=0.4), coming)
        self.add(bars)
        for number, block in enumerate(blocks):
            until = (number + 1) * story.residents / shown
            self.play(FadeIn(block, shift=px(60) * RIGHT), PlayTrace(bars, until=until, run_time=1.1))
        waiting = ThreadBlock(self.block_number(story.residents), px(110))
        gate, away = self.door(shown), px(300) * RIGHT
        waiting.move_to(gate + away)
        self.say(story.refused)
        self.play(FadeIn(waiting, shift=px(60) * LEFT), run_time=0.3)
        self.play(
            Travel([waiting], [[gate, gate + away]], leg=0.7),
            PlayTrace(bars, until=story.residents + 1, run_time=1.4),
        )
        self.wait(0.5)
        self.say(story.own_places)
        self.play(FadeOut(box, bars, waiting, *blocks), run_time=0.4)

    def walk(self) -> None:
        """The warps of one block through their program, by the clock of their SM."""
        story, area = self.story, self.area
        parts = [part_name(part) for part in story.parts]
        height = 0.86 * area.height
        walk = WarpWalk(parts, story.cycles, area.width, height, self.hue)
        walk.move_to(area.center + 0.03 * area.height * DOWN)
        cycles = Count(lambda t: tr("{cycles:,} cycles", cycles=int(t)), size=46, align=0.0)
        cycles.move_to([area.left, area.top + px(40), 0], LEFT)
        self.badge(Badge(tr("measured on {gpu}", gpu=story.gpu), "measured"))
        self.play(FadeIn(walk, cycles), run_time=0.4)
        arrives = min(marks[-2] for marks in story.cycles)
        self.play(PlayTrace(walk, cycles, until=0.94 * arrives, run_time=3))
        self.say(story.barrier)
        self.play(PlayTrace(walk, cycles, until=walk.last, run_time=2))
        self.play(PlayTrace(walk, cycles, until=max(marks[-1] for marks in story.cycles), run_time=0.8))

    def tell_the_finding(self) -> None:
        story, area = self.story, self.area
        if not story.order:
            return self.finding(Finding(story.finding, story.number, None, Badge(*story.badge), story.aside))
        gpu = SMMap(story.order.groups, story.order.order, 1, 0.7 * area.width, 0.42 * area.height)
        badge = Badge(tr("measured on {gpu}", gpu=story.order.gpu), "measured")
        card = Finding(story.finding, story.number, gpu, badge, story.aside)
        self.finding(card, [Fade(gpu, 0.0, 1.0), PlayTrace(gpu, until=self.sms, run_time=0.8)])

    @property
    def wide(self) -> bool:
        """Whether things have room side by side."""
        return self.area.width > 1.5 * self.area.height
