"""Layout: where everything stands, in a frame of any shape.

Lengths are in design pixels: the shorter side of a frame is 1080 of them, whatever its size.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilesim_scenes._stage.raster import Pixels

from tilesim import Trace

SHORT_SIDE = 1080
MARGIN = 0.05
CLASSROOM_SLOTS, CLASSROOM_TILES = 8, 48
"""Up to this many slots and tiles, everything is labelled; beyond, lanes and tiles are a raster."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in design pixels, measured from the top left."""

    x: float
    y: float
    w: float
    h: float

    @property
    def right(self) -> float:
        return self.x + self.w

    @property
    def bottom(self) -> float:
        return self.y + self.h


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame of `width` x `height` pixels, and how design pixels fall on it."""

    width: int
    height: int

    @property
    def scale(self) -> float:
        """Pixels per design pixel."""
        return min(self.width, self.height) / SHORT_SIDE

    @property
    def wide(self) -> float:
        """Width in design pixels."""
        return self.width / self.scale

    @property
    def tall(self) -> float:
        """Height in design pixels."""
        return self.height / self.scale

    def pixels(self, box: Box) -> Pixels:
        """The whole pixels that `box` covers, at least one in each direction."""
        left, top = round(box.x * self.scale), round(box.y * self.scale)
        right, bottom = round(box.right * self.scale), round(box.bottom * self.scale)
        return Pixels(left, top, max(1, right - left), max(1, bottom - top))


@dataclass(frozen=True, slots=True)
class Panel:
    """One trace's place: its frame, the tile grid, the lanes and, under the grid, a box for its blocks."""

    box: Box
    header: float
    grid: Box
    lanes: Box
    blocks: Box
    wide_header: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a film's parts stand; `foot` is free for captions, lenses, the legend and the end card."""

    frame: Frame
    title: Box
    panels: tuple[Panel, ...]
    foot: Box
    classroom: bool
    lens: bool


def is_classroom(trace: Trace) -> bool:
    """Whether a trace is small enough to label every tile and lane."""
    return trace.device.slots <= CLASSROOM_SLOTS and trace.problem.tiles <= CLASSROOM_TILES


def arrange(frame: Frame, traces: tuple[Trace, ...]) -> Layout:
    """Lay out one or two traces: side by side or stacked, whichever leaves them more room."""
    classroom = all(is_classroom(trace) for trace in traces)
    margin_x, margin_y = MARGIN * frame.wide, MARGIN * frame.tall
    landscape = frame.wide > 1.2 * frame.tall
    inner = frame.wide - 2 * margin_x
    title = Box(margin_x, margin_y, inner, 108 if landscape else 128)
    beside = landscape and not classroom and len(traces) == 2
    foot_height = (282 if not classroom else 126 if len(traces) == 2 else 272) if landscape else 300
    foot = Box(margin_x, frame.tall - margin_y - foot_height, inner, foot_height)
    gap = 20.0
    body = Box(margin_x, title.bottom + 8, inner, foot.y - title.bottom - 8 - gap)
    count = len(traces)
    if beside:
        boxes = [Box(body.x + i * (body.w + 44) / 2, body.y, (body.w - 44) / 2, body.h) for i in range(count)]
    else:
        height = (body.h - (count - 1) * gap) / count
        boxes = [Box(body.x, body.y + i * (height + gap), body.w, height) for i in range(count)]
    panels = tuple(_panel(box, trace, classroom) for box, trace in zip(boxes, traces, strict=True))
    return Layout(frame, title, panels, foot, classroom, lens=not classroom or count == 1)


def _panel(box: Box, trace: Trace, classroom: bool) -> Panel:
    """Grid and lanes beside each other, or one above the other where the panel is tall."""
    pad = 28.0
    wide_header = box.w > 1200 or box.h < 400
    header = 70.0 if wide_header else 112.0
    axis, below = 44.0, 80.0
    inner = Box(box.x + pad, box.y + header, box.w - 2 * pad, box.h - header - 14)
    label = 104.0 if classroom else 0.0
    if inner.h > 1.1 * inner.w:
        half = inner.h * 0.45
        grid_room = Box(inner.x, inner.y, inner.w, half - below)
        grid = _fit(grid_room, trace)
        blocks = Box(inner.x, grid.bottom + 10, inner.w, below)
        top = blocks.bottom + 14
        lanes = Box(inner.x + label, top, inner.w - label, inner.bottom - axis - top)
    else:
        grid_room = Box(inner.x, inner.y, (0.27 if classroom else 0.42) * inner.w, inner.h - below)
        grid = _fit(grid_room, trace)
        blocks = Box(inner.x, grid.bottom + 10, max(grid.w, 400 if classroom else 300), below)
        left = blocks.right + 40 + label
        lanes = Box(left, inner.y, inner.right - left, inner.h - axis)
    return Panel(box, header, grid, lanes, blocks, wide_header)


def _fit(room: Box, trace: Trace) -> Box:
    """The largest grid in `room` whose tiles are neither slivers nor wider than twice their height."""
    rows, columns = trace.problem.tiles_m, trace.problem.tiles_n
    cell_w, cell_h = room.w / columns, room.h / rows
    aspect = max(1.25, min(2.0, trace.problem.tile_n / trace.problem.tile_m))
    cell_w, cell_h = min(cell_w, aspect * cell_h), min(cell_h, 1.25 * cell_w)
    return Box(room.x, room.y, cell_w * columns, cell_h * rows)
