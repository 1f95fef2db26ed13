"""memory-hierarchy: how many bytes a product asks for, and how few of them come from far."""

from typing import Any

from tilesim.problems import Problem

from ..launch.named import named
from ..measure.machine import measuring
from .bench import METHOD, compare
from .l2_order import traffic

KERNEL = "naive-tma"
"""A thread block for each tile: nothing stays in an SM from one tile to the next."""


@measuring
def memory_hierarchy(samples: int = 50) -> dict[str, Any]:
    """Time and count cubes in bf16. A row per size has what `bench` says, requested_bytes, which is what all
    tiles load, and what `traffic` counts where that can be read."""
    rows = []
    for size in (2048, 4096, 8192):
        problem = Problem(size, size, size, order="grouped:8")
        kernel = {KERNEL: named(KERNEL, problem, warps=8, stages=3)}
        (row,) = compare(problem, kernel, samples=samples, counting=traffic)
        rows.append(row | {"requested_bytes": problem.requested_bytes})
    return {"method": METHOD, "rows": rows}
