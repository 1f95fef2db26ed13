"""candidates: which kernels are worth timing for a problem."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from tilesim.devices import Device
from tilesim.problems import Problem

from ..launch.config import stages_that_fit
from ..launch.hopper import MOST_SUMS, ROOM, can_multiply
from ..launch.hopper import stages_that_fit as ring_that_fits
from ..launch.operands import DTYPES
from ..launch.variants import UNSTAMPED, VARIANTS, Variant, variant

SIDES = (16, 32, 64, 128, 256)
"""Of the tiles that are tried, in M and in N."""

LINE = 128
"""Bytes of a K-step, the width in which TMA swizzles a tile; SMALL tiles are tried with twice as many too."""

BIG_SIDE = 128
"""Tiles with a shorter side are tried where there are FEW waves of them, or the matrix is that narrow."""

SMALL = BIG_SIDE**2
"""Elements of C in a tile. Up to here, tiles leave room for deep K-steps."""

FEW = 4

STAGES = (3, 6)
ORDERS = ("grouped:8", "row-major")
MORE_ORDERS = ("grouped:4", "grouped:12")
"""For kernels that only Hopper runs, of which there are few."""

HOPPER_TILES = {
    "specialised": ((64, 128), (128, 64), (64, 256), (128, 128), (128, 256)),
    "ping-pong": ((64, 128), (128, 128), (64, 256)),
}
SKINNY_TILES = {16: (64, 128), 32: (64,), 64: (64,)}
"""Of skinny, whose tile_m covers all of M: what is tried for tile_n."""
PLANNED = {
    "stream-k": (0, 1, 4),
    "stream-k-hybrid": (1, 6, 4),
    "split-k:2": (0, 1 / 2, 4),
    "split-k:4": (0, 1 / 4, 8),
}
"""Schedules that cut tiles along K, where a part of a GPU would be idle else: with more than so many waves of
whole tiles, at most so many, and at least so many K-steps."""

COMPARED = ("persistent-ptr", "persistent-tma")
"""Kernels that exist to be compared with: the same with overlap does all that they do, and more at once."""

Candidate = tuple[Variant, Problem]


def candidates(
    problem: Problem, device: Device, loads: str = "tma", shared_bytes: int = ROOM
) -> Iterator[Candidate]:
    """What might be the fastest for a problem: (kernel, the problem with a tile and an order for it).

    Left out is what cannot fit: stages into `shared_bytes` of an SM, accumulators into registers; what is
    wasteful: tiles twice as large as the matrix, more stages than K-steps; and what comes to the same.

    >>> few = list(candidates(Problem(64, 64, 64), Device(132)))
    >>> sorted({cut.tile for _, cut in few}), sorted({what.name for what, _ in few})
    ([(64, 64, 64)], ['naive-tma'])
    """
    if loads == "tma":
        yield from _with_more(problem, device, shared_bytes)
    seen = set()
    for tile, order in product(_tiles(problem), ORDERS):
        cut = replace(problem, tile=tile, order=order)
        waves = cut.tiles / device.slots
        if waves <= 1 and order != ORDERS[-1]:
            continue  # all tiles run at once, in whatever order
        if waves > FEW and min(tile[:2]) < BIG_SIDE and max(SIDES) <= min(problem.m, problem.n):
            continue
        for what in _variants(cut, device, loads):
            warps = 8 if tile[0] * tile[1] >= SMALL else 4
            for stages in _stages(cut, what, shared_bytes):
                made = replace(what, warps=warps, stages=stages)
                fits = tile[0] * tile[1] <= MOST_SUMS * 32 * warps
                if fits and (made, cut) not in seen:
                    seen.add((made, cut))
                    yield made, cut


def _with_more(problem: Problem, device: Device, shared_bytes: int) -> Iterator[Candidate]:
    """Kernels with tiles of their own, each with as many stages as fit; of some every GPU but Hopper says
    that it cannot run them."""
    line = LINE // DTYPES[problem.dtype].itemsize
    for name, tiles in HOPPER_TILES.items():
        for (m, n), order in product(tiles, (*ORDERS, *MORE_ORDERS)):
            cut = replace(problem, tile=(m, n, line), order=order)
            few = cut.tiles <= device.slots  # all at once, in whatever order, with nobody to take turns with
            if few and (order != ORDERS[-1] or name == "ping-pong"):
                continue
            if m * n < SMALL and cut.tiles > FEW * device.slots:
                continue
            warps = 4 if name == "specialised" and m * n < SMALL else 8
            what = replace(UNSTAMPED[name], warps=warps)
            if can_multiply(what, cut) and m < 2 * problem.m and n < 2 * problem.n:
                most = min(ring_that_fits(what, cut, shared_bytes), cut.k_steps)
                for stages in {most, max(1, most - 1)}:  # one fewer may leave room for all of C
                    yield replace(what, stages=stages), cut
    what = UNSTAMPED["skinny"]
    for m, columns in SKINNY_TILES.items():
        if m // 2 < problem.m <= m:
            for n, k in product(columns, (2 * line, 4 * line)):
                cut = replace(problem, tile=(m, n, k), order=ORDERS[-1])
                if n < 2 * problem.n and k < 2 * problem.k:
                    yield replace(what, stages=_stages(cut, what, shared_bytes)[-1]), cut


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
        alone = what.schedule == "persistent" and waves <= 1  # then it is naive
        if what.loads == loads and what.name not in COMPARED and not alone:
            yield what
    for schedule, (fewest, most, steps) in PLANNED.items():
        if fewest < waves <= most and waves % 1 and problem.k_steps >= steps:
            yield variant(schedule, loads, True, 8, 3, "planned")


def _stages(problem: Problem, what: Variant, shared_bytes: int) -> list[int]:
    """How many K-steps the loads may run ahead; C of an overlapping kernel needs room beside them."""
    fit = stages_that_fit(problem, shared_bytes, what.parts if what.overlap else 0)
    most = min(fit, problem.k_steps)
    return sorted({min(most, stages) for stages in STAGES} - {0})
