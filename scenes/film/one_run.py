"""OneRunFilm: the acts that films of one run share.

Blocks are dealt to SMs, lanes run, a pause is looked at closely, and all time is added up.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Mobject, VGroup, config

from tilesim import Trace
from tilesim.metrics import slot_index
from tilesim_scenes.animations.enlarge import GrowFromLane
from tilesim_scenes.animations.fade import Fade, Leave
from tilesim_scenes.animations.gather import Gather
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Deal, Travel
from tilesim_scenes.animations.unroll import UNROLL, Unroll
from tilesim_scenes.animations.zoom import Zoom
from tilesim_scenes.film.scene import Film
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import mixed, sm_colour
from tilesim_scenes.mobjects.charts.share_bar import ShareBar
from tilesim_scenes.mobjects.drawing.quads import rectangle
from tilesim_scenes.mobjects.hardware.queue import Queue
from tilesim_scenes.mobjects.hardware.sm import SM
from tilesim_scenes.mobjects.traces.block_traffic import BlockTraffic, dealt
from tilesim_scenes.mobjects.traces.lanes import Lanes
from tilesim_scenes.mobjects.traces.part_names import part_names
from tilesim_scenes.mobjects.traces.run_panel import RunPanel
from tilesim_scenes.mobjects.traces.sm_lane import SmLane
from tilesim_scenes.mobjects.traces.tile_grid import TileGrid
from tilesim_scenes.mobjects.traces.tile_traffic import TileTraffic
from tilesim_scenes.mobjects.traces.time_bracket import TimeBracket
from tilesim_scenes.mobjects.words.badge import of_trace
from tilesim_scenes.mobjects.words.caption import reading_time
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.story.traces.one_run import OneRun, pauses
from tilesim_scenes.story.traces.runs import schedule_name, tells_writes

HEAD, TALL_GRID, NAMES, TOKEN, LANE, GAP = 190, 250, 150, 116, 96, 32
"""Pixels: of queue and C above the lanes, of C below the queue in a tall frame, of SMs' names, of a block's
place, of a lane and between two."""
GRID, SIDE = 0.36, 300
"""Share of the width that C takes beside the queue; pixels of the column beside many lanes."""
NAMED, PALE = 0.06, 0.5
"""Share of the time from which on the finding names what took it, and of its hue in a slowed main loop."""
SLOW, WHOLE, ASIDE = 1200.0, 3.0, 0.15
"""ns of the trace in a second while a pause passes; seconds of the rest; opacity of what is set aside."""


class OneRunFilm(Film):
    """A film of one run. A subclass says in `construct` what its acts are, and in which words.

    `check_blocks`, a subclass's own, raises FilmError for a run whose thread blocks are not what it shows.
    """

    check_blocks: Callable[[Trace], None]

    def traces_of(self, given: Mapping[str, Any]) -> tuple[Trace, ...]:
        """One trace; FilmError for one that `check_blocks` refuses."""
        (trace,) = super().traces_of(given)
        self.check_blocks(trace)
        return (trace,)

    def end(self, story: OneRun, sentence: str, number: str, aside: str = "") -> None:
        """The finding: all that lanes show lines up in one bar, the sum of the time."""
        bar = self.share_bar(story, self.area.width, 0.14 * self.area.height)
        card = Finding(sentence, number, bar, of_trace(story.trace), aside)
        self.finding(card, into=[Gather(self.lanes, bar)] if story.few else ())

    def room_for_few(self) -> None:
        """C, on the right above where the lanes will be; below the queue in a tall frame."""
        area, problem = self.area, self.traces[0].problem
        width = area.width if self.tall else GRID * area.width
        self.grid = TileGrid(problem, width=width, height=px(TALL_GRID if self.tall else HEAD))
        if self.tall:
            self.grid.move_to([area.center[0], self.low + px(GAP), 0], DOWN)
        else:
            self.grid.move_to([area.right, area.top - px(HEAD) / 2, 0], RIGHT)

    @property
    def low(self) -> float:
        """Where SMs begin, with room for brackets below queue and C."""
        return self.area.top - px(HEAD + 1.5 * GAP) - self.tall * px(TALL_GRID + GAP)

    def from_tiles(self, blocks: Sequence[int], say: str) -> None:
        """C comes up in the middle; of its tiles grow the thread blocks, which queue."""
        area = self.area
        home = self.grid.get_center()
        large = 0.8 * area.width / self.grid.width
        self.grid.scale(large).move_to(area.center)
        self.say(say)
        self.play(Fade(self.grid, 0.0, 1.0))
        width = (area.width if self.tall else (1 - GRID) * area.width) - px(GAP)
        self.queue = Queue(blocks, width)
        self.queue.scale(min(1.0, px(HEAD) / self.queue.height))
        self.queue.move_to([area.left, area.top - px(HEAD) / 2, 0], LEFT)
        self.homes = [block.get_center() for block in self.queue]
        for number, block in enumerate(self.queue):
            block.move_to(self.grid.tile(self.first_tiles[number]))
        self.wait(0.2)
        self.play(Fade(self.queue, 0.0, 1.0))
        self.play(
            Travel(self.queue, [[home] for home in self.homes], leg=0.8, apart=0.06),
            self.grid.animate(run_time=1.5).scale(1 / large).move_to(home),
        )

    @property
    def first_tiles(self) -> list[int]:
        """The tile that each thread block does first."""
        spans = self.traces[0].spans
        ctas = sorted({int(cta) for cta in spans["cta"]})
        return [int(spans["tile"][spans["cta"] == cta][0]) for cta in ctas]

    def deal(self, say: str) -> None:
        """The SMs' boxes come, and take as many blocks as they have room for."""
        area, trace, low = self.area, self.traces[0], self.low
        free, each = trace.device.free_sms, trace.device.ctas_per_sm
        columns = 2 if self.tall else len(free)
        rows = -(-len(free) // columns)
        wide = (area.width - (columns - 1) * px(GAP)) / columns
        high = min(px(360), (low - area.bottom - rows * px(GAP)) / rows)
        self.sms = [SM(f"SM {sm}", sm_colour(sm, trace.device.sms), wide, high) for sm in free]
        boxes = VGroup(*self.sms).arrange_in_grid(cols=columns, buff=px(GAP))
        boxes.move_to([area.center[0], (low + area.bottom) / 2, 0])
        for sm in self.sms:
            # Blocks come from above, and pass no name at the foot.
            sm.heading.shift((sm.box.get_bottom()[1] + sm.box.get_top()[1] - 2 * sm.heading.get_y()) * UP)
        self.say(say)
        self.play(Fade(boxes, 0.0, 1.0))
        self.bring_to_front(self.queue)
        first = self.dealt()
        homes, hues = [], []
        for slot in first.values():
            sm = self.sms[free.index(slot // each)]
            part = rectangle(sm.box.width / each, sm.box.height)
            homes.append(part.move_to(sm.box).shift(RIGHT * part.width * (slot % each - (each - 1) / 2)))
            hues.append(sm.colour)
        self.play(Deal([self.queue.block(cta) for cta in first], homes, hues))
        self.wait(0.4)

    def dealt(self) -> dict[int, int]:
        """The thread blocks that find room at once, and the slot of each."""
        trace = self.traces[0]
        ctas, rows = np.unique(trace.spans["cta"], return_index=True)
        slots = dict(zip(ctas.tolist(), slot_index(trace)[rows].tolist(), strict=True))
        return {cta: slots[cta] for cta in sorted(dealt(trace))}

    def unroll(self, story: OneRun) -> None:
        """Boxes unroll into lanes, and their blocks move beside them."""
        area, trace = self.area, story.trace
        low = self.low
        rows = len(trace.device.free_sms)
        high = min(px(LANE + GAP) * (1.6 if self.tall else 1.0), (low - area.bottom - px(60)) / rows)
        self.lanes = Lanes(
            trace,
            trace.device.free_sms,
            window=(0.0, self.longest),
            width=area.width - px(NAMES + TOKEN),
            lane_height=high * LANE / (LANE + GAP),
            gap=high * GAP / (LANE + GAP),
        )
        self.lanes.names.shift(LEFT * px(TOKEN - 24))
        # Parts belong to lanes from the beginning, whichever of them the first window shows.
        self.lanes.window = story.window
        self.lanes.shift([area.right, low, 0] - self.lanes.grounds.get_corner(RIGHT + UP))
        for name in self.lanes.names:
            name.set_x(area.left, LEFT)
        self.traffic = TileTraffic(trace, self.lanes, self.grid)
        blocks, first = BlockTraffic(trace, self.queue, self.lanes, self.homes), self.dealt()
        side = min(1.0, 0.86 * self.lanes.grounds[0].height / self.queue[0].token.width)
        ends, places = [], iter(self.homes)
        for block in self.queue:
            there = block.number in first
            ends.append((blocks.place(first[block.number]), side) if there else (next(places), 1.0))
        self.show_time()
        self.play(
            Unroll(self.sms, self.lanes),
            Travel(
                self.queue,
                [[at] for at, _ in ends],
                [[size] for _, size in ends],
                leg=UNROLL,
                apart=0.0,
            ),
        )
        self.remove(self.queue, *self.queue)
        self.blocks = blocks.show(0.0)
        self.lanes.show(0.0)
        self.add(self.blocks, self.traffic)
        self.moving: list[Mobject] = [self.lanes, self.blocks, self.traffic]

    def show_time(self) -> None:
        """From here on there are figures: where they come from, and the instant."""
        (trace,) = self.traces
        self.ticking = self.clock(self.longest)
        self.badge(trace)

    def first_tile(self, story: OneRun, say: str) -> None:
        """The first tile, up to the end of its main loop; launch and first load are named as they appear."""
        first, sms = story.trace.spans[0], self.lanes.sms
        self.say(say)
        self.run_to(1.1 * float(first["start"]) + 100, 0.6)
        names = part_names(self.lanes, sms[-1], 0, float(first["start"]))
        self.play(Fade(names, 0.0, 1.0))
        self.run_to(story.pause.begin if story.pause else story.trace.makespan, 1.5)
        self.play(Leave(names))

    def run_to(self, until: float, seconds: float, *more: Mobject) -> None:
        """Everything that moves, to an instant of the trace."""
        self.play(PlayTrace(self.ticking, *self.moving, *more, until=until, run_time=seconds))

    def pause_of_few(self, story: OneRun, until: float, passing: str, inside: str) -> None:
        """A pause passes slowly; then time stands, and the camera dives in to name its parts."""
        pause, lanes = story.pause, self.lanes
        self.say(passing)
        self.run_to(until, max(round(2 * (until - pause.begin) / SLOW) / 2, reading_time(passing)))
        lane = lanes.lane(pause.sm)[0]
        left, right = lanes.x(pause.begin), lanes.x(max(pause.end, pause.done))
        margin = 0.12 * (right - left)
        target = rectangle(right - left + 2 * margin, lane.height + px(100))
        target.move_to([(left + right) / 2, lane.get_center()[1], 0])
        others = self.all_but(pause.sm)
        self.say(inside)
        self.dive(target, room=1.0, along=[Fade(one, 1.0, ASIDE) for one in others])
        size = 50 * self.camera.frame.width / config.frame_width
        bracket = TimeBracket(lanes, pause.begin, pause.end, pause.sm, size=size)
        self.add(bracket)
        self.play(PlayTrace(bracket, until=pause.end, run_time=1.0))
        names = part_names(lanes, pause.sm, pause.begin, pause.end, size)
        self.play(Fade(names, 0.0, 1.0))
        self.wait(0.7)
        self.play(Leave(names), Leave(bracket))
        self.come_out(along=[Fade(one, ASIDE, 1.0) for one in others])

    def all_but(self, sm: int) -> list[Mobject]:
        """What is drawn of other SMs, and all that is not in lanes."""
        rows = self.lanes.trace.spans["sm"]
        parts = [
            drawn
            for part, drawn in zip(self.lanes.pieces, self.lanes.parts, strict=True)
            if rows[part.row] != sm
        ]
        grounds = [self.lanes.lane(other)[0] for other in self.lanes.sms if other != sm]
        return [*parts, *grounds, self.traffic, self.blocks, self.lanes.cursor]

    def whole_of_few(self, story: OneRun, say: str) -> None:
        """The rest of the run, on lanes that show all of it, each pause bracketed as it passes."""
        over = [
            TimeBracket(self.lanes, one.begin, one.end, one.sm, "").show(self.ticking.t)
            for sm in self.lanes.sms
            for one in pauses(story.trace, sm)
        ]
        self.add(*over)
        self.say(say)
        self.play(Zoom(self.lanes, window=(0.0, self.longest), over=[*over, self.blocks, self.traffic]))
        self.run_to(story.trace.makespan, WHOLE, *over)

    def share_bar(self, story: OneRun, width: float, height: float) -> ShareBar:
        """What the run's time was spent on; what took NAMED of it at least has its name."""
        theme, device = self.theme, story.trace.device
        hues = [sm_colour(sm, device.sms) for sm in device.free_sms]
        fills = {name: [theme.fill(name) or theme.idle] for name in story.spent}
        for name in ("multiply", "first load"):
            fills[name] = hues
        # A hatch is a first load's.
        fills["slowed by a write"] = [mixed(theme.idle, hue, PALE) for hue in hues]
        titles = {
            "multiply": tr("multiply") if tells_writes(story.trace) else tr("multiply, write"),
            "slowed by a write": tr("slowed"),
            "write": tr("write"),
            "first load": tr("first load"),
            "launch": tr("launch"),
            "hand over": tr("hand over"),
            "wait": tr("wait"),
            "fix up": tr("fix up"),
            "idle": tr("idle"),
        }
        return ShareBar(story.spent, fills, titles, width, height, ("first load",), NAMED)

    def many(self, story: OneRun, say: str, pause: str, inside: str, whole: str) -> None:
        """A run of many lanes: its tiles and its lanes as images, and one SM's lane that comes forward."""
        area, trace = self.area, story.trace
        side = 0.0 if self.tall else px(SIDE)
        panel = RunPanel(trace, schedule_name(trace), area.width, area.height, self.longest, side)
        panel.move_to(area.center)
        self.panel = panel
        self.show_time()
        self.say(say)
        self.play(Fade(panel, 0.0, 1.0))
        if story.pause is not None:
            self.play(PlayTrace(self.ticking, panel, until=story.pause.begin, run_time=2.5))
            self.pause_of_many(story, pause, inside)
        self.say(whole)
        self.play(PlayTrace(self.ticking, panel, until=trace.makespan, run_time=WHOLE))
        self.wait(1.0)

    def pause_of_many(self, story: OneRun, passing: str, inside: str) -> None:
        """One lane comes forward, and shows a pause slowly."""
        seen, trace = story.pause, story.trace
        lane = SmLane(trace, seen.sm, schedule_name(trace), self.area.width, px(200), self.longest)
        lane.move_to(self.area.center).show(self.ticking.t)
        self.say(passing)
        self.play(Leave(self.panel, run_time=0.5), GrowFromLane(lane, self.panel.lanes.lane(seen.sm)))
        until = max(seen.end, seen.done)
        margin = 0.2 * (until - seen.begin)
        self.play(Zoom(lane, window=(max(0.0, seen.begin - margin), until + margin)))
        bracket = TimeBracket(lane.lane, seen.begin, seen.end, seen.sm)
        self.play(PlayTrace(self.ticking, lane, bracket, until=until, run_time=3.5))
        names = part_names(lane.lane, seen.sm, seen.begin, seen.end)
        self.say(inside)
        self.play(Fade(names, 0.0, 1.0))
        self.wait(2.0)
        self.play(Leave(names), Leave(bracket))
        self.play(Zoom(lane, window=(0.0, self.longest)))
        self.panel.show(self.ticking.t)
        self.play(Leave(lane), Fade(self.panel, 0.0, 1.0))
