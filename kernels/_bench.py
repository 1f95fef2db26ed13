"""bench: kernel times of every variant beside cuBLAS, of correct kernels only."""

from collections.abc import Iterable
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from tilesim.errors import unknown
from tilesim.problems import Problem

from ._cublas import cublas
from ._errors import KernelError
from ._inputs import gpu_memory, matrices, sets_beyond_l2
from ._launch import Job, job
from ._machine import device, facts
from ._reference import gate
from ._timing import REST, Rotation, capture, require_gpu, sample, spread, working_gpu
from ._variants import VARIANTS, Variant, check, on_this_machine, variant

CUBLAS = "cublas"
KERNELS = (*VARIANTS, CUBLAS)
"""What bench times where nothing else is asked for: six Triton kernels, and cuBLAS through torch.mm."""

PLANNED = "planned:"
"""Before a schedule's name: that schedule's plan, executed by the kernel `planned`."""

METHOD = (
    "CUDA graph of one launch per operand set, the sets together over 3 times the L2; a sample is the mean of"
    " one replay; kernels take turns; before each sample the L2 is filled with other data, after it the GPU"
    " rests {rest:g} times as long as it worked; before any timing each kernel's C, poisoned with NaN, is"
    " compared with a float64 product of fresh random inputs"
)


def bench(
    *problems: Problem,
    kernels: Iterable[str] = KERNELS,
    warps: int = 8,
    stages: int = 3,
    ctas_per_sm: int = 1,
    warmup: int = 30,
    samples: int = 100,
    seed: int = 0,
) -> dict[str, Any]:
    """Time `kernels` on `problems`, in JSON values: "machine" (see facts), "method" and "rows".

    A kernel is one of KERNELS, or planned:SCHEDULE, such as planned:stream-k:108, with TMA loads and overlap.
    `ctas_per_sm`: thread blocks per SM that the schedules count on.

    A row per problem and kernel has m, n, k, tile, dtype, order, kernel; us (the median kernel time), p20,
    p80 in µs; tflops; relative_error; samples, and launches per sample; for a Triton kernel also loads,
    warps, stages, and fallback where its loads are not those of its name.

    Raises KernelError without an NVIDIA GPU, for an unknown kernel, a problem out of reach, a wrong result or
    a GPU that fails; what `plan` raises for a schedule.
    """
    variants = {name: _variant(name, warps, stages) for name in kernels}
    for problem in problems:
        check(problem)
    require_gpu()
    rows: list[dict[str, Any]] = []
    for problem in problems:
        with gpu_memory(problem), working_gpu():
            rows += _rows(problem, variants, ctas_per_sm, warmup, samples, seed)
    return {"machine": facts(), "method": METHOD.format(rest=REST), "rows": rows}


def _variant(name: str, warps: int, stages: int) -> Variant | None:
    """The variant of a kernel's name, None for cuBLAS; KernelError where there is none."""
    if name == CUBLAS:
        return None
    if name.startswith(PLANNED):
        return variant(name.removeprefix(PLANNED), "tma", True, warps, stages, "planned")
    if name not in VARIANTS:
        raise KernelError(unknown("kernel", name, [*KERNELS, PLANNED + "SCHEDULE"]))
    named = VARIANTS[name]
    return variant(named.schedule, named.loads, named.overlap, warps, stages)


def _rows(
    problem: Problem,
    variants: dict[str, Variant | None],
    ctas_per_sm: int,
    warmup: int,
    samples: int,
    seed: int,
) -> list[dict[str, Any]]:
    sets = [matrices(problem, "cuda", seed + i) for i in range(sets_beyond_l2(problem))]
    rotations, about, jobs = {}, {}, {}
    for name, asked in variants.items():
        jobs[name], known = _job(asked, problem, ctas_per_sm)
        launches = [jobs[name].launcher(operands) for operands in sets]
        error = gate(name, launches[0], problem, sets[0])
        jobs[name].check()
        about[name] = {**known, "relative_error": float(f"{error:.3g}")}
        rotations[name] = Rotation(capture(launches), launches)
    times = {name: spread(us) for name, us in sample(rotations, warmup, samples).items()}
    for work in jobs.values():
        work.check()
    shape = asdict(problem) | {"tile": list(problem.tile)}
    counts = {"samples": samples, "launches": len(sets)}
    return [
        {**shape, "kernel": name, **times[name], "tflops": tflops(problem, times[name]["us"])}
        | about[name]
        | counts
        for name in variants
    ]


def tflops(problem: Problem, us: float) -> float:
    """10^12 multiplications and additions per second, padding not counted."""
    return round(problem.flops / us / 1e6, 1)


def _job(asked: Variant | None, problem: Problem, ctas_per_sm: int) -> tuple[Job, dict[str, Any]]:
    """The job of a kernel, and what there is to say about it."""
    if asked is None:
        return Job(np.empty(0), 0, partial(cublas, problem.dtype)), {}
    what, why = on_this_machine(asked, problem)
    known: dict[str, Any] = {"loads": what.loads, "warps": what.warps, "stages": what.stages}
    if why:
        known["fallback"] = why
    return job(what, problem, device(ctas_per_sm)), known
