"""The kernels that can be chosen: a row for each, with the tiles that it comes in. A new kernel or tile is a row.

A tile of C is (tile_m, tile_n, warps). Its K-steps are so many bytes of a row of A: TMA swizzles 128 at a time.
"""

from dataclasses import dataclass
from typing import Any

from tilesim.variants import OWN, PLANNED, Variant

HALF = ("fp16", "bf16")
EVERY = (*HALF, "fp32", "tf32", "fp8")

LINE = 128
"""Bytes of a K-step in the width in which TMA swizzles."""

GROUPED = ("grouped:8",)
ORDERS = ("grouped:4", "grouped:8", "grouped:16")


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel under one schedule. `variant`: without warps and stages, which follow from the tile.

    `tiles`: (tile_m, tile_n, warps). `k_bytes`: what is tried for a K-step. `stages`: the fewest and the most
    that are of use. `c_parts`: of a tile of C, the part that lies in shared memory beside the stages, in
    halves, or in the quarters of ping-pong; 0 where it takes the place of stages that are done. `needs`:
    features of the device. `k_major`: dtypes whose operands it multiplies along K alone, so A row-major and B
    column-major. `covers_m`: one tile covers all of M. `one_wave`: of use where all tiles run at once, too.
    `residents`: thread blocks of 4 warps that it launches on an SM, at most; one that has a block for each tile
    launches all that fit.
    """

    variant: Variant
    tiles: tuple[tuple[int, int, int], ...]
    k_bytes: tuple[int, ...] = (LINE,)
    stages: tuple[int, ...] = (3, 6)
    c_parts: tuple[float, ...] = (0.0,)
    dtypes: tuple[str, ...] = EVERY
    needs: tuple[str, ...] = ()
    orders: tuple[str, ...] = GROUPED
    k_major: tuple[str, ...] = ()
    covers_m: bool = False
    one_wave: bool = True
    residents: int = 1


def _named(
    kernel: str, schedule: str, loads: str = "tma", overlap: bool = True, subtiles: int = 1
) -> Variant:
    return Variant(schedule, loads, overlap, 0, 0, kernel, subtiles)


SMALL = ((16, 16, 4), (16, 64, 4), (64, 16, 4), (32, 64, 4), (64, 32, 4))
MIDDLE = ((64, 64, 4), (64, 128, 4), (128, 64, 4), (128, 128, 4), (128, 128, 8), (64, 256, 8))
LARGE = ((128, 256, 8), (256, 128, 8))
WHOLE = ((64, 128, 4), (128, 64, 4), (128, 128, 8), (64, 256, 8), *LARGE)
SPLIT = ((64, 64, 4), (64, 128, 4), (128, 128, 8), (128, 256, 8))
HOPPER: dict[str, Any] = {
    "stages": (10,),
    "c_parts": (1.0,),
    "dtypes": (*HALF, "fp8"),
    "needs": ("tma", "warpgroup-mma"),
    "k_major": ("fp8",),
}
"""Of warp-specialised kernels, whose wgmma reads fp8 along K alone."""
SPLITTING = ("stream-k", "stream-k-hybrid", "split-k:2", "split-k:4", "split-k:8")

KERNELS = (
    *(Kernel(_named(OWN, "naive", loads, False), (*SMALL, *MIDDLE, *LARGE)) for loads in ("tma", "ptr")),
    *(
        Kernel(_named(OWN, "persistent", loads), WHOLE, c_parts=(1.0,), one_wave=False)
        for loads in ("tma", "ptr")
    ),
    Kernel(_named(OWN, "persistent", subtiles=2), WHOLE, c_parts=(0.5,), one_wave=False),
    *(
        Kernel(_named(PLANNED, schedule, loads), SPLIT, c_parts=(1.0,))
        for schedule in SPLITTING
        for loads in ("tma", "ptr")
    ),
    Kernel(
        _named("skinny", "naive", overlap=False),
        ((16, 64, 4), (16, 128, 4), (32, 64, 4), (64, 64, 4)),
        (2 * LINE, 4 * LINE),
        stages=(6, 10),
        needs=("tma",),
        covers_m=True,
    ),
    Kernel(
        _named("specialised", "persistent"),
        ((64, 64, 4), (64, 128, 4), (128, 64, 4), (64, 256, 4), (128, 128, 8), (128, 256, 8)),
        orders=ORDERS,
        residents=2,
        **(HOPPER | {"c_parts": (1.0, 0.5)}),
    ),
    *(
        Kernel(
            _named("specialised", schedule),
            ((64, 128, 4), (128, 128, 8), (128, 256, 8)),
            residents=2,
            **(HOPPER | {"c_parts": (1.0, 0.5)}),
        )
        for schedule in ("stream-k", "stream-k-hybrid")
    ),
    *(
        Kernel(
            _named("specialised", schedule),
            ((16, 64, 4), (16, 128, 4), (32, 64, 4), (32, 128, 4)),
            (LINE, 2 * LINE),
            covers_m=True,
            residents=2,
            **HOPPER,
        )
        for schedule in ("persistent", "stream-k")
    ),
    Kernel(
        _named("ping-pong", "persistent"),
        ((64, 128, 8), (128, 128, 8), (64, 256, 8)),
        orders=ORDERS,
        one_wave=False,
        **HOPPER,
    ),
)
"""Every kernel that `matmul` may take."""
