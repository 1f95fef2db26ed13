"""The kernels that can be chosen: a row for each, with the tiles that it comes in.

A new tile is a row here, and nothing else; a new kernel has its job in kernels/launch, too. A tile is
(tile_m, tile_n, lines, warps): so many lines of LINE bytes of K at a time, by so many multiplying warps.
"""

from dataclasses import dataclass
from typing import Any

from tilesim.problems import MAX_TILES
from tilesim.variants import OWN, PLANNED, Variant

HALF = ("fp16", "bf16")
EVERY = (*HALF, "fp32", "tf32", "fp8")

LINE = 128
"""Bytes of a K-step in the width in which TMA swizzles."""

ORDER = "grouped:8"
"""Of all tiles. On an H200 groups of 4 were faster in few products, and the model can't tell in which."""

SPLITTING = ("stream-k", "stream-k-hybrid", "split-k:2", "split-k:4", "split-k:8")
"""Schedules under which several thread blocks sum one tile."""

WARP_SPECIALISED = ("specialised", "ping-pong")
"""Kernels in which warps have roles. Where they can run, `choose` ranks no others: of 143 times of three
products in fp8 on an H200 none was faster. In the tuned table others are first for two shapes in bf16."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel under one schedule. `variant`: without warps and stages, which follow from the tile.

    `tiles`: (tile_m, tile_n, lines, warps). `stages`: the most that are tried, each as far as memory goes.
    `c_part`: of a tile of C, what lies in shared memory beside the stages; 0 where it takes the place of
    stages that are done. `dtypes` it multiplies, of which those in `k_major` along K alone: A row-major and B
    column-major. `needs`: features of the device. `rows`: of tiles, at most.
    `one_wave`: of use where all tiles run at once, too. `groups`: of so many warps, which share a tile.
    """

    variant: Variant
    tiles: tuple[tuple[int, int, int, int], ...]
    stages: tuple[int, ...] = (3, 6)
    c_part: float = 0.0
    dtypes: tuple[str, ...] = EVERY
    needs: tuple[str, ...] = ()
    k_major: tuple[str, ...] = ()
    rows: int = MAX_TILES
    one_wave: bool = True
    groups: int = 1


def _named(
    kernel: str, schedule: str, loads: str = "tma", overlap: bool = True, subtiles: int = 1
) -> Variant:
    return Variant(schedule, loads, overlap, 0, 0, kernel, subtiles)


SMALL = ((16, 16, 1, 4), (16, 64, 1, 4), (64, 16, 1, 4), (32, 64, 1, 4), (64, 32, 1, 4), (64, 64, 1, 4))
MIDDLE = ((64, 128, 1, 4), (128, 64, 1, 4), (128, 128, 1, 8), (64, 256, 1, 8))
LARGE = ((128, 256, 1, 8), (256, 128, 1, 8))
SPLIT = ((64, 64, 1, 4), (64, 128, 1, 4), (128, 128, 1, 8), (128, 256, 1, 8))
FEW_ROWS = (
    (16, 64, 2, 4), (16, 64, 4, 4), (16, 128, 1, 4), (16, 128, 2, 4),
    (32, 64, 2, 4), (32, 128, 1, 4), (32, 128, 2, 4), (32, 256, 1, 8),
)  # fmt: skip
ROWS = (
    (64, 64, 2, 4), (64, 128, 1, 4), (64, 256, 1, 4), (128, 64, 1, 4), (128, 128, 1, 4), (128, 128, 1, 8),
    (128, 256, 1, 8), (256, 128, 1, 8),
)  # fmt: skip
BETWEEN = {96: ((64, 96, 1, 4),), 160: (), 192: ((64, 192, 1, 4), (128, 192, 1, 8))}
"""Tiles whose columns lie between two powers of two, by columns; PIECE of them are stored at a time."""
PIECE = 32
HOPPER: dict[str, Any] = {
    "stages": (12,),
    "dtypes": (*HALF, "fp8"),
    "needs": ("tma", "warpgroup-mma"),
    "k_major": ("fp8",),
}
"""Of warp-specialised kernels, whose wgmma reads fp8 along K alone."""

KERNELS = (
    *(
        Kernel(_named(OWN, "naive", loads, False), (*SMALL, *MIDDLE, (128, 128, 1, 4), *LARGE))
        for loads in ("tma", "ptr")
    ),
    *(
        Kernel(_named(OWN, "persistent", loads), (*MIDDLE, *LARGE), c_part=1.0, one_wave=False)
        for loads in ("tma", "ptr")
    ),
    Kernel(_named(OWN, "persistent", subtiles=2), (*MIDDLE, *LARGE), c_part=0.5, one_wave=False),
    *(
        Kernel(_named(PLANNED, schedule, loads), SPLIT, c_part=1.0)
        for schedule in SPLITTING
        for loads in ("tma", "ptr")
    ),
    Kernel(
        _named("skinny", "naive", overlap=False),
        ((16, 64, 2, 4), (16, 64, 4, 4), (16, 128, 2, 4), (32, 64, 2, 4), (32, 64, 4, 4), (64, 64, 2, 4)),
        stages=(6, 10),
        needs=("tma",),
        rows=1,
    ),
    Kernel(_named("specialised", "persistent"), ROWS, c_part=0.5, **HOPPER),
    *(
        Kernel(
            _named("specialised", "persistent"),
            tiles,
            c_part=2 * PIECE / columns,
            groups=groups,
            **HOPPER,
        )
        for columns, narrow in BETWEEN.items()
        for groups, tiles in ((1, narrow), (3, ((192, columns, 1, 4),)))
    ),
    *(
        Kernel(
            _named("specialised", schedule),
            ((192, 128, 1, 4),),
            c_part=0.5,
            groups=3,
            **HOPPER,
        )
        for schedule in ("persistent", "stream-k", "stream-k-hybrid")
    ),
    *(
        Kernel(_named("specialised", schedule), ROWS, c_part=0.5, **HOPPER)
        for schedule in ("stream-k", "stream-k-hybrid")
    ),
    *(
        Kernel(_named("specialised", schedule), FEW_ROWS, c_part=1.0, rows=2, **HOPPER)
        for schedule in ("persistent", "stream-k", "stream-k-hybrid")
    ),
    Kernel(
        _named("ping-pong", "persistent"),
        ((64, 128, 1, 8), (128, 128, 1, 8)),
        c_part=1.0,
        one_wave=False,
        **HOPPER,
    ),
)
"""Every kernel that `matmul` may take."""
