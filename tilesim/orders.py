"""Rasterization orders: (tiles_m, tiles_n, parameters...) -> int64 [tiles_m * tiles_n], the tile ids in the
order they are visited. The id of a tile is always pid_m * tiles_n + pid_n."""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from tilesim.errors import ProblemError
from tilesim.text import resolve


class Tiled(Protocol):
    """The parts of a Problem that `rasterize` needs."""

    @property
    def tiles_m(self) -> int: ...
    @property
    def tiles_n(self) -> int: ...
    @property
    def order(self) -> str: ...


def row_major(tiles_m: int, tiles_n: int) -> np.ndarray:
    """Row by row."""
    return np.arange(tiles_m * tiles_n)


def column_major(tiles_m: int, tiles_n: int) -> np.ndarray:
    """Column by column."""
    return np.arange(tiles_m * tiles_n).reshape(tiles_m, tiles_n).T.ravel()


def grouped(tiles_m: int, tiles_n: int, g: int) -> np.ndarray:
    """Groups of G rows, column by column within a group; the last group may be smaller.

    This is GROUP_SIZE_M in Triton's matrix multiplication tutorial.
    """
    tiles = np.arange(tiles_m * tiles_n).reshape(tiles_m, tiles_n)
    full = tiles_m - tiles_m % min(g, tiles_m)
    groups = tiles[:full].reshape(-1, min(g, tiles_m), tiles_n)
    return np.concatenate([groups.transpose(0, 2, 1).ravel(), tiles[full:].T.ravel()])


def morton(tiles_m: int, tiles_n: int) -> np.ndarray:
    """Z-order: the bits of pid_m and pid_n interleaved, pid_n lowest, without positions outside the grid."""
    row, column = np.divmod(np.arange(tiles_m * tiles_n), tiles_n)
    code = np.zeros_like(row)
    for bit in range(max(tiles_m, tiles_n).bit_length()):
        code |= (column >> bit & 1) << 2 * bit | (row >> bit & 1) << 2 * bit + 1
    return np.argsort(code)


def hilbert(tiles_m: int, tiles_n: int) -> np.ndarray:
    """The Hilbert curve from tile 0 on the smallest enclosing power-of-two square, without positions outside.

    D. Hilbert, Math. Annalen 38 (1891), 459-460.
    """
    y, x = np.divmod(np.arange(tiles_m * tiles_n), tiles_n)
    distance = np.zeros_like(x)
    side = 1 << (max(tiles_m, tiles_n) - 1).bit_length()
    while (side := side // 2) > 0:
        right, below = x & side > 0, y & side > 0
        distance += side * side * (3 * right ^ below)
        x, y = x & side - 1, y & side - 1
        mirrored = right & ~below
        x, y = np.where(mirrored, side - 1 - x, x), np.where(mirrored, side - 1 - y, y)
        x, y = np.where(below, x, y), np.where(below, y, x)
    return np.argsort(distance)


ORDERS: dict[str, Callable[..., np.ndarray]] = {
    "row-major": row_major,
    "column-major": column_major,
    "grouped": grouped,
    "morton": morton,
    "hilbert": hilbert,
}


def check(order: str) -> None:
    """Raise ProblemError unless `order` is a registered order with valid parameters."""
    resolve("order", order, ORDERS, 2, ProblemError)


def rasterize(problem: Tiled) -> np.ndarray:
    """The tiles of `problem` in their order: int32 [tiles]."""
    function, parameters = resolve("order", problem.order, ORDERS, 2, ProblemError)
    return function(problem.tiles_m, problem.tiles_n, *parameters).astype(np.int32)
