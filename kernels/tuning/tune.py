"""tune: time many kernels for a shape, beside cuBLAS, and make the table that `matmul` chooses by."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from itertools import product
from typing import Any

from tilesim.choice.candidates import candidates
from tilesim.devices.device import Device
from tilesim.errors import TilesimError, shown
from tilesim.problems import Problem

from ..errors import KernelError
from ..launch.cublas import cublas
from ..launch.jobs import job
from ..launch.layouts import LAYOUTS
from ..launch.operands import Matrices, gpu_memory, matrices, sets_beyond_l2
from ..launch.variants import check, no_tma
from ..measure.machine import device as this_gpu
from ..measure.machine import facts
from ..measure.reference import gate
from ..measure.timing import REST, Rotation, capture, require_gpu, sample, spread, working_gpu
from .choice import Choice as Candidate
from .table import merged

CUBLAS = "cublas"
SCREENING, FINALISTS, WARMUP = 5, 6, 20
PROGRESS_UNITS = 100
"""Units of progress of each problem in each layout."""

METHOD = (
    "every candidate's C, poisoned with NaN, is compared with a float64 product of fresh random inputs; then"
    " {screening} samples of each, and {samples} of the best {finalists} and of cuBLAS in turns; a sample is"
    " the mean of a replay of a CUDA graph, one launch per operand set, the sets together over 3 times the"
    " L2; before each sample the L2 is filled with other data, after it the GPU rests {rest:g} times as long"
    " as it worked; us and cublas_us are medians"
)


def tune(
    *problems: Problem,
    layouts: Sequence[str] = ("nn",),
    samples: int = 100,
    seed: int = 0,
    top: int | None = None,
    table: dict[str, Any] | None = None,
    progress: Callable[[int], object] = lambda units: None,
) -> dict[str, Any]:
    """The fastest kernel for each problem in each layout: a table as tuning.table has it.

    `top`: time only so many kernels, those that the model of the machine ranks first; None: all that can run.
    `table`: an earlier one, whose rows for other products are kept. `progress` is called with how many more
    units are done, of PROGRESS_UNITS for each problem in each layout.

    Raises KernelError without an NVIDIA GPU, for a problem out of reach or that no candidate can compute, a
    table of another GPU, a wrong result, or a GPU that fails.
    """
    for problem in problems:
        check(replace(problem, tile=(16, 16, 16)))
    for layout in layouts:
        if layout not in LAYOUTS:
            raise KernelError(f"the layout is {shown(layout)}; it must be one of {', '.join(LAYOUTS)}")
    require_gpu()
    method = METHOD.format(screening=SCREENING, samples=samples, finalists=FINALISTS, rest=REST)
    made: dict[str, Any] = {"machine": facts(), "method": method, "rows": []}
    table = merged(table or made, made)
    for problem, layout in product(problems, layouts):
        with gpu_memory(problem), working_gpu():
            made["rows"].append(_row(problem, layout, samples, seed, top, progress))
    return merged(table, made)


def _row(
    problem: Problem, layout: str, samples: int, seed: int, top: int | None, progress: Callable[[int], object]
) -> dict[str, Any]:
    device = this_gpu(1)
    sets = [matrices(problem, "cuda", seed + i, layout) for i in range(sets_beyond_l2(problem))]
    loads = "ptr" if no_tma(problem, sets[0][:2]) else "tma"
    every = _tried(problem, device, layout, loads, top)
    screened: dict[Candidate, float] = {}
    for i, candidate in enumerate(every):
        try:
            rotation = _rotation(candidate, device, sets)
        except _CannotRun:
            rotation = None
        if rotation:
            screened[candidate] = spread(sample({"": rotation}, 1, SCREENING)[""])["us"]
        progress(PROGRESS_UNITS * (i + 1) // len(every) - PROGRESS_UNITS * i // len(every))
    if not screened:
        raise KernelError(f"none of {len(every)} kernels can compute {problem} on this GPU")
    finalists = sorted(screened, key=lambda candidate: screened[candidate])[:FINALISTS]
    rotations: dict[Any, Rotation] = {one: _rotation(one, device, sets) for one in finalists}
    if known := _cublas(problem, sets):
        rotations[CUBLAS] = known
    us = {name: spread(times)["us"] for name, times in sample(rotations, WARMUP, samples).items()}
    variant, tiled = min(finalists, key=lambda candidate: us[candidate])
    product_of = {"m": tiled.m, "n": tiled.n, "k": tiled.k, "dtype": tiled.dtype, "layout": layout}
    return {
        **product_of, "tile": list(tiled.tile), "order": tiled.order, **asdict(variant),
        "us": us[variant, tiled], "cublas_us": us.get(CUBLAS), "candidates": len(screened),
    }  # fmt: skip


def _tried(problem: Problem, device: Device, layout: str, loads: str, top: int | None) -> list[Candidate]:
    """All candidates, or those that the model ranks first."""
    if top is None:
        found = list(candidates(problem, device, layout, loads))
    else:
        from tilesim.choice.choose import choose  # matmul imports this module, and needs no model

        found = [one.candidate for one in choose(problem, device, layout, loads)[:top]]
    return [(one.variant, one.problem) for one in found]


class _CannotRun(Exception):
    """A candidate that this GPU has too few resources for, or that this Triton cannot compile."""


def _rotation(candidate: Candidate, device: Device, sets: Sequence[Matrices]) -> Rotation:
    """The rotation of a candidate that was found right; KernelError for a wrong result."""
    variant, tiled = candidate
    try:
        work = job(variant, tiled, device)
        launches = [work.launcher(operands) for operands in sets]
        launches[0]()
    except TilesimError:
        raise _CannotRun from None
    gate(f"{variant.name} in tiles of {'x'.join(map(str, tiled.tile))}", launches[0], tiled, sets[0])
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
