"""What the film coalescing says: one tile, loaded down its columns and along its rows, and what that took."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tilesim.ideas.coalescing import Moved, moved, tile_loads, total
from tilesim.ladder.reports import report, row
from tilesim.problems import DTYPE_BYTES
from tilesim_scenes.look.language import tr

BYTES_A_THREAD = {"uncoalesced": 0, "coalesced": 16}
"""What a thread loads at once: an element, or four of fp32 that lie side by side. The counters confirm it."""

LOAD_OF_A_COLUMN = 36
"""The upper half of column 18 of 64, away from the tile's edge; all columns move as much."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to load a tile: `addresses`, int64 [loads, threads], of `width` bytes a thread.

    `shown`: the load that the film looks into, int64 [threads]. `first`: what it moves; `tile`: all loads.
    `us`: the kernel's time. `dram_bytes`: what it moves through DRAM.
    """

    name: str
    addresses: np.ndarray
    width: int
    shown: np.ndarray
    first: Moved
    tile: Moved
    us: float
    dram_bytes: int

    @property
    def bytes_of_one_load(self) -> str:
        return tr("{moved:,} bytes moved, {used} used", moved=self.first.moved, used=self.first.used)


@dataclass(frozen=True, slots=True)
class Story:
    """A tile of A, `rows` x `columns` elements of `element` bytes, rows `pitch` bytes apart; two ways."""

    rows: int
    columns: int
    element: int
    pitch: int
    shape: str
    gpu: str
    counted: bool
    down: Way
    along: Way

    @property
    def question(self) -> str:
        threads = self.down.addresses.shape[1]
        return tr("One load, {threads} addresses: how much memory moves?", threads=threads)

    @property
    def each_its_line(self) -> str:
        return tr("Down a column, each thread needs its own line")

    @property
    def waste(self) -> str:
        share = Fraction(self.down.first.used, self.down.first.moved)
        wasted, of = share.denominator - share.numerator, share.denominator
        return tr("Memory sends whole sectors: {wasted} of {of} bytes are waste", wasted=wasted, of=of)

    @property
    def shared_lines(self) -> str:
        if self.along.first.used == self.along.first.moved:
            return tr("Along a row, neighbours share lines: no waste")
        return tr("Along a row, neighbours share lines")

    @property
    def times_the_sectors(self) -> str:
        times = self.down.tile.sectors / self.along.tile.sectors
        return tr("The same tile, {times:.2g} times the sectors", times=times)

    def lines(self, count: int) -> str:
        return tr("{count} line", count=count) if count == 1 else tr("{count} lines", count=count)

    def sectors(self, count: int) -> str:
        return tr("{count} sector", count=count) if count == 1 else tr("{count} sectors", count=count)

    @property
    def tile_size(self) -> str:
        return tr("tile of {rows}×{columns}", rows=self.rows, columns=self.columns)

    @property
    def pitch_apart(self) -> str:
        return tr("rows lie {kb:g} KB apart", kb=self.pitch / 1024)

    @property
    def badge(self) -> tuple[str, str]:
        """What the model says of a load is counted where a GPU's counters say the same."""
        if self.counted:
            return tr("counted on {gpu}", gpu=self.gpu), "counted"
        return tr("model"), "model"

    def places(self, way: Way) -> list[tuple[int, int, int, int]]:
        """(row, column, rows, columns) of the elements that each load of a way takes."""
        rows, columns = way.addresses // self.pitch, way.addresses % self.pitch // self.element
        corners = zip(rows.min(1), columns.min(1), rows.max(1), columns.max(1), strict=True)
        wide = way.width // self.element
        return [(int(y), int(x), int(y1 - y) + 1, int(x1 - x) + wide) for y, x, y1, x1 in corners]

    @property
    def finding(self) -> str:
        return tr("Only the loads’ direction differs")

    @property
    def number(self) -> str:
        slow, fast = sorted((self.down.us, self.along.us), reverse=True)
        return f"×{slow / fast:.1f}"

    @property
    def aside(self) -> str:
        """What the same change costs: the faster one's traffic through DRAM where it is the larger."""
        fast, slow = sorted((self.down, self.along), key=lambda way: way.us)
        gb = {"fast": fast.dram_bytes / 1e9, "slow": slow.dram_bytes / 1e9}
        if fast.dram_bytes > slow.dram_bytes:
            return tr("{shape}; DRAM traffic rises: {slow:.1f}→{fast:.1f} GB", shape=self.shape, **gb)
        return self.shape


def tell(measured: Mapping[str, Any] | None = None, dtype: str = "fp32") -> Story:
    """The story of a report of `tilesim bench coalescing`, the shipped one by default, at one dtype.

    Raises TilesimError where the report lacks one of the two kernels.
    """
    measured = measured or report("coalescing")
    rows = {kernel: row(measured, kernel=kernel, dtype=dtype) for kernel in BYTES_A_THREAD}
    product = rows["uncoalesced"]
    tile_rows, _, columns = product["tile"]
    element = DTYPE_BYTES[dtype]
    pitch = product["k"] * element

    def way(kernel: str, name: str, down: bool, shown: int) -> Way:
        width = BYTES_A_THREAD[kernel] or element
        loads = tile_loads(tile_rows, columns, element, pitch, width, down)
        found = rows[kernel]
        one, every = moved(loads[shown], width), total(loads, width)
        return Way(name, loads, width, loads[shown], one, every, found["us"], found["dram_bytes"])

    ways = (
        way("uncoalesced", tr("down columns"), True, LOAD_OF_A_COLUMN),
        way("coalesced", tr("along rows"), False, 0),
    )
    counters = [found.get("sectors_per_request") for found in rows.values()]
    return Story(
        tile_rows,
        columns,
        element,
        pitch,
        tr("{m}×{n}×{k} {dtype}", m=product["m"], n=product["n"], k=product["k"], dtype=dtype),
        measured["machine"]["gpu"],
        counters == [one.first.sectors for one in ways],
        *ways,
    )
