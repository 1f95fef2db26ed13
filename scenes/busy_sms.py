"""Busy SMs: who notices that another kernel holds some SMs, and who waits for them?"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from manim import (
    DOWN,
    LEFT,
    RIGHT,
    UP,
    Circle,
    Dot,
    GrowFromCenter,
    LaggedStart,
    ManimColor,
    ReplacementTransform,
    VGroup,
    VMobject,
)

from tilesim import Device, Problem, Trace
from tilesim.ladder.reports import read, report
from tilesim_scenes.animations.fade import Fade, Leave
from tilesim_scenes.animations.fit import Fit
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.film.scene import Film
from tilesim_scenes.film.settings import FILE, TRACES
from tilesim_scenes.film.traces import Default
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, lines, px
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.charts.curve import Curve
from tilesim_scenes.mobjects.charts.plot import Plot
from tilesim_scenes.mobjects.drawing.quads import rectangle, stroke_width
from tilesim_scenes.mobjects.hardware.queue import Queue
from tilesim_scenes.mobjects.traces.held_lanes import HeldLanes, hatched
from tilesim_scenes.mobjects.traces.time_bracket import TimeBracket
from tilesim_scenes.mobjects.words.badge import Badge, of_trace
from tilesim_scenes.mobjects.words.count import Count
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.story.ideas.busy_sms import Story, tell

FILM = {
    "title": "Busy SMs",
    "question": "Who notices that SMs are taken?",
    "part": "Schedules",
    "place": 200,
    "seconds": 43,
    "shows": "Three schedules while another kernel holds some SMs.",
    "takes": "traces",
    "options": {"report": None},
}
SIDE, GAP, BELOW, HEAD, NAME = 400, 40, 100, 80, 70
"""Pixels: of the column left of the lanes, between two rows of lanes, for a bracket, and of names above lanes
and above blocks."""
WAVE = 2.6
"""Seconds of the first round of the run that queues."""


class BusySms(Film):
    """Naive, persistent and dynamic persistent while 20 SMs are held, as measured, unless asked otherwise."""

    default = Default(
        ("naive", "persistent", "persistent-dynamic"),
        Problem(4224, 4096, 4096, order="grouped:8"),
        Device.named("h200", busy_sms=20),
        shipped=tuple(
            f"busy_sms/h200-{name}-busy20-4224x4096x4096-grouped8.npz"
            for name in ("naive", "persistent", "persistent-dynamic")
        ),
    )
    asked = TRACES | {"report": FILE}

    def traces_of(self, given: Mapping[str, Any]) -> tuple[Trace, ...]:
        traces = super().traces_of(given)
        # What the film cannot be made of is refused while a sentence can still say so.
        story_of(traces, given)
        return traces

    def construct(self) -> None:
        story = story_of(self.traces, self.given)
        field = self.field(story)
        self.add(field)
        self.title(story.title)
        self.hold(story, field)
        self.ticking = self.clock(max(trace.makespan for trace in story.traces))
        lanes = self.unfold(story, field)
        self.queue_up(story, lanes)
        self.race(story, lanes)
        self.sweep(story)
        self.end(story)

    def field(self, story: Story) -> VGroup:
        """A cell for each SM, in rows; above them there is room for as many blocks as SMs are held."""
        sms, area = story.run.device.sms, self.area
        columns = int(np.ceil(np.sqrt(1.25 * sms * area.width / area.height)))
        above, rows = -(-len(story.held) // columns) + 1, -(-sms // columns)
        side = min(area.width / columns, (area.height - px(NAME)) / (rows + above))
        cells = VGroup(*(rectangle(0.86 * side, 0.86 * side, self.theme.idle) for _ in range(sms)))
        for sm, cell in enumerate(cells):
            row, column = divmod(sm, columns)
            cell.move_to([(column - (columns - 1) / 2) * side, -(row + above) * side, 0])
        return cells.shift((area.top - px(NAME) - side / 2) * UP)

    def hold(self, story: Story, field: VGroup) -> None:
        """The blocks of another kernel stand above, and take their SMs."""
        self.badge(story.run)
        blocks = VGroup(*(hatched(field[sm]) for sm in story.held))
        ways = [[block.get_center()] for block in blocks]
        # They stand as the cells do, some rows higher, so that none comes from beside the picture.
        top = self.area.top - px(NAME) - blocks[0].height / 2
        for block, cell in zip(blocks, field, strict=False):
            block.move_to([cell.get_x(), cell.get_y() - field[0].get_y() + top, 0])
        name = label(tr("blocks of another kernel"), 44, self.theme.quiet, bold=True)
        name.move_to([blocks.get_left()[0], self.area.top, 0], UP + LEFT)
        self.play(Fade(blocks, 0.0, 1.0), Fade(name, 0.0, 1.0))
        self.say(story.taken)
        self.play(Travel(list(blocks), ways, leg=0.6, apart=2.0 / len(blocks), arc=0.05))
        self.wait(0.8)
        self.play(Leave(name))
        self.blocks = blocks

    def unfold(self, story: Story, field: VGroup) -> HeldLanes:
        """Each SM's cell unrolls into its lane; those that are held come to lie together, at the foot."""
        room = px(BELOW) if self.side else 0.4 * self.area.height
        lanes = self.lanes_of(story, story.static, self.area.height - room, named=True)
        lanes.shift([self.area.right, self.area.top, 0] - lanes.get_corner(UP + RIGHT))
        strips = VGroup(*(lanes.strip(sm) for sm in range(story.run.device.sms)))
        moves = [
            ReplacementTransform(cell, strip, run_time=1.2) for cell, strip in zip(field, strips, strict=True)
        ]
        self.say(story.launched)
        self.play(Leave(self.blocks), *moves)
        self.play(Fade(lanes, 0.0, 1.0))
        self.remove(strips, *strips)
        return lanes

    def lanes_of(self, story: Story, run: int, height: float, named: bool = False) -> HeldLanes:
        """A run's lanes, as wide as the picture leaves room beside the column on the left."""
        width = self.area.width - (self.side + px(GAP) if self.side else 0)
        return HeldLanes(story.traces[run], width, height, self.longest(story), named=named)

    def longest(self, story: Story) -> float:
        return float(max(trace.makespan for trace in story.traces))

    @property
    def side(self) -> float:
        """The column on the left, where there is room for one."""
        return px(SIDE) if self.area.width > 1.2 * self.area.height else 0.0

    def queue_up(self, story: Story, lanes: HeldLanes) -> None:
        """Blocks that find no SM wait beside the lanes, and begin when others end."""
        area, queued = self.area, story.queued
        name = label(story.names[story.static], 54, bold=True)
        shown = min(len(queued.blocks), 24)
        queue = Queue(queued.blocks[:shown], self.side or area.width)
        waits = label(story.waiting, 48, self.theme.launch, bold=True)
        if self.side:
            name.move_to([area.left, area.top - px(36), 0], LEFT)
        else:
            name.move_to([area.left, lanes.get_bottom()[1] - px(160), 0], LEFT)
        waits.next_to(name, DOWN, px(40)).align_to(name, LEFT)
        queue.next_to(waits, DOWN, px(30)).align_to(name, LEFT)
        self.play(Fade(name, 0.0, 1.0), Fade(waits, 0.0, 1.0), LaggedStart(*map(_come, queue), lag_ratio=0.1))
        begin = min(queued.begins)
        self.play(PlayTrace(self.ticking, lanes, until=begin, run_time=WAVE))
        self.say(story.second_round)
        self.play(Leave(waits))
        ways = [
            [lanes.place(sm, at)] for sm, at in zip(queued.sms[:shown], queued.begins[:shown], strict=True)
        ]
        last = queued.begins[shown - 1]
        until = max(queued.begins) + 0.02 * story.run.makespan
        small = [[px(24) / queue[0].width] for _ in ways]
        fly = Travel(list(queue), ways, small, leg=0.6, apart=0.1)
        self.play(fly, PlayTrace(self.ticking, lanes, until=max(until, last), run_time=fly.run_time))
        self.play(Leave(queue))
        _, since, end = story.idle
        self.say(story.nobody_helps)
        bracket = TimeBracket(lanes, since, end, text=story.bracket, below=True)
        self.play(PlayTrace(self.ticking, lanes, bracket, until=story.run.makespan, run_time=3.0))
        self.wait(1.0)
        self.play(Leave(bracket), Leave(name), Fade(lanes.said, 1.0, 0.0))

    def race(self, story: Story, lanes: HeldLanes) -> None:
        """The others run on the same clock, their lanes below those that have run."""
        area, order = self.area, [story.static, *(n for n in range(len(story.traces)) if n != story.static)]
        row = (area.height - px(GAP) * len(order)) / len(order)
        head = 0.0 if self.side else px(HEAD)
        panels, names, times = [], VGroup(), []
        for place, run in enumerate(order):
            one, top = self.lanes_of(story, run, row - head), area.top - place * (row + px(GAP))
            panels.append(one.shift([area.right, top - head, 0] - one.get_corner(UP + RIGHT)))
            name = lines(story.names[run], 50, self.side or 0.7 * area.width, bold=True)
            for line in name:
                line.align_to(name, LEFT)
            names.add(name.move_to([area.left, top, 0], UP + LEFT))
            below = name.get_bottom()[1] - px(70)
            at = [area.left, below, 0] if self.side else [area.right, top - px(52), 0]
            times.append(self.time_of(story.traces[run]).shift(at))
        first, *rest = panels
        self.say(story.others)
        self.play(Fit(lanes, lanes.ground, first.ground), Fade(names, 0.0, 1.0))
        first.show(lanes.t)
        self.remove(lanes)
        self.add(first)
        self.play(
            PlayTrace(self.ticking, first, until=0, run_time=0.6), *(Fade(one, 0.0, 1.0) for one in rest)
        )
        self.add(*times)
        soon = min(story.traces[run].makespan for run in order)
        self.play(PlayTrace(self.ticking, *panels, *times, until=soon, run_time=3.0))
        self.play(PlayTrace(self.ticking, *panels, *times, until=self.longest(story), run_time=2.4))
        self.wait(0.8)
        self.panels = dict(zip(order, panels, strict=True))
        self.others = [names, *times, self.ticking]

    def time_of(self, trace: Trace) -> Count:
        """How long a run took, once it is done."""
        said = tr("{us:.0f} µs", us=trace.makespan / 1000)
        return Count(lambda t: said if t >= trace.makespan else "", size=50, align=0.0 if self.side else 1.0)

    def sweep(self, story: Story) -> None:
        """How the time grows with the SMs that are held: measured as dots, simulated as lines."""
        held = len(story.held)
        plot, words = self.plot(story)
        # Where each run ended on the clock, its dot begins.
        runs = range(len(story.traces))
        ends = [
            self.mark(story, run).move_to(self.panels[run].place_of(story.traces[run].makespan))
            for run in runs
        ]
        self.play(*map(GrowFromCenter, ends))
        ways = [[plot.at(held, story.growth[run])] for run in runs]
        self.say(story.sweep)
        self.play(
            Travel(ends, ways, leg=1.0, apart=0.0), *map(Leave, (*self.panels.values(), *self.others)),
            *(Fade(one, 0.0, 1.0, run_time=1.0) for one in (plot, words)),
        )  # fmt: skip
        names = self.curve_names(story, plot)
        self.play(Fade(names, 0.0, 1.0))
        if story.measured:
            points = enumerate(story.measured)
            dots = [self.mark(story, run).move_to(plot.at(*point)) for run, each in points for point in each]
            self.play(LaggedStart(*map(GrowFromCenter, dots), lag_ratio=0.15, run_time=2.5))
            self.wait(0.3)
        curves = [
            Curve(plot, each, ink, 5) for each, ink in zip(story.simulated, self.inks(story), strict=True)
        ]
        if story.measured:
            self.badge(Badge(tr("dots: measured, lines: simulated"), "measured"))
        else:
            self.badge(Badge(tr("simulated"), "simulated"))
        if story.apart:
            self.say(story.apart)
        self.play(PlayTrace(*curves, until=story.simulated[0][-1][0], run_time=3.0))
        self.wait(1.0)

    def plot(self, story: Story) -> tuple[Plot, VGroup]:
        """Axes for SMs held, and for the time over that with none held; and what they are."""
        area, points = self.area, (*story.simulated, *story.measured)
        most = max(held for each in points for held, _ in each)
        top = max(1.3, 1.2 * max(times for each in points for _, times in each))
        ticks = [tick for tick in (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0) if tick <= top]
        at = [held for held, _ in (story.measured or story.simulated)[0] if not held or held >= most / 8]
        # Room for marks at 0, beside the figures.
        span = (-most / 24, most)
        plot = Plot(span, (0.7, top), at, ticks, area.width - px(120), area.height - px(170), size=40)
        plot.move_to([area.center[0], area.top, 0], UP)
        across = label(tr("SMs held"), 44, self.theme.quiet).next_to(plot.ground, DOWN, px(70))
        up = label(tr("times its own time"), 44, self.theme.quiet)
        return plot, VGroup(across, up.move_to(plot.ground.get_corner(UP + LEFT) + px(20) * RIGHT, LEFT + UP))

    def mark(self, story: Story, run: int) -> VMobject:
        """A run's point: a disc for the static one, else a square, or a ring that leaves that in sight."""
        ink = self.inks(story)[run]
        if run == story.static:
            return Dot(radius=px(15), color=ManimColor(ink))
        if not self.ringed(story, run):
            return rectangle(px(20), px(20), ink)
        return Circle(radius=px(24), stroke_width=stroke_width(5), color=ManimColor(ink))

    def ringed(self, story: Story, run: int) -> bool:
        """Every second of those that are not the static one."""
        return (run - (run > story.static)) % 2 == 1

    def inks(self, story: Story) -> list[tuple[int, int, int]]:
        """The static run in full ink, the others in a quiet one: their marks tell them apart."""
        runs = range(len(story.traces))
        return [self.theme.text if run == story.static else self.theme.operand for run in runs]

    def curve_names(self, story: Story, plot: Plot) -> VGroup:
        """The static run's name below its dot, or above where the others are near.

        Theirs stand below all dots, each beside what its points look like.
        """
        held, found = len(story.held), VGroup()
        low, right = min(story.growth), plot.ground.get_right()[0]
        x = plot.at(held, 1)[0]
        late = x > plot.ground.get_center()[0]
        foot = plot.at(held, low)[1] - px(30)
        for run, name in enumerate(story.names):
            said = VGroup(label(name, 46, self.inks(story)[run], bold=True))
            if run == story.static:
                way = DOWN if story.growth[run] - low > 0.15 * max(story.growth) else UP
                said.next_to(plot.at(held, story.growth[run]), way, px(30))
                said.shift(min(0.0, right - said.get_right()[0]) * RIGHT)
            else:
                aside = (LEFT if late else RIGHT) * px(30)
                mark = self.mark(story, run)
                said.add(mark.next_to(said, LEFT, px(48) - mark.width / 2))
                said.move_to(np.array([x, foot, 0]) + aside, UP + (RIGHT if late else LEFT))
                foot -= px(66)
            found.add(said)
        return found

    def end(self, story: Story) -> None:
        """The finding."""
        kind = "measured" if story.from_report else "simulated"
        rows = [(name, times, kind) for name, times in zip(story.names, story.growth, strict=True)]
        bars = Bars(rows, width=min(self.area.width, px(1400)), form="×{:.2f}")
        badge = of_trace(story.run)
        if badge.kind != kind:
            badge = Badge(tr("simulated"), "simulated")
        self.finding(Finding(story.finding, story.number, bars, badge, story.aside), [bars.grow()])


def story_of(traces: tuple[Trace, ...], given: Mapping[str, Any]) -> Story:
    """The story of some traces, and of the report that settings ask for."""
    return tell(traces, read(given["report"], "busy_sms") if "report" in given else report("busy_sms"))


def _come(block: VMobject) -> Fade:
    return Fade(block, 0.0, 1.0, run_time=0.4)
