"""l2-order: one kernel, one tile, one schedule; only the order in which tiles come differs."""

from dataclasses import replace
from typing import Any

from tilesim.problems import Problem
from tilesim.variants import Variant

from ..launch.config import pipeline
from ..launch.operands import gpu_memory
from ..measure.machine import facts
from ..measure.timing import REST, require_gpu, working_gpu
from .compare import METHOD, Contender, compare
from .counters import TRAFFIC, counted

ORDERS = ("row-major", "grouped:8", "hilbert")
SIZES = ((8192, 8192, 8192), (8192, 8192, 512))
"""Where the L2 holds a small part of A and B, and where it holds all of them."""


def l2_order(samples: int = 50) -> dict[str, Any]:
    """Time and count the orders, in JSON values: "machine", "method" and "rows".

    A persistent kernel runs each, with TMA loads and its tiles from a table, as `planned:persistent` does. A
    row per size and order has what `bench` says, and from the counters, where they can be read,
    `bench.counters.TRAFFIC` and l2_bytes: what the SMs read at the L2.

    Raises what `bench` raises.
    """
    require_gpu()
    rows: list[dict[str, Any]] = []
    for size in SIZES:
        problem = Problem(*size)
        warps, stages, subtiles = pipeline(problem)
        variant = Variant("persistent", "tma", True, warps, stages, "planned", subtiles)
        each = {order: replace(problem, order=order) for order in ORDERS}
        with gpu_memory(problem), working_gpu():
            timed = compare({order: Contender(one, variant) for order, one in each.items()}, samples=samples)
        counts = counted([(one, variant) for one in each.values()], TRAFFIC)
        for i, row in enumerate(timed):
            rows.append(row | {"kernel": "planned:persistent"} | (read(counts[i]) if counts else {}))
    return {"machine": facts(), "method": METHOD.format(rest=REST), "rows": rows}


def read(moved: dict[str, int]) -> dict[str, float]:
    """Counters of TRAFFIC, and what they say of reading: l2_bytes, from sectors of 32 bytes, and l2_hit_rate."""
    sectors = max(1, moved["l2_read_sectors"])
    hits = moved["l2_hit_sectors"] / sectors
    return moved | {"l2_bytes": 32 * moved["l2_read_sectors"], "l2_hit_rate": round(hits, 4)}
