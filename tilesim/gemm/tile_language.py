"""Kernels in Triton's tile language: with a thread block per tile, or, to show what tiles are for, one per
element of C; persistent, whose thread blocks loop over tiles; and table, which runs any plan."""

from tilesim.gemm import Kernel, Tilings, beside_stages
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product

SMALL = tuple((m, n, 1, 4) for m in (16, 32, 64) for n in (16, 32, 64))
MIDDLE = ((64, 128, 1, 4), (128, 64, 1, 4), (128, 128, 1, 8), (64, 256, 1, 8))
LARGE = ((128, 256, 1, 8), (256, 128, 1, 8))
TILES = (*SMALL, *MIDDLE, (128, 128, 1, 4), *LARGE)
FEW_ROWS = ((16, 64, 2, 4), (16, 64, 4, 4), (16, 128, 2, 4), (32, 64, 2, 4), (32, 64, 4, 4), (64, 64, 2, 4))
LARGER = (*MIDDLE, *LARGE)
TABLE_TILES = ((64, 64, 1, 4), (64, 128, 1, 4), (128, 128, 1, 8), (128, 256, 1, 8))
SPLITTING = ("stream-k", "stream-k-hybrid", "split-k:2", "split-k:4", "split-k:8")
"""Schedules under which several thread blocks sum one tile, as no dedicated kernel does."""
MAX_BLOCKS = 2**31 - 1
"""Of a grid's first dimension (CUDA C++ Programming Guide, compute capability 3.0 and later)."""


def why_no_element(config: KernelConfig, product: Product) -> str:
    elements = product.m * product.n
    if elements <= MAX_BLOCKS:
        return ""
    return f"element launches a thread block for each of {elements} elements; {MAX_BLOCKS} are allowed"


KERNELS = {
    "naive": Kernel(
        schedules=("naive",),
        recordable=True,
        tilings=tuple(Tilings("naive", TILES, loads, overlap=False) for loads in ("tma", "ptr")),
    ),
    # for products of few rows, which are bound by reading B
    "skinny": Kernel(
        schedules=("naive",),
        warps=4,
        stages=5,
        tilings=(Tilings("naive", FEW_ROWS, overlap=False, stages=(6, 10), rows=1),),
    ),
    # a warp loads down a column, to show what coalesced loads are for
    "uncoalesced": Kernel(schedules=("naive",), warps=8, stages=1, loads="ptr"),
    "element": Kernel(
        why_not=why_no_element,
        shared_bytes=lambda config, product: 0,
        schedules=("naive",),
        warps=1,
        stages=1,
        loads="ptr",
    ),
    "persistent": Kernel(
        shared_bytes=beside_stages,
        schedules=("persistent",),
        overlap=True,
        recordable=True,
        tilings=(
            Tilings("persistent", LARGER, one_wave=False),
            Tilings("persistent", LARGER, "ptr", one_wave=False),
            Tilings("persistent", LARGER, epilogue_subtiles=2, one_wave=False),
        ),
    ),
    "table": Kernel(
        shared_bytes=beside_stages,
        overlap=True,
        recordable=True,
        tilings=tuple(
            Tilings(schedule, TABLE_TILES, loads) for schedule in SPLITTING for loads in ("tma", "ptr")
        ),
    ),
}
