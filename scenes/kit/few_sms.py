"""Lessons on a few SMs: tiles, blocks in a row, lanes, tiles that fly; or on one: rows of what it does."""

from collections.abc import Iterable, Mapping, Sequence

from manim import DOWN, LEFT, RIGHT, UP, Animation, LaggedStart, ManimColor, Mobject, VGroup

from tilesim import Device, Problem, Trace
from tilesim_scenes.animations.fade import Fade, FadeIn
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Deal, Travel
from tilesim_scenes.animations.unroll import Unroll
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, px
from tilesim_scenes.look.theme import Colour, sm_colour
from tilesim_scenes.mobjects.hardware.memory import SM
from tilesim_scenes.mobjects.hardware.thread_block import Queue
from tilesim_scenes.mobjects.models.phase_rows import Bar, PhaseRows
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors
from tilesim_scenes.mobjects.traces.tile_grid import TileVectors
from tilesim_scenes.mobjects.traces.traffic import BlockTraffic, TileTraffic
from tilesim_scenes.mobjects.words.key import Entry

SMS, PRODUCT = 4, Problem(384, 1536, 512)
DEVICE = Device.named("h200", sms=SMS)
TOP, NAMES, BLOCK, GAP = 200, 150, 116, 26
"""Pixels: of the row with blocks and C, of an SM's name and of its block beside a lane, and between lanes."""
SMALL, LARGE = 0.3, 0.72
"""Shares of the width that C takes: in its corner, and alone."""
ROW_NAMES = 330
"""Pixels for the names of rows of one processor, left of them."""


