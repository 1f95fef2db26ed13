"""TileTraffic: tiles on their way between C and the SMs' lanes."""

import numpy as np
from manim import ManimColor, VGroup, VMobject, smoothstep

from tilesim import Trace
from tilesim.metrics import first_of_cta
from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import ink_on, sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import (
    UNIT,
    axes_of,
    extent,
    figure,
    nothing,
    quad,
    shape,
    stroke_width,
)
from tilesim_scenes.mobjects.drawing.redrawn import Redrawn
from tilesim_scenes.mobjects.traces.lanes import Lanes
from tilesim_scenes.mobjects.traces.tile_grid import TileGrid
from tilesim_scenes.mobjects.traces.tile_vectors import LEAST_NUMBER, number_size

SMALL, ARC = 0.5, 0.12
"""Height of a tile that sets out, for that of its lane; height of its arc, for its width."""


class TileTraffic(Redrawn):
    """The tiles of a run over `grid`, the hollow tiles of its problem, and `lanes`.

    A tile is outlined in its SM's hue while it is computed. It flies home from its lane while it is written,
    edged in the colour of writing, and fills its place from then on. Where a thread block stays, the outline
    of its next tile flies from C to the lane while it is handed over.

        grid = TileGrid(trace.problem)
        self.play(PlayTrace(lanes, TileTraffic(trace, lanes, grid), until=12_000))
    """

    over = ("lanes", "grid")

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
            place = VMobject(stroke_color=ManimColor(colour), stroke_width=stroke_width(5))
            fill, number = shape(colour), shape(ink_on(colour))
            flying = shape(colour).set_stroke(ManimColor(theme.write), stroke_width(5))
            coming = VMobject(stroke_color=ManimColor(colour), stroke_width=stroke_width(5))
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
            flying.points = self._between(span, home, written, drain) if 0 < written < 1 else nothing(home)
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
            begin + part * (end - begin) + 4 * part * (1 - part) * np.array([0, ARC * abs(end - begin)[0], 0])
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
