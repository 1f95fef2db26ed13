"""bench: kernel times beside cuBLAS, taken in turns, of results that agree with a float64 reference."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import torch

from tilesim.devices.device import Device
from tilesim.errors import unknown
from tilesim.kernel_config import KernelConfig
from tilesim.problems import Problem
from tilesim.products import Product

from ..errors import KernelError
from ..gemm.jobs import job
from ..launch.cublas import cublas
from ..launch.here import check, on_this_machine
from ..launch.job import NO_ROWS, Job, Launch
from ..launch.named import DEDICATED, TABLE_DRIVEN, named
from ..launch.named import NAMES as KNOWN
from ..launch.operands import Matrices, gpu_memory, matrices, sets_beyond_l2
from ..matmul import matmul
from ..measure.held_sms import HeldSMs
from ..measure.machine import device, gpu, measuring
from ..measure.reference import verify_result
from ..measure.timing import Rotation, capture, host_us, method, require_gpu, sample, spread
from ..tuning.choice import choices

METHOD = (
    method("one launch per operand set, the sets together over 3 times the L2", "kernels")
    + "; before any timing each kernel's C, poisoned with NaN, is compared with a float64 product of fresh"
    " random inputs"
)


Contender = KernelConfig | Callable[[str, Matrices], Launch]
"""A kernel, or a library's product: what makes a launch from a dtype and three matrices."""


def compare(
    problem: Problem, contenders: Mapping[str, Contender], ctas_per_sm: int = 1, warmup: int = 30,
    samples: int = 100, seed: int = 0, host: bool = False,
    counting: Callable[[list[tuple[Product, Contender]]], list[dict[str, Any]]] | None = None,
) -> list[dict[str, Any]]:  # fmt: skip
    """A row of `bench` for each contender's product of these M, N, K and dtype: checked, timed in turns, and
    counted, as by `counters.counted`. Raises KernelError for a wrong result, or where the operands do not fit
    into the GPU's memory."""
    product = Product.of(problem)
    with gpu_memory(product):
        here = device(ctas_per_sm)
        jobs = {name: job_of(contender, problem, here) for name, contender in contenders.items()}
        rows = timed(problem, jobs, warmup, samples, seed, host)
    if counting:
        counts = counting([(product, contender) for contender in contenders.values()])
        rows = [row | count for row, count in zip(rows, counts, strict=True)]
    return rows


def timed(
    problem: Problem, jobs: Mapping[str, tuple[Job, dict[str, Any]]], warmup: int, samples: int,
    seed: int = 0, host: bool = False, holders: Mapping[str, HeldSMs] = {},
) -> list[dict[str, Any]]:  # fmt: skip
    """A row for each job, with what is known of it. Of `holders`, those of its name hold SMs meanwhile."""
    product = Product.of(problem)
    sets = [matrices(product, "cuda", seed + i) for i in range(sets_beyond_l2(product))]
    rotations, about = {}, {}
    for name, (work, known) in jobs.items():
        # a C of its own tensor, since a library may replace its storage
        own = [(a, b, c.detach()) for a, b, c in sets]
        launches = [work.launcher(operands) for operands in own]
        holder = holders.get(name)
        # without one, the SMs held in the sample before are free again once all work has ended
        around = (holder.hold, holder.check) if holder else (torch.cuda.synchronize,)
        rotations[name] = Rotation(capture(launches), launches, *around)
        rotations[name].before()
        error = verify_result(name, launches[0], product, own[0])
        work.check()
        about[name] = {"kernel": name} | known | {"relative_error": error}
    mhz: dict[str, np.ndarray] = {}
    us = sample(rotations, warmup, samples, mhz)
    torch.cuda.synchronize()
    if host:
        for name, rotation in rotations.items():
            about[name]["host_us"] = host_us(rotation.launches, samples)
    for work, _ in jobs.values():
        work.check()
    return [
        known
        | (times := spread(us[name]))
        | {"tflops": tflops(problem, times["us"]), "sm_mhz": round(float(np.median(mhz[name])))}
        | {"samples": samples, "launches": len(sets)}
        for name, known in about.items()
    ]


