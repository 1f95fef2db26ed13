"""The rules of the kernels that multiply matrices: what each can compute, and what it needs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from tilesim.errors import KernelConfigError, unknown
from tilesim.kernel_config import KernelConfig
from tilesim.problems import MAX_TILES
from tilesim.products import Product

HALF = ("fp16", "bf16")
DTYPES = (*HALF, "fp32", "tf32", "fp8")
"""What Triton multiplies here."""
LINE = 128
"""Bytes of a K-step in the width in which TMA swizzles."""


def operands_in_stages(config: KernelConfig, product: Product) -> int:
    m, n, k = config.tile
    return config.stages * (m + n) * k * product.operand_bytes


def tile_bytes(config: KernelConfig, product: Product) -> int:
    m, n, _ = config.tile
    return m * n * product.result_bytes


def beside_stages(config: KernelConfig, product: Product) -> int:
    """Of kernels that load the next tile while they write one, so that C has memory of its own."""
    return operands_in_stages(config, product) + tile_bytes(config, product) // config.epilogue_subtiles


@dataclass(frozen=True, slots=True)
class Tilings:
    """Configurations of a kernel that `tilesim.choice` tries under one schedule.

    `tiles`: (tile_m, tile_n, lines, warps), where tile_k is so many lines of LINE bytes. `stages`: the most
    that are tried, each as far as shared memory goes. `rows`: of tiles, at most. `one_wave`: whether they are
    of use where all tiles run at once.
    """

    schedule: str
    tiles: tuple[tuple[int, int, int, int], ...]
    loads: str = "tma"
    overlap: bool = True
    epilogue_subtiles: int = 1
    stages: tuple[int, ...] = (3, 6)
    rows: int = MAX_TILES
    one_wave: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """What a kernel can do.

    `why_not(config, product)`: a sentence that says why it cannot compute the product so, "" if it can,
    beside what holds for every kernel (see tilesim.gemm.fit). `shared_bytes(config, product)`: of a thread
    block, without barriers; by default C takes the place of stages that are done. `schedules`: names of those
    that it runs, () for all. `warps` and `stages`: its defaults, None if they follow from the tile.
    `features`: of the device, which it needs. `dtypes`: that it multiplies, of which those in `along_k` only
    if A is row-major and B column-major. `odd_sides`: tile_m and tile_n that it can have though they are no
    powers of two. `groups(config)`: of `warps` warps each, which share a tile. `warp_specialized`: whether
    its warps have roles, with programmatic dependent launch where that pays. `recordable`: whether it writes
    time stamps. `tilings`: worth trying.
    """

    why_not: Callable[[KernelConfig, Product], str] = lambda config, product: ""
    shared_bytes: Callable[[KernelConfig, Product], int] = operands_in_stages
    schedules: tuple[str, ...] = ()
    warps: int | None = None
    stages: int | None = None
    loads: str = "tma"
    overlap: bool = False
    features: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = DTYPES
    along_k: tuple[str, ...] = ()
    odd_sides: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    groups: Callable[[KernelConfig], int] = lambda config: 1
    warp_specialized: bool = False
    recordable: bool = False
    tilings: tuple[Tilings, ...] = ()


@cache
def kernels() -> Mapping[str, Kernel]:
    """Those in KERNELS of the modules here, by their names."""
    modules = [import_module(f"{__name__}.{name}") for _, name, _ in iter_modules(__path__)]
    every = [each for module in modules for each in getattr(module, "KERNELS", {}).items()]
    return dict(sorted(every))


def kernel_of(config: KernelConfig) -> Kernel:
    """The kernel of a configuration; raises KernelConfigError if there is none of that name."""
    if config.kernel not in kernels():
        raise KernelConfigError(unknown("kernel", config.kernel, kernels()))
    return kernels()[config.kernel]
