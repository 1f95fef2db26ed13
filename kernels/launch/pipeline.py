"""Warps, stages and epilogue subtiles that suit a tile.

What is not given follows from the tile, the dtype and the thread blocks per SM alone, so kernels that are
compared have the same.
"""

from tilesim.gemm.fit import Limits, limits_of, stages_that_fit
from tilesim.gemm.warp_specialized import MAX_ACCUMULATORS, WARPGROUP_WARPS
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product

from .here import limits

MAX_WARPS = 8
"""With more, and MAX_ACCUMULATORS in each thread, one thread block would need all registers of an SM."""

MIN_STAGES, MAX_STAGES = 3, 6
"""With two stages each K-step waits for its loads: two blocks of 128x128 on an SM of an H200 reached 65 % of
its peak, and 99 % with three. Beyond six nothing was ever faster in `tilesim tune`."""


def pipeline(
    product: Product,
    tile: tuple[int, int, int],
    ctas_per_sm: int = 1,
    warps: int | None = None,
    stages: int | None = None,
    epilogue_subtiles: int | None = None,
) -> tuple[int, int, int]:
    """(warps, stages, epilogue_subtiles) for `ctas_per_sm` blocks per SM of this GPU, else of an H200.

    What is given stays. Else: whole warpgroups, with up to MAX_ACCUMULATORS accumulators a thread; as many
    stages as fit, to MAX_STAGES; and two subtiles where MIN_STAGES, or the stages given, fit no other way.
    """
    if warps is None:
        needed = tile[0] * tile[1] // (32 * MAX_ACCUMULATORS)
        warps = min(MAX_WARPS, max(WARPGROUP_WARPS, needed))
    gpu: Limits = limits() or limits_of("")
    available = gpu.shared_bytes(ctas_per_sm)

    def fit(subtiles: int) -> int:
        one = KernelConfig("persistent", "persistent", tile, warps=0, epilogue_subtiles=subtiles)
        return stages_that_fit(one, product, available)

    if epilogue_subtiles is None:
        epilogue_subtiles = 1 if fit(1) >= (stages or MIN_STAGES) else 2
    if stages is None:
        stages = min(MAX_STAGES, max(1, fit(epilogue_subtiles)))
    return warps, stages, epilogue_subtiles
