"""persistent: one thread block per SM, which loops over tiles."""

from tilesim.gemm import LARGE, MIDDLE, Kernel, Tilings, operands_in_stages, tile_bytes
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product


def shared_bytes(config: KernelConfig, product: Product) -> int:
    """The next tile is loaded while this one is written, so C has memory of its own."""
    written = tile_bytes(config, product) // config.epilogue_subtiles
    return operands_in_stages(config, product) + written


KERNEL = Kernel(
    shared_bytes=shared_bytes,
    schedules=("persistent",),
    overlap=True,
    recordable=True,
    tilings=(
        Tilings("persistent", (*MIDDLE, *LARGE), one_wave=False),
        Tilings("persistent", (*MIDDLE, *LARGE), "ptr", one_wave=False),
        Tilings("persistent", (*MIDDLE, *LARGE), epilogue_subtiles=2, one_wave=False),
    ),
)
