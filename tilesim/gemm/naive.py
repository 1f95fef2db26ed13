"""naive: one thread block per tile."""

from tilesim.gemm import LARGE, MIDDLE, SMALL, Kernel, Tilings, operands_in_stages

TILES = (*SMALL, *MIDDLE, (128, 128, 1, 4), *LARGE)

KERNEL = Kernel(
    shared_bytes=operands_in_stages,  # C takes the place of stages that are done
    schedules=("naive",),
    recordable=True,
    tilings=tuple(Tilings("naive", TILES, loads, overlap=False) for loads in ("tma", "ptr")),
)
