"""Async pipeline: a producer warp, a ring of stages with two barriers each, and consumers, at an instant.

CUTLASS calls it PipelineTmaAsync. A pair of K-chunks passes its stage's `empty` barrier when the stage is
free, and its `full` barrier when the tensor cores take it. Everything stands where a timeline of
`tilesim.ideas.warp_specialization` says.
"""

from collections.abc import Sequence
from typing import Self

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Circle, ManimColor, Rectangle, VGroup, VMobject

from tilesim.ideas.warp_specialization import Timeline
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import Colour, mixed, sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import EMPTY, quad, rectangle, shape, stroke_width
from tilesim_scenes.mobjects.hardware.barrier import Barrier
from tilesim_scenes.mobjects.hardware.buffer import Buffers
from tilesim_scenes.mobjects.hardware.k_pair import KPair
from tilesim_scenes.mobjects.hardware.warp import Warp
from tilesim_scenes.mobjects.models.pipelines.flight import bend, share, smooth
from tilesim_scenes.mobjects.models.pipelines.riders import paint
from tilesim_scenes.mobjects.models.pipelines.turn import holder

DOTS = 8
"""Threads of a warp that is drawn small."""
NAMES = 46
"""Pixels of what stands beside a row."""
DOT = 0.12
"""Radius of a dot, of a stage's height."""
MOST_UPRIGHT = 1.2
"""Height over width, beyond which rows would stand apart."""
LIFT = 0.14
"""Share of a load, or of a K-step, in which a dot arrives and a bar lifts."""
ENTERED, LEFT_AT, USED = 0.8, 0.4, 0.6
"""Shares: of a load after which its pair is past `empty`, of a K-step after which it is past `full`, and
after which the tensor cores have it."""


