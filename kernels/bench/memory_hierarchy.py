"""memory-hierarchy: how many bytes a product asks for, and how few of them come from far."""

from typing import Any

from tilesim.problems import Problem

from ..launch.named import named
from ..measure.machine import measuring
from .compare import METHOD, Contender, compare
from .l2_order import traffic

SIZES = ((2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192))
KERNEL = "naive-tma"
"""A thread block for each tile: nothing stays in an SM from one tile to the next."""


@measuring
def memory_hierarchy(samples: int = 50) -> dict[str, Any]:
    """Time and count cubes in bf16, in JSON values: "machine", "method" and "rows".

    A row per size has what `bench` says, requested_bytes, which is what all tiles load, and from the
    counters, where they can be read, what `l2_order` has of them.
    """
    problems = [Problem(*size, order="grouped:8") for size in SIZES]
    contenders = [Contender(one, named(KERNEL, one, warps=8, stages=3)) for one in problems]
    rows = [row for one in contenders for row in compare({KERNEL: one}, samples=samples)]
    rows = [
        row | {"requested_bytes": one.problem.requested_bytes} | moved
        for row, one, moved in zip(rows, contenders, traffic(contenders), strict=True)
    ]
    return {"method": METHOD, "rows": rows}
