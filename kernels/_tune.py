"""tune: which of many kernels is the fastest for a shape, beside cuBLAS, for `matmul` to choose by."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import product
from typing import Any

import torch

from tilesim.devices import Device
from tilesim.errors import TilesimError
from tilesim.problems import Problem

from ._cublas import cublas
from ._errors import KernelError
from ._hopper import can_multiply, stages_that_fit
from ._inputs import DTYPES, RESULTS, Matrices, gpu_memory, matrices, sets_beyond_l2
from ._launch import job
from ._layouts import LAYOUTS
from ._machine import device as this_gpu
from ._machine import facts
from ._reference import gate
from ._timing import REST, Rotation, capture, require_gpu, sample, spread, working_gpu
from ._tuned import merged
from ._variants import UNSTAMPED, VARIANTS, Variant, check, no_tma, variant

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

SHARED_BYTES = 227 * 1024
"""Of an SM of compute capability 9.0 for one thread block (CUDA C++ Programming Guide)."""

MOST_ACCUMULATORS = 128
"""Of a thread: more do not fit into its 255 registers."""

CUBLAS = "cublas"
SCREENING, FINALISTS, WARMUP = 5, 6, 20
PARTS = 100
"""Into so many steps a product's progress is told."""

METHOD = (
    "every candidate's C, poisoned with NaN, is compared with a float64 product of fresh random inputs; then"
    " {screening} samples of each, and {samples} of the best {finalists} and of cuBLAS in turns; a sample is"
    " the mean of a replay of a CUDA graph, one launch per operand set, the sets together over 3 times the"
    " L2; before each sample the L2 is filled with other data, after it the GPU rests {rest:g} times as long"
    " as it worked; us and cublas_us are medians"
)

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
                fits = tile[0] * tile[1] <= MOST_ACCUMULATORS * 32 * warps
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
                most = min(stages_that_fit(what, cut, shared_bytes), cut.k_steps)
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
    itemsize = DTYPES[problem.dtype].itemsize
    stage = (problem.tile_m + problem.tile_n) * problem.tile_k * itemsize
    c = problem.tile_m * problem.tile_n * RESULTS[problem.dtype].itemsize // what.parts if what.overlap else 0
    most = max(0, min((shared_bytes - c) // stage, problem.k_steps))
    return sorted({min(most, stages) for stages in STAGES} - {0})


def tune(
    *problems: Problem,
    layouts: Sequence[str] = ("nn",),
    samples: int = 100,
    seed: int = 0,
    table: dict[str, Any] | None = None,
    progress: Callable[[int], object] = lambda parts: None,
) -> dict[str, Any]:
    """The fastest kernel for each problem in each layout: a table as _tuned has it.

    `table`: an earlier one, whose rows for other products are kept. `progress` is told how many more of PARTS
    parts are done; each problem in each layout has so many.

    Raises KernelError without an NVIDIA GPU, for a problem out of reach or that no candidate can compute, a
    table of another GPU, a wrong result, or a GPU that fails.
    """
    for problem in problems:
        check(replace(problem, tile=(16, 16, 16)))
    for layout in layouts:
        if layout not in LAYOUTS:
            raise KernelError(f"the layout is {layout!r}; it must be one of {', '.join(LAYOUTS)}")
    require_gpu()
    method = METHOD.format(screening=SCREENING, samples=samples, finalists=FINALISTS, rest=REST)
    made: dict[str, Any] = {"machine": facts(), "method": method, "rows": []}
    table = merged(table or made, made)
    for problem, layout in product(problems, layouts):
        with gpu_memory(problem), working_gpu():
            made["rows"].append(_row(problem, layout, samples, seed, progress))
    return merged(table, made)


def _row(
    problem: Problem, layout: str, samples: int, seed: int, progress: Callable[[int], object]
) -> dict[str, Any]:
    device, shared = this_gpu(1), torch.cuda.get_device_properties().shared_memory_per_block_optin
    sets = [matrices(problem, "cuda", seed + i, layout) for i in range(sets_beyond_l2(problem))]
    loads = "ptr" if no_tma(problem, sets[0][:2]) else "tma"
    every = list(candidates(problem, device, loads, shared))
    screened: dict[Candidate, float] = {}
    for i, candidate in enumerate(every):
        try:
            rotation = _rotation(candidate, device, sets)
        except _CannotRun:
            rotation = None
        if rotation:
            screened[candidate] = spread(sample({"": rotation}, 1, SCREENING)[""])["us"]
        progress(PARTS * (i + 1) // len(every) - PARTS * i // len(every))
    if not screened:
        raise KernelError(f"none of {len(every)} kernels can compute {problem} on this GPU")
    finalists = sorted(screened, key=lambda candidate: screened[candidate])[:FINALISTS]
    rotations: dict[Any, Rotation] = {one: _rotation(one, device, sets) for one in finalists}
    if known := _cublas(problem, sets):
        rotations[CUBLAS] = known
    us = {name: spread(times)["us"] for name, times in sample(rotations, WARMUP, samples).items()}
    what, cut = min(finalists, key=lambda candidate: us[candidate])
    product_of = {"m": cut.m, "n": cut.n, "k": cut.k, "dtype": cut.dtype, "layout": layout}
    return {
        **product_of, "tile": list(cut.tile), "order": cut.order, **asdict(what),
        "us": us[what, cut], "cublas_us": us.get(CUBLAS), "candidates": len(screened),
    }  # fmt: skip


class _CannotRun(Exception):
    """A candidate that this GPU has not the resources for, or Triton not the means."""


def _rotation(candidate: Candidate, device: Device, sets: Sequence[Matrices]) -> Rotation:
    """The rotation of a candidate that was found right; KernelError for a wrong result."""
    what, cut = candidate
    try:
        work = job(what, cut, device)
        launches = [work.launcher(operands) for operands in sets]
        launches[0]()
    except TilesimError:
        raise _CannotRun from None
    gate(f"{what.name} in tiles of {'x'.join(map(str, cut.tile))}", launches[0], cut, sets[0])
    work.check()
    return Rotation(capture(launches), launches)


def _cublas(problem: Problem, sets: Iterable[Matrices]) -> Rotation | None:
    """cuBLAS with the same operands, None where it cannot multiply them."""
    launches = [cublas(problem.dtype, operands) for operands in sets]
    try:
        launches[0]()
    except RuntimeError:
        return None
    return Rotation(capture(launches), launches)
