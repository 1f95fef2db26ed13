"""bench: kernel times beside cuBLAS, of correct kernels only."""

from collections.abc import Iterable
from itertools import chain
from typing import Any

from tilesim.errors import unknown
from tilesim.problems import Problem
from tilesim.products import Product

from ..errors import KernelError
from ..launch.here import check
from ..launch.named import DEDICATED, TABLE_DRIVEN, named
from ..launch.named import NAMES as KNOWN
from ..measure.machine import gpu, measuring
from ..measure.timing import require_gpu
from ..tuning.choice import choices
from .compare import LIBRARIES, METHOD, Contender, compare

KERNELS = (*DEDICATED, "cublas")
"""What bench times where nothing else is asked for: Triton kernels, and cuBLAS through torch.mm."""

TUNED = "tuned"
"""The kernel, tile and order that the tuned table has for the product."""

NAMES = (*KNOWN, TUNED, *LIBRARIES)
"""What bench can time, beside table-driven kernels."""


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
    `warps` and `stages`: where not given, what suits the tile and fits (see launch.named).
    `ctas_per_sm`: thread blocks per SM that the schedules count on. `host`: time launches one by one, too.

    A row per problem and kernel has m, n, k, tile, dtype, order, kernel; us (the median kernel time), p20,
    p80 in µs; tflops; sm_mhz, the SMs' clock meanwhile; relative_error; samples, and launches per sample; for
    a Triton kernel also variant, schedule, loads, warps, stages, and fallback where its loads are not those
    of its name; host_us where asked for, the time of a launch with the host's work.

    Raises KernelError, too, for an unknown kernel or a problem out of reach, and what `plan` raises.
    """
    names = tuple(kernels)
    sides = [
        {name: _contender(name, problem, ctas_per_sm, warps, stages) for name in names}
        for problem in problems
    ]

    @measuring
    def timed() -> dict[str, Any]:
        rows = [
            compare(problem, contenders, ctas_per_sm, warmup, samples, seed, host)
            for problem, contenders in zip(problems, sides, strict=True)
        ]
        return {"method": METHOD, "rows": list(chain(*rows))}

    return timed()


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
