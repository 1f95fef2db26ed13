"""wave_quantization: a product that grows by columns of tiles, past one full wave of SMs after another."""

from typing import Any

from tilesim.problems import Problem

from ..launch.named import TABLE_DRIVEN
from .bench import bench

ROWS, COLUMNS, K = 12, 55, 4096
"""Rows of tiles, most columns of tiles, and the length of the sums. 132 tiles fill the SMs of an H200."""

KERNELS = ("persistent-tma-overlap", TABLE_DRIVEN + "stream-k-hybrid")


def wave_quantization(samples: int = 30) -> dict[str, Any]:
    """Time both kernels with 12, 24, ... 660 tiles in bf16: what `bench` returns and raises, with tiles."""
    tile_m, tile_n, _ = Problem(1, 1, 1).tile
    sizes = [Problem(ROWS * tile_m, n * tile_n, K, order="grouped:8") for n in range(1, COLUMNS + 1)]
    made = bench(*sizes, kernels=KERNELS, warmup=10, samples=samples)
    for row in made["rows"]:
        row["tiles"] = -(-row["m"] // tile_m) * -(-row["n"] // tile_n)
    return made
