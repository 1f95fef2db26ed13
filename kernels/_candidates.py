"""candidates: which kernels are worth timing for a problem."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from tilesim.devices import Device
from tilesim.problems import Problem

from ._inputs import DTYPES, RESULTS
from ._variants import VARIANTS, Variant, variant

SIDES = (16, 32, 64, 128, 256)
"""Of the tiles that are tried, in M and in N."""

LINE = 128
"""Bytes of a K-step, the width in which TMA swizzles a tile; SMALL tiles are tried with twice as many too."""

SMALL = 128 * 128
"""Elements of C in a tile. Up to here, tiles leave room for deep K-steps; smaller ones are tried where there
are FEW waves of them, since else larger ones load less for the same product."""

FEW = 4

STAGES = (3, 4, 6)
ORDERS = ("grouped:8", "row-major")
PLANNED = {
    "stream-k": (0, 1, 4),
    "stream-k-hybrid": (1, FEW, 4),
    "split-k:2": (0, 1 / 2, 4),
    "split-k:4": (0, 1 / 4, 8),
}
"""Schedules that cut tiles along K, where a part of a GPU would be idle else: with more than so many waves of
whole tiles, at most so many, and at least so many K-steps."""

COMPARED = ("persistent-ptr", "persistent-tma")
"""Kernels that exist to be compared with: the same with overlap does all that they do, and more at once."""

SHARED_BYTES = 227 * 1024
"""Of an SM of compute capability 9.0 for one thread block (CUDA C++ Programming Guide)."""

MOST_ACCUMULATORS, FEWEST_OF_8 = 128, 32
"""Of a thread: more do not fit into its 255 registers, and with fewer in 8 warps, 4 are enough."""

Candidate = tuple[Variant, Problem]


def candidates(
    problem: Problem, device: Device, loads: str = "tma", shared_bytes: int = SHARED_BYTES
) -> Iterator[Candidate]:
    """What might be the fastest for a problem: (kernel, the problem with a tile and an order for it).

    Left out is what cannot fit: stages into `shared_bytes` of an SM, accumulators into registers; what is
    wasteful: tiles twice as large as the matrix, more stages than K-steps; and what comes to the same.

    >>> few = list(candidates(Problem(64, 64, 64), Device(132)))
    >>> sorted({cut.tile for _, cut in few}), sorted({what.name for what, _ in few})
    ([(64, 64, 64)], ['naive-tma'])
    """
    seen = set()
    for tile, order in product(_tiles(problem), ORDERS):
        cut = replace(problem, tile=tile, order=order)
        waves = cut.tiles / device.slots
        if waves <= 1 and order != ORDERS[-1]:
            continue  # all tiles run at once, in whatever order
        if waves > FEW and tile[0] * tile[1] < SMALL and max(SIDES) <= min(problem.m, problem.n):
            continue
        for what in _variants(cut, device, loads):
            for warps, stages in product((4, 8), _stages(cut, what, shared_bytes)):
                accumulators = cut.tile_m * cut.tile_n // (32 * warps)
                made = replace(what, warps=warps, stages=stages)
                fits = accumulators <= MOST_ACCUMULATORS and (warps == 4 or accumulators >= FEWEST_OF_8)
                if fits and (made, cut) not in seen:
                    seen.add((made, cut))
                    yield made, cut


def _tiles(problem: Problem) -> Iterator[tuple[int, int, int]]:
    def sides(size: int) -> list[int]:
        return [side for side in SIDES if side < 2 * size and (side >= 64 or side >= size)] or [SIDES[0]]

    line = LINE // DTYPES[problem.dtype].itemsize
    steps = [k for k in (line, 2 * line) if k < 2 * problem.k] or [max(16, line // 4)]
    for m, n, k in product(sides(problem.m), sides(problem.n), steps):
        if k == steps[0] or m * n <= SMALL:
            yield m, n, k


def _variants(problem: Problem, device: Device, loads: str) -> Iterator[Variant]:
    """Every kernel of VARIANTS that has something to do here, and plans that cut tiles."""
    waves = problem.tiles / device.slots
    for what in VARIANTS.values():
        is_naive = (what.schedule, what.kernel) == ("persistent", "own") and waves <= 1
        if what.loads == loads and what.name not in COMPARED and not is_naive:
            yield what
    for schedule, (fewest, most, steps) in PLANNED.items():
        if fewest < waves <= most and waves % 1 and problem.k_steps >= steps:
            yield variant(schedule, loads, True, 8, 3, "planned")


def _stages(problem: Problem, what: Variant, shared_bytes: int) -> list[int]:
    """How many K-steps the loads may run ahead; C of an overlapping kernel needs room beside them."""
    itemsize = DTYPES[problem.dtype].itemsize
    stage = (problem.tile_m + problem.tile_n) * problem.tile_k * itemsize
    c = problem.tile_m * problem.tile_n * RESULTS[problem.dtype].itemsize if what.overlap else 0
    most = min((shared_bytes - c) // stage, problem.k_steps)
    return [stages for stages in STAGES if stages <= most] or ([most] if most > 0 else [])
