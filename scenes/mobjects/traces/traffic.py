"""Traffic: thread blocks in their queue, on their SMs, or gone, and tiles between C and lanes."""

from collections.abc import Sequence

import numpy as np
from manim import VGroup, VMobject, smoothstep

from tilesim import Trace
from tilesim.metrics import first_of_cta, slot_index
from tilesim_scenes.animations.fade import opacities, set_opacities
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import ink_on, sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import (
    UNIT,
    axes_of,
    edged,
    extent,
    figure,
    nothing,
    quad,
    shape,
    strokes,
)
from tilesim_scenes.mobjects.drawing.redrawn import Redrawn
from tilesim_scenes.mobjects.hardware.thread_block import Queue
from tilesim_scenes.mobjects.traces.lanes import Lanes
from tilesim_scenes.mobjects.traces.tile_grid import LEAST_NUMBER, TileGrid, number_size

FLIGHT, LEAVING = 1500.0, 1000.0
"""ns of the trace that a block takes from the queue to its SM, and that it takes to leave."""
ARC = 0.2
"""Height of its arc, for its width."""
SMALL, TILE_ARC = 0.5, 0.12
"""Height of a tile that sets out, for that of its lane; height of its arc, for its width."""


class BlockTraffic(Redrawn):
    """The blocks of `queue` as a run has them; `homes` are the places in the queue, the next block's first.

    The first blocks stand left of their SMs' lanes from the beginning on. Each next one flies there when its
    slot is free, and the queue moves up. A block leaves upwards when it is done.
    """

    over = ("lanes",)
    flight = FLIGHT

    def __init__(self, trace: Trace, queue: Queue, lanes: Lanes, homes: Sequence[np.ndarray]) -> None:
        super().__init__(*queue)
        self.trace, self.lanes, self.homes = trace, lanes, homes
        self.stand_on(queue[0].token)
        self._blocks = list(queue)
        self._side = queue[0].token.width
        self._shapes = [
            [((one.points - block.get_center()) / self._side, opacities(one)) for one in block.get_family()]
            for block in queue
        ]
        spans, slots = trace.spans, slot_index(trace)
        mine = [np.flatnonzero(spans["cta"] == block.number) for block in queue]
        self._issue = np.array([spans["issue"][rows].min() for rows in mine], float)
        self._done = np.array([spans["done"][rows].max() for rows in mine], float)
        self._sm = [int(spans["sm"][rows[0]]) for rows in mine]
        self._slot = [int(slots[rows[0]]) for rows in mine]
        there = dealt(trace)
        self._issue[[block.number in there for block in queue]] = -np.inf

    def draw(self, was: float) -> None:
        """Draw each block where it is at `t`."""
        t = self.t
        share = np.array([smoothstep((t - issue) / self.flight) for issue in self._issue])
        ahead = np.arange(len(share)) - np.concatenate([[0.0], np.cumsum(share)[:-1]])
        for number, flown in enumerate(share.tolist()):
            gone = float(np.clip((t - self._done[number]) / LEAVING, 0, 1))
            self._stand(number, flown, float(ahead[number]), gone)

    def settle(self, seconds: float) -> Travel:
        """The blocks of the whole queue go to where the run has them when it begins."""
        size = min(1.0, 0.86 * self.lanes.grounds[0].height / self._side)
        waiting, found = iter(self.homes), zip(self._issue < 0, self._slot, strict=True)
        ends = [(self.place(slot), size) if there else (next(waiting), 1.0) for there, slot in found]
        ways, sizes = [[at] for at, _ in ends], [[share] for _, share in ends]
        return Travel(self._blocks, ways, sizes, leg=seconds, apart=0.0)

    def place(self, slot: int) -> np.ndarray:
        """Where the block that is resident in a slot stands."""
        origin, right, up = axes_of(self.ground(slot))
        return origin + up / 2 - right / np.linalg.norm(right) * px(66)

    def ground(self, slot: int) -> VMobject:
        """The lane of a slot."""
        return self.lanes.grounds[self.lanes.slots.index(slot)]

    def _stand(self, number: int, flown: float, ahead: float, gone: float) -> None:
        left = int(ahead)
        following = min(left + 1, len(self.homes) - 1)
        waiting = self.homes[left] + (ahead - left) * (self.homes[following] - self.homes[left])
        slot = self._slot[number]
        place = self.place(slot)
        at = waiting + flown * (place - waiting)
        at = at + 4 * flown * (1 - flown) * np.array([0, ARC * abs(place[0] - waiting[0]), 0])
        at = at + gone**2 * np.array([0, px(90), 0])
        height = float(np.linalg.norm(axes_of(self.ground(slot))[2]))
        side = self._side + flown * (min(self._side, 0.86 * height) - self._side)
        block = self._blocks[number]
        if flown >= 1:
            block.resident(sm_colour(self._sm[number], self.trace.device.sms))
        else:
            block.waits()
        for one, (outline, own) in zip(block.get_family(), self._shapes[number], strict=True):
            one.points = outline * side + at
            set_opacities(one, own, 1 - gone)


