"""Tiling hierarchy: why tiles within tiles, down to one instruction of the tensor cores?"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from manim import (
    DOWN,
    LEFT,
    RIGHT,
    UP,
    Dot,
    GrowFromCenter,
    LaggedStart,
    ManimColor,
    VGroup,
    VMobject,
    config,
)

from tilesim_scenes.animations.fade import Fade, Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.film.report_film import ReportFilm
from tilesim_scenes.film.settings import NAME, REPORT, TILE, tile_sizes, whole
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import mixed, readable, shades, sm_colour
from tilesim_scenes.mobjects.charts.bar_groups import BarGroups
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.charts.curve import Curve
from tilesim_scenes.mobjects.charts.plot import Plot
from tilesim_scenes.mobjects.drawing.quads import quad, rectangle, segments, shape, stroke_width, strokes
from tilesim_scenes.mobjects.hardware.operands import Operands
from tilesim_scenes.mobjects.models.tiles.piece_of_c import PieceOfC
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.count import Count
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.story.ideas.ladder_pairs import shipped
from tilesim_scenes.story.ideas.tiling_hierarchy import Story, tell

FILM = {
    "title": "Tiling hierarchy",
    "question": "Why tiles within tiles?",
    "part": "Memory",
    "place": 80,
    "seconds": 44,
    "shows": "From an element of C to a tile, a warp group and one instruction: what each reads.",
    "takes": "report",
    "options": {"tile": "128x256x64", "dtype": "bf16", "device": "h200", "warps": 8},
}
GAP, ROOM, FILLED = 0.25, 1.1, 0.93
"""Of a K-step's width, between a tile and its operands; of what the camera falls to; of the picture."""
HATCH = 22.0
"""Pixels between the lines of a hatch."""
PER_BYTE, WORKED, NARROW = 56, 60, 42
"""Pixels: of the FLOP a byte beside the matrices, and of how they come about, in a wide frame and else."""
MOST_SHOWN = 8
"""Instructions that are shown one by one."""


