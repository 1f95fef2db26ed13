"""table: table-driven; reads the plan of any schedule from a table."""

from tilesim.gemm import Kernel, Tilings
from tilesim.gemm.persistent import shared_bytes

TILES = ((64, 64, 1, 4), (64, 128, 1, 4), (128, 128, 1, 8), (128, 256, 1, 8))
SPLITTING = ("stream-k", "stream-k-hybrid", "split-k:2", "split-k:4", "split-k:8")
"""Schedules under which several thread blocks sum one tile, as no dedicated kernel does."""

KERNEL = Kernel(
    shared_bytes=shared_bytes,
    overlap=True,
    recordable=True,
    tilings=tuple(Tilings(schedule, TILES, loads) for schedule in SPLITTING for loads in ("tma", "ptr")),
)
