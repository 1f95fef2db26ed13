"""Coalescing: how many bytes must memory move for one load of 32 threads?

manim render scenes/coalescing.py
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from manim import (
    DOWN,
    LEFT,
    PI,
    RIGHT,
    UP,
    FadeIn,
    FadeOut,
    LaggedStart,
    Line,
    ManimColor,
    ReplacementTransform,
    VGroup,
    VMobject,
    config,
)

from tilesim.ideas.coalescing import LINE, SECTOR, touched
from tilesim_scenes.animations.fade import Fade
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.film.report_film import ReportFilm
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, lines, px
from tilesim_scenes.look.theme import mix
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.drawing.quads import quad, shape, stroke_width
from tilesim_scenes.mobjects.hardware.element_grid import ElementGrid
from tilesim_scenes.mobjects.hardware.memory_lines import MemoryLines
from tilesim_scenes.mobjects.hardware.warp import Warp
from tilesim_scenes.mobjects.models.tiles.tile_sweep import WASTED, TileSweep
from tilesim_scenes.mobjects.models.warps.warp_load import WarpLoad
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.count import Count
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.story.ideas.coalescing import Story, Way, tell

FILM = {
    "title": "Coalescing",
    "question": "One load, 32 addresses: how much memory moves?",
    "part": "Memory",
    "place": 50,
    "seconds": 40,
    "shows": "The addresses of a warp, the sectors that they touch, and the bytes that are used.",
    "takes": "report",
}


class Coalescing(ReportFilm):
    """One load, 32 addresses: how much memory moves?"""

    bench = "coalescing"

    @classmethod
    def story_of(cls, report: Mapping[str, Any], settings: Mapping[str, Any]) -> Story:
        return tell(report)

    def construct(self) -> None:
        self.warp = Warp(spacing=self.area.width / 40).set_z_index(1)
        self.warp.move_to(self.area.center + 0.27 * self.area.height * UP)
        self.add(self.warp)
        self.title(tr("Coalescing"))
        self.ask()
        self.go_down_a_column()
        self.look_into_a_sector()
        self.go_along_rows()
        self.load_the_tile()
        self.tell_the_finding()

    def ask(self) -> None:
        """A warp over memory; each of its threads has an address."""
        area = self.area
        self.memory = MemoryLines(range(4), 0.8 * area.width, px(58), px(12))
        self.memory.move_to(area.center + 0.12 * area.height * DOWN)
        name = label(tr("one warp, 32 threads"), 52, self.warp.colour, bold=True)
        name.next_to(self.warp, UP, px(28))
        below = label(tr("memory, in lines of {line} bytes", line=LINE), 48, self.theme.quiet)
        below.next_to(self.memory, DOWN, px(28))
        addresses = VGroup(*(falling(dot, self.memory) for dot in self.warp.dots))
        self.say(self.story.question)
        self.play(FadeIn(name, self.memory, below), run_time=0.5)
        each = (FadeIn(one, shift=px(40) * DOWN) for one in addresses)
        self.play(LaggedStart(*each, lag_ratio=0.1), run_time=2)
        self.wait(0.5)
        self.told = [name, below, addresses]

    def go_down_a_column(self) -> None:
        """The warp stands up beside a column of the tile; each of its rays ends in a line of its own."""
        story, way = self.story, self.story.down
        tile, memory = self.tile_and_memory(way)
        self.load = WarpLoad(tile, memory, way.shown, way.width, story.element, story.pitch)
        row, column = self.load.places[0]
        stands = tile.elements(row, column, rows=len(way.shown))
        apart = label(story.pitch_apart, 44, self.theme.quiet)
        # Where memory goes far down, rays cross what is below the tile.
        apart.next_to(tile, UP if self.tall else DOWN, px(20)).align_to(tile, LEFT)
        size = label(story.tile_size, 44, self.theme.quiet)
        size.move_to(tile.get_corner(DOWN + LEFT) + px(24) * (UP + RIGHT), DOWN + LEFT)
        if self.tall:
            size.next_to(apart, UP, px(20), aligned_edge=LEFT)
        self.say(story.each_its_line)
        self.play(FadeOut(*self.told), run_time=0.3)
        self.badge(Badge(*story.badge))
        upright = self.warp.animate.rotate(-PI / 2).scale(stands.height / self.warp.width)
        beside = upright.next_to(tile, LEFT, px(20)).set_y(stands.get_y())
        few = len(self.memory)
        shrink = ReplacementTransform(self.memory, memory[:few])
        self.play(FadeIn(tile), beside, shrink, run_time=1)
        more = (FadeIn(line, shift=px(20) * DOWN) for line in memory[few:])
        self.play(LaggedStart(*more, lag_ratio=0.1, run_time=0.8))
        self.remove(memory[:few], *memory)
        self.add(memory)
        self.tile, self.memory = tile, memory
        self.add(self.load)
        counts = self.counts()
        self.play(FadeIn(apart, size, *counts), run_time=0.3)
        self.play(PlayTrace(self.load, *counts, until=len(way.shown), run_time=3.5))
        self.wait(0.3)
        self.play(FadeOut(apart, size), run_time=0.3)
        self.told = counts

    def look_into_a_sector(self) -> None:
        """The camera falls into a sector: of its 32 bytes, a thread asked for four."""
        way, grey = self.story.down, self.grey()
        address = int(way.shown[12])
        sector = VGroup(*(self.byte(address // SECTOR, number) for number in range(SECTOR)))
        first = address % SECTOR
        used = sector[first : first + way.width]
        wasted = VGroup(*sector[:first], *sector[first + way.width :])
        used.set_fill(ManimColor(self.warp.colour))
        rest = (self.tile, self.warp, self.memory, self.load, *self.told)
        self.say(self.story.waste)
        self.add(sector)
        self.dive(sector, along=[Fade(one, 1, 0.06) for one in rest])
        close = self.camera.frame.width / config.frame_width
        whole = label(tr("one sector: {bytes} bytes", bytes=SECTOR), 52 * close, self.theme.quiet)
        asked = label(tr("{used} used", used=way.width), 52 * close, self.warp.colour, bold=True)
        nothing = label(tr("{wasted} moved for nothing", wasted=len(wasted)), 52 * close, bold=True)
        asked.next_to(used, UP, 24 * px(close))
        whole.next_to(sector, UP, 120 * px(close))
        nothing.next_to(sector, DOWN, 120 * px(close))
        self.play(FadeIn(whole, asked), run_time=0.3)
        self.wait(0.8)
        self.play(wasted.animate.set_fill(grey), FadeIn(nothing), run_time=0.5)
        self.wait(0.5)
        fall = (FadeOut(one, shift=100 * px(close) * DOWN) for one in wasted)
        self.play(LaggedStart(*fall, lag_ratio=0.03), run_time=1)
        self.play(FadeOut(whole, asked, nothing), run_time=0.3)
        self.come_out(along=[Fade(one, 0.06, 1) for one in rest])
        self.remove(sector, *sector)
        tally = self.tally(way)
        self.play(self.load.sectors.animate.set_fill(grey), FadeIn(tally), run_time=0.5)
        self.wait(1.2)
        self.play(FadeOut(tally, self.load, *self.told), run_time=0.3)

    def go_along_rows(self) -> None:
        """The warp lies down above the tile; its rays fold into few lines, all of whose bytes are used."""
        story, way = self.story, self.story.along
        _, memory = self.tile_and_memory(way)
        load = WarpLoad(self.tile, memory, way.shown, way.width, story.element, story.pitch)
        flat = self.warp.animate.rotate(PI / 2).scale(self.tile.width / self.warp.height)
        self.say(story.shared_lines)
        above = flat.next_to(self.tile, UP, px(24))
        gone = FadeOut(*self.memory[len(memory) :], run_time=0.5)
        self.play(above, ReplacementTransform(self.memory[: len(memory)], memory), gone, run_time=1)
        self.load, self.memory = load, memory
        self.add(load)
        counts = self.counts()
        self.play(FadeIn(*counts), run_time=0.3)
        self.play(PlayTrace(load, *counts, until=len(way.shown), run_time=2.5))
        self.told = counts
        tally = self.tally(way)
        self.play(FadeIn(tally), run_time=0.3)
        self.wait(1.5)
        self.told = [tally, *counts, memory, load, self.warp]

    def load_the_tile(self) -> None:
        """Both ways load the tile at one rate of sectors; the second ends long before the first."""
        story, area = self.story, self.area
        side = min(0.42 * area.height, 0.3 * area.width)
        most = max(way.tile.sectors for way in (story.down, story.along))
        sweeps, names = VGroup(), VGroup()
        for way, up in ((story.down, 1), (story.along, -1)):
            tile = ElementGrid(story.rows, story.columns, side, side)
            tile.move_to([area.left + side / 2, area.center[1] + up * min(0.27 * area.height, px(400)), 0])
            sweep = TileSweep(tile, story.places(way), way.first.sectors, way.first.useful, most,
                              area.right - tile.get_right()[0] - px(48))  # fmt: skip
            name = label(way.name, 48, bold=True)
            names.add(name.next_to(sweep.track, UP, px(24)).align_to(sweep.track, LEFT))
            sweeps.add(sweep)
        self.say(story.times_the_sectors)
        self.play(FadeOut(*self.told), run_time=0.3)
        copies = [ReplacementTransform(self.tile.copy(), sweep.grid) for sweep in sweeps]
        self.remove(self.tile)
        self.play(*copies, run_time=0.8)
        self.play(FadeIn(names), run_time=0.3)
        self.add(*sweeps)
        self.play(PlayTrace(*sweeps, until=most, run_time=5))
        unused = label(tr("never used"), 44).move_to(sweeps[0].wasted)
        self.play(FadeIn(unused), run_time=0.3)
        self.wait(1)

    def tell_the_finding(self) -> None:
        story = self.story
        badge = Badge(tr("measured on {gpu}", gpu=story.gpu), "measured")
        rows = [(way.name, way.us / 1000, "measured") for way in (story.down, story.along)]
        bars = Bars(rows, "ms", self.area.width, form="{:.2f}")
        self.finding(Finding(story.finding, story.number, bars, badge, story.aside), [bars.grow()])

    # How it is laid out

    def tile_and_memory(self, way: Way) -> tuple[ElementGrid, MemoryLines]:
        """The tile on the left, and to its right the lines that the shown load touches."""
        story, area = self.story, self.area
        side = min((0.76 if self.wide else 0.5) * area.height, (0.35 if self.wide else 0.46) * area.width)
        height = area.center[1] + (0.03 if self.wide else 0.12) * area.height
        tile = ElementGrid(story.rows, story.columns, side, side)
        tile.move_to([area.left + side / 2, height, 0])
        numbers = touched(way.shown, way.width, LINE)
        row = 1.1 * side / max(len(numbers), 8)
        if self.tall:
            row = min(0.64 * area.height / len(numbers), 0.4 * side)
        memory = MemoryLines(numbers, (0.27 if self.wide else 0.4) * area.width, 0.67 * row, 0.33 * row)
        memory.move_to([area.left + side + 0.12 * area.width + memory.width / 2, height, 0])
        if self.tall:
            for one in (tile, memory):
                one.shift((area.top - 0.1 * area.height - one.get_top()[1]) * UP)
        return tile, memory

    @property
    def wide(self) -> bool:
        """Whether words have room beside tile and memory."""
        return self.area.width > 1.5 * self.area.height

    @property
    def room(self) -> float:
        """Units that words beside tile and memory, or below them, can be wide."""
        area = self.area
        return area.right - self.memory.get_right()[0] - px(40) if self.wide else area.width

    def counts(self) -> list[Count]:
        """How many lines and sectors have moved, live: right of tile and memory, or below them."""
        load, area, tile = self.load, self.area, self.tile
        if self.wide:
            middle = np.array([area.right - self.room / 2, tile.get_center()[1], 0])
            places = middle + px(140) * UP, middle + px(50) * UP
        else:
            below = area.bottom + 0.16 * area.height if self.tall else tile.get_bottom()[1] - px(120)
            middle = np.array([area.center[0], below, 0])
            places = middle + area.width / 5 * LEFT, middle + area.width / 5 * RIGHT
        found = (
            Count(lambda _: self.story.lines(load.lines), size=60, mono=False, align=0.5),
            Count(lambda _: self.story.sectors(load.touched()), size=60, mono=False, align=0.5),
        )
        return [count.move_to(place) for count, place in zip(found, places, strict=True)]

    def tally(self, way: Way) -> VMobject:
        """How many bytes the shown load moves, and how many of them are used, below lines and sectors."""
        words = lines(way.bytes_of_one_load, 56, self.room, bold=True)
        return words.next_to(VGroup(*self.told), DOWN, px(56))

    def byte(self, sector: int, number: int) -> VMobject:
        """A byte of a sector of memory, as it has been moved."""
        one = shape(self.memory.moved)
        one.points = quad(self.memory.sector(sector), (number + 0.06) / SECTOR, (number + 0.94) / SECTOR)
        return one

    def grey(self) -> ManimColor:
        """Of bytes that nobody asked for."""
        return ManimColor(mix(self.theme.background, self.theme.quiet, WASTED))


def falling(dot: VMobject, memory: VMobject) -> Line:
    """The address of a thread, from below its dot to memory."""
    foot, end = dot.get_bottom() + px(30) * DOWN, memory.get_top()[1] + px(10)
    return Line(foot, [foot[0], end, 0], color=dot.get_color(), stroke_width=stroke_width(3))
