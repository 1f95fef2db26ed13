"""RunFilm: any one run, of anybody's kernel. It shows what was recorded or simulated, and says no more."""

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, LaggedStart, Mobject, Transform, VGroup

from tilesim import Problem, WorkItems
from tilesim.metrics import slot_index
from tilesim_scenes.animations.fade import Fade, Leave
from tilesim_scenes.animations.into_bars import Fit, Gather
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Deal, Travel
from tilesim_scenes.animations.unroll import UNROLL, Unroll
from tilesim_scenes.animations.zoom import GrowFromLane
from tilesim_scenes.film import runs
from tilesim_scenes.film.scene import Film
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, label, px
from tilesim_scenes.look.theme import Colour, sm_colour
from tilesim_scenes.mobjects.charts.share_bar import ShareBar
from tilesim_scenes.mobjects.drawing.quads import rectangle, rounded
from tilesim_scenes.mobjects.hardware.memory import SM
from tilesim_scenes.mobjects.hardware.thread_block import Queue
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors
from tilesim_scenes.mobjects.traces.lanes import MOST_SPANS, Lanes
from tilesim_scenes.mobjects.traces.run_panel import RunPanel
from tilesim_scenes.mobjects.traces.sm_lane import SmLane, part_words, parts_key
from tilesim_scenes.mobjects.traces.tile_grid import TileGrid
from tilesim_scenes.mobjects.traces.time_bracket import TimeBracket, length
from tilesim_scenes.mobjects.traces.traffic import BlockTraffic, TileTraffic, dealt
from tilesim_scenes.mobjects.words.badge import of_trace
from tilesim_scenes.mobjects.words.finding import Finding

FEW_SLOTS, FEW_TILES = 8, 40
"""Slots up to which each has a lane to which thread blocks travel, and tiles that each have a number."""
HEAD, TALL_GRID, NAMES, TOKEN, LANE, GAP = 190, 250, 150, 116, 96, 32
"""Pixels: of queue and C above the lanes, of C below the queue in a tall frame, of SMs' names, of a block's
place, of a lane and between two."""
GRID, SIDE, BELOW, ROWS = 0.36, 420.0, 140.0, 6
"""Share of the width that C takes beside the queue; pixels of the column with a run's name and its tiles, and
of names below a lane; rows of the trace that are shown at most."""
READ, OPEN, DEAL, WHOLE, FIRST, SLOW, SUM = 3.2, 3.2, 3.5, 7.0, 3.5, 3.5, 3.5
"""Seconds: of the rows' being read, of their becoming bars, of blocks' being dealt, of a whole run, of its
beginning at least, of its longest pause, and of adding up."""


