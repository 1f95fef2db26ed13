"""candidates: which kernels are worth timing for a problem."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from tilesim.devices.device import Device
from tilesim.problems import Problem
from tilesim.variants import Variant

from ..launch.config import stages_that_fit
from ..launch.hopper import HALF_SM, MAX_ACCUMULATORS, SMEM_BYTES, can_multiply, groups, swapped
from ..launch.hopper import stages_that_fit as hopper_stages_that_fit
from ..launch.operands import DTYPES
from ..launch.variants import UNSTAMPED, VARIANTS, checked_variant

SIDES = (16, 32, 64, 128, 256)
"""Of the tiles that are tried, in M and in N."""

LINE = 128
"""Bytes of a K-step, the width in which TMA swizzles a tile; SMALL tiles are tried with twice as many too."""

BIG_SIDE = 128
"""Tiles with a shorter side are tried where there are FEW waves of them, or the matrix is that narrow."""

SMALL = BIG_SIDE**2
"""Elements of C in a tile. Up to here, tiles leave shared memory for long K-steps."""

FEW = 4

MOST_SPLIT_WAVES = 8
"""With more waves the last one is too small a part to be worth splitting."""

MAX_HOPPER_STAGES = 12
"""Of the kernels that only Hopper runs: small tiles keep enough bytes in flight with many."""

STAGES = (3, 6)
ORDERS = ("grouped:8", "row-major")
MORE_ORDERS = ("grouped:4", "grouped:12")
"""For kernels that only Hopper runs, of which there are few."""

HOPPER_TILES = {
    "specialised": (
        (16, 64, 4), (16, 128, 1), (32, 64, 2), (32, 128, 1), (32, 256, 1), (64, 64, 2),
        (64, 128, 1), (128, 64, 1), (64, 256, 1), (128, 128, 1), (192, 128, 1), (128, 256, 1), (256, 128, 1),
    ),
    "ping-pong": ((64, 128, 1), (128, 128, 1)),
}  # fmt: skip
"""tile_m, tile_n, and tile_k in LINEs: each was the fastest of all for some shape."""

SKINNY_TILES = {16: (64, 128), 32: (64,), 64: (64,)}
"""Of skinny, whose tile_m covers all of M: what is tried for tile_n."""
SPLITTING = {
    "stream-k": (0, 1, 4),
    "stream-k-hybrid": (1, 6, 4),
    "split-k:2": (0, 1 / 2, 4),
    "split-k:4": (0, 1 / 4, 8),
}
"""Schedules that split tiles along K, for products that leave SMs idle: (waves of whole tiles above, and at
most, K-steps at least)."""

COMPARED = ("persistent-ptr", "persistent-tma")
"""Kernels that exist for comparison: with overlap they do the same work, more of it at once."""

Candidate = tuple[Variant, Problem]


def candidates(
    problem: Problem, device: Device, loads: str = "tma", smem_bytes: int = SMEM_BYTES
) -> Iterator[Candidate]:
    """What might be the fastest for a problem: (kernel, the problem with a tile and an order for it).

    Left out is what cannot fit: stages into `smem_bytes` of an SM, accumulators into registers; what is
    wasteful: tiles twice as large as the matrix, more stages than K-steps; and what comes to the same.

    >>> few = list(candidates(Problem(64, 64, 64), Device(132)))
    >>> sorted({tiled.tile for _, tiled in few}), sorted({variant.name for variant, _ in few})
    ([(64, 64, 64)], ['naive-tma'])
    """
    if loads == "tma":
        yield from _with_more(problem, device, smem_bytes)
    seen = set()
    for tile, order in product(_tiles(problem), ORDERS):
        tiled = replace(problem, tile=tile, order=order)
        waves = tiled.tiles / device.slots
        if waves <= 1 and order != ORDERS[-1]:
            continue  # all tiles run at once, whatever the order
        if waves > FEW and min(tile[:2]) < BIG_SIDE and max(SIDES) <= min(problem.m, problem.n):
            continue
        for variant in _variants(tiled, device, loads):
            warps = 8 if tile[0] * tile[1] >= SMALL else 4
            for stages in _stages(tiled, variant, smem_bytes):
                made = replace(variant, warps=warps, stages=stages)
                fits = tile[0] * tile[1] <= MAX_ACCUMULATORS * 32 * warps
                if fits and (made, tiled) not in seen:
                    seen.add((made, tiled))
                    yield made, tiled


def _with_more(problem: Problem, device: Device, smem_bytes: int) -> Iterator[Candidate]:
    """Kernels with tiles of their own, with as many stages as fit; some need a Hopper GPU."""
    width = LINE // DTYPES[problem.dtype].itemsize
    for name, tiles in HOPPER_TILES.items():
        for (m, n, lines), order in product(tiles, (*ORDERS, *MORE_ORDERS)):
            tiled = replace(problem, tile=(m, n, lines * width), order=order)
            one_wave = tiled.tiles <= device.slots  # then order and ping-pong change nothing
            if one_wave and (order != ORDERS[-1] or name == "ping-pong"):
                continue
            if m * n < SMALL and tiled.tiles > FEW * device.slots:
                continue
            if (m >= 2 * problem.m and m > SIDES[0]) or n >= 2 * problem.n or lines * width >= 2 * problem.k:
                continue
            if swapped(tiled) and m < problem.m:
                continue  # they are for products whose rows are one row of tiles
            for variant in _of_hopper(name, tiled, device, order == ORDERS[one_wave]):
                most = min(
                    hopper_stages_that_fit(variant, tiled, smem_bytes), tiled.k_steps, MAX_HOPPER_STAGES
                )
                two = hopper_stages_that_fit(variant, tiled, min(HALF_SM, smem_bytes))
                fewer = two if swapped(tiled) else most - 1  # room for two blocks on an SM, or for all of C
                for stages in {most, min(most, fewer)} - {0}:
                    yield replace(variant, stages=stages), tiled
    variant = UNSTAMPED["skinny"]
    for m, columns in SKINNY_TILES.items():
        if m // 2 < problem.m <= m:
            for n, k in product(columns, (2 * width, 4 * width)):
                tiled = replace(problem, tile=(m, n, k), order=ORDERS[-1])
                if n < 2 * problem.n and k < 2 * problem.k:
                    yield replace(variant, stages=_stages(tiled, variant, smem_bytes)[-1]), tiled


def _of_hopper(name: str, problem: Problem, device: Device, split: bool) -> Iterator[Variant]:
    """A kernel with the warps that a tile asks for; with `split` in each schedule that makes a difference."""
    small = problem.tile_m * problem.tile_n <= SMALL or groups(problem) > 1
    warps = 4 if name == "specialised" and small else 8
    variant = replace(UNSTAMPED[name], warps=warps)
    if not can_multiply(variant, problem):
        return
    yield variant
    if not split or name != "specialised" or problem.k_steps < FEW:
        return
    tiles, slots = problem.tiles, device.slots
    if tiles > slots and tiles % slots and tiles < MOST_SPLIT_WAVES * slots:
        yield replace(variant, schedule="stream-k-hybrid")
    if tiles < slots <= tiles * problem.k_steps:
        for ctas in {slots, slots // tiles * tiles} - {tiles}:
            yield replace(variant, schedule=f"stream-k:{ctas}")


def _tiles(problem: Problem) -> Iterator[tuple[int, int, int]]:
    def sides(size: int) -> list[int]:
        return [side for side in SIDES if side < 2 * size and (side >= 64 or side >= size)] or [SIDES[0]]

    width = LINE // DTYPES[problem.dtype].itemsize
    steps = [k for k in (width, 2 * width) if k < 2 * problem.k] or [max(16, width // 4)]
    for m, n, k in product(sides(problem.m), sides(problem.n), steps):
        if k == steps[0] or m * n <= SMALL:
            yield m, n, k


def _variants(problem: Problem, device: Device, loads: str) -> Iterator[Variant]:
    """Every kernel of VARIANTS that makes a difference here, and plans that split tiles."""
    waves = problem.tiles / device.slots
    for variant in VARIANTS.values():
        alone = variant.schedule == "persistent" and waves <= 1  # then it is naive
        if variant.loads == loads and variant.name not in COMPARED and not alone:
            yield variant
    for schedule, (fewest, most, steps) in SPLITTING.items():
        if fewest < waves <= most and waves % 1 and problem.k_steps >= steps:
            yield checked_variant(schedule, loads, True, 8, 3, "planned")


def _stages(problem: Problem, variant: Variant, smem_bytes: int) -> list[int]:
    """How many K-steps the loads may run ahead; C needs memory beside them if writing overlaps."""
    fit = stages_that_fit(problem, smem_bytes, variant.epilogue_subtiles if variant.overlap else 0)
    most = min(fit, problem.k_steps)
    return sorted({min(most, stages) for stages in STAGES} - {0})
