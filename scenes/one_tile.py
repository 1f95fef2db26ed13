"""One tile: what does a GPU do for one tile of a matrix product?"""

from typing import Any

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, FadeIn, FadeOut, Group, ManimColor, VGroup

from tilesim import Device, Problem, Trace
from tilesim_scenes.animations.fade import Fade, Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Travel, WriteBack
from tilesim_scenes.animations.unroll import UNROLL, Place, SplitIntoTiles, Thin, Unroll
from tilesim_scenes.animations.zoom import Zoom
from tilesim_scenes.film.scene import Film
from tilesim_scenes.film.traces import Default, shipped
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import Figure, label, px
from tilesim_scenes.look.theme import Colour, readable, sm_colour
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.drawing.quads import quad, rectangle, shape, stroke_width
from tilesim_scenes.mobjects.hardware.k_pair import KPair
from tilesim_scenes.mobjects.hardware.memory_level import MemoryLevel
from tilesim_scenes.mobjects.hardware.operands import Operands
from tilesim_scenes.mobjects.hardware.sm import SM
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors
from tilesim_scenes.mobjects.traces.lanes import Lanes
from tilesim_scenes.mobjects.traces.tile_grid import TileGrid
from tilesim_scenes.mobjects.traces.tile_vectors import TileVectors
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.story.traces.one_tile import OneTile as TileStory
from tilesim_scenes.story.traces.one_tile import tell

FILM = {
    "title": "One tile",
    "question": "What does a GPU do for one tile?",
    "part": "How the machine works",
    "place": 10,
    "seconds": 33,
    "shows": "What a GPU does for one tile: two panels of operands, pair by pair, and one lane.",
    "takes": "traces",
}
SLOWEST, FASTER = 1.6, 1.5
"""Seconds that the first pair takes from memory to the tensor core, and how much faster each next one is."""
NAME, SIZE, BAR = 180, 48, 130
"""Pixels: of the column with SMs' names, of letters under a lane, and from one bar to the next."""
MEASURED = "traces/h200-naive-4096x4096x512-grouped8.npz"


