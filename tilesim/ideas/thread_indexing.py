"""Thread indexing: which cell of a matrix a thread takes, and how far from its neighbours'.

A launch is a grid of blocks, and a block a grid of threads, each of up to two dimensions here, x and y. A
thread knows its own place by four small numbers, blockIdx and threadIdx, and the shapes blockDim and gridDim:

    x = blockIdx.x blockDim.x + threadIdx.x          y = blockIdx.y blockDim.y + threadIdx.y

What it makes of x and y is its own affair: usually x is the column and y the row. With the axes swapped the
same cells are taken, each by another thread. In one dimension x alone is a number i, and the row and the
column are its quotient and its remainder by the columns.

Which threads are neighbours is not theirs to choose. Inside a block threads are numbered x first, by
threadIdx.y blockDim.x + threadIdx.x, and 32 numbers in a row are a warp, which loads at once (NVIDIA, CUDA
C++ Programming Guide, Thread Hierarchy, and SIMT Architecture). A matrix lies row by row in memory, so the
cell at (row, column) is at byte row pitch + column element. What neighbours that lie apart cost is what
tilesim.ideas.coalescing says of these addresses.
"""

from dataclasses import dataclass

import numpy as np

from tilesim.errors import TilesimError, whole
from tilesim.ideas.coalescing import WARP

LARGEST = 2**24
"""Threads of a launch."""
MOST_OF_BLOCK = 1024
"""Threads of a block (CUDA C++ Programming Guide, Technical Specifications per Compute Capability)."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A grid of `grid` blocks of `block` threads, (x, y) each.

    Raises TilesimError for a side below 1, more than 1024 threads of a block, or 2^24 of all.
    """

    grid: tuple[int, int]
    block: tuple[int, int]

    def __post_init__(self) -> None:
        for name in ("grid", "block"):
            sides = tuple(
                whole(f"a side of the {name}", side, 1, LARGEST, TilesimError) for side in getattr(self, name)
            )
            object.__setattr__(self, name, sides)
        of_block = self.block[0] * self.block[1]
        if of_block > MOST_OF_BLOCK:
            raise TilesimError(f"a block of {of_block} threads is too large; it has at most {MOST_OF_BLOCK}")
        if self.threads > LARGEST:
            raise TilesimError(f"{self.threads} threads are too many; a launch here has at most {LARGEST}")

    @property
    def threads(self) -> int:
        """All of them."""
        return self.grid[0] * self.grid[1] * self.block[0] * self.block[1]


def axes(launch: Launch) -> tuple[np.ndarray, np.ndarray]:
    """(x, y) of each thread: int64 [blocks, threads of a block], both in their hardware's order.

    >>> x, y = axes(Launch(grid=(2, 1), block=(2, 2)))
    >>> x.tolist(), y.tolist()
    ([[0, 1, 0, 1], [2, 3, 2, 3]], [[0, 0, 1, 1], [0, 0, 1, 1]])
    """
    (grid_x, grid_y), (block_x, block_y) = launch.grid, launch.block
    block, thread = np.arange(grid_x * grid_y)[:, None], np.arange(block_x * block_y)
    return block % grid_x * block_x + thread % block_x, block // grid_x * block_y + thread // block_x


def cells(launch: Launch, swapped: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """(rows, columns) that the threads take: y and x, or `swapped` x and y. int64 as of `axes`.

    >>> rows, columns = cells(Launch(grid=(2, 4), block=(32, 8)))
    >>> int(rows[5, 164]), int(columns[5, 164])
    (21, 36)
    """
    x, y = axes(launch)
    return (x, y) if swapped else (y, x)


def strided_cells(count: int, columns: int, stride: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """(rows, columns) that `count` threads in one dimension take, whose neighbours are `stride` cells apart.

    Thread i takes cell (i mod turns) stride + i div turns, with turns = count / stride: with stride 1 cell i,
    and with a row's length the next one down the column. int64 [count].

    Raises TilesimError where the stride does not divide the count, or the columns do not.

    >>> rows, columns = strided_cells(8, columns=4, stride=4)
    >>> rows.tolist(), columns.tolist()
    ([0, 1, 0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 2, 2, 3, 3])
    """
    count = whole("the number of threads", count, 1, LARGEST, TilesimError)
    for what, divisor in (("the columns", columns), ("the stride", stride)):
        if count % whole(what, divisor, 1, LARGEST, TilesimError):
            raise TilesimError(f"{what}, {divisor}, do not divide the {count} threads; each must take a cell")
    i, turns = np.arange(count), count // stride
    cell = i % turns * stride + i // turns
    return cell // columns, cell % columns


def addresses(rows: np.ndarray, columns: np.ndarray, pitch: int, element: int) -> np.ndarray:
    """The bytes at which cells begin, from the matrix's first: int64, shaped as the rows and columns.

    `pitch`: bytes from a row to the next. `element`: bytes of a cell.
    """
    return np.asarray(rows) * pitch + np.asarray(columns) * element


def warps(values: np.ndarray) -> np.ndarray:
    """What threads have, block by block, as warps have it: [..., threads] to [warps, 32].

    Raises TilesimError where blocks are no whole warps.

    >>> rows, columns = cells(Launch(grid=(2, 4), block=(32, 8)))
    >>> np.diff(warps(addresses(rows, columns, 256, 4)))[0].tolist() == [4] * 31
    True
    """
    if values.shape[-1] % WARP:
        raise TilesimError(f"blocks of {values.shape[-1]} threads are no whole warps of {WARP}")
    return values.reshape(-1, WARP)
