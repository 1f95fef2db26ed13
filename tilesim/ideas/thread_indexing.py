"""Thread indexing: which matrix cell each thread of a launch takes.

    x = blockIdx.x blockDim.x + threadIdx.x          y = blockIdx.y blockDim.y + threadIdx.y

where usually x is the column and y the row. Within a block, 32 consecutive threads by threadIdx.y blockDim.x
+ threadIdx.x form a warp (NVIDIA, CUDA C++ Programming Guide, Thread Hierarchy). The cell at (row, column) is
at byte row · pitch + column · element.
"""

from typing import NamedTuple

import numpy as np

from tilesim.ideas.coalescing import WARP


class Launch(NamedTuple):
    """A grid of `grid` blocks of `block` threads, both (x, y)."""

    grid: tuple[int, int]
    block: tuple[int, int]


def cells(launch: Launch, swapped: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """(rows, columns) of the threads: y and x, or x and y if `swapped`. int64 [blocks, threads per block],
    both in the order of the hardware."""
    (grid_x, grid_y), (block_x, block_y) = launch.grid, launch.block
    block, thread = np.arange(grid_x * grid_y)[:, None], np.arange(block_x * block_y)
    x, y = block % grid_x * block_x + thread % block_x, block // grid_x * block_y + thread // block_x
    return (x, y) if swapped else (y, x)


def addresses(rows: np.ndarray, columns: np.ndarray, pitch: int, element: int) -> np.ndarray:
    """Byte offsets of cells, shaped as the rows and columns; `pitch` bytes between rows, `element` a cell."""
    return np.asarray(rows) * pitch + np.asarray(columns) * element


def warps(values: np.ndarray) -> np.ndarray:
    """Threads' values by warp, of blocks that are whole warps: [..., threads per block] to [warps, 32]."""
    return values.reshape(-1, WARP)
