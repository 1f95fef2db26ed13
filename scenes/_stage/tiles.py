"""The output matrix as a raster: each tile in the colour of its SM, filled as far as it is multiplied."""

import numpy as np

from tilesim import Trace
from tilesim.metrics import first_of_cta
from tilesim.view import Phase, phases, progress, segment_phases
from tilesim_scenes._stage import glyphs
from tilesim_scenes._stage.raster import Painter, Pixels
from tilesim_scenes._stage.theme import Theme, ink_on, mix


def tile_painter(trace: Trace, box: Pixels, theme: Theme, colours: np.ndarray, number_px: float) -> Painter:
    """Paint every tile of `trace` into `box`; numbered where `number_px` is not 0.

    Waiting tiles are idle grey, running ones fill from below inside a frame of their colour (orange while
    their block launches), and are framed in the colour of writing until they are written. A tile in several
    segments has a layer for each, from the first K-steps below to the last above, in the colour of its SM;
    the layer of a segment that waits for the others is framed in the colour of waiting.
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

    spans = trace.spans
    low, high = (spans[name] / trace.problem.k_steps for name in ("k0", "k1"))
    layer = _layer_at(trace, tile, fill_height)
    own = colours[spans["sm"]]
    dim = mix(np.array(theme.panel), own, 0.5)
    fresh = np.zeros(len(spans), bool)
    fresh[first_of_cta(trace)] = True
    numbers = _number_places(box, rows, columns) if number_px else []
    numbered = _layer_at(trace, np.arange(trace.problem.tiles), np.array(0.5)) if number_px else []

    def paint(frame: np.ndarray, t: float) -> None:
        phase, reached = segment_phases(trace, t), low + progress(trace, t) * (high - low)
        idle = np.array(theme.idle, np.uint8)
        body = np.where((phase > Phase.MULTIPLYING)[:, None], own, dim)
        edge = own.copy()
        edge[(phase == Phase.LAUNCHING) & fresh] = theme.launch
        edge[(phase == Phase.LAUNCHING) & ~fresh] = idle
        edge[phase == Phase.WAITING] = idle
        edge[phase == Phase.AWAITING] = theme.wait
        edge[phase == Phase.ADDING] = theme.fix_up
        edge[phase == Phase.WRITING] = theme.write
        picture = np.where((fill_height < reached[layer])[..., None], body[layer], idle)
        picture = np.where(in_border[..., None], edge[layer], picture)
        picture[in_gap] = theme.panel
        frame[box.rows, box.columns, :3] = picture
        begun = phases(trace, t) >= Phase.MULTIPLYING if number_px else []
        for index, ((x, baseline), middle) in enumerate(zip(numbers, numbered, strict=True)):
            ink = theme.text if begun[index] else theme.quiet
            if phase[middle] > Phase.MULTIPLYING:
                ink = ink_on(own[middle])
            glyphs.stamp(frame, str(index), x, baseline + 0.36 * number_px, number_px, ink, anchor=0.5)

    return paint


def _layer_at(trace: Trace, tile: np.ndarray, up: np.ndarray) -> np.ndarray:
    """The row of the segment that computes what lies at the share `up` of a tile's K-steps: int64."""
    spans = trace.spans
    by_k = np.lexsort((spans["k0"], spans["tile"]))
    begins = spans["tile"][by_k] + spans["k0"][by_k] / trace.problem.k_steps
    return by_k[np.searchsorted(begins, tile + up, side="right") - 1]


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
