"""candidates: which kernels can compute a product on a device at all, each in the tiles that suit it."""

from collections.abc import Iterator
from dataclasses import replace

from tilesim.devices.device import Device
from tilesim.gemm import LINE, Tilings, kernels
from tilesim.gemm.fit import SHORTEST, Limits, limits_of, residents, stages_that_fit
from tilesim.gemm.warp_specialized import MAX_ACCUMULATORS
from tilesim.kernel_config import KernelConfig
from tilesim.problems import MAX_TILES, Problem
from tilesim.products import Product
from tilesim.text import name_and_numbers

ORDER = "grouped:8"
"""Of all tiles. On an H200 groups of 4 were faster in few products, and the model can't tell in which."""
FULL_SIDE = 64
"""Tiles with a shorter side are for matrices that are as narrow: a wgmma has 64 rows."""
BIG_SIDE, FEW = 128, 4
"""Where there are more than FEW waves of tiles, one with a side below BIG_SIDE asks for too many bytes."""


def candidates(product: Product, device: Device, loads: str = "") -> Iterator[KernelConfig]:
    """The configurations that might be the fastest for a product.

    `loads`: "tma" or "ptr"; by default TMA if rows are aligned for it and the device has it. Left out is what
    does not fit or comes to the same, tiles twice as large as the matrix, and more stages than K-steps.
    """
    limits = limits_of(device.name)
    loads = loads or ("tma" if "tma" in limits.features and not product.misaligned else "ptr")
    seen = set()
    for name, kernel in kernels().items():
        along_k = product.dtype not in kernel.along_k or product.layout == "nt"
        suits = along_k and product.dtype in kernel.dtypes and set(kernel.features) <= set(limits.features)
        for tilings in kernel.tilings if suits else ():
            for one in _tiles(name, tilings, product) if tilings.loads == loads else ():
                for made in _scheduled(one, tilings, product, device, limits):
                    if made not in seen:
                        seen.add(made)
                        yield made


def _tiles(name: str, tilings: Tilings, product: Product) -> Iterator[KernelConfig]:
    """The configurations of `tilings` whose tile is not wasteful for a product, with stages still to come."""
    sizes = product.m, product.n, product.k
    for m, n, lines, warps in tilings.tiles:
        k = lines * LINE // product.operand_bytes
        if k >= 2 * product.k:
            if lines > 1:
                continue
            k = max(SHORTEST, k // 4)
        rows, columns, steps = (-(-size // side) for size, side in zip(sizes, (m, n, k), strict=True))
        one = KernelConfig(
            name, tilings.schedule, (m, n, k), ORDER, warps, 0, tilings.loads, tilings.overlap,
            tilings.epilogue_subtiles,
        )  # fmt: skip
        sums = MAX_ACCUMULATORS * 32 * warps * kernels()[name].groups(one)
        fits = m * n <= sums and rows * columns <= MAX_TILES and steps < MAX_TILES
        narrow = tilings.rows < MAX_TILES
        if fits and rows <= tilings.rows and _reasonable(m, product.m, narrow) and _reasonable(n, product.n):
            yield one


def _reasonable(side: int, size: int, made_for_narrow: bool = False) -> bool:
    """Whether a tile's side wastes less than half of itself, and is long or made for a matrix so narrow."""
    narrow = side >= FULL_SIDE or side >= size or made_for_narrow
    return side == SHORTEST >= size or (side < 2 * size and narrow)


def _scheduled(
    one: KernelConfig, tilings: Tilings, product: Product, device: Device, limits: Limits
) -> Iterator[KernelConfig]:
    free, tiled = device.sms - device.busy_sms, one.problem(product)
    waves = tiled.tiles / free
    if waves <= 1 and not tilings.one_wave:
        return
    if waves > FEW and min(tiled.tile[:2]) < BIG_SIDE and min(tiled.m, tiled.n) >= 2 * BIG_SIDE:
        return
    fit = stages_that_fit(one, product, limits.shared_bytes())
    for stages in sorted({min(most, fit, tiled.k_steps) for most in tilings.stages} - {0}):
        made = replace(one, stages=stages)
        if residents(made, product, device):
            for schedule in schedules(one.schedule, tiled, free):
                yield replace(made, schedule=schedule)


MOST_SPLIT_WAVES = 8
"""With more waves the last one is too small a part to be worth splitting."""
FEWEST_STEPS = 4
"""K-steps of a thread block that shares a tile, at least."""


def schedules(schedule: str, tiled: Problem, slots: int) -> list[str]:
    """The schedules under `schedule` that differ on so many slots: tiles are split where slots are idle."""
    tiles, steps = tiled.tiles, tiled.k_steps
    name, parts = name_and_numbers(schedule)
    if name == "stream-k":
        each = slots // tiles
        counts = dict.fromkeys((slots, each * tiles, each // 2 * tiles))
        return [f"{name}:{ctas}" for ctas in counts if ctas > tiles and tiles * steps >= FEWEST_STEPS * ctas]
    if name == "stream-k-hybrid":
        useful = slots < tiles < MOST_SPLIT_WAVES * slots and tiles % slots
        return [schedule] if useful and steps >= FEWEST_STEPS else []
    if name == "split-k":
        return [schedule] if tiles * parts[0] <= slots and steps >= FEWEST_STEPS * parts[0] else []
    return [schedule]
