"""Lanes of many SMs as one image, a line or less for each."""

from typing import Any

import numpy as np
from manim import Group, VMobject
from PIL import Image

from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import mix, rgb, sm_colours, theme_now
from tilesim_scenes.mobjects.drawing.raster import Raster, packed, unpacked
from tilesim_scenes.mobjects.traces.lanes import KINDS, Lanes, Parts, not_shown, parts

FIRST_LOAD, WRITE_UNDER = 0.45, 0.6
"""Shares of an SM's hue in a first load, where a hatch would alias, and of writing in a write under it."""
UNDER = 1 / 3
"""Share of a lane's height, from below, of a write that runs under the next main loop."""
THIN = 8
"""Pixels of a lane, below which a write under a main loop is mixed with it instead of lying at its foot."""
OVERSAMPLING = 4
"""Parts of a pixel to which parts are drawn, so that a launch narrower than a pixel is seen as such."""
MOST = 2**22
"""Parts of pixels of all lanes, beyond which they are drawn to whole pixels."""
AT_ONCE = 2**19
"""Parts of pixels that are drawn at a time: each takes some 30 bytes meanwhile."""


class LaneImage(Lanes, Raster):
    """The lanes of some SMs, from the first on top, as one image."""

    def _build(
        self, width: float, lane_height: float | None, height: float | None, gap: float | None, labels: bool
    ) -> None:
        self._parts = parts(self.trace)
        self._large: tuple[Any, np.ndarray] | None = None
        self._run: tuple[Any, np.ndarray] | None = None
        self._theme, self._colours = theme_now(), sm_colours(self.trace.device.sms)
        Raster.__init__(self, width, height or len(self.slots) * (lane_height or px(4)))

    def paint(self, rows: int, columns: int) -> np.ndarray:
        picture = np.empty((rows, columns), np.uint32)
        edge = int(np.clip(self._share(self.t), 0.0, 1.0) * columns)
        picture[:, edge:] = packed(self._theme.idle)
        if edge > 0:
            picture[:, :edge] = self._whole(rows, columns)[:, :edge]
        if self._cursor and 0 < edge < columns:
            picture[:, edge : edge + max(1, round(rows / 250))] = packed(self._theme.cursor)
        return unpacked(picture)

    @property
    def grounds(self) -> Group:
        """All lanes without names, as vectors have them: this one image."""
        return Group(self)

    @property
    def names(self) -> Group:
        """The names of SMs: none."""
        return Group()

    def x(self, t: float) -> float:
        return float(self.at(self._share(t), 0.0)[0])

    def lane(self, sm: int) -> VMobject:
        places = self.trace.device.ctas_per_sm
        row = self._row(sm) * places
        return self._within(*self.window, row, row + places)

    def span(self, tile: int, part: str = "multiply") -> VMobject:
        every, tiles = self._parts, self.trace.spans["tile"]
        kinds = [KINDS.index(kind) for kind in (part, f"{part} under") if kind in KINDS]
        found = np.flatnonzero(
            (tiles[every.row] == tile) & np.isin(every.kind, kinds) & np.isin(every.slot, self.slots)
        )
        if not len(found):
            raise not_shown(tile, part)
        first = found[0]
        row = self.slots.index(every.slot[first])
        return self._within(every.begin[first], every.end[first], row, row + 1)

    def _within(self, begin: float, end: float, top: int, bottom: int) -> VMobject:
        left, right = self._share(begin), self._share(end)
        return self.outline((left, right), (top / len(self.slots), bottom / len(self.slots)))

    def _whole(self, rows: int, columns: int) -> np.ndarray:
        """The lanes once their window has passed, as `packed` pixels: shape [rows, columns].

        They are drawn as large as they were made. Where they are smaller, that picture is shrunk, which takes
        a fifth of the time while their size changes.
        """
        key = self.window, rows, columns
        if self._run is None or self._run[0] != key:
            size = tuple(map(max, (rows, columns), self.pixels_of(*self.extent)))
            if self._large is None or self._large[0] != (self.window, size):
                shown = self._parts.shown(self.slots, self.window)
                self._large = (self.window, size), self._drawn(shown, *size)
            self._run = key, packed(_shrunk(self._large[1], rows, columns))
        return self._run[1]

    def _drawn(self, shown: Parts, rows: int, columns: int) -> np.ndarray:
        """Lanes as lines of pixels, laid over their rows by how much of each row they cover."""
        count, low, scale = len(self.slots), self.window[0], columns / (self.window[1] - self.window[0])
        fine = OVERSAMPLING if count * columns * OVERSAMPLING <= MOST else 1
        ends = [np.rint((edge - low) * scale * fine).astype(np.int64) for edge in (shown.begin, shown.end)]
        left, right = (np.clip(edge, 0, columns * fine) for edge in ends)
        order = np.argsort(self.slots, kind="stable")
        lane = order[np.searchsorted(self.slots, shown.slot, sorter=order)]
        fills = self._colours_of(shown)
        under = shown.kind == KINDS.index("write under")
        picture = np.zeros((rows, columns * 3), np.float32)
        covered = np.zeros(rows, np.float32)
        at_once = max(1, AT_ONCE // (columns * fine))
        thin = rows / count < THIN
        edges = np.arange(rows + 1, dtype=np.float64)
        for first in range(0, count, at_once):
            some = np.arange(first, min(first + at_once, count))
            here = (lane >= first) & (lane <= some[-1])
            upper = np.full((len(some), columns * fine), packed(self._theme.idle))
            _lay(upper, *(values[here & ~under] for values in (lane - first, left, right, fills)))
            lower = upper.copy()
            _lay(lower, *(values[here & under] for values in (lane - first, left, right, fills)))
            if thin:
                written = lower != upper
                over, under_it = (unpacked(lines[written])[:, :3] for lines in (upper, lower))
                upper[written] = packed(mix(over, under_it, WRITE_UNDER))
            top, bottom = some * rows / count, (some + 1) * rows / count
            split = bottom - UNDER * (bottom - top)
            bands = [(upper, top, bottom)] if thin else [(upper, top, split), (lower, split, bottom)]
            for pixels, begin, end in bands:
                share = np.minimum(edges[1:, None], end) - np.maximum(edges[:-1, None], begin)
                share = np.clip(share, 0.0, 1.0).astype(np.float32)
                picture += share @ _means(unpacked(pixels)[..., :3], fine).reshape(len(some), -1)
                covered += share.sum(axis=1)
        return np.rint(picture / covered[:, None]).astype(np.uint8).reshape(rows, columns, 3)

    def _colours_of(self, shown: Parts) -> np.ndarray:
        """The colour of each part: uint8, shape [parts, 3]."""
        if self._fills:
            return np.array([rgb(self._fills[kind]) for kind in KINDS], np.uint8)[shown.kind]
        theme, own = self._theme, self._colours[self.trace.spans["sm"][shown.row]]
        fills = np.array([theme.fill(kind) or (0, 0, 0) for kind in KINDS], np.uint8)[shown.kind]
        multiply, load = (shown.kind == KINDS.index(kind) for kind in ("multiply", "first load"))
        fills[multiply] = own[multiply]
        fills[load] = mix(np.array(theme.idle), own[load], FIRST_LOAD)
        return fills


def _lay(lines: np.ndarray, lane: np.ndarray, left: np.ndarray, right: np.ndarray, fills: np.ndarray) -> None:
    """Colour the `packed` pixels of lines (shape [lanes, pixels]) from `left` to `right` of each part."""
    lengths = right - left
    starts = lane * lines.shape[1] + left - (np.cumsum(lengths) - lengths)
    at = np.repeat(starts, lengths) + np.arange(lengths.sum())
    lines.reshape(-1)[at] = np.repeat(packed(fills), lengths)


def _shrunk(pixels: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """The same picture in fewer pixels: uint8, shape [rows, columns, 3]."""
    if pixels.shape[:2] == (rows, columns):
        return pixels
    return np.asarray(Image.fromarray(pixels).resize((columns, rows), Image.Resampling.HAMMING))


def _means(pixels: np.ndarray, fine: int) -> np.ndarray:
    """The means of each `fine` pixels in a row: float32, shape [lanes, pixels / fine, 3]."""
    total = pixels[:, ::fine].astype(np.uint16)
    for part in range(1, fine):
        total += pixels[:, part::fine]
    return total * np.float32(1 / fine)