def tflops(problem: Problem, us: float) -> float:
    """10^12 multiplications and additions per second, padding not counted."""
    return round(problem.flops / us / 1e6, 1)


def job_of(contender: Contender, problem: Problem, here: Device) -> tuple[Job, dict[str, Any]]:
    """The job of a contender on `here`, and what its row says of the problem and the kernel."""
    product = Product.of(problem)
    if not isinstance(contender, KernelConfig):
        return Job(NO_ROWS, 0, partial(contender, product.dtype)), problem.as_json()
    config, why = on_this_machine(contender, product)
    known = contender.problem(product).as_json() | {"variant": config.name}
    known |= {name: getattr(config, name) for name in ("schedule", "loads", "warps", "stages")}
    return job(config, product, here), known | ({"fallback": why} if why else {})


def compiled(dtype: str, matrices: Matrices) -> Launch:
    """The product as torch.compile makes it of torch.mm in its mode max-autotune."""
    a, b, c = matrices
    product = torch.compile(torch.mm, mode="max-autotune-no-cudagraphs", dynamic=False)
    return lambda: c.set_(product(a, b))  # c takes over the storage of the result


def operator(dtype: str, matrices: Matrices) -> Launch:
    a, b, c = matrices
    return lambda: c.set_(matmul(a, b))


LIBRARIES: dict[str, Callable[[str, Matrices], Launch]] = {
    "cublas": cublas, "torch.compile": compiled, "matmul": operator,
}  # fmt: skip

KERNELS = (*DEDICATED, "cublas")
"""What bench times where nothing else is asked for: Triton kernels, and cuBLAS through torch.mm."""

TUNED = "tuned"
"""The kernel, tile and order that the tuned table has for the product."""

NAMES = (*KNOWN, TUNED, *LIBRARIES)


def bench(
    *problems: Problem,
    kernels: Iterable[str] = KERNELS,
    warps: int | None = None,
    stages: int | None = None,
    ctas_per_sm: int = 1,
    warmup: int = 30,
    samples: int = 100,
    seed: int = 0,
    host: bool = False,
) -> dict[str, Any]:
    """Time `kernels` on `problems`, in JSON values: "machine" (see facts), "method" and "rows".

    A kernel is one of NAMES, or table:SCHEDULE, such as table:stream-k:108, with TMA loads and overlap.
    `warps` and `stages`: where not given, what suits the tile and fits. `ctas_per_sm`: thread blocks per SM
    that the schedules count on. `host`: time launches one by one, too, as host_us.

    A row per problem and kernel has m, n, k, tile, dtype, order, kernel; us (the median kernel time), p20,
    p80 in µs; tflops; sm_mhz, the SMs' clock meanwhile; relative_error; samples, and launches per sample; for
    a Triton kernel also variant, schedule, loads, warps, stages, and fallback, why its loads are not its own.

    Raises KernelError, too, for an unknown kernel or a problem out of reach, and what `plan` raises.
    """
    names = tuple(kernels)
    sides = [
        {name: _contender(name, problem, ctas_per_sm, warps, stages) for name in names}
        for problem in problems
    ]

    @measuring
    def compared() -> dict[str, Any]:
        rows = [
            compare(problem, contenders, ctas_per_sm, warmup, samples, seed, host)
            for problem, contenders in zip(problems, sides, strict=True)
        ]
        return {"method": METHOD, "rows": list(chain(*rows))}

    return compared()


def _contender(
    name: str, problem: Problem, ctas_per_sm: int, warps: int | None, stages: int | None
) -> Contender:
    """What a name stands for; KernelError where there is no such kernel, or it cannot compute the problem."""
    product = Product.of(problem)
    if name in LIBRARIES:
        return LIBRARIES[name]
    if name == TUNED:
        require_gpu()
        return choices(product, gpu())[0]
    if name not in NAMES and not name.startswith(TABLE_DRIVEN):
        raise KernelError(unknown("kernel", name, [*NAMES, TABLE_DRIVEN + "SCHEDULE"]))
    config = named(name, problem, ctas_per_sm, warps, stages)
    check(config, product)
    return config
