"""memory-hierarchy: how many bytes a product asks for, and how few of them come from far."""

from typing import Any

from tilesim.problems import Problem
from tilesim.variants import Variant

from ..launch.operands import gpu_memory
from ..measure.machine import facts
from ..measure.timing import require_gpu, working_gpu
from .compare import METHOD, Contender, compare
from .l2_order import traffic

SIZES = ((2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192))
KERNEL = Variant("naive", "tma")
"""A thread block for each tile: nothing stays in an SM from one tile to the next."""


def memory_hierarchy(samples: int = 50) -> dict[str, Any]:
    """Time and count cubes in bf16, in JSON values: "machine", "method" and "rows".

    A row per size has what `bench` says, asked_bytes, which is what all tiles load, and from the counters,
    where they can be read, what `l2_order` has of them.

    Raises what `bench` raises.
    """
    require_gpu()
    rows: list[dict[str, Any]] = []
    contenders = [Contender(Problem(*size, order="grouped:8"), KERNEL) for size in SIZES]
    for contender in contenders:
        with gpu_memory(contender.problem), working_gpu():
            rows += compare({KERNEL.name: contender}, samples=samples)
    known = [
        {"asked_bytes": contender.problem.asked_bytes} | moved
        for contender, moved in zip(contenders, traffic(contenders), strict=True)
    ]
    rows = [row | moved for row, moved in zip(rows, known, strict=True)]
    return {"machine": facts(), "method": METHOD, "rows": rows}
