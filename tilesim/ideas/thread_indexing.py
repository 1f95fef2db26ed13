"""Thread indexing: which matrix cell each thread of a launch takes.

    x = blockIdx.x blockDim.x + threadIdx.x          y = blockIdx.y blockDim.y + threadIdx.y

where usually x is the column and y the row. Within a block, 32 consecutive threads by threadIdx.y blockDim.x
+ threadIdx.x form a warp (NVIDIA, CUDA C++ Programming Guide, Thread Hierarchy). The cell at (row, column) is
at byte row · pitch + column · element.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from tilesim.errors import TilesimError
from tilesim.ideas.coalescing import WARP
from tilesim.ideas.reduction import MOST_THREADS
from tilesim.storage.decode import between, check

LARGEST = 2**24
"""Maximum number of threads in a launch."""

Side = Annotated[int, between(1, LARGEST)]


@dataclass(frozen=True, slots=True)
class Launch:
    """A grid of `grid` blocks of `block` threads, both (x, y). Raises TilesimError for a side below 1, more
    than 1024 threads per block, or more than 2^24 in total."""

    grid: tuple[Side, Side]
    block: tuple[Side, Side]

    def __post_init__(self) -> None:
        check(self, TilesimError)
        of_block = self.block[0] * self.block[1]
        if of_block > MOST_THREADS:
            raise TilesimError(f"a block of {of_block} threads is too large; it has at most {MOST_THREADS}")
        if self.threads > LARGEST:
            raise TilesimError(f"{self.threads} threads are too many; a launch here has at most {LARGEST}")

    @property
    def threads(self) -> int:
        return self.grid[0] * self.grid[1] * self.block[0] * self.block[1]


def axes(launch: Launch) -> tuple[np.ndarray, np.ndarray]:
    """(x, y) of each thread: int64 [blocks, threads per block], both in the order of the hardware."""
    (grid_x, grid_y), (block_x, block_y) = launch.grid, launch.block
    block, thread = np.arange(grid_x * grid_y)[:, None], np.arange(block_x * block_y)
    return block % grid_x * block_x + thread % block_x, block // grid_x * block_y + thread // block_x


def cells(launch: Launch, swapped: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """(rows, columns) of the threads: y and x, or x and y if `swapped`. int64, shaped as `axes`."""
    x, y = axes(launch)
    return (x, y) if swapped else (y, x)


def addresses(rows: np.ndarray, columns: np.ndarray, pitch: int, element: int) -> np.ndarray:
    """Byte offsets of cells, shaped as the rows and columns. `pitch`: bytes between rows. `element`: bytes
    per cell."""
    return np.asarray(rows) * pitch + np.asarray(columns) * element


def warps(values: np.ndarray) -> np.ndarray:
    """Threads' values by warp, [..., threads per block] to [warps, 32]; TilesimError if a block is no whole
    warps."""
    if values.shape[-1] % WARP:
        raise TilesimError(f"blocks of {values.shape[-1]} threads are not a whole number of warps of {WARP}")
    return values.reshape(-1, WARP)