def dealt(trace: Trace) -> set[int]:
    """The thread blocks that find a free slot when the run begins.

    >>> from tilesim import Device, Problem, simulate
    >>> sorted(dealt(simulate("naive", Problem(384, 1536, 512), Device.named("h200", sms=4))))
    [0, 1, 2, 3]
    """
    first = np.unique(slot_index(trace), return_index=True)[1]
    return {int(cta) for cta in trace.spans["cta"][first]}


class TileTraffic(Redrawn):
    """The tiles of a run over `grid`, the hollow tiles of its problem, and `lanes`.

    A tile is outlined in its SM's hue while it is computed. It flies home from its lane while it is written,
    edged in the colour of writing, and fills its place from then on. Where a thread block stays, the outline
    of its next tile flies from C to the lane while it is handed over. Unless `flies`, none flies home.
    """

    over = ("lanes", "grid")
    flies = True

    def __init__(self, trace: Trace, lanes: Lanes, grid: TileGrid) -> None:
        super().__init__()
        self.trace, self.lanes, self.grid = trace, lanes, grid
        self.stand_on(grid.tile(0)[0])
        self._drawn = [VGroup() for _ in trace.spans]
        spans, theme = trace.spans, theme_now()
        self._comes = np.ones(len(spans), bool)
        self._comes[first_of_cta(trace)] = False
        for row in range(len(spans)):
            colour = sm_colour(int(spans["sm"][row]), trace.device.sms)
            place, coming = strokes(colour, 5), strokes(colour, 5)
            fill, number = shape(colour), shape(ink_on(colour))
            flying = edged(shape(colour), theme.write, 5)
            self._drawn[row].add(place, fill, number, coming, flying)
        self.add(*self._drawn)
        self.show(0.0)

    def draw(self, was: float) -> None:
        """Draw each tile where it is at `t`."""
        t = self.t
        for row, span in enumerate(self.trace.spans):
            place, fill, number, coming, flying = self._drawn[row]
            home = self.grid.tile(int(span["tile"]))[0]
            issue, start, drain, fixup, done = (
                float(span[name]) for name in ("issue", "start", "drain", "fixup", "done")
            )
            landed = t >= done
            place.points = quad(home, 0, 1) if issue <= t and not landed else nothing(home)
            fill.points = quad(home, 0, 1) if landed else nothing(home)
            number.points = self._number(int(span["tile"])) if landed else nothing(home)
            written = (t - fixup) / max(1.0, done - fixup)
            away = self.flies and 0 < written < 1
            flying.points = self._between(span, home, written, drain) if away else nothing(home)
            come = 1 - (t - issue) / max(1.0, start - issue)
            coming.points = (
                self._between(span, home, come, start) if self._comes[row] and 0 < come < 1 else nothing(home)
            )

    def _between(self, span: np.void, home: VMobject, share: float, instant: float) -> np.ndarray:
        """The points of a tile, `share` of its way from an instant in its lane to its place in C."""
        slot = int(span["sm"]) * self.trace.device.ctas_per_sm + int(span["slot"])
        origin, right, up = axes_of(self.lanes.grounds[self.lanes.slots.index(slot)])
        low, high = self.lanes.window
        where = (min(max(instant, low), high) - low) / (high - low)
        height = SMALL * float(np.linalg.norm(up))
        width = height * home.width / home.height
        part = smoothstep(share)
        begin, end = origin + where * right + up / 2, home.get_center()
        at = (
            begin
            + part * (end - begin)
            + 4 * part * (1 - part) * np.array([0, TILE_ARC * abs(end - begin)[0], 0])
        )
        size = [width + part * (home.width - width), height + part * (home.height - height)]
        points = np.zeros_like(home.points)
        points[:, :2] = (UNIT - 0.5) * size
        return points + at

    def _number(self, tile: int) -> np.ndarray:
        """Its number, where the grid has it."""
        ground = self.grid.tile(tile)[0]
        em = number_size(self.grid.problem, *extent(ground))
        return figure(ground, str(tile), em) if em >= px(LEAST_NUMBER) else nothing(ground)
