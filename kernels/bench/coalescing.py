"""coalescing: the same product with uncoalesced loads, down columns, and with coalesced ones, along rows.

The experiment of an article on Triton's matmul: fp32, 8192 x 6144 elements over K = 4096, tiles of 64. On its
GPU the median was 261.94 ms, or 1.5741 TFLOP/s, and the coalesced kernel was the slower one.
"""

from dataclasses import replace
from typing import Any

from tilesim.devices.presets import presets
from tilesim.ladder.steps import roofline
from tilesim.problems import Problem
from tilesim.products import Product

from ..launch.named import named
from ..launch.operands import gpu_memory, size_bytes
from ..measure.machine import device, measuring
from .bench import METHOD, compare
from .counters import counted
from .ladder import peaks

PRODUCT = Problem(8192, 6144, 4096, tile=(64, 64, 64), dtype="fp32")
KERNELS = {"uncoalesced": "uncoalesced", "coalesced": "naive-ptr"}
"""Neither pipelines its loads, so that they differ in coalescing alone."""


@measuring
def coalescing(samples: int = 20) -> dict[str, Any]:
    """Time both in fp32 and in tf32: "article", and rows of what `bench` says, bound ("compute" or "memory",
    whichever limit the roofline puts lower), limit_tflops, and where counters can be read METRICS and
    sectors_per_request (of 32 bytes)."""
    rows: list[dict[str, Any]] = []
    for dtype in ("fp32", "tf32"):
        problem = replace(PRODUCT, dtype=dtype)
        contenders = {name: named(kernel, problem, warps=4, stages=1) for name, kernel in KERNELS.items()}
        timed = compare(problem, contenders, samples=samples, warmup=5, counting=counted)
        product = Product.of(problem)
        with gpu_memory(product):
            peak = presets().get(device(1).name, {}).get("peak_tflops", {}).get(dtype)
            measured, bandwidth = peaks(dtype)
        for row in timed:
            row = {"dram_bytes": size_bytes(product)} | row
            if "load_sectors" in row:
                sectors = row["load_sectors"] / max(1, row["load_requests"])
                row["sectors_per_request"] = round(sectors, 2)
            limit = float(roofline(problem.flops / row["dram_bytes"], peak or measured, bandwidth))
            bound = "memory" if limit < (peak or measured) else "compute"
            rows.append(row | {"bound": bound, "limit_tflops": round(limit, 1)})
    return {"method": METHOD, "article": {"ms": 261.94, "tflops": 1.5741}, "rows": rows}
