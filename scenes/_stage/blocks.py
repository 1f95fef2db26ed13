"""Thread blocks as things: a queue that drains, residents that loop, or, for a real GPU, two counters."""

import numpy as np

from tilesim import Trace
from tilesim.view import blocks_launched, current_tile, tiles_done
from tilesim_scenes._stage import glyphs
from tilesim_scenes._stage.layout import Box, Frame
from tilesim_scenes._stage.raster import Painter
from tilesim_scenes._stage.theme import Theme, ink_on, mix

LABEL_PX = 28


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
    side, pitch = 22.0, 29.0
    per_row = max(1, int(box.w // pitch))

    def paint(frame: np.ndarray, t: float) -> None:
        frame[shape.pixels(box).rows, shape.pixels(box).columns, :3] = theme.panel
        left = blocks - blocks_launched(trace, t)
        text = f"thread blocks waiting: {left}"
        _caption(frame, text, box, scale, theme)
        for index in range(left):
            row, column = divmod(index, per_row)
            square = Box(box.x + column * pitch, box.y + 38 + row * 25, side, 18)
            if square.bottom <= box.bottom:
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
    pitch = box.w / min(4, len(ctas))

    def paint(frame: np.ndarray, t: float) -> None:
        frame[shape.pixels(box).rows, shape.pixels(box).columns, :3] = theme.panel
        _caption(frame, f"{len(ctas)} thread blocks, each loops", box, scale, theme)
        at = current_tile(trace, t)
        for index, cta in enumerate(ctas.tolist()):
            x, y = box.x + index % 4 * pitch, box.y + 40 + index // 4 * 24
            side = 34.0 if len(ctas) <= 4 else 20.0
            pixels = shape.pixels(Box(x, y, side, side))
            frame[pixels.rows, pixels.columns, :3] = own[index]
            px, baseline = 0.74 * side, y + 0.77 * side
            args = (baseline * scale, px * scale)
            glyphs.stamp(frame, str(cta), (x + side / 2) * scale, *args, ink_on(own[index]), 0.5)
            doing = "✓" if finish[cta] <= t else f"↻{at[cta]}"
            glyphs.stamp(frame, doing, (x + side + 6) * scale, *args, theme.text, 0, glyphs.SANS)

    return paint


def _caption(frame: np.ndarray, text: str, box: Box, scale: float, theme: Theme) -> None:
    px = min(LABEL_PX, LABEL_PX * box.w / glyphs.width(text, LABEL_PX)) * scale
    glyphs.stamp(frame, text, box.x * scale, (box.y + 26) * scale, px, theme.quiet, 0, glyphs.SANS, False)