class FewSMs(Lesson):
    """A lesson on four SMs and 18 tiles."""

    def show_tiles(self) -> list[Animation]:
        """C alone, in numbered tiles; it later takes its place in the upper right corner."""
        area = self.area
        wide = (1.0 if self.tall else LARGE) * area.width
        self.grid = TileVectors(PRODUCT, width=wide, height=0.66 * area.height)
        self.grid.move_to(area.center + px(70) * DOWN)
        self.large = self.grid.width
        return [
            LaggedStart(*(FadeIn(tile, shift=px(20) * UP) for tile in self.grid), lag_ratio=0.1, run_time=1.6)
        ]

    def to_corner(self) -> Animation:
        """C goes to the upper right corner, above the lanes."""
        area = self.area
        width = SMALL * area.width if not self.tall else 0.8 * area.width
        place = [area.right, area.top, 0]
        return self.grid.animate(run_time=1.4).scale(width / self.large).move_to(place, RIGHT + UP)

    @property
    def low(self) -> float:
        """The top of SMs and lanes."""
        return self.area.top - px(TOP) * (1.9 if self.tall else 1.0) - px(30)

    def rise(self, blocks: Iterable[int]) -> list[Animation]:
        """A thread block grows from each tile."""
        numbers = list(blocks)
        area = self.area
        room = (1 - SMALL) * area.width - px(60) if not self.tall else area.width
        self.queue = Queue(numbers)
        fit(self.queue, room)
        self.queue.move_to([area.left, area.top - px(TOP / 2), 0], LEFT)
        if self.tall:
            self.queue.shift(px(TOP) * DOWN)
        self.homes = [block.get_center() for block in self.queue]
        for block in self.queue:
            block.move_to(self.grid.tile(block.number))
        return [
            LaggedStart(*(FadeIn(block, scale=0.4) for block in self.queue), lag_ratio=0.08, run_time=1.6)
        ]

    def line_up(self) -> Animation:
        """Blocks go to their places in the row."""
        return Travel(self.queue, [[home] for home in self.homes], leg=0.9, apart=0.05)

    def boxes(self) -> list[Animation]:
        """Four SMs, each in its color."""
        area = self.area
        high = (self.low - area.bottom) / SMS - px(GAP)
        self.sms = [SM(f"SM {sm}", sm_colour(sm, SMS), area.width, high) for sm in range(SMS)]
        group = VGroup(*self.sms).arrange(DOWN, buff=px(GAP))
        group.move_to([area.center[0], (self.low + area.bottom) / 2, 0])
        return [LaggedStart(*map(FadeIn, self.sms), lag_ratio=0.3, run_time=1.2)]

    def deal(self) -> Animation:
        """The first four blocks fly into the SMs."""
        self.bring_to_front(self.queue)
        return Deal(list(self.queue[:SMS]), [sm.box for sm in self.sms], [sm.colour for sm in self.sms])

    def unroll(self, trace: Trace, window: tuple[float, float]) -> list[Animation]:
        """SMs unroll into lanes beside their blocks, and tiles can fly."""
        area = self.area
        high = (self.low - self.floor) / SMS - px(GAP)
        self.lanes = LaneVectors(
            trace, range(SMS), (0.0, float(trace.makespan)), area.width - px(NAMES + BLOCK), high, px(GAP),
            ticks=False, fills={"hand over": self.theme.idle},
        )  # fmt: skip
        self.lanes.shift([area.right, self.low, 0] - self.lanes.grounds.get_corner(RIGHT + UP))
        for name in self.lanes.names:
            name.set_x(area.left, LEFT)
        self.lanes.window = window
        self.lanes.show(0.0)
        self.traffic = TileTraffic(trace, self.lanes, self.grid)
        self.traffic.flies = False
        self.blocks = BlockTraffic(trace, self.queue, self.lanes, self.homes)
        self.ticking = self.clock(trace.makespan)
        return [Unroll(self.sms, self.lanes), self.blocks.settle(0.8)]

    def ready(self) -> None:
        """From here on the run moves the blocks."""
        self.remove(self.queue, *self.queue)
        self.blocks.show(0.0)
        self.add(self.blocks, self.traffic)
        self.moving = [self.ticking, self.lanes, self.blocks, self.traffic]

    def colors(self) -> tuple[Entry, ...]:
        """The entries of a key for lanes in the colors of SMs."""
        hues = [sm_colour(sm, SMS) for sm in range(SMS)]
        return (
            Entry(tr("launch"), [self.theme.launch]),
            Entry(tr("load"), hues, hatched=True),
            Entry(tr("multiply"), hues),
            Entry(tr("write"), [self.theme.write]),
        )

    def idle(self, sm: int, since: float, until: float) -> Mobject:
        """What stands in an SM's lane while it has nothing left to do."""
        lane = self.lanes.lane(sm)
        word = self.word("no tile left", 40)
        room = self.lanes.x(until) - self.lanes.x(since)
        fit(word, 0.86 * room)
        return word.move_to([(self.lanes.x(since) + self.lanes.x(until)) / 2, lane.get_y(), 0])

    def run_to(self, until: float, seconds: float, along: Iterable[Animation] = ()) -> None:
        """Everything that moves, to an instant of the run, ns."""
        self.play(PlayTrace(*self.moving, until=float(until), run_time=seconds), *along)

    def clear(self) -> None:
        """All of the small GPU leaves, but for the key."""
        parts = [*self.moving, self.grid]
        self.play(*(Fade(one, 1.0, 0.0) for one in parts))
        self.remove(*parts)


class OneProcessor(Lesson):
    """A film that shows rows of one processor up to `until`, ns."""

    until: float

    def named_rows(
        self, rows: Mapping[str, Sequence[Bar]], top: float, high: float, hue: Colour | None = None
    ) -> PhaseRows:
        """Rows from `top` down, each of them `high`, with their names at the picture's left edge.

        `hue`: that of their main loops, by default the color of multiplying.
        """
        hues = dict.fromkeys(rows, hue or self.theme.by_phase["multiply"])
        wide = self.area.width - px(ROW_NAMES)
        made = PhaseRows(rows, (0, self.until), wide, high, 0.2 * high, hues, name_size=42)
        left = made.grounds.get_right()[0] - self.area.width
        for name in made.names:
            name.set_color(ManimColor(self.theme.text))
            fit(name, px(ROW_NAMES - 30), high).set_x(left, LEFT)
        return made.shift([self.area.right - made.grounds.get_right()[0], top - made.grounds.get_top()[1], 0])