class RunFilm(Film):
    """A film of one run. A subclass names in `default` the one that it shows if nobody gives another."""

    def construct(self) -> None:
        (self.trace,) = self.traces
        trace = self.trace
        self.legend = parts_key(self.traces, self.area.width)
        self.stage = self.area.over(self.legend)
        self.around: list[Mobject] = []
        sms = runs.sms_of(len(trace.device.free_sms))
        self.about = {"tiles": runs.parts(trace.problem), "sms": sms, "us": trace.makespan / 1000}
        self.title(tr("Where does the time go?"))
        self.badge(trace)
        blocks = len(np.unique(trace.spans["cta"]))
        few = trace.device.slots <= FEW_SLOTS and max(trace.problem.tiles, blocks) <= FEW_TILES
        if few and isinstance(trace.problem, Problem) and len(trace.spans) <= MOST_SPANS:
            self.deal_blocks()
        else:
            self.read_rows()
        pause = runs.longest_pause(trace)
        self.run_on(pause.begin if pause else trace.makespan / 2)
        if pause is not None:
            self.look_closely(pause)
        self.run_on(trace.makespan)
        self.add_up()

    def read_rows(self) -> None:
        """Rows of the trace become bars in lanes."""
        trace, rows = self.trace, _of_several_sms(self.trace.spans["sm"])
        sheet, (head, *written) = self.sheet(rows)
        of_items = tr("A trace says which SM worked on which item, and when.")
        of_tiles = tr("A trace says which SM computed which tile, and when.")
        self.say(of_items if isinstance(trace.problem, WorkItems) else of_tiles)
        self.play(Fade(VGroup(sheet, head), 0.0, 1.0, run_time=0.5))
        self.play(LaggedStart(*(Fade(line, 0.0, 1.0) for line in written), lag_ratio=0.7, run_time=READ))
        side = px(SIDE) if self.area.width > 1.2 * self.area.height else 0.0
        height = min(self.stage.height, 1.3 * self.stage.width)
        panel = RunPanel(trace, runs.schedule_name(trace), self.stage.width, height, side=side)
        panel.move_to(self.stage.center)
        self.show_time(panel)
        self.say(tr("Each row becomes a bar in the lane of its SM."))
        bars = VGroup()
        for row, line in zip(rows, written, strict=False):
            bars.add(rectangle(line.width, px(54), self.hue(row)).move_to(line))
        self.play(Fade(bars, 0.0, 1.0))
        self.add(panel, bars)
        # One by one: a group of them would come in front of the bars.
        gone = map(Leave, (sheet, head, *written))
        self.play(*gone, Fade(panel, 0.0, 1.0), Fade(self.legend, 0.0, 1.0))
        falls = (Transform(bar, self.place(row)) for bar, row in zip(bars, rows, strict=True))
        self.play(LaggedStart(*falls, lag_ratio=0.1, run_time=OPEN))
        self.say(tr("In each lane, time runs to the right."))
        self.play(Leave(bars, run_time=0.5))

    def sheet(self, rows: tuple[int, ...]) -> tuple[Mobject, VGroup]:
        """The trace as a file: paper, and lines, of which the first is the head."""
        theme, spans, work = self.theme, self.trace.spans, self.trace.problem
        names = [work.called(tile)[:18] for tile in spans["tile"][list(rows)].tolist()]
        times = zip(names, *(spans[column][list(rows)] for column in ("sm", "start", "done")), strict=True)
        written = [f"{work.noun},sm,start,end", *(",".join(map(str, row)) for row in times)]
        inks = theme.quiet, *[theme.text] * len(rows)
        lines = VGroup(
            *(label(text, 54, ink, mono=True) for text, ink in zip(written, inks, strict=True)),
            *[label("…", 54, theme.quiet, mono=True)] * (len(rows) < len(spans)),
        )
        lines.arrange(DOWN, buff=px(26), aligned_edge=LEFT)
        fit(lines, 0.8 * self.area.width, 0.75 * self.area.height)
        lines.move_to(self.area.center)
        wide, high = lines.width + px(140), lines.height + px(120)
        paper = rounded(wide, high, px(24), theme.quiet, 4, theme.panel)
        return paper.move_to(lines), lines

    def hue(self, row: int) -> Colour:
        """The hue of a row's SM."""
        return sm_colour(int(self.trace.spans["sm"][row]), self.trace.device.sms)

    def place(self, row: int) -> Mobject:
        """A row as a bar in the lane of its SM."""
        one, lanes = self.trace.spans[row], self.lanes
        left, right = lanes.x(one["start"]), lanes.x(one["done"])
        lane = lanes.lane(int(one["sm"]))
        bar = rectangle(max(right - left, px(2)), lane.height, self.hue(row))
        return bar.move_to([(left + right) / 2, lane.get_y(), 0])

    def show_time(self, *timed: Mobject) -> None:
        """From here on there is a clock, which moves with what is `timed`; lanes are the first, or in it."""
        self.ticking = self.clock(self.trace.makespan)
        self.moving: list[Mobject] = list(timed)
        self.lanes = timed[0].lanes if isinstance(timed[0], RunPanel) else timed[0]

    @property
    def low(self) -> float:
        """Where few SMs begin, with room for brackets below queue and C."""
        return self.area.top - px(HEAD + 1.5 * GAP) - self.tall * px(TALL_GRID + GAP)

    def deal_blocks(self) -> None:
        """C comes up; its thread blocks queue, and find room on SMs, which unroll into lanes."""
        trace = self.trace
        grid, queue = self.queue_up()
        homes = [block.get_center() for block in queue]
        sms, lanes = self.boxes(), self.few_lanes()
        room = runs.thread_blocks(trace.device.slots)
        self.say(tr("There is room for {blocks} at a time on {sms}.", blocks=room, **self.about))
        self.play(*(Fade(sm, 0.0, 1.0) for sm in sms))
        self.bring_to_front(queue)
        ctas, rows = np.unique(trace.spans["cta"], return_index=True)
        slots = dict(zip(ctas.tolist(), slot_index(trace)[rows].tolist(), strict=True))
        first = {cta: slots[cta] for cta in sorted(dealt(trace))}
        each, free = trace.device.ctas_per_sm, trace.device.free_sms
        places, hues = [], []
        for slot in first.values():
            sm = sms[free.index(slot // each)]
            part = rectangle(sm.box.width / each, sm.box.height)
            places.append(part.move_to(sm.box).shift(RIGHT * part.width * (slot % each - (each - 1) / 2)))
            hues.append(sm.colour)
        self.play(Deal([queue.block(cta) for cta in first], places, hues, run_time=DEAL))
        self.say(tr("Each SM becomes a lane, where time runs to the right."))
        blocks = BlockTraffic(trace, queue, lanes, homes)
        self.play(Unroll(sms, lanes), blocks.settle(UNROLL), Fade(self.legend, 0.0, 1.0, run_time=UNROLL))
        self.remove(queue, *queue)
        traffic = TileTraffic(trace, lanes, grid)
        self.add(blocks.show(0.0), traffic, lanes.show(0.0))
        self.show_time(lanes, blocks, traffic)
        self.around = [grid]

    def queue_up(self) -> tuple[Mobject, Queue]:
        """C in the middle; of its tiles grow the thread blocks, which queue on the left; C moves aside."""
        area, trace = self.area, self.trace
        width = area.width if self.tall else GRID * area.width
        grid = TileGrid(trace.problem, width=width, height=px(TALL_GRID if self.tall else HEAD))
        if self.tall:
            grid.move_to([area.center[0], self.low + px(GAP), 0], DOWN)
        else:
            grid.move_to([area.right, area.top - px(HEAD) / 2, 0], RIGHT)
        home, large = grid.get_center(), min(0.8 * area.width / grid.width, 0.9 * area.height / grid.height)
        grid.scale(large).move_to(area.center)
        ctas, rows = np.unique(trace.spans["cta"], return_index=True)
        blocks = runs.thread_blocks(len(ctas))
        self.say(tr("This run computes {tiles} of C with {blocks}.", blocks=blocks, **self.about))
        self.play(Fade(grid, 0.0, 1.0))
        queue = Queue(ctas.tolist(), (area.width if self.tall else (1 - GRID) * area.width) - px(GAP))
        queue.scale(min(1.0, px(HEAD) / queue.height))
        queue.move_to([area.left, area.top - px(HEAD) / 2, 0], LEFT)
        homes = [[block.get_center()] for block in queue]
        for block, tile in zip(queue, trace.spans["tile"][rows].tolist(), strict=True):
            block.move_to(grid.tile(tile))
        self.play(Fade(queue, 0.0, 1.0))
        self.wait(0.4)
        self.play(
            Travel(queue, homes, leg=0.8, apart=2.0 / len(queue)),
            grid.animate(run_time=2.0).scale(1 / large).move_to(home),
        )
        return grid, queue

    def boxes(self) -> list[SM]:
        """The SMs, side by side, their names at the foot: blocks come from above, and pass no name."""
        trace, stage, low = self.trace, self.stage, self.low
        free = trace.device.free_sms
        columns = 2 if self.tall and len(free) > 1 else len(free)
        rows = -(-len(free) // columns)
        wide = (stage.width - (columns - 1) * px(GAP)) / columns
        high = min(px(360), (low - stage.bottom - rows * px(GAP)) / rows)
        sms = [SM(f"SM {sm}", sm_colour(sm, trace.device.sms), wide, high) for sm in free]
        group = VGroup(*sms).arrange_in_grid(cols=columns, buff=px(GAP))
        group.move_to([stage.center[0], (low + stage.bottom) / 2, 0])
        for sm in sms:
            sm.heading.shift((sm.box.get_bottom()[1] + sm.box.get_top()[1] - 2 * sm.heading.get_y()) * UP)
        return sms

    def few_lanes(self) -> LaneVectors:
        """Lanes below queue and C, with room for thread blocks beside them."""
        trace, stage = self.trace, self.stage
        free = trace.device.free_sms
        most = px(LANE + GAP) * (1.6 if self.tall else 1.0)
        high = min(most, (self.low - stage.bottom - px(GAP)) / len(free))
        height, gap = high * LANE / (LANE + GAP), high * GAP / (LANE + GAP)
        lanes = Lanes(trace, free, width=stage.width - px(NAMES + TOKEN), lane_height=height, gap=gap)
        lanes.shift([stage.right, self.low, 0] - lanes.grounds.get_corner(RIGHT + UP))
        for name in lanes.names:
            name.set_x(stage.left, LEFT)
        return lanes

    def run_on(self, until: float) -> None:
        """The run, as far as `until`, at the pace of the whole."""
        share = (until - self.ticking.t) / self.trace.makespan
        if share <= 0:
            return
        seconds = max(1.0 if self.ticking.t else FIRST, round(2 * WHOLE * share) / 2)
        if until == self.trace.makespan:
            self.say(tr("Running {tiles} on {sms} takes {us:.1f} µs.", **self.about))
        self.play(PlayTrace(self.ticking, *self.moving, until=until, run_time=seconds))

    def look_closely(self, pause: runs.Pause) -> None:
        """One SM's lane comes forward; its longest pause passes slowly, under a bracket."""
        trace, stage = self.trace, self.stage
        low, high = runs.window(trace, pause)
        lane = SmLane(trace, pause.sm, runs.schedule_name(trace), stage.width, px(230), window=(low, high))
        # Below it there is room for two lines of names.
        spare = max(0.0, stage.height - lane.height - px(BELOW))
        lane.move_to([stage.center[0], stage.top - spare / 2, 0], UP).show(self.ticking.t)
        whole = self.lanes.lane(pause.sm)
        left, right = self.lanes.x(low), self.lanes.x(high)
        piece = rectangle(right - left, whole.height).move_to([(left + right) / 2, whole.get_y(), 0])
        self.say(tr("The longest pause of SM {sm} lasts {length}.", sm=pause.sm, length=length(pause.length)))
        around = [*self.moving, *self.around]
        self.play(*map(Leave, around), GrowFromLane(lane, piece))
        below = 0 < pause.place == trace.device.ctas_per_sm - 1
        bracket = TimeBracket(lane.lane, pause.begin, pause.end, pause.sm, below=below, size=60)
        self.play(PlayTrace(self.ticking, lane, bracket, until=high, run_time=SLOW))
        alone = trace.device.ctas_per_sm == 1
        named = lane.names_of(pause.begin, pause.end) if alone else VGroup()
        self.play(Fade(named, 0.0, 1.0))
        self.wait(1.0)
        self.play(Leave(named), Leave(bracket))
        for one in self.moving:
            one.show(high)
        self.go_back([lane], [piece], around)

    def add_up(self) -> None:
        """All that lanes show lines up in one bar, the sum of the time of all SMs."""
        trace, lanes = self.trace, self.lanes
        self.say(tr("Added up, the time of all SMs goes to these parts."))
        bar = self.share_bar().move_to(self.stage.center)
        around = [Leave(one) for one in (*self.moving, *self.around) if one is not lanes]
        if isinstance(self.moving[0], RunPanel):
            # Its lanes stay while the rest of it leaves.
            self.remove(self.moving[0])
            self.add(lanes)
            around = [Leave(one) for one in self.moving[0] if one is not lanes]
        self.play(Leave(self.ticking), Leave(self.legend), *around)
        whole = VGroup(*bar.grounds.values())
        vectors = isinstance(lanes, LaneVectors)
        self.play(Gather(lanes, bar, SUM) if vectors else Fit(lanes, lanes, whole, SUM))
        self.play(Fade(bar, 0.0, 1.0))
        self.remove(lanes)
        self.wait(0.5)
        measured = trace.origin == "measured" and "launch" in runs.time_shares(trace)
        aside = tr("launch: turnaround benchmark") if measured else ""
        found = tr(
            "Running {tiles} on {sms} takes {us:.1f} µs, and this is where the time goes.", **self.about
        )
        card = Finding(found, tr("{us:.1f} µs", **self.about), self.share_bar(), of_trace(trace), aside)
        # Names make way; what they name goes to its place on the card.
        drawn, there = VGroup(*bar.parts.values()), VGroup(*card.bars.parts.values())
        self.remove(bar).add(drawn, *bar.names.values())
        self.finding(card, into=[Travel([drawn], [[there.get_center()]], [[there.width / drawn.width]])])

    def share_bar(self) -> ShareBar:
        """What the run's time was spent on."""
        trace, theme = self.trace, self.theme
        shares = runs.time_shares(trace)
        hues = [sm_colour(sm, trace.device.sms) for sm in sorted(trace.device.free_sms)]
        fills = {part: [fill] if (fill := theme.fill(part)) else hues for part in shares}
        width, height = self.stage.width, 0.2 * self.stage.height
        return ShareBar(shares, fills, part_words(trace), width, height, ("first load",))


def _of_several_sms(sms: np.ndarray) -> tuple[int, ...]:
    """The first rows of a few SMs, spread over those that have any, or the first few where SMs are fewer."""
    _, first = np.unique(sms, return_index=True)
    if len(first) < ROWS:
        return tuple(range(min(ROWS, len(sms))))
    return tuple(sorted(first[np.linspace(0, len(first) - 1, ROWS).astype(int)].tolist()))