class TilingHierarchy(ReportFilm):
    """2048³ in bf16 on an H200, tiles of 128 x 256 by eight warps, unless asked otherwise."""

    bench = "tiling_hierarchy"
    asked = REPORT | {"tile": TILE, "dtype": NAME, "device": NAME, "warps": whole(1, 32)}

    @classmethod
    def story_of(cls, report: Mapping[str, Any], settings: Mapping[str, Any]) -> Story:
        asked = {name: settings[name] for name in ("tile", "dtype", "device", "warps") if name in settings}
        if "tile" in asked:
            asked["tile"] = tile_sizes(asked["tile"])
        return tell(report, shipped(), **asked)

    def construct(self) -> None:
        self.hue = sm_colour(0, 4)
        self.operands = Operands(self.story.problem, self.room, 0.98 * self.area.height)
        self.operands.move_to(self.area.center).align_to([self.area.left, 0, 0], LEFT)
        if self.tall:
            self.operands.move_to(self.area.center)
        self.add(self.operands)
        self.title(self.story.title)
        self.grow()
        self.fall_into_the_tile()
        self.share_among_groups()
        self.issue()
        self.feed()
        self.starve()
        self.end()

    @property
    def room(self) -> float:
        """Units that the matrices may be wide: words stand beside them where the picture is wide."""
        area = self.area
        if area.width < 1.3 * area.height:
            return area.width
        tile = self.story.problem.tile[:2]
        worked = label(self.story.worked(*tile), self.worked, bold=True, mono=True)
        words = label(self.story.per_byte(*tile), PER_BYTE, bold=True)
        return min(0.62 * area.width, area.width - max(worked.width, words.width) - px(60))

    @property
    def worked(self) -> float:
        """Pixels of how FLOP a byte come about, beside the matrices."""
        return WORKED if self.flat else NARROW

    def grow(self) -> None:
        """One element reads a row and a column; it grows into a tile, and so does what a byte is used for."""
        story, operands, problem = self.story, self.operands, self.story.problem
        row, column = (int(0.55 * count) for count in (problem.tiles_m, problem.tiles_n))
        self.piece = PieceOfC(operands, row, column, self.hue)
        self.badge(Badge(tr("model")))
        rows, columns, cell = self.piece.rows, self.piece.columns, self.piece.piece
        self.say(story.alone)
        ends = [[one.get_center()] for one in (rows, columns)]
        rows.shift(px(500) * LEFT)
        columns.shift(px(500) * UP)
        self.play(
            Travel([rows, columns], ends, leg=1.0, apart=0.0), Fade(rows, 0.0, 1.0), Fade(columns, 0.0, 1.0)
        )
        self.play(Fade(cell, 0.0, 1.0), Fade(self.operands.names, 1.0, 0.0))
        self.operands.remove(self.operands.names)
        self.remove(rows, columns, cell)
        self.add(self.piece)
        worked = Count(lambda t: story.worked(*self.piece.size(t)), size=self.worked, align=0.5)
        flop = Count(lambda t: story.per_byte(*self.piece.size(t)), size=PER_BYTE, mono=False, align=0.5)
        middle = self.beside(self.operands)
        worked.move_to(middle + px(70) * UP)
        flop.move_to(middle + px(50) * DOWN)
        self.play(Fade(worked, 0.0, 1.0), Fade(flop, 0.0, 1.0))
        self.wait(0.8)
        self.say(story.grows)
        self.play(PlayTrace(self.piece, worked, flop, until=1.0, run_time=4.0))
        self.wait(0.8)
        self.play(Leave(worked), Leave(flop))

    def beside(self, one: VMobject) -> np.ndarray:
        """The middle of what is free: right of the matrices, or in the corner above A."""
        if self.room < 0.7 * self.area.width:
            return np.array([(one.get_right()[0] + self.area.right) / 2, one.get_center()[1], 0])
        return np.array([self.operands.a.get_center()[0], self.operands.b.get_center()[1], 0])

    def fall_into_the_tile(self) -> None:
        """A K-step of its rows and columns comes to the tile's edges, and the camera falls to it."""
        story, piece, unit = self.story, self.piece, self.operands.c.width / self.story.problem.n
        deep, tile = unit * story.problem.tile_k, piece.piece
        near = [tile.get_left() + (GAP + 0.5) * deep * LEFT], [tile.get_top() + (GAP + 0.5) * deep * UP]
        a, b = (
            rectangle(deep, tile.height).move_to(near[0][0]),
            rectangle(tile.width, deep).move_to(near[1][0]),
        )
        # Edges and hatches look as they should once the camera is there.
        self.pen = self.nearness(self.framed(VGroup(a, b, tile)))
        a.move_to(piece.rows.get_left(), LEFT)
        b.move_to(piece.columns.get_top(), UP)
        self.a, self.b = (self.chunk(one, upright) for one, upright in ((a, False), (b, True)))
        self.say(tr("A K-step of them comes to shared memory"))
        self.play(Fade(self.a, 0.0, 1.0), Fade(self.b, 0.0, 1.0))
        self.play(Travel([self.a, self.b], near, leg=1.0, apart=0.1, arc=0.05))
        ground = rectangle(tile.width, tile.height, self.theme.idle).move_to(tile)
        self.ground = self.edged(ground, self.hue)
        self.add(self.ground)
        # They leave as they were: the camera comes back out to them.
        away = [Leave(one, run_time=1.2) for one in (self.operands, piece)]
        self.dive(self.framed(VGroup(self.ground, self.a, self.b)), room=ROOM, along=away)
        self.words = self.said(tr("block tile"), story.worked(*story.tile.shape[:2]), story.tile.intensity)
        near = self.camera.frame.width / config.frame_width
        for name, one, way in (("A", self.a, LEFT), ("B", self.b, UP)):
            self.words.add(label(name, 60 * near, bold=True).next_to(one, way, px(24) * near))
        self.play(Fade(self.words, 0.0, 1.0))
        self.wait(1.2)

    def nearness(self, target: VMobject) -> float:
        """Units of the picture for one of the frame, once the camera has fallen to something."""
        area = self.area
        return float(max(ROOM * target.width / area.width, ROOM * target.height / area.height, 1 / 12))

    def edged(self, one: VMobject, hue: Any) -> VMobject:
        """With an edge that the fallen camera shows as others."""
        return one.set_stroke(ManimColor(hue), stroke_width(5) * self.pen)

    def chunk(self, ground: VMobject, upright: bool) -> VGroup:
        """A part of an operand: A's is hatched along its rows, B's along its columns."""
        ground.set_fill(ManimColor(mixed(self.theme.background, self.hue, 0.3)), 1.0)
        count = max(3, round((ground.width if upright else ground.height) / (px(HATCH) * self.pen)))
        lines, at = strokes(self.hue, 2.5 * self.pen), np.arange(1, count) / count
        none, full = np.zeros(count - 1), np.ones(count - 1)
        ends = (at, none, at, full) if upright else (none, at, full, at)
        lines.points = segments(ground, np.stack(ends, axis=1))
        return VGroup(self.edged(ground, self.hue), lines)

    def cut(self, whole: VGroup, count: int, upright: bool) -> VGroup:
        """A chunk in parts: A's from above, B's from the left."""
        parts = VGroup()
        for n in range(count):
            share = n / count, (n + 1) / count
            x, y = (share, (0, 1)) if upright else ((0, 1), (1 - share[1], 1 - share[0]))
            part = rectangle(1, 1)
            part.points = quad(whole[0], *x, *y)
            parts.add(self.chunk(part, upright))
        return parts

    def share_among_groups(self) -> None:
        """The tile parts into those of the warp groups, and each takes its part of A and of B."""
        story, (down, across) = self.story, self.story.groups
        hues = shades(self.hue) if down * across > 1 else (self.hue, self.hue)
        parts, step = VGroup(), 0.06 * self.ground.height
        places = [(row, column) for row in range(down) for column in range(across)]
        for row, column in places:
            part = shape(self.theme.idle)
            high = 1 - (row + 1) / down, 1 - row / down
            part.points = quad(self.ground, column / across, (column + 1) / across, *high)
            parts.add(self.edged(part, hues[(row + column) % 2]))
        rows, columns = self.cut(self.a, down, False), self.cut(self.b, across, True)
        self.say(story.shared)
        self.remove(self.ground, self.a, self.b)
        self.add(parts, rows, columns)
        # Gaps open downwards and to the right, so that A and B stay at the edges.
        aside = [[one.get_center() + n * step * DOWN] for n, one in enumerate(rows)]
        above = [[one.get_center() + n * step * RIGHT] for n, one in enumerate(columns)]
        apart = [
            [part.get_center() + step * (row * DOWN + column * RIGHT)]
            for part, (row, column) in zip(parts, places, strict=True)
        ]
        moved = Travel([*parts, *rows, *columns], [*apart, *aside, *above], leg=0.6, apart=0.0)
        self.play(moved, Leave(self.words))
        self.words = self.said(
            tr("warp group’s tile"), story.worked(*story.group.shape[:2]), story.group.intensity
        )
        self.play(Fade(self.words, 0.0, 1.0))
        # What several groups read flies to each of them.
        flights = [
            (source.copy(), part)
            for part, (row, column) in zip(parts, places, strict=True)
            for source in (rows[row], columns[column])
        ][: 2 * MOST_SHOWN]
        copies = [one for one, _ in flights]
        self.add(*copies)
        self.play(Travel(copies, [[part.get_center()] for _, part in flights], leg=1.0, apart=0.3))
        self.play(*(Leave(one) for one in copies))
        self.parts, self.rows, self.columns, self.shade = parts, rows, columns, hues[0]
        self.wait(0.4)

    def issue(self) -> None:
        """The camera falls to one group: its instructions read slice by slice, and its part fills."""
        story, part, a, b = self.story, self.parts[0], self.rows[0], self.columns[0]
        others = [one for group in (self.parts, self.rows, self.columns) for one in group[1:]]
        self.say(story.issued)
        self.play(Leave(self.words))
        # Where words stand below the one, others make room for them.
        dim = [Fade(one, 1.0, 0.15 if self.flat else 0.0, run_time=1.2) for one in others]
        self.dive(self.framed(VGroup(part, a, b)), room=ROOM, along=dim)
        self.words = self.said(story.wgmma, story.sums_stay, story.instruction.intensity)
        self.play(Fade(self.words, 0.0, 1.0))
        rows, columns, depth = story.instruction.shape
        steps = max(1, story.problem.tile_k // depth)
        down, across = story.group.shape[0] // rows, story.group.shape[1] // columns
        slices = [(k, r, c) for k in range(steps) for r in range(down) for c in range(across)][:MOST_SHOWN]
        leg = 4.0 / len(slices) / 3
        for k, r, c in slices:
            high, wide = (1 - (r + 1) / down, 1 - r / down), (c / across, (c + 1) / across)
            of_a, of_b, sums = shape(self.theme.text), shape(self.theme.text), shape(self.shade, 1 / steps)
            of_a.points = quad(a[0], k / steps, (k + 1) / steps, *high)
            of_b.points = quad(b[0], *wide, 1 - (k + 1) / steps, 1 - k / steps)
            sums.points = quad(part, *wide, *high)
            read = of_a, of_b
            self.play(*(Fade(one, 0.0, 1.0, run_time=leg) for one in read))
            self.play(Travel(read, [[sums.get_center()]] * 2, leg=leg, apart=0.0))
            self.play(*(Leave(one, run_time=leg) for one in read), Fade(sums, 0.0, 1.0, run_time=leg))
        self.wait(0.5)

    def framed(self, group: VGroup) -> VMobject:
        """Things, and the room that words need on their right, or below them where the picture is high."""
        wide, high = (1.75 * group.width, group.height) if self.flat else (group.width, 1.6 * group.height)
        return rectangle(wide, high).move_to(group.get_corner(UP + LEFT), UP + LEFT)

    @property
    def flat(self) -> bool:
        """Whether words have room beside a picture."""
        return self.area.width > 1.6 * self.area.height

    def said(self, name: str, size: str, flop: float) -> VGroup:
        """A level's name, its size, and its FLOP a byte, in the room beside it, as large as ever."""
        near, area = self.camera.frame.width / config.frame_width, self.area
        words = VGroup(
            label(name, 54 * near, self.theme.text, bold=True),
            label(size, 50 * near, self.theme.quiet),
            label(tr("{flop} FLOP a byte", flop=f"{flop:.0f}"), 54 * near, readable(self.hue), bold=True),
        ).arrange(DOWN, buff=px(30) * near)
        at, edge = ((area.right, area.center[1]), RIGHT) if self.flat else ((0.0, area.bottom), DOWN)
        return words.move_to(self.camera.frame.get_center() + near * np.array([*at, 0.0]), edge)

    def feed(self) -> None:
        """What each level needs, so that tensor cores never wait, beside what its memory sends."""
        story, area = self.story, self.area
        small = [one for one in self.mobjects if one is not self.camera.frame and one not in self._fixed]
        whole = self.operands, self.piece
        back = [Fade(one, 0.0, 1.0, run_time=1.2) for one in whole]
        self.hush()
        self.come_out(along=[*back, *(Leave(one, run_time=1.2) for one in small)])
        self.say(story.fed)
        self.play(*(Leave(one) for one in whole))
        groups = {
            heading: [
                (*needed, "quiet"),
                *((*one, "measured" if story.here else "simulated") for one in sent),
            ]
            for heading, (needed, *sent) in story.rates.items()
        }
        bars = BarGroups(groups, tr("B/clock"), width=area.width, form="{:.0f}", inside=True)
        bars.move_to(area.center)
        if bars.height > FILLED * area.height:
            bars.scale(FILLED * area.height / bars.height)
        if self.flat:
            bars.align_to([0, area.top, 0], UP)
        self.badge(Badge(story.sent_from, "measured" if story.here else "model"))
        self.play(Fade(bars.headings, 0.0, 1.0))
        self.play(bars.grow())
        self.wait(1.5)
        self.play(Leave(bars))

    def starve(self) -> None:
        """How fast a wgmma is by its columns: the model's line, and what was measured."""
        story, area = self.story, self.area
        least = min(share for _, share in story.modelled)
        plot = Plot(
            (8, 256), (0.8 * least, 1.25), [n for n, _ in story.modelled], (0.25, 0.5, 1.0),
            area.width - px(200), area.height - px(170), log=True, size=40,
        )  # fmt: skip
        plot.move_to(area.center + px(40) * UP + px(40) * RIGHT)
        across = label(tr("N of a wgmma m64nN"), 44, self.theme.quiet).next_to(plot.ground, DOWN, px(70))
        up = label(tr("share of the tensor cores’ rate"), 44, self.theme.quiet)
        up.move_to(plot.ground.get_corner(UP + LEFT) + px(20) * RIGHT, LEFT + UP)
        self.say(story.narrow)
        self.badge(Badge(tr("line: model")))
        self.play(*(Fade(one, 0.0, 1.0) for one in (plot, across, up)))
        curve = Curve(plot, story.modelled)
        self.play(PlayTrace(curve, until=256, run_time=2.0))
        if story.measured:
            self.badge(Badge(tr("dots: measured on {gpu}", gpu=story.gpu), "measured"))
            ink = ManimColor(self.theme.measured)
            dots = [Dot(plot.at(*point), radius=px(17), color=ink) for point in story.measured]
            self.play(LaggedStart(*map(GrowFromCenter, dots), lag_ratio=0.4, run_time=2.0))
        self.wait(1.2)

    def end(self) -> None:
        """What the ladder's step from an element to a tile is worth."""
        story = self.story
        rows = [
            (name, step.us / 1000, kind)
            for name, step, kind in (
                (tr("element"), story.before, "quiet"),
                (tr("tile"), story.after, "measured"),
            )
        ]
        bars = Bars(rows, "ms", width=min(self.area.width, px(1400)))
        badge = Badge(tr("measured on {gpu}", gpu=story.gpu), "measured")
        self.finding(Finding(story.finding, story.number, bars, badge, story.aside), [bars.grow()])