class OneTile(Film):
    """One tile, from operands to lane; then four SMs, then all of them."""

    default = Default(("naive",), Problem(384, 1536, 512), Device.named("h200", sms=4))

    def construct(self) -> None:
        (trace,) = self.traces
        story = tell(trace)
        colour = sm_colour(story.sm, trace.device.sms)
        self.title(tr("What does a GPU do for one tile?"))

        operands = self.a_row_times_a_column(trace.problem)
        grid, panels = self.one_tile_needs_two_panels(operands, story.tile, colour)
        sm = self.pair_by_pair(operands, grid, panels, story, colour)
        lane, grid, tile = self.every_pair_leaves_a_tick(trace, sm, story, colour)
        self.four_lanes(trace, lane, grid, tile)
        self.all_of_them(grid)
        self.end(story)

    def a_row_times_a_column(self, problem: Problem) -> Operands:
        """Two strips sweep in and meet in one number of C."""
        area = self.area
        operands = Operands(problem, 0.92 * area.width, 0.92 * area.height).move_to(area.center)
        a, b = operands.a, operands.b
        at = 0.38, 0.36
        thin = px(12)
        row = rectangle(a.width, thin, self.theme.text)
        column = rectangle(thin, b.height, self.theme.text)
        cell = rectangle(thin, thin, self.theme.text)
        row.move_to([a.get_center()[0], a.get_top()[1] - at[1] * a.height, 0])
        column.move_to([b.get_left()[0] + at[0] * b.width, b.get_center()[1], 0])
        cell.move_to([column.get_center()[0], row.get_center()[1], 0])
        self.say(tr("A row times a column makes one number"))
        self.play(FadeIn(operands, run_time=0.5))
        for strip, side in ((row, LEFT), (column, UP)):
            strip.shift(side * px(500)).set_opacity(0.0)
        self.add(row, column)
        self.play(
            row.animate.shift(RIGHT * px(500)).set_opacity(1.0),
            column.animate.shift(DOWN * px(500)).set_opacity(1.0),
            run_time=1.0,
        )
        ends = row.copy(), column.copy()
        self.play(
            ends[0].animate.move_to(cell).set_opacity(0.2).stretch_to_fit_width(thin),
            ends[1].animate.move_to(cell).set_opacity(0.2).stretch_to_fit_height(thin),
            FadeIn(cell),
            run_time=0.6,
        )
        self.remove(*ends)
        self.wait(0.4)
        self.play(FadeOut(row), FadeOut(column), FadeOut(cell), run_time=0.3)
        return operands

    def one_tile_needs_two_panels(self, operands: Operands, tile: int, colour: Any) -> Any:
        """C falls into tiles, one is lit, and its panels take its hue."""
        grid = TileGrid(operands.problem, width=operands.c.width, numbers=False).move_to(operands.c)
        self.say(tr("One tile needs two panels"))
        self.play(SplitIntoTiles(operands.c, grid), *(Fade(name, 1.0, 0.0) for name in operands.names))
        rows, columns = operands.row_panel(tile, colour), operands.column_panel(tile, colour)
        lit = quad(grid.tile(tile)[0], 0, 1)
        edge = shape(self.theme.idle).set_stroke(ManimColor(colour), stroke_width(6))
        edge.points = lit
        self.edge = edge
        self.play(FadeIn(edge), run_time=0.4)
        self.play(FadeIn(rows), FadeIn(columns), run_time=1.0)
        return grid, (rows, columns)

    def pair_by_pair(self, operands: Operands, grid: Any, panels: Any, story: Any, colour: Any) -> Any:
        """The panels stand in memory, and go to the tensor core one pair after the other."""
        area = self.area
        high, wide = 0.82 * area.height, area.width
        names = tr("HBM"), tr("L2"), tr("shared memory"), tr("tensor core")
        hbm, l2, shared = (
            MemoryLevel(name, share * wide, 0.86 * high if name == names[2] else high)
            for name, share in zip(names[:3], (0.27, 0.16, 0.17), strict=True)
        )
        sm = SM(f"SM {story.sm}", colour, 0.5 * wide, high)
        # So that the shelf in it stands out.
        sm.box.set_fill(opacity=0.0)
        Group(hbm, l2, sm).arrange(RIGHT, buff=0.02 * wide).move_to(area.center)
        shared.move_to(sm.box.get_corner(DOWN + LEFT), DOWN + LEFT).shift((RIGHT + UP) * px(24))
        title = label(names[3], 46, self.theme.quiet, bold=True)
        core = rectangle(0.2 * wide, 0.2 * wide * ratio(operands.problem), self.theme.idle)
        core.move_to([(shared.get_right()[0] + sm.box.get_right()[0]) / 2, shared.shelf.get_center()[1], 0])
        title.next_to(core, UP, px(110))
        if title.width > sm.box.get_right()[0] - shared.get_right()[0] - px(30):
            title.scale((sm.box.get_right()[0] - shared.get_right()[0] - px(30)) / title.width)
        rows, columns = panels
        pairs = [VGroup(a, b) for a, b in zip(rows, columns, strict=True)]
        room = hbm.shelf.height - px(170)
        rows_high = -(-len(pairs) // 2)
        places = [
            hbm.shelf.get_corner(UP + LEFT)
            # Of two in a row the nearer goes first, so that none passes over another.
            + RIGHT * hbm.shelf.width * (0.73 - 0.46 * (k % 2))
            + DOWN * (px(150) + room * (k // 2 + 0.5) / rows_high)
            for k in range(len(pairs))
        ]
        size = min(0.42 * hbm.shelf.width, 1.35 * room / rows_high)
        self.say(tr("Pair by pair, chunks travel to the tensor core"))
        self.play(*(Fade(one, 1.0, 0.0) for one in (operands.a, operands.b, operands.hatches, grid)))
        self.remove(operands, grid)
        shelves = Group(hbm, l2, sm, shared, title)
        self.bring_to_back(shelves)
        chunks = [KPair(colour).put(place, size) for place in places]
        moves = []
        for (a, b), chunk in zip(pairs, chunks, strict=True):
            moves += [a.animate.become(chunk[0]), b.animate.become(chunk[1])]
        empty = outline(core, ManimColor(colour))
        self.play(Fade(shelves, 0.0, 1.0), self.edge.animate.become(empty), *moves, run_time=1.0)
        self.remove(rows, columns, *rows, *columns, *pairs)
        self.bring_to_front(self.edge)
        self.add(*chunks)
        fills = []
        seconds = SLOWEST
        count = Figure("", 54, readable(colour), align=0.5)
        count.shift(core.get_bottom() + DOWN * px(80))
        self.add(count)
        # A stands at the tile's left and B above it, as in the product.
        ends = core.get_left() + LEFT * px(50), core.get_top() + UP * px(50)
        for k, chunk in enumerate(chunks):
            middle = chunk.get_center()
            aside = [part.get_center() - middle for part in chunk]
            beside = np.array([l2.shelf.get_x(), middle[1], 0.0])
            stops = [
                [beside + off, shared.shelf.get_center() + off, end]
                for off, end in zip(aside, ends, strict=True)
            ]
            fit = 0.8 * core.height / chunk[0].height, 0.8 * core.width / chunk[1].width
            sizes = [[1.0, 1.0, min(1.0, share)] for share in fit]
            self.bring_to_front(*chunk)
            self.play(Travel([*chunk], stops, sizes, leg=seconds / 3, apart=0.0, run_time=seconds))
            self.remove(chunk, *chunk)
            fill = shape(colour)
            fill.points = quad(core, k / len(chunks), (k + 1) / len(chunks))
            fills.append(fill)
            self.add(fill)
            count.write(tr("{done} of {steps}", done=k + 1, steps=len(chunks)))
            seconds = max(0.3, seconds / FASTER)
        self.core_fills = fills
        self.shelves = [hbm, l2, shared, title, count]
        self.wait(0.3)
        return sm

    def every_pair_leaves_a_tick(self, trace: Trace, sm: SM, story: TileStory, colour: Colour) -> Any:
        """The box unrolls into the SM's lane: to scale, a tick for each pair."""
        area = self.area
        window = (0.0, 1.02 * story.done)
        lane = LaneVectors(trace, [story.sm], window, area.width - px(NAME), px(190), numbers=False)
        lane.shift([area.right, area.center[1], 0] - lane.grounds.get_right())
        corner = TileGrid(trace, width=0.3 * area.width, numbers=False)
        corner.move_to([area.right, area.top, 0], UP + RIGHT)
        self.say(tr("Every pair leaves a tick"))
        self.badge(trace)
        self.ticking = self.clock(trace.makespan)
        tile = VGroup(self.edge, *self.core_fills)
        above = [corner.get_center()[0], (lane.get_top()[1] + corner.get_bottom()[1]) / 2, 0]
        self.play(
            *(Fade(one, 1.0, 0.0) for one in self.shelves),
            Unroll([sm], lane),
            FadeIn(corner),
            tile.animate.scale_to_fit_height(px(90)).move_to(above),
            run_time=0.8,
        )
        self.remove(*self.shelves)
        self.bring_to_front(tile)
        written = story.done - story.write
        self.play(PlayTrace(self.ticking, lane, until=written, run_time=2.0))
        home = WriteBack(tile, corner.tile(story.tile), run_time=0.6)
        self.play(PlayTrace(self.ticking, lane, until=story.done, run_time=0.6), home)
        names = self.lengths(lane, story, colour)
        self.play(Fade(names, 0.0, 1.0))
        self.wait(1.4)
        self.play(Leave(names))
        return lane, corner, tile

    def lengths(self, lane: LaneVectors, story: TileStory, colour: Colour) -> VGroup:
        """What each part of the tile's time is called, and takes, under it."""
        names, foot = VGroup(), lane.grounds.get_bottom()
        parts = (
            (tr("launch"), "launch", story.launch, self.theme.launch),
            (tr("first load"), "first load", story.first_load, colour),
            (tr("{steps} K-steps", steps=story.k_steps), "multiply", story.multiply, colour),
            (tr("write"), "write", story.write, self.theme.text),
        )
        for name, part, ns, ink in parts:
            unit = " µs" if part == "write" else ""
            figure = label(f"{ns / 1000:.1f}{unit}", SIZE, readable(ink), bold=True, mono=True)
            said = VGroup(label(name, SIZE, readable(ink), bold=True), figure)
            middle = lane.span(tile=story.tile, part=part).get_center()[0]
            for row, words in enumerate(said):
                words.move_to([middle, foot[1] - px(24 + 64 * row), 0], UP)
            if part == "launch":
                # Its part is narrow: the name goes lower, under its own left end.
                said.arrange(RIGHT, buff=px(26), aligned_edge=UP)
                said.move_to([lane.grounds.get_left()[0], foot[1] - px(24 + 64 * 2.2), 0], LEFT + UP)
            names.add(said)
        return names

    def four_lanes(self, trace: Trace, lane: LaneVectors, corner: TileVectors, tile: VGroup) -> None:
        """Three more SMs; the grid of C stays where it is, and time runs."""
        area = self.area
        height = min(px(100), 0.12 * area.height)
        # On the scale that all SMs of a GPU will have.
        window = (0.0, max(trace.makespan / 2, shipped(MEASURED).makespan))
        lanes = LaneVectors(trace, range(trace.device.sms), window, area.width - px(NAME), height)
        lanes.shift([area.right, area.bottom + px(20), 0] - lanes.grounds.get_corner(DOWN + RIGHT))
        lanes.show(lane.t)
        sms = trace.device.sms
        self.say(tr("{sms} SMs, {sms} lanes", sms=sms))
        own = lanes.lane(lane.sms[0])
        done = zip(lanes.parts, lanes.pieces, strict=True)
        done = [drawn for drawn, part in done if trace.spans["sm"][part.row] != lane.sms[0]]
        others = [one for one in (*lanes.grounds, *lanes.names, *done) if one not in own]
        self.play(
            Place(lane, own), Zoom(lane, window=lanes.window, run_time=UNROLL), Fade(lane.names, 1.0, 0.0)
        )
        corner.show(lane.t)
        elsewhere = trace.spans["tile"][trace.spans["sm"] != lane.sms[0]].tolist()
        others += [drawn for number in elsewhere for drawn in corner.tile(number)[1:]]
        self.play(*(Fade(one, 0.0, 1.0) for one in others))
        self.add(lanes)
        self.remove(lane, tile, *tile)
        self.play(PlayTrace(self.ticking, lanes, corner, until=trace.makespan / 2, run_time=2.0))
        self.lanes = lanes

    def all_of_them(self, corner: TileVectors) -> None:
        """Camera out, at the same instant: a whole GPU, as it was recorded."""
        area, measured, now = self.area, shipped(MEASURED), self.ticking.t
        many = Lanes(measured, window=self.lanes.window, width=0.62 * area.width, height=0.9 * area.height)
        many.move_to([area.right, area.center[1], 0], RIGHT).show(now)
        tiles = TileGrid(measured, width=0.32 * area.width, height=0.9 * area.height).show(now)
        tiles.move_to([area.left, area.center[1], 0], LEFT)
        self.say(tr("All {sms} SMs of a GPU, measured", sms=measured.device.sms))
        away = corner.animate.move_to(tiles).set_opacity(0.0)
        self.badge(Badge(tr("simulated, measured"), "measured"))
        self.play(Thin(self.lanes, many), away, run_time=1.2)
        self.badge(measured)
        self.remove(corner)
        self.play(
            PlayTrace(self.ticking, tiles, many, until=measured.makespan, run_time=2.0), Fade(tiles, 0.0, 1.0)
        )

    def end(self, story: TileStory) -> None:
        """The finding: how much more a tile reads than it writes."""
        badge, times = Badge(tr("counted"), "counted"), story.read / story.written
        rows = [
            (tr("read"), story.read / 1024, "measured"),
            (tr("written"), story.written / 1024, "measured"),
        ]
        bars = Bars(rows, "KB", width=self.area.width, row=px(BAR), form="{:.0f}")
        sentence = tr("A tile reads {times:.0f} times what it writes", times=times)
        self.finding(Finding(sentence, f"×{times:.0f}", bars, badge), [bars.grow()])


def ratio(problem: Problem) -> float:
    """Height of a tile for its width."""
    return problem.tile[0] / problem.tile[1]


def outline(core: Any, colour: Any) -> Any:
    """The tile, empty, where the tensor core computes it."""
    edge = shape((0, 0, 0), 0.0).set_stroke(colour, stroke_width(6))
    edge.points = core.points.copy()
    return edge
