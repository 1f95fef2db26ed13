"""The output matrix as a raster: each tile in the colour of its SM, filled as far as it is multiplied."""

import numpy as np

from tilesim import Trace
from tilesim.metrics import first_of_cta
from tilesim.view import Phase, phases, progress, tile_sm
from tilesim_scenes._stage import glyphs
from tilesim_scenes._stage.raster import Painter, Pixels
from tilesim_scenes._stage.theme import Theme, ink_on, mix


def tile_painter(trace: Trace, box: Pixels, theme: Theme, colours: np.ndarray, number_px: float) -> Painter:
    """Paint every tile of `trace` into `box`; numbered where `number_px` is not 0.

    Waiting tiles are idle grey, running ones fill from below inside a frame of their colour (orange while
    their block launches), and are framed in the colour of writing until they are written.
    """
    rows, columns = trace.problem.tiles_m, trace.problem.tiles_n
    row, up, top_edge = _along(box.height, rows)
    column, _, left_edge = _along(box.width, columns)
    tile = row[:, None] * columns + column[None, :]
    cell = min(box.height / rows, box.width / columns)
    gap = round(cell / 16) if cell >= 6 else 0
    border = max(1, round(cell / 14)) if cell >= 4 else 0
    inset = np.minimum(top_edge[:, None], left_edge[None, :])
    in_gap, in_border = inset < gap, inset < gap + border
    fill_height = np.broadcast_to(up[:, None], tile.shape)

    own = colours[tile_sm(trace)]
    dim = mix(np.array(theme.panel), own, 0.5)
    spans = trace.spans
    fresh = np.zeros(trace.problem.tiles, bool)
    fresh[spans["tile"][first_of_cta(trace)]] = True
    numbers = _number_places(box, rows, columns) if number_px else []

    def paint(frame: np.ndarray, t: float) -> None:
        phase, share = phases(trace, t), progress(trace, t)
        idle = np.array(theme.idle, np.uint8)
        body = np.where((phase >= Phase.WRITING)[:, None], own, dim)
        edge = own.copy()
        edge[(phase == Phase.LAUNCHING) & fresh] = theme.launch
        edge[(phase == Phase.LAUNCHING) & ~fresh] = idle
        edge[phase == Phase.WAITING] = idle
        edge[phase == Phase.WRITING] = theme.write
        reached = share[tile]
        picture = np.where((fill_height < reached)[..., None], body[tile], idle)
        picture = np.where(in_border[..., None], edge[tile], picture)
        picture[in_gap] = theme.panel
        frame[box.rows, box.columns, :3] = picture
        for index, (x, baseline) in enumerate(numbers):
            ink = theme.quiet if phase[index] < Phase.MULTIPLYING else theme.text
            if phase[index] >= Phase.WRITING and share[index] > 0.45:
                ink = ink_on(own[index])
            glyphs.stamp(frame, str(index), x, baseline + 0.36 * number_px, number_px, ink, anchor=0.5)

    return paint


def _along(length: int, cells: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each pixel of an axis: its cell, its share of it from the far end, pixels to the nearest edge."""
    edges = np.rint(np.linspace(0, length, cells + 1)).astype(int)
    pixel = np.arange(length)
    cell = np.clip(np.searchsorted(edges, pixel, side="right") - 1, 0, cells - 1)
    low, high = edges[cell], edges[cell + 1]
    return cell, (high - pixel - 0.5) / np.maximum(1, high - low), np.minimum(pixel - low, high - 1 - pixel)


def _number_places(box: Pixels, rows: int, columns: int) -> list[tuple[float, float]]:
    """The centre of each tile, row by row."""
    xs = box.left + box.width * (np.arange(columns) + 0.5) / columns
    ys = box.top + box.height * (np.arange(rows) + 0.5) / rows
    return [(float(x), float(y)) for y in ys for x in xs]
