"""ping-pong: persistent; one warp loads, and two groups of consumers multiply different tiles in turns."""

from tilesim.gemm import Kernel, Tilings, operands_in_stages, tile_bytes
from tilesim.gemm.warp_specialized import HOPPER, STAGES, WARPGROUP_WARPS, why_not_wgmma
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product

SUBTILES = 4
"""Into which each group divides the tile that it writes; as many are on their way at a time."""


def why_not(config: KernelConfig, product: Product) -> str:
    """Each group is one warpgroup, which sums a tile by itself."""
    if config.warps != 2 * WARPGROUP_WARPS:
        return f"{config.kernel} has {config.warps} multiplying warps; it must be 8, four in each group"
    return why_not_wgmma(config, WARPGROUP_WARPS, 64)


def shared_bytes(config: KernelConfig, product: Product) -> int:
    """SUBTILES of C at a time."""
    return operands_in_stages(config, product) + tile_bytes(config, product)


KERNEL = Kernel(
    why_not=why_not,
    shared_bytes=shared_bytes,
    schedules=("persistent",),
    warps=8,
    stages=6,
    tilings=(Tilings("persistent", ((64, 128, 1, 8), (128, 128, 1, 8)), stages=STAGES, one_wave=False),),
    **HOPPER,
)
