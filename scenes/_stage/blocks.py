"""Thread blocks as things: a queue that drains, residents that loop, or, for a real GPU, two counters."""

import numpy as np

from tilesim import Trace
from tilesim.counts import plural
from tilesim.view import blocks_launched, current_tile, tiles_done
from tilesim_scenes._stage import glyphs
from tilesim_scenes._stage.layout import Box, Frame
from tilesim_scenes._stage.raster import Painter
from tilesim_scenes._stage.theme import Theme, ink_on, mix

LABEL_PX, LEAST_PX = 28, 24


def is_persistent(trace: Trace) -> bool:
    """Whether every thread block with work found a slot at once, so that none ever waited."""
    return len(np.unique(trace.spans["cta"])) <= trace.device.slots


def block_painter(
    trace: Trace, box: Box, frame_shape: Frame, theme: Theme, colours: np.ndarray, classroom: bool
) -> Painter:
    """The painter that fits a trace: counters for a real GPU, a queue or residents in the classroom."""
    if not classroom:
        return _counters(trace, box, frame_shape, theme)
    if is_persistent(trace):
        return _residents(trace, box, frame_shape, theme, colours)
    return _queue(trace, box, frame_shape, theme)


def _counters(trace: Trace, box: Box, shape: Frame, theme: Theme) -> Painter:
    scale, px = shape.scale, LABEL_PX * shape.scale

    def paint(frame: np.ndarray, t: float) -> None:
        frame[shape.pixels(box).rows, shape.pixels(box).columns, :3] = theme.panel
        rows = (
            ("tiles done", f"{tiles_done(trace, t)}/{trace.problem.tiles}"),
            ("blocks launched", f"{blocks_launched(trace, t)}"),
        )
        for line, (label, value) in enumerate(rows):
            baseline = (box.y + 34 + 42 * line) * scale
            glyphs.stamp(frame, label, box.x * scale, baseline, px, theme.quiet, 0, glyphs.SANS, False)
            glyphs.stamp(frame, value, box.right * scale, baseline, px, theme.text, 1.0)

    return paint


def _queue(trace: Trace, box: Box, shape: Frame, theme: Theme) -> Painter:
    """A square for each thread block that still waits for a slot, the next one leftmost."""
    scale, blocks = shape.scale, len(np.unique(trace.spans["cta"]))
    waiting = mix(np.array(theme.panel), np.array(theme.launch), 0.75)
    most = blocks - trace.device.slots
    rows = next(rows for rows in range(1, most + 1) if -(-most // rows) * 27 / rows <= box.w)
    pitch = min(29.0, box.w / -(-most // rows))
    down = (box.h - 38) / rows if rows > 1 else 25.0

    def paint(frame: np.ndarray, t: float) -> None:
        frame[shape.pixels(box).rows, shape.pixels(box).columns, :3] = theme.panel
        left = blocks - blocks_launched(trace, t)
        _caption(frame, f"thread blocks waiting: {left}", box, scale, theme)
        for index in range(min(left, most)):
            row, column = divmod(index, -(-most // rows))
            square = Box(box.x + column * pitch, box.y + 38 + row * down, 0.75 * pitch, 0.72 * down)
            pixels = shape.pixels(square)
            frame[pixels.rows, pixels.columns, :3] = waiting

    return paint


def _residents(trace: Trace, box: Box, shape: Frame, theme: Theme, colours: np.ndarray) -> Painter:
    """A chip for each thread block: its number in its SM's colour, and the tile that its loop is at."""
    scale = shape.scale
    ctas, rows = np.unique(trace.spans["cta"], return_index=True)
    own = colours[trace.spans["sm"][rows]]
    finish = np.zeros(int(ctas.max()) + 1, np.int64)
    np.maximum.at(finish, trace.spans["cta"], trace.spans["done"])
    text = plural(len(ctas), "thread block")
    loops = ", each loops" if len(ctas) > 1 else " that loops"
    if len(trace.spans) > len(ctas) and glyphs.width(text + loops, LEAST_PX) <= box.w:
        text += loops
    side, px = 34.0, 25.0
    widest = glyphs.width(f"↻{trace.problem.tiles - 1}", px, glyphs.SANS, True)
    fit = int(box.w // (side + widest + 14))
    columns = max(1, -(-len(ctas) // 2) if fit < len(ctas) else fit)
    pitch = box.w / min(columns, len(ctas))
    small = min(px, px * (pitch - side - 10) / widest)
    top = box.y + (40 if columns >= len(ctas) else 2)

    def paint(frame: np.ndarray, t: float) -> None:
        frame[shape.pixels(box).rows, shape.pixels(box).columns, :3] = theme.panel
        if columns >= len(ctas):
            _caption(frame, text, box, scale, theme)
        at = current_tile(trace, t)
        for index, cta in enumerate(ctas.tolist()):
            x, y = box.x + index % columns * pitch, top + index // columns * 40
            pixels = shape.pixels(Box(x, y, side, side))
            frame[pixels.rows, pixels.columns, :3] = own[index]
            baseline = (y + 0.77 * side) * scale
            middle = (x + side / 2) * scale
            glyphs.stamp(frame, str(cta), middle, baseline, px * scale, ink_on(own[index]), 0.5)
            doing = "✓" if finish[cta] <= t else f"↻{at[cta]}" if at[cta] >= 0 else ""
            beside = (x + side + 6) * scale
            glyphs.stamp(frame, doing, beside, baseline, small * scale, theme.text, 0, glyphs.SANS)

    return paint


def _caption(frame: np.ndarray, text: str, box: Box, scale: float, theme: Theme) -> None:
    px = min(LABEL_PX, LABEL_PX * box.w / glyphs.width(text, LABEL_PX)) * scale
    glyphs.stamp(frame, text, box.x * scale, (box.y + 26) * scale, px, theme.quiet, 0, glyphs.SANS, False)
