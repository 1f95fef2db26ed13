"""What the film thread_indexing says: which cell a thread takes, and what it costs to swap the axes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tilesim.errors import TilesimError
from tilesim.ideas.thread_indexing import Launch, addresses, cells, strided_cells, warps
from tilesim.ladder.reports import report, row
from tilesim_scenes.look.language import tr
from tilesim_scenes.story.ideas import coalescing

ROWS, COLUMNS, ELEMENT = 32, 64, 4
LINE = Launch(grid=(8, 1), block=(256, 1))
PLAIN = Launch(grid=(2, 4), block=(32, 8))
SWAPPED = Launch(grid=(1, 8), block=(32, 8))
"""The same matrix in one dimension, in two, and with the axes swapped: always eight blocks of 256 threads."""
CELL = 21, 36
"""Row and column of the cell that the film asks for."""


@dataclass(frozen=True, slots=True)
class Mine:
    """Who takes the film's cell: its block and its thread there, (x, y) each."""

    block: tuple[int, int]
    thread: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Way:
    """One way to share the cells out: the `rows` and `columns` of each warp's 32 threads, int64 [warps, 32].

    `warp`: the number of the one that takes the film's cell.
    """

    name: str
    rows: np.ndarray
    columns: np.ndarray
    warp: int

    @property
    def apart(self) -> int:
        """Bytes from a thread's cell to its neighbour's."""
        at = addresses(self.rows[self.warp], self.columns[self.warp], COLUMNS * ELEMENT, ELEMENT)
        return int(at[1] - at[0])


@dataclass(frozen=True, slots=True)
class Timed:
    """A kernel that was timed both ways: `what` it computes, the µs that each way took, and on which GPU."""

    what: str
    near: float
    far: float
    gpu: str

    @property
    def times(self) -> float:
        """How many times as long the far way takes."""
        return self.far / self.near


