"""L2 order: does it matter which tile comes next?

manim render scenes/l2_order.py
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from manim import (
    DOWN,
    LEFT,
    RIGHT,
    UP,
    Create,
    FadeIn,
    FadeOut,
    Group,
    ReplacementTransform,
    VGroup,
    VMobject,
    linear,
)

from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.film.report_film import ReportFilm
from tilesim_scenes.film.settings import DEVICE, PROBLEM, REPORT
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, px
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.drawing.quads import quad, rectangle
from tilesim_scenes.mobjects.models.tiles.shared_blocks import SharedBlocks
from tilesim_scenes.mobjects.models.tiles.tile_order import TileOrder
from tilesim_scenes.mobjects.words.badge import Badge, of_trace
from tilesim_scenes.mobjects.words.count import Count
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.story.ideas.l2_order import SIDE, Ordered, Story, tell

FILM = {
    "title": "L2 order",
    "question": "Does it matter which tile comes next?",
    "part": "Memory",
    "place": 70,
    "seconds": 45,
    "shows": "The blocks that tiles at work share, in one order and in others.",
    "takes": "report",
    "options": {"m": 8192, "n": 8192, "k": 8192, "order": "grouped:8, hilbert", "device": "h200"},
}
NAME, FIGURES = 70, 175
"""Pixels: above a product for its order's name, and below it for what it costs."""