class AsyncPipeline(VGroup):
    """A thread block whose warps have roles, at `t` ns of `timeline`.

    From below: the `producer`, a row of `empty` barriers, the `stages`, a row of `full` barriers, and on top
    the groups of `consumers`, each beside its accumulator, and the tiles of `c`. `warps`: of a group. `size`:
    units, width and height at most. `colours`: of the groups. `aspect`: of a tile, its width over its height.
    """

    def __init__(
        self,
        timeline: Timeline,
        warps: int = 8,
        size: tuple[float, float] | None = None,
        colours: Sequence[Colour] | None = None,
        aspect: float = 2.0,
    ) -> None:
        super().__init__()
        self.timeline, self.t = timeline, 0.0
        width, room = size or (px(1640), px(780))
        height = min(room, MOST_UPRIGHT * width)
        theme = theme_now()
        self.hue = sm_colour(0, 4)
        self.held = mixed(theme.idle, self.hue, 0.25)
        self.colours = tuple(colours or (self.hue,) * timeline.groups)
        self._build_ring(width, height)
        self._build_top(width, height, warps, aspect)
        self.pairs = VGroup(*(KPair(self.hue) for _ in range(timeline.stages + 1)))
        self.sums = VGroup(*(shape(colour) for colour in self.colours))
        self.tiles = VGroup(*(shape(self.colours[g]) for g in timeline.writes["group"].tolist()))
        self.tiles.set_stroke(ManimColor(theme.write), stroke_width(5), 1.0)
        self._disc = Circle(1.0).points
        self.dots = VGroup(*(shape(theme.text) for _ in range(2 * timeline.stages)))
        self.turn = Circle(px(18), stroke_color=ManimColor(theme.text), stroke_width=stroke_width(5))
        self.add(self.stages, self.empty, self.full, self.producer, self.consumers, self.accumulators, self.c)
        self.add(self.sums, self.pairs, self.tiles, self.dots, self.names)
        if timeline.groups > 1:
            self.add(self.turn)
        self.show(0.0)

    def show(self, t: float) -> Self:
        """Look as at `t`, ns of the timeline."""
        self.t = t
        begun = int(np.searchsorted(self.timeline.steps["load"], t, side="right"))
        for stage in range(self.timeline.stages):
            # Of the K-steps that go through a stage, the last that has been asked for.
            mine = np.arange(stage, begun, self.timeline.stages)
            self._show_stage(stage, int(mine[-1]) if len(mine) else None)
        self._show_next(begun)
        for group in range(self.timeline.groups):
            self._show_group(group)
        self._show_turn()
        return self

    def _show_stage(self, stage: int, g: int | None) -> None:
        """What is in a stage, its barriers and their dots; `g`: the K-step that had it last, if any."""
        for dot in (self.dots[2 * stage], self.dots[2 * stage + 1]):
            dot.points = EMPTY
        if g is not None and self.t < self.timeline.steps["empty"][g]:
            self._show_held(stage, g)
            return
        self._tint(stage, theme_now().idle)
        self.pairs[stage].put(self.stages[stage].get_center(), 1.0, shown=False)
        self.full[stage].open(0.0)
        # In its first round a stage is empty, and nobody has to say so.
        load, full, empty = (0, 1, -np.inf) if g is None else self._times(g, "load", "full", "empty")
        self.empty[stage].open((self.t - empty) / (LIFT * max(full - load, 1)))

    def _show_held(self, stage: int, g: int) -> None:
        """A stage that K-step `g` has: its pair on its way in, in its place, or on its way out."""
        pair, slot, t = self.pairs[stage], self.stages[stage], self.t
        empty_bar, full_bar = self.empty[stage], self.full[stage]
        load, full, multiply, empty, group = self._times(g, "load", "full", "multiply", "empty", "group")
        flown, used = share(t, load, full), share(t, multiply, empty)
        here, wide = slot.get_center(), 0.7 * slot.width
        if t < full:
            self._tint(stage, theme_now().idle)
            lifted = smooth(flown / LIFT) if g >= self.timeline.stages else 1.0
            empty_bar.open(lifted * (1 - smooth((flown - ENTERED) / LIFT)))
            full_bar.open(0.0)
            pair.put(bend(here, self._gate(), 1 - smooth((flown - LIFT) / (1 - LIFT))), wide)
            return
        self._tint(stage, self.held)
        empty_bar.open(0.0)
        risen = (t - full) / (LIFT * (empty - multiply))
        full_bar.open(min(risen, 1 - (used - LEFT_AT) / LIFT))
        if risen < 1:
            self._fly(self.dots[2 * stage], here, full_bar.bar.get_start(), risen)
        if used >= USED:
            start, end = self.consumers[group].get_bottom(), empty_bar.posts[0].get_top()
            self._fly(self.dots[2 * stage + 1], start, end, (used - USED) / (1 - USED))
        along = smooth((used - LIFT) / (USED - LIFT))
        target = self.accumulators[group].get_center()
        pair.put(bend(here, target, along), wide * (1 - 0.35 * along), used < USED)

    def _times(self, g: int, *names: str) -> tuple[int, ...]:
        """Fields of a K-step, as Python's own numbers."""
        step = self.timeline.steps[g]
        return tuple(int(step[name]) for name in names)

    def _tint(self, stage: int, colour: Colour) -> None:
        """Fill a stage, if it has another colour."""
        slot, fill = self.stages[stage], ManimColor(colour)
        if slot.get_fill_color() != fill:
            slot.set_fill(fill)

    def _show_next(self, begun: int) -> None:
        """The pair that the producer will send next, and whether it has to wait; `begun`: of all loads."""
        steps, t = self.timeline.steps, self.t
        more, before = begun < len(steps), begun - self.timeline.stages
        flown = share(t, *steps[["load", "full"]][begun - 1].tolist()) if begun else 1.0
        rising = smooth((flown - 0.4) / 0.3)
        start = self.producer.get_center()
        at = start + rising * (self._gate() - start)
        self.pairs[-1].put(at, rising * 0.7 * self.stages[0].width, more and rising > 0)
        barred = more and flown == 1 and before >= 0 and t < steps["empty"][before]
        paint(self.producer, theme_now().wait_text if barred else self.lighter)

    def _show_group(self, group: int) -> None:
        """What a group of consumers has summed up, what it has written, and what its warps do."""
        timeline, t, theme = self.timeline, self.t, theme_now()
        # Whose turn it is not loses nothing: the tensor cores are at the other group's tile.
        ink = theme.wait_text if timeline.groups == 1 else theme.hand_over
        ground, summed = self.accumulators[group], self.sums[group]
        summed.points = EMPTY
        for tile, _, start, end in timeline.writes[timeline.writes["group"] == group].tolist():
            drawn = self.tiles[tile]
            steps = timeline.steps[tile * timeline.k_steps : (tile + 1) * timeline.k_steps]
            drawn.points = EMPTY
            if t >= start:
                away = smooth(share(t, start, end))
                drawn.points = (1 - away) * quad(ground, 0, 1) + away * quad(self.c[tile], 0, 1)
                if group < timeline.groups - 1:
                    # It passes below the next group's warps.
                    drawn.points += np.sqrt(away * (1 - away)) * 2 * ground.height * DOWN
                drawn.set_stroke(opacity=float(t < end))
                ink = theme.write if t < end else ink
            elif t >= steps["multiply"][0]:
                done = np.clip((t - steps["multiply"]) / (steps["empty"] - steps["multiply"]), 0, 1)
                summed.points = quad(ground, 0, max(float(done.mean()), 1e-3))
                ink = self.colours[group]
        for warp in self.consumers[group]:
            paint(warp, ink)

    def _show_turn(self) -> None:
        """The ring by the group whose turn it is."""
        left, right = self.accumulators[0], self.accumulators[-1]
        begin, end = (
            one.get_corner(UP + RIGHT) + 1.6 * self.turn.width * (UP + LEFT) / 2 for one in (left, right)
        )
        passed = holder(self.timeline, self.t)
        # On its way it dips to the next group's warps, out of their name.
        dip = 4 * passed * (1 - passed) * (begin[1] - self.consumers[-1].get_y())
        self.turn.move_to(begin + passed * (end - begin) + dip * DOWN)

    def _fly(self, dot: VMobject, start: np.ndarray, end: np.ndarray, part: float) -> None:
        """A dot that has come so far."""
        radius = DOT * self.stages[0].height
        dot.points = start + smooth(part) * (end - start) + radius * self._disc

    def _gate(self) -> np.ndarray:
        """Where a pair waits for its turn, before the producer."""
        return np.array([self.stages[0].get_x(), self.producer.get_y(), 0.0])

    def _build_ring(self, width: float, height: float) -> None:
        """The stages and their barriers, the producer below them, and the names of all."""
        stages, theme = self.timeline.stages, theme_now()
        across = min(0.78 * width, 1.9 * height) / stages
        self.stages = Buffers(
            stages, 0.84 * across, min(0.2 * height, 0.62 * across), 0.16 * across, self.hue
        )
        self.empty, self.full = VGroup(), VGroup()
        for slot in self.stages:
            wide = min(0.6 * slot.width, 0.15 * height)
            self.empty.add(Barrier(wide).next_to(slot, DOWN, 0.11 * height))
            self.full.add(Barrier(wide).next_to(slot, UP, 0.02 * height))
        ring = VGroup(self.stages, self.empty, self.full)
        ring.move_to([0.09 * width, -0.085 * height, 0])
        white, share = ((255, 255, 255), 0.55) if theme.dark else (theme.background, 0.15)
        self.lighter = mixed(self.hue, white, share)
        self.producer = Warp(DOTS, px(26), self.lighter)
        left = ring.get_left()[0] - px(30)
        room = left + 0.5 * width
        if self.producer.width > room:
            self.producer.scale(room / self.producer.width)
        floor = -0.5 * height + 0.7 * self.producer.height
        self.producer.move_to([left - 0.5 * self.producer.width, floor, 0])
        name = label(tr("producer"), NAMES, self.lighter if theme.dark else self.hue, bold=True)
        self.names = VGroup(name.next_to(self.producer, UP, px(16)))
        for text, row in ((tr("empty?"), self.empty), (tr("stages"), self.stages), (tr("full?"), self.full)):
            self.names.add(label(text, NAMES, theme.quiet).move_to([0, row.get_y(), 0]))
        for name in self.names:
            name.scale(min(1, room / name.width)).align_to([left, 0, 0], RIGHT)

    def _build_top(self, width: float, height: float, warps: int, aspect: float) -> None:
        """The groups of consumers with their names, their accumulators, and C."""
        theme, groups = theme_now(), self.timeline.groups
        narrow = width < 1.5 * height
        tall = (0.2 if narrow else 0.15) * height
        self.consumers, self.accumulators, blocks = VGroup(), VGroup(), VGroup()
        for colour in self.colours:
            capsules = VGroup(*(Warp(DOTS, px(20), colour) for _ in range(warps)))
            capsules.arrange_in_grid(
                rows=4 if narrow and warps > 2 else min(2, warps), buff=px(18)
            ).scale_to_fit_height(tall)
            tile = rectangle(tall * aspect, tall).set_stroke(ManimColor(colour), stroke_width(4))
            self.consumers.add(capsules)
            self.accumulators.add(tile)
            blocks.add(VGroup(capsules, tile).arrange(RIGHT, buff=0.04 * height))
        tiles = len(self.timeline.writes)
        cell = tall / -(-tiles // groups)
        look = {"stroke_color": ManimColor(theme.quiet), "stroke_width": stroke_width(2)}
        cells = (Rectangle(width=cell * aspect, height=cell, **look) for _ in range(tiles))
        self.c = VGroup(*cells).arrange_in_grid(cols=groups, buff=0.0)
        top = VGroup(*blocks, self.c).arrange(RIGHT, buff=0.09 * height)
        top.scale(min(1, width / top.width))
        middle = min(self.stages.get_x(), 0.5 * (width - top.width))
        top.move_to([middle, 0.5 * height - px(70) - 0.5 * top.height, 0])
        names = (tr("consumers"),) if groups == 1 else (tr("ping"), tr("pong"))
        for name, group, colour in zip(names, self.consumers, self.colours, strict=True):
            ink = colour if theme.dark else mixed(colour, theme.text, 0.35)
            self.names.add(label(name, NAMES, ink, bold=True).next_to(group, UP, px(16)))
        self.names.add(label("C", NAMES, theme.quiet, bold=True).next_to(self.c, UP, px(16)))
