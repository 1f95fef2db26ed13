"""bench: kernel times of every variant beside cuBLAS, of correct kernels only."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
import torch

from tilesim.errors import unknown
from tilesim.problems import Problem

from ._cublas import cublas
from ._errors import KernelError
from ._inputs import Matrices, gpu_memory, matrices, sets_beyond_l2
from ._launch import Job, Launch, job
from ._machine import device, facts
from ._reference import gate
from ._timing import REST, Rotation, capture, require_gpu, sample, spread, with_host, working_gpu
from ._variants import UNSTAMPED, VARIANTS, Variant, check, on_this_machine, variant

CUBLAS = "cublas"
KERNELS = (*VARIANTS, CUBLAS)
"""What bench times where nothing else is asked for: Triton kernels, and cuBLAS through torch.mm."""

NAMES = (*VARIANTS, *UNSTAMPED, CUBLAS, "torch.compile")
"""What bench can time."""

HOST_SAMPLES = 20
"""At most so many of launches with the host's work."""

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
    host: bool = False,
) -> dict[str, Any]:
    """Time `kernels` on `problems`, in JSON values: "machine" (see facts), "method" and "rows".

    A kernel is one of NAMES, or planned:SCHEDULE, such as planned:stream-k:108, with TMA loads and overlap.
    `ctas_per_sm`: thread blocks per SM that the schedules count on. `host`: time launches one by one, too.

    A row per problem and kernel has m, n, k, tile, dtype, order, kernel; us (the median kernel time), p20,
    p80 in µs; tflops; sm_mhz, the SMs' clock meanwhile; relative_error; samples, and launches per sample; for
    a Triton kernel also loads, warps, stages, and fallback where its loads are not those of its name; host_us
    where asked for, the time of a launch with the host's work.

    Raises KernelError without an NVIDIA GPU, for an unknown kernel, a problem out of reach, a wrong result or
    a GPU that fails; what `plan` raises for a schedule.
    """
    variants = {name: None if name in LIBRARIES else _variant(name, warps, stages) for name in kernels}
    for problem in problems:
        check(problem)
    require_gpu()
    rows: list[dict[str, Any]] = []
    for problem in problems:
        entrants = {name: Entrant(problem, what, LIBRARIES.get(name)) for name, what in variants.items()}
        with gpu_memory(problem), working_gpu():
            rows += compare(entrants, ctas_per_sm, warmup, samples, seed, host)
    return {"machine": facts(), "method": METHOD.format(rest=REST), "rows": rows}


def _variant(name: str, warps: int, stages: int) -> Variant:
    """The variant of a kernel's name; KernelError where there is none."""
    if name.startswith(PLANNED):
        return variant(name.removeprefix(PLANNED), "tma", True, warps, stages, "planned")
    if name in UNSTAMPED:
        return UNSTAMPED[name]
    if name not in VARIANTS:
        raise KernelError(unknown("kernel", name, [*NAMES, PLANNED + "SCHEDULE"]))
    named = VARIANTS[name]
    return variant(named.schedule, named.loads, named.overlap, warps, stages, parts=named.parts)


@dataclass(frozen=True, slots=True)
class Entrant:
    """What takes part in a comparison: a kernel with a tile and an order, or a library's product.

    `library`: makes a launch from a dtype and three matrices, in place of a `variant`.
    """

    problem: Problem
    variant: Variant | None = None
    library: Callable[[str, Matrices], Launch] | None = None


def compare(
    entrants: Mapping[str, Entrant],
    ctas_per_sm: int = 1,
    warmup: int = 30,
    samples: int = 100,
    seed: int = 0,
    host: bool = False,
) -> list[dict[str, Any]]:
    """A row as `bench` has them for each entrant, all of one M, N, K and dtype: gated, then timed in turns.

    Raises what `bench` raises.
    """
    problem = next(iter(entrants.values())).problem
    sets = [matrices(problem, "cuda", seed + i) for i in range(sets_beyond_l2(problem))]
    rotations, about, jobs = {}, {}, {}
    for name, entrant in entrants.items():
        jobs[name], known = job_of(entrant, ctas_per_sm)
        launches = [jobs[name].launcher(operands) for operands in sets]
        error = gate(name, launches[0], problem, sets[0])
        jobs[name].check()
        about[name] = {**known, "relative_error": float(f"{error:.3g}")}
        rotations[name] = Rotation(capture(launches), launches)
    mhz: dict[str, np.ndarray] = {}
    times = {name: spread(us) for name, us in sample(rotations, warmup, samples, mhz).items()}
    if host:
        for name, rotation in rotations.items():
            us = with_host(rotation.launches, 3, min(samples, HOST_SAMPLES))
            about[name]["host_us"] = spread(us)["us"]
    for work in jobs.values():
        work.check()
    return [
        asdict(entrant.problem)
        | {"tile": list(entrant.problem.tile), "kernel": name, **times[name]}
        | {"tflops": tflops(problem, times[name]["us"]), "sm_mhz": round(float(np.median(mhz[name])))}
        | about[name]
        | {"samples": samples, "launches": len(sets)}
        for name, entrant in entrants.items()
    ]


def tflops(problem: Problem, us: float) -> float:
    """10^12 multiplications and additions per second, padding not counted."""
    return round(problem.flops / us / 1e6, 1)


def job_of(entrant: Entrant, ctas_per_sm: int) -> tuple[Job, dict[str, Any]]:
    """The job of an entrant, and what there is to say about it."""
    if entrant.variant is None:
        return Job(np.empty(0), 0, partial(entrant.library or cublas, entrant.problem.dtype)), {}
    what, why = on_this_machine(entrant.variant, entrant.problem)
    known: dict[str, Any] = {"loads": what.loads, "warps": what.warps, "stages": what.stages}
    if why:
        known["fallback"] = why
    return job(what, entrant.problem, device(ctas_per_sm)), known


def compiled(dtype: str, matrices: Matrices) -> Launch:
    """The product as torch.compile makes it of torch.mm in its mode max-autotune."""
    a, b, c = matrices
    product = torch.compile(torch.mm, mode="max-autotune-no-cudagraphs", dynamic=False)

    def launch() -> None:
        c.set_(product(a, b))  # its result is its own; c is it from here on

    return launch


LIBRARIES: dict[str, Callable[[str, Matrices], Launch]] = {CUBLAS: cublas, "torch.compile": compiled}
"""What bench times beside the kernels, by name."""