@dataclass(frozen=True, slots=True)
class Story:
    """A matrix whose cells are taken in two ways, `near` by neighbours and `far` by threads that are not.

    `values`: int64 [ROWS, COLUMNS]. `stride`: 0 where the axes are swapped, else cells between neighbours.
    `sum`: a plain sum of all cells, which the film shows. `cost`: what the film ends on: a product with the
    axes swapped, and with a stride that sum again.
    """

    near: Way
    far: Way
    values: np.ndarray
    stride: int
    sum: Timed
    cost: Timed

    @property
    def question(self) -> str:
        return tr("Which cell of the matrix is mine?")

    @property
    def in_one_dimension(self) -> list[str]:
        """Who takes the cell, its number, and row and column of that."""
        (block, _), (thread, _) = (mine := mine_of(LINE)).block, mine.thread
        i = block * LINE.block[0] + thread
        return [
            tr("block {block}, thread {thread}", block=block, thread=thread),
            tr("i = {block}×{wide}+{thread} = {i:,}", block=block, wide=LINE.block[0], thread=thread, i=i),
            tr("÷{wide}: row {row}, column {column}", wide=COLUMNS, row=i // COLUMNS, column=i % COLUMNS),
        ]

    @property
    def one_number(self) -> str:
        return tr("One number, divided by the columns")

    @property
    def in_two_dimensions(self) -> list[str]:
        """Who takes the cell by x and y, its row, its column and its address."""
        mine, (wide, high) = mine_of(PLAIN), PLAIN.block
        row = _row(mine.block[1], high, mine.thread[1])
        return [_who(mine), row, _column(mine.block[0], wide, mine.thread[0]), self.address]

    @property
    def two_numbers(self) -> str:
        return tr("Or two: y is row, x column")

    @property
    def address(self) -> str:
        at = int(addresses(*map(np.array, CELL), COLUMNS * ELEMENT, ELEMENT))
        return tr("byte {address:,}", address=at)

    @property
    def neighbours(self) -> str:
        return tr("Each neighbour in its warp: {apart} bytes on", apart=self.near.apart)

    @property
    def swap(self) -> str:
        if self.stride:
            return tr("Now neighbours {stride} cells apart", stride=self.far.apart // ELEMENT)
        return tr("Swap the axes: another thread has it")

    @property
    def when_swapped(self) -> list[str]:
        """The same of the thread that takes the cell then; with a stride, the address alone."""
        if self.stride:
            return [self.address]
        mine, (wide, high) = mine_of(SWAPPED), SWAPPED.block
        row = _row(mine.block[0], wide, mine.thread[0])
        return [_who(mine), row, _column(mine.block[1], high, mine.thread[1]), self.address]

    @property
    def other_neighbours(self) -> str:
        return tr("And its neighbours: {apart} bytes on", apart=self.far.apart)

    @property
    def race(self) -> str:
        return tr("The same cells, the same sum, {times:.1f} times the time", times=self.sum.times)

    @property
    def number(self) -> str:
        return f"×{self.cost.times:.1f}"

    @property
    def finding(self) -> str:
        if self.cost.times > self.sum.times:
            return tr("A product pays even more")
        return tr("The same cells, other neighbours")

    @property
    def aside(self) -> str:
        if self.stride:
            return self.sum.what
        return tr("{what}; plain sum ×{times:.1f}", what=self.cost.what, times=self.sum.times)


def _who(mine: Mine) -> str:
    (x, y), (thread_x, thread_y) = mine.block, mine.thread
    return tr("block ({x},{y}), thread ({tx},{ty})", x=x, y=y, tx=thread_x, ty=thread_y)


def _row(block: int, side: int, thread: int) -> str:
    return tr(
        "row = {block}×{side}+{thread} = {at}",
        block=block,
        side=side,
        thread=thread,
        at=block * side + thread,
    )


def _column(block: int, side: int, thread: int) -> str:
    at = block * side + thread
    return tr("column = {block}×{side}+{thread} = {at}", block=block, side=side, thread=thread, at=at)


def mine_of(launch: Launch) -> Mine:
    """Who takes CELL in one of the film's three launches.

    >>> mine_of(PLAIN), mine_of(SWAPPED)
    (Mine(block=(1, 2), thread=(4, 5)), Mine(block=(0, 4), thread=(21, 4)))
    """
    if launch is LINE:
        block, thread = divmod(CELL[0] * COLUMNS + CELL[1], launch.block[0])
    else:
        rows, columns = cells(launch, swapped=launch is SWAPPED)
        found = np.argwhere((rows == CELL[0]) & (columns == CELL[1]))
        block, thread = (int(one) for one in found[0])
    return Mine(
        (block % launch.grid[0], block // launch.grid[0]),
        (thread % launch.block[0], thread // launch.block[0]),
    )


def tell(measured: Mapping[str, Any] | None = None, stride: int = 0) -> Story:
    """The story with the axes swapped, by a report of `tilesim bench coalescing`, or with neighbours `stride`
    cells apart, by one of `tilesim bench thread-indexing`; those that ship, by default.

    Raises TilesimError for a stride that the report lacks, or that leaves neighbours side by side.
    """
    sums = measured if stride and measured else report("thread_indexing")
    took = {one["stride"]: one["us"] for one in sums["rows"]}
    side = sums["side"]
    if stride and (stride not in took or stride == 1):
        known = ", ".join(str(one) for one in took if one > 1)
        raise TilesimError(f"the report has no neighbours {stride} cells apart; choose from {known}")
    apart = row(sums, stride=stride or side)["us"]
    what = tr("sum of {m}×{n} fp32", m=side, n=side)
    summed = Timed(what, row(sums, stride=1)["us"], apart, sums["machine"]["gpu"])
    values = (np.arange(ROWS)[:, None] * 7 + np.arange(COLUMNS) * 3) % 8
    near = _way(tr("along rows"), *cells(PLAIN))
    if stride:
        strided = strided_cells(ROWS * COLUMNS, COLUMNS, min(stride, COLUMNS))
        far = _way(tr("{stride} cells apart", stride=stride), *strided)
        return Story(near, far, values, stride, summed, summed)
    product = coalescing.tell(measured)
    what = tr("product of {shape}", shape=product.shape)
    cost = Timed(what, product.along.us, product.down.us, product.gpu)
    far = _way(tr("down columns"), *cells(SWAPPED, swapped=True))
    return Story(near, far, values, 0, summed, cost)


def _way(name: str, rows: np.ndarray, columns: np.ndarray) -> Way:
    rows, columns = warps(rows), warps(columns)
    mine = np.argwhere((rows == CELL[0]) & (columns == CELL[1]))[0, 0]
    return Way(name, rows, columns, int(mine))
