"""RunPanel: a run's name, its tiles, its lanes, and its time once it is done."""

from typing import Self

from manim import DOWN, LEFT, RIGHT, UP, Mobject

from tilesim import Trace
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import Figure, cut, lines, px
from tilesim_scenes.mobjects.drawing.raster import Panel
from tilesim_scenes.mobjects.traces.lanes import MOST_LANES, Lanes
from tilesim_scenes.mobjects.traces.tile_grid import TileGrid

ROW, NAMES, BETWEEN, GAP = 72.0, 150.0, 40.0, 12.0
"""Pixels: of a row of text, of the names of SMs, between name and lanes, and between two lanes."""
LEAST_GRID, LEAST_SMALL_GRID, LEAST_LANE, LEAST_ROW = 150.0, 60.0, 40.0, 32.5
"""Pixels in height below which the tiles are left out, those of many SMs and of few, and names of SMs; and of
a row at least."""


class RunPanel(Panel):
    """A run called `name`, `width` by `height` units, on lanes that show `longest` ns.

    `side`: units of a column on the left with the name and the tiles; 0 puts the name above the lanes and
    leaves the tiles out. `named`: whether SMs have their names, where each has a lane. Its time appears when
    the run is done.
    """

    def __init__(
        self,
        trace: Trace,
        name: str,
        width: float,
        height: float,
        longest: float | None = None,
        side: float = 0.0,
        named: bool = True,
    ) -> None:
        super().__init__()
        self.run = name
        window = (0.0, float(longest or trace.makespan))
        sms = sorted(trace.device.free_sms)
        few = len(sms) * trace.device.ctas_per_sm <= MOST_LANES
        left = side + px(BETWEEN) * bool(side) + px(NAMES) * few
        room = height if side else height - px(ROW)
        if few:
            high = (room + px(GAP)) / len(sms) - px(GAP)
            rows = {"lane_height": high, "gap": px(GAP), "labels": named and high >= px(LEAST_LANE)}
        else:
            rows = {"height": room}
        self.lanes = Lanes(trace, sms, window=window, width=width - left, **rows)
        self.lanes.shift([width / 2, -height / 2, 0] - self.lanes.grounds.get_corner(DOWN + RIGHT))
        top, edge = height / 2, -width / 2
        # A name breaks between words only.
        shown = cut(name, side or width, bold=True)
        self.title = lines(shown, 54, side or width, 2 if side and " " in shown else 1, bold=True)
        # A low panel has the rows of its name, and its time, in lower ones.
        row = max(px(LEAST_ROW), min(px(ROW), 1.1 * height / (len(self.title) + 1))) if side else px(ROW)
        share = row / px(ROW)
        self.title.scale(share)
        # Letters with and without descenders stand on one line.
        for number, line in enumerate(self.title):
            line.move_to([edge, top - row * (number + 0.5), 0], LEFT)
        self.time = Figure(size=54 * share, align=0.0 if side else 1.0)
        said = len(self.title) * row if side else 0.0
        self.time.shift([edge if side else width / 2, top - said - row / 2 - share * px(20), 0])
        self.add(self.title, self.time, self.lanes)
        self.grid: Mobject | None = None
        said += 1.2 * row
        if side and height - said >= px(LEAST_SMALL_GRID if few else LEAST_GRID):
            self.grid = TileGrid(trace, width=side, height=height - said)
            self.grid.move_to([edge, top - said, 0], LEFT + UP)
            self.add(self.grid)
        self.show(0.0)

    @property
    def trace(self) -> Trace:
        """The run that its lanes show."""
        return self.lanes.trace

    @property
    def t(self) -> float:
        """The instant that its lanes show, ns."""
        return self.lanes.t

    def show(self, t: float) -> Self:
        """Look as at `t`, ns of the trace."""
        self.lanes.show(t)
        if self.grid is not None:
            self.grid.show(t)
        done = t >= self.trace.makespan
        self.time.write(tr("{us:.1f} µs", us=self.trace.makespan / 1000) if done else "")
        return self