class L2Order(ReportFilm):
    """Nine tiles in a row and in a square; then 8192x8192x8192 in three orders, bytes from HBM live."""

    bench = "l2_order"
    asked = REPORT | {name: PROBLEM[name] for name in ("m", "n", "k", "order")} | {"device": DEVICE["device"]}

    @classmethod
    def story_of(cls, report: Mapping[str, Any], settings: Mapping[str, Any]) -> Story:
        return tell(report, settings)

    def construct(self) -> None:
        self.nine_in_a_row()
        self.nine_in_a_square()
        self.a_wave_at_once()
        self.all_waves()
        self.what_was_counted()
        self.what_the_clock_did()
        self.tell_the_finding()

    def nine_in_a_row(self) -> None:
        """Tiles fill one by one, and what each needs of A and B lights up."""
        area, story = self.area, self.story
        words = label(tr("blocks of A and B"), 48, self.theme.quiet)
        room = area.width if self.tall else min(0.62 * area.width, area.width - words.width - px(60))
        side = (min(area.height, room) - px(36)) / 2
        self.blocks = SharedBlocks(SIDE, side, story.in_a_row, story.in_a_square)
        if self.tall:
            self.blocks.move_to(area.center).align_to([0, area.top, 0], UP)
        elif self.wide:
            self.blocks.move_to(area.center + 0.16 * area.width * LEFT)
        else:
            self.blocks.move_to(area.center).align_to([area.left, 0, 0], LEFT)
        self.add(self.blocks)
        self.title(tr("Does it matter which tile comes next?"))
        self.badge(Badge(tr("model")))
        self.total = Count(lambda _: str(sum(self.blocks.needed)), size=190, align=0.5)
        self.parts = Count(lambda _: f"{self.blocks.needed[0]} + {self.blocks.needed[1]}", size=60, align=0.5,
                           color=self.blocks.hue)  # fmt: skip
        if self.tall:
            place = self.blocks.get_bottom() + px(230) * DOWN
        else:
            place = self.blocks.get_right() + (area.right - self.blocks.get_right()[0]) / 2 * RIGHT
        self.total.shift(place)
        words.move_to(place + px(70) * DOWN)
        self.parts.shift(place + px(190) * DOWN)
        self.say(tr("A tile needs blocks of A and of B"))
        self.play(FadeIn(self.total, words, self.parts), run_time=0.5)
        counts = self.total, self.parts
        self.play(PlayTrace(self.blocks, *counts, until=1, run_time=1.8))
        self.say(story.row_needs)
        self.play(PlayTrace(self.blocks, *counts, until=len(story.in_a_row), run_time=4))
        self.told = Group(words, *counts)

    def nine_in_a_square(self) -> None:
        """The row folds into a square: a few rows of A come, most columns of B go."""
        self.say(self.story.square_needs)
        self.play(PlayTrace(self.blocks, self.total, self.parts, until=self.blocks.t + 1, run_time=2.2))
        self.wait(0.8)

    def a_wave_at_once(self) -> None:
        """A product of a real size in each order: the way of a wave, and what it needs of A and B."""
        story = self.story
        self.tiles = [self.tiles_of(number, one) for number, one in enumerate(story.ordered)]
        self.names = VGroup(*map(self.name_of, self.tiles, story.ordered))
        for name in self.names if not self.tall else ():
            name.align_to(self.names, UP)
        rasters = Group(*self.tiles)
        away = self.blocks.animate(run_time=0.8).scale(0.3).move_to(rasters[0]).set_opacity(0)
        self.say(story.at_once)
        trace = story.ordered[0].loads.trace
        badge = of_trace(trace)
        # A clock stands beside it.
        self.badge(badge if badge.width < 0.7 * self.area.width else of_trace(trace, 30))
        comes = FadeIn(rasters, self.names, run_time=0.8)
        self.play(away, FadeOut(self.told, run_time=0.3), comes)
        self.remove(self.blocks, self.told)
        paths = VGroup(*(tiles.path(0, story.device.slots) for tiles in self.tiles))
        self.play(*(Create(path, rate_func=linear) for path in paths), run_time=2.5)
        self.ticking = self.clock(max(one.loads.trace.makespan for one in story.ordered))
        needs = [
            self.beneath(*each) for each in zip(self.tiles, (one.needs for one in story.ordered), strict=True)
        ]
        self.say(tr("Together they need this much of A and B"))
        begun = [self.tiles_of(number, one).show(0.0) for number, one in enumerate(story.ordered)]
        self.play(FadeOut(paths), FadeIn(*needs, *begun), run_time=0.4)
        self.remove(*self.tiles)
        self.tiles = begun
        self.play(PlayTrace(self.ticking, *self.tiles, until=story.wave_ns, run_time=3.4))
        self.play(FadeOut(*needs), run_time=0.3)

    def all_waves(self) -> None:
        """All waves roll; below each product, what HBM has sent, and what share the L2 had."""
        story, both = self.story, list(zip(self.tiles, self.story.ordered, strict=True))
        sent = [self.beneath(tiles, one.sent).show(self.ticking.t) for tiles, one in both]
        hits = [self.beneath(tiles, one.hits, 1).show(self.ticking.t) for tiles, one in both]
        self.say(story.what_hbm_sends)
        self.play(FadeIn(*sent, *hits), run_time=0.3)
        end = max(one.loads.trace.makespan for one in story.ordered)
        self.play(PlayTrace(self.ticking, *self.tiles, *sent, *hits, until=end, run_time=8))
        self.wait(1)
        self.told = Group(self.ticking, *sent, *hits)

    def what_was_counted(self) -> None:
        """What a GPU's counters say of the same bytes, each with a mark for what was simulated."""
        story = self.story
        if not story.counted:
            return
        unit, bytes_of_one, form = story.unit
        each = list(zip(story.ordered, story.counted, strict=True))
        rows = [(one.name, counted / bytes_of_one, "measured") for one, counted in each]
        self.bars = self.bars_of(rows, unit, f"{{:{form}}}")
        self.marks = VGroup(
            *(
                self.mark(ground, one.loads.hbm_bytes / counted)
                for ground, (one, counted) in zip(self.bars.grounds, each, strict=True)
            )
        )
        self.say(tr("What HBM sent; marks: simulated"))
        self.badge(Badge(tr("counted on {gpu}", gpu=story.gpu), "counted"))
        gone = FadeOut(*self.tiles, self.told, run_time=0.3)
        self.play(gone, ReplacementTransform(self.names, self.bars.names, run_time=0.8))
        self.play(self.bars.grow(named=True))
        self.play(FadeIn(self.marks, shift=px(20) * DOWN), run_time=0.4)
        self.wait(1.5)

    def what_the_clock_did(self) -> None:
        """In the same rows the clock of the SMs, where that is what the order changed."""
        story = self.story
        if not (story.counted and story.clock_explains):
            return
        bars = self.bars
        clocks = self.bars_of([(one.name, one.mhz, "measured") for one in story.ordered], "MHz", "{:,.0f}")
        clocks.shift(bars.names[0].get_right() - clocks.names[0].get_right())
        self.say(story.clock_rises)
        self.badge(Badge(tr("measured on {gpu}", gpu=story.gpu), "measured"))
        self.play(FadeOut(bars.bars, bars.figures, self.marks), run_time=0.3)
        # Their rows are no longer whole.
        self.remove(*bars.grounds, *bars.names)
        self.play(clocks.grow(named=True))
        self.wait(1)

    def tell_the_finding(self) -> None:
        story = self.story
        kind, text = "simulated", of_trace(story.ordered[0].loads.trace).text
        if story.gpu:
            kind, text = "measured", tr("measured on {gpu}", gpu=story.gpu)
        rows = [(one.name, one.us, kind) for one in (story.ordered[0], story.best)]
        bars = Bars(rows, "µs", self.area.width, form="{:,.0f}")
        self.finding(
            Finding(story.finding, story.number, bars, Badge(text, kind), story.aside), [bars.grow()]
        )

    # How it is laid out

    @property
    def wide(self) -> bool:
        """Whether three products have room beside one another, and more beside bars."""
        return self.area.width > px(1200)

    def tiles_of(self, number: int, order: Ordered) -> TileOrder:
        """A product in its part of the picture: a column, or in a tall frame a row."""
        area, count = self.area, len(self.story.ordered)
        width, height = area.width / count - px(40), area.height - px(FIGURES)
        middle = [area.left + (number + 0.5) * area.width / count, area.center[1], 0]
        lift = px(FIGURES)
        if self.tall:
            width, height, lift = 0.55 * area.width, area.height / count - px(40), 0.0
            middle = [area.left + width / 2, area.top - (number + 0.5) * area.height / count, 0]
        tiles = TileOrder(order.loads.trace, width, height - px(NAME))
        return tiles.move_to(middle).shift((lift - px(NAME)) / 2 * UP).show(-1.0)

    def name_of(self, tiles: TileOrder, order: Ordered) -> VMobject:
        return label(order.name, 48 if self.wide else 40, bold=True).next_to(tiles, UP, px(20))

    def beneath(self, tiles: TileOrder, says: Callable[[float], str], row: int = 0) -> Count:
        """A figure below a product's tiles, or in a tall frame beside them."""
        count = Count(says, size=60 if row == 0 else 48, align=0.5)
        if self.tall:
            beside = (tiles.get_right()[0] + self.area.right) / 2
            return count.move_to([beside, tiles.get_center()[1] - row * px(80), 0])
        return count.move_to([tiles.get_center()[0], tiles.get_bottom()[1] - px(60 + 66 * row), 0])

    def bars_of(self, rows: Sequence[tuple[str, float, str]], unit: str, form: str) -> Bars:
        """A bar for each order."""
        return Bars(rows, unit, self.area.width, form=form, row=px(210)).move_to(self.area.center)

    def mark(self, ground: VMobject, share: float) -> VMobject:
        """A thin mark at a share of a bar's length."""
        mark = rectangle(1, 1, self.theme.simulated)
        half = px(5) / ground.width
        mark.points = quad(ground, share - half, share + half, -0.25, 1.25)
        return mark
