"""Persistent kernels in which one warp loads and the others multiply: warp-specialized, a tile together
(CUTLASS: cooperative), and ping-pong, in two groups that multiply different tiles in turns.

In warp-specialized, tiles with fewer rows than a wgmma are computed transposed (SWAP). Tiles of 192 rows have
three groups of consumers, and tiles whose width is no power of two are summed in two parts.
"""

from typing import Any

from tilesim.gemm import HALF, Kernel, Tilings, beside_stages, operands_in_stages, tile_bytes
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product

WGMMA_M = 64
"""Rows of a wgmma's accumulator, over the warps of a warpgroup."""
MAX_WGMMA_N = 256
"""Columns of a wgmma's accumulator (PTX ISA 9.0, section 9.7.15)."""
WARPGROUP_WARPS = 4
"""Warps of a warpgroup; each holds 16 rows of a wgmma's accumulator (PTX ISA 9.0, section 9.7.15)."""
THREE_GROUPS = 192
"""The one tile_m that is no power of two: the rows of a wgmma for each of three groups."""
MAX_GROUP_N = 192
"""Columns of tiles that three groups sum, whose threads have fewer registers."""
BETWEEN = {96: ((64, 96, 1, 4),), 160: (), 192: ((64, 192, 1, 4), (128, 192, 1, 8))}
"""Tiles whose columns lie between two powers of two, by columns."""
SUBTILES = 4
"""Into which each group of ping-pong divides the tile that it writes; as many are on their way at a time."""
PIECE = 32
"""Columns of tiles in BETWEEN that are stored at a time."""
MAX_ACCUMULATORS = 128
"""fp32 accumulators of a thread; with more, an epilogue runs out of registers."""
SCHEDULES = ("persistent", "stream-k", "stream-k-hybrid")

ROWS = (
    (64, 64, 2, 4), (64, 128, 1, 4), (64, 256, 1, 4), (128, 64, 1, 4), (128, 128, 1, 4), (128, 128, 1, 8),
    (128, 256, 1, 8), (256, 128, 1, 8), (192, 128, 1, 4),
)  # fmt: skip
FEW_ROWS = (
    (16, 64, 2, 4), (16, 64, 4, 4), (16, 128, 1, 4), (16, 128, 2, 4),
    (32, 64, 2, 4), (32, 128, 1, 4), (32, 128, 2, 4), (32, 256, 1, 8),
)  # fmt: skip
STAGES = (12,)


def swap_ab(tile: tuple[int, int, int]) -> bool:
    """Whether the transposed tile is computed: it has fewer rows than a wgmma."""
    return tile[0] < WGMMA_M


def groups(config: KernelConfig) -> int:
    """Consumer groups, each with rows of the tile of its own."""
    return 3 if config.tile[0] == THREE_GROUPS else 1


def rest(tile: tuple[int, int, int]) -> int:
    """Columns of a tile beyond the largest power of two, which are summed by themselves."""
    return tile[1] - (1 << tile[1].bit_length() - 1)


def subtiles(config: KernelConfig, product: Product, available: int) -> int:
    """Epilogue subtiles of a tile: as few as fit into `available` bytes beside the stages."""
    if swap_ab(config.tile):
        return 1
    if rest(config.tile):
        return config.tile[1] // PIECE
    return 1 if operands_in_stages(config, product) + tile_bytes(config, product) <= available else 2


def shared_bytes(config: KernelConfig, product: Product) -> int:
    """With as many subtiles as there can be; two of a tile in pieces are on their way at a time."""
    at_once = 2 if rest(config.tile) else 1
    written = at_once * tile_bytes(config, product) // subtiles(config, product, 0)
    return operands_in_stages(config, product) + written


def why_not(config: KernelConfig, product: Product) -> str:
    """What wgmma, registers and the schedule allow."""
    n = config.tile[1]
    if config.schedule.startswith("stream-k-hybrid:") and config.schedule != "stream-k-hybrid:2":
        return f"{config.kernel} runs stream-k-hybrid:2 alone of its kind; the schedule is {config.schedule}"
    if config.warps not in (4, 8):
        return f"{config.kernel} has {config.warps} multiplying warps; it must be 4 or 8"
    swap = swap_ab(config.tile)
    if rest(config.tile) and (swap or config.schedule != "persistent"):
        return f"tile_n is {n}, which {config.kernel} has under persistent alone, in tiles of 64 rows or more"
    if groups(config) == 3:
        if config.warps != 4 or not 64 <= n <= MAX_GROUP_N:
            return (
                f"{config.kernel} sums tiles of {THREE_GROUPS} rows by three groups of 4 warps, with tile_n"
                f" 64 to {MAX_GROUP_N}; this one has {config.warps} warps and tile_n {n}"
            )
        return ""
    return why_not_wgmma(config, config.warps, 16, swap)


def why_not_wgmma(config: KernelConfig, warps: int, least: int, swap: bool = False) -> str:
    """Why so many warps cannot sum a tile together, which has at least so many columns; "" if they can."""
    m, n, _ = config.tile
    rows, columns = (n, m) if swap else (m, n)
    most = MAX_ACCUMULATORS * 32 * warps
    if rows % (16 * warps) == 0 and least <= columns <= MAX_WGMMA_N and m * n <= most:
        return ""
    one, other = ("tile_n", "tile_m") if swap else ("tile_m", "tile_n")
    return (
        f"{config.kernel} with {config.warps} warps cannot sum tiles of {m}x{n}; {one} must be a multiple of"
        f" {16 * warps}, {other} {least} to {MAX_WGMMA_N}, and a tile has at most {most} elements"
    )


def why_no_ping_pong(config: KernelConfig, product: Product) -> str:
    """Each group is one warpgroup, which sums a tile by itself."""
    if config.warps != 2 * WARPGROUP_WARPS:
        return f"{config.kernel} has {config.warps} multiplying warps; it must be 8, four in each group"
    return why_not_wgmma(config, WARPGROUP_WARPS, 64)


HOPPER: dict[str, Any] = {
    "overlap": True,
    "features": ("tma", "warpgroup-mma"),
    "dtypes": (*HALF, "fp8"),
    "along_k": ("fp8",),
    "warp_specialized": True,
}
"""What kernels share whose warps have roles: their wgmma reads fp8 along K alone."""

KERNELS = {
    "warp-specialized": Kernel(
        why_not=why_not,
        shared_bytes=shared_bytes,
        schedules=SCHEDULES,
        warps=8,
        stages=4,
        odd_sides=((THREE_GROUPS,), tuple(BETWEEN)),
        groups=groups,
        tilings=(
            *(Tilings(schedule, ROWS, stages=STAGES) for schedule in SCHEDULES),
            *(Tilings(schedule, FEW_ROWS, stages=STAGES, rows=2) for schedule in SCHEDULES),
            *(
                Tilings("persistent", (*tiles, (THREE_GROUPS, columns, 1, 4)), stages=STAGES)
                for columns, tiles in BETWEEN.items()
            ),
        ),
        **HOPPER,
    ),
    "ping-pong": Kernel(
        why_not=why_no_ping_pong,
        shared_bytes=beside_stages,
        schedules=("persistent",),
        warps=8,
        stages=6,
        tilings=(Tilings("persistent", ((64, 128, 1, 8), (128, 128, 1, 8)), stages=STAGES, one_wave=False),),
        **HOPPER,
    ),
}
