"""bench: kernel times of every variant beside cuBLAS, of correct kernels only."""

from collections.abc import Iterable
from typing import Any

from tilesim.errors import unknown
from tilesim.problems import Problem
from tilesim.products import Product
from tilesim.variants import Variant

from ..errors import KernelError
from ..launch.config import pipeline
from ..launch.variants import UNSTAMPED, VARIANTS, check, checked_variant
from ..measure.machine import gpu
from ..measure.timing import require_gpu
from ..tuning.choice import choices
from .compare import LIBRARIES, Contender, compare, report

KERNELS = (*VARIANTS, "cublas")
"""What bench times where nothing else is asked for: Triton kernels, and cuBLAS through torch.mm."""

TUNED = "tuned"
"""The kernel, tile and order that the tuned table has for the product."""

NAMES = (*VARIANTS, *UNSTAMPED, TUNED, *LIBRARIES)
"""What bench can time."""

PLANNED = "planned:"
"""Before a schedule's name: that schedule's plan, executed by the kernel `planned`."""


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

    A kernel is one of NAMES, or planned:SCHEDULE, such as planned:stream-k:108, with TMA loads and overlap.
    `warps` and `stages`: where not given, what suits the tile and fits (see launch.config).
    `ctas_per_sm`: thread blocks per SM that the schedules count on. `host`: time launches one by one, too.

    A row per problem and kernel has m, n, k, tile, dtype, order, kernel; us (the median kernel time), p20,
    p80 in µs; tflops; sm_mhz, the SMs' clock meanwhile; relative_error; samples, and launches per sample; for
    a Triton kernel also variant, schedule, loads, warps, stages, and fallback where its loads are not those
    of its name; host_us where asked for, the time of a launch with the host's work.

    Raises KernelError without an NVIDIA GPU, for an unknown kernel, a problem out of reach, a wrong result or
    a GPU that fails; what `plan` raises for a schedule.
    """
    names = tuple(kernels)
    for problem in problems:
        check(problem)
    variants = [
        {name: _variant(name, problem, ctas_per_sm, warps, stages) for name in names} for problem in problems
    ]
    require_gpu()
    rows: list[dict[str, Any]] = []
    for problem, ours in zip(problems, variants, strict=True):
        contenders = {
            name: _tuned(problem) if name == TUNED else Contender(problem, variant, LIBRARIES.get(name))
            for name, variant in ours.items()
        }
        rows += compare(contenders, ctas_per_sm, warmup, samples, seed, host)
    return report(rows)


def _tuned(problem: Problem) -> Contender:
    config = choices(Product.of(problem), gpu())[0]
    return Contender(config.problem(Product.of(problem)), config)


def _variant(
    name: str, problem: Problem, ctas_per_sm: int, warps: int | None, stages: int | None
) -> Variant | None:
    """The variant of a kernel's name, None for a library's; KernelError where there is no such name."""
    if name in (*LIBRARIES, TUNED):
        return None
    if name.startswith(PLANNED):
        warps, stages, subtiles = pipeline(problem, ctas_per_sm, warps, stages)
        return checked_variant(name.removeprefix(PLANNED), "tma", True, warps, stages, "planned", subtiles)
    if name in UNSTAMPED:
        return UNSTAMPED[name]
    if name not in VARIANTS:
        raise KernelError(unknown("kernel", name, [*NAMES, PLANNED + "SCHEDULE"]))
    named = VARIANTS[name]
    warps, stages, subtiles = pipeline(problem, ctas_per_sm, warps, stages, named.epilogue_subtiles)
    return checked_variant(
        named.schedule, named.loads, named.overlap, warps, stages, epilogue_subtiles=subtiles
    )
