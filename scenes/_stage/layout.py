"""Layout: where everything stands, in a frame of any shape.

Lengths are in design pixels: the shorter side of a frame is 1080 of them, whatever its size.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilesim import Trace
from tilesim.metrics import splits_tiles

from .raster import Pixels

SIZES = {
    "1080p": (1920, 1080),
    "720p": (1280, 720),
    "480p": (854, 480),
    "square": (1080, 1080),
    "vertical": (1080, 1920),
}
"""Width and height of frames, in pixels."""
SHORT_SIDE = 1080
MARGIN = 0.05
MERGE_BARS = 36.0
"""Room for two more bars on the end card: of waiting for partials and adding them."""
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

    @property
    def landscape(self) -> bool:
        """Whether it is so wide that panels and cards set things side by side."""
        return self.wide > 1.2 * self.tall

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
    """Where a film's parts stand; `foot` is free for captions, lenses, the legend and the end card.

    `strip`, if any, is between the panels and the foot.
    """

    frame: Frame
    title: Box
    panels: tuple[Panel, ...]
    foot: Box
    classroom: bool
    lens: bool
    strip: Box | None = None


def rows_in(box: Box) -> int:
    """How many rows a long line of text, or the legend, may take in a box: 2 where it is narrow."""
    return 1 if box.w > 1300 else 2


def is_classroom(trace: Trace) -> bool:
    """Whether a trace is small enough to label every tile and lane."""
    return trace.device.slots <= CLASSROOM_SLOTS and trace.problem.tiles <= CLASSROOM_TILES


def arrange(frame: Frame, traces: tuple[Trace, ...], strip: bool = False) -> Layout:
    """Lay out one or two traces: side by side in a wide frame if lanes need no labels, else stacked.

    With a strip there is room for neither labels nor lenses.
    """
    classroom = not strip and all(is_classroom(trace) for trace in traces)
    count, landscape = len(traces), frame.landscape
    beside = landscape and not classroom and count == 2
    lens = not strip and (beside or count == 1)
    margin_x, margin_y = MARGIN * frame.wide, MARGIN * frame.tall
    inner = frame.wide - 2 * margin_x
    title = Box(margin_x, margin_y, inner, 108 if landscape else 128)
    foot_height = _foot_height(frame, lens, classroom or strip)
    if count == 1 and splits_tiles(traces[0]):
        foot_height += MERGE_BARS
    foot = Box(margin_x, frame.tall - margin_y - foot_height, inner, foot_height)
    gap = 20.0
    below = _strip(frame, foot) if strip else None
    body = Box(margin_x, title.bottom + 8, inner, (below or foot).y - title.bottom - 8 - gap)
    if beside:
        boxes = [Box(body.x + i * (body.w + 44) / 2, body.y, (body.w - 44) / 2, body.h) for i in range(count)]
    else:
        height = (body.h - (count - 1) * gap) / count
        boxes = [Box(body.x, body.y + i * (height + gap), body.w, height) for i in range(count)]
    panels = tuple(_panel(box, trace, classroom) for box, trace in zip(boxes, traces, strict=True))
    return Layout(frame, title, panels, foot, classroom, lens, below)


def _strip(frame: Frame, foot: Box) -> Box:
    """Right above the foot."""
    height = 184.0 if frame.landscape else 190.0 if frame.tall < 1.3 * frame.wide else 300.0
    return Box(foot.x, foot.y - height - 4, foot.w, height)


def _foot_height(frame: Frame, lens: bool, low: bool) -> float:
    """Room for a caption and the legend, above them for a lens, and on the end card for the bars."""
    if frame.landscape:
        return 126 if not lens else 276 if low else 326
    if frame.tall < 1.3 * frame.wide:
        return 366 if lens else 216
    return 470 if lens else 220 if low else 480


def _panel(box: Box, trace: Trace, classroom: bool) -> Panel:
    """Lanes under the grid where the panel is narrow, else beside it; in a low panel the blocks too."""
    pad, axis, below = 28.0, 44.0, 80.0
    wide_header = box.w > 1200 or box.h < 400
    header = 70.0 if wide_header else 112.0
    inner = Box(box.x + pad, box.y + header, box.w - 2 * pad, box.h - header - 14)
    label = 104.0 if classroom else 0.0
    if inner.h > 1.1 * inner.w or (classroom and inner.w < 1000 and inner.h > 400):
        grid = _fit(Box(inner.x, inner.y, inner.w, 0.5 * inner.h - below), trace)
        blocks = Box(inner.x, grid.bottom + 10, inner.w, below)
        top = blocks.bottom + 14
        lanes = Box(inner.x + label, top, inner.w - label, inner.bottom - axis - top)
    elif inner.h < 240 and not classroom:
        grid = _fit(Box(inner.x, inner.y, 0.3 * inner.w, inner.h), trace)
        blocks = Box(grid.right + 24, inner.y, 330, below)
        lanes = Box(blocks.right + 40, inner.y, inner.right - blocks.right - 40, inner.h - axis)
    else:
        share = 0.42 if not classroom else 0.36 if inner.w < 1000 or box.h > 450 else 0.27
        grid = _fit(Box(inner.x, inner.y, share * inner.w, inner.h - below), trace)
        blocks = Box(inner.x, grid.bottom + 10, max(grid.w, share * inner.w if classroom else 300), below)
        left = blocks.right + 40 + label
        lanes = Box(left, inner.y, inner.right - left, inner.h - axis)
    return Panel(box, header, grid, lanes, blocks, wide_header)


def _fit(room: Box, trace: Trace) -> Box:
    """The largest grid in `room` whose tiles are neither slivers nor much wider than the real ones."""
    rows, columns = trace.problem.tiles_m, trace.problem.tiles_n
    aspect = max(1.25, min(2.0, trace.problem.tile_n / trace.problem.tile_m))
    cell_w, cell_h = room.w / columns, room.h / rows
    cell_w, cell_h = min(cell_w, aspect * cell_h), min(cell_h, 1.25 * cell_w)
    return Box(room.x, room.y, cell_w * columns, cell_h * rows)
