"""bench: kernel times of every variant beside cuBLAS, of correct kernels only."""

from collections.abc import Callable, Iterable
from dataclasses import asdict
from functools import partial
from typing import Any

import torch

from tilesim.errors import unknown
from tilesim.problems import Problem

from ._errors import KernelError
from ._inputs import Matrices, gpu_memory, matrices, sets_beyond_l2
from ._launch import VARIANTS, check, launcher, on_this_machine, variant
from ._machine import facts
from ._reference import gate
from ._timing import REST, Rotation, capture, require_gpu, sample, spread

CUBLAS = "cublas"
KERNELS = (*VARIANTS, CUBLAS)
"""The names that bench times: six Triton kernels, and cuBLAS through torch.mm."""

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
    warmup: int = 30,
    samples: int = 100,
    seed: int = 0,
) -> dict[str, Any]:
    """Time `kernels` on `problems`, in JSON values: "machine" (see facts), "method" and "rows".

    A row per problem and kernel has m, n, k, tile, dtype, order, kernel; us (the median kernel time), p20,
    p80 in µs; tflops; relative_error; samples, and launches per sample; for a Triton kernel also loads,
    warps, stages, and fallback where its loads are not those of its name.

    Raises KernelError without an NVIDIA GPU, for an unknown kernel, a problem out of reach or a wrong result.
    """
    names = list(kernels)
    for name in names:
        if name not in KERNELS:
            raise KernelError(unknown("kernel", name, KERNELS))
    for problem in problems:
        check(problem)
    require_gpu()
    rows: list[dict[str, Any]] = []
    for problem in problems:
        with gpu_memory(problem):
            rows += _rows(problem, names, warps, stages, warmup, samples, seed)
    return {"machine": facts(), "method": METHOD.format(rest=REST), "rows": rows}


def _rows(
    problem: Problem, names: list[str], warps: int, stages: int, warmup: int, samples: int, seed: int
) -> list[dict[str, Any]]:
    sets = [matrices(problem, "cuda", seed + i) for i in range(sets_beyond_l2(problem))]
    rotations, about = {}, {}
    for name in names:
        launches, known = _launches(name, problem, sets, warps, stages)
        error = gate(name, launches[0], problem, sets[0])
        about[name] = {**known, "relative_error": float(f"{error:.3g}")}
        rotations[name] = Rotation(capture(launches), len(launches))
    times = {name: spread(us) for name, us in sample(rotations, warmup, samples).items()}
    shape = asdict(problem) | {"tile": list(problem.tile)}
    counts = {"samples": samples, "launches": len(sets)}
    return [
        {**shape, "kernel": name, **times[name], "tflops": tflops(problem, times[name]["us"])}
        | about[name]
        | counts
        for name in names
    ]


def tflops(problem: Problem, us: float) -> float:
    """10^12 multiplications and additions per second, padding not counted."""
    return round(problem.flops / us / 1e6, 1)


def _launches(
    name: str, problem: Problem, sets: list[Matrices], warps: int, stages: int
) -> tuple[list[Callable[[], object]], dict[str, Any]]:
    """A launch for each operand set, and what there is to say about the kernel."""
    if name == CUBLAS:
        return [partial(torch.mm, a, b, out=c) for a, b, c in sets], {}
    named = VARIANTS[name]
    what, why = on_this_machine(variant(named.schedule, named.loads, named.overlap, warps, stages), problem)
    sms = torch.cuda.get_device_properties().multi_processor_count
    known: dict[str, Any] = {"loads": what.loads, "warps": warps, "stages": stages}
    if why:
        known["fallback"] = why
    return [launcher(what, problem, operands, sms) for operands in sets], known
