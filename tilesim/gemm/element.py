"""element: one thread block per element of C, to show what tiles are for."""

from tilesim.gemm import Kernel
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product

MAX_BLOCKS = 2**31 - 1
"""Of a grid's first dimension (CUDA C++ Programming Guide, compute capability 3.0 and later)."""


def why_not(config: KernelConfig, product: Product) -> str:
    elements = product.m * product.n
    if elements <= MAX_BLOCKS:
        return ""
    return f"element launches a thread block for each of {elements} elements; {MAX_BLOCKS} are allowed"


KERNEL = Kernel(
    why_not=why_not,
    shared_bytes=lambda config, product: 0,
    schedules=("naive",),
    warps=1,
    stages=1,
    loads="ptr",
)
