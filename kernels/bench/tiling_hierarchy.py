"""tiling_hierarchy: the tensor cores' rate by the columns of a wgmma, and a product's by a block's tile."""

from typing import Any

import torch

from tilesim.problems import Problem

from ..errors import KernelError
from ..launch.named import named
from ..measure.machine import measuring
from ..microbenchmarks.tile_cases import K_STEPS, has_wgmma, multiplying
from .bench import METHOD as PRODUCTS_METHOD
from .bench import compare
from .counters import counted
from .memory import LAUNCHES, measured, merged

COLUMNS = (8, 16, 32, 64, 128, 256)
"""N of the wgmma m64nN: from the narrowest to the widest that there is (PTX ISA 9.0, section 9.7.15)."""

DEPTH = {"bf16": 256, "fp8": 512}
"""K of the tile in shared memory, by dtype: 16 wgmma, so that waiting for them weighs little."""

TILES = ((64, 64, 64), (64, 128, 64), (128, 128, 64), (128, 256, 64))

METHOD = (
    f"one thread block of four warps on each SM multiplies {K_STEPS} K-steps by wgmma m64nN, both operands in"
    f" shared memory; {LAUNCHES} launches of each case in each of the repeats, which take turns; the first"
    " product is compared with the exact one; products: " + PRODUCTS_METHOD
)


@measuring
def tiling_hierarchy(repeats: int = 5) -> dict[str, Any]:
    """Rates of one warp group's wgmma: "repeats", "rows" and "products". A row has dtype, tile [64, N, K],
    warps, ctas_per_sm, and macs_per_clock (of an SM) and sm_mhz, each as p20, p50 and p80. Products are rows
    of `bench`, one for each of TILES, with METRICS where counted. Raises KernelError, too, where the GPU has
    no wgmma."""
    if not has_wgmma():
        raise KernelError(f"{torch.cuda.get_device_name()} has no wgmma, which sm_90 alone has")
    random = torch.Generator("cuda").manual_seed(0)
    cases = [(dtype, (64, columns, depth), 4, 1) for dtype, depth in DEPTH.items() for columns in COLUMNS]
    turns = [measured(multiplying(random, cases)) for _ in range(repeats)]
    problems = [Problem(4096, 4096, 4096, tile=tile, order="grouped:8") for tile in TILES]
    configs = {f"{one.tile[0]}x{one.tile[1]}": named("naive-tma", one) for one in problems}
    products = compare(problems[0], configs, samples=50, counting=counted)
    return {"method": METHOD, "repeats": repeats, "rows": merged(turns), "products": products}
