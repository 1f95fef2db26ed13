"""skinny: for products of few rows, which are bound by reading B."""

from tilesim.gemm import Kernel, Tilings, operands_in_stages

TILES = ((16, 64, 2, 4), (16, 64, 4, 4), (16, 128, 2, 4), (32, 64, 2, 4), (32, 64, 4, 4), (64, 64, 2, 4))

KERNEL = Kernel(
    shared_bytes=operands_in_stages,
    schedules=("naive",),
    warps=4,
    stages=5,
    tilings=(Tilings("naive", TILES, overlap=False, stages=(6, 10), rows=1),),
)
