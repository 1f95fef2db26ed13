"""Kernels by the names that reports give them: "persistent-tma-overlap", "table:stream-k", "ping-pong"."""

from dataclasses import replace

from tilesim.errors import shown, unknown
from tilesim.gemm import kernels
from tilesim.gemm.fit import limits_of, stages_that_fit
from tilesim.gemm.warp_specialized import MAX_ACCUMULATORS, WARPGROUP_WARPS
from tilesim.kernel_config import TABLE, KernelConfig
from tilesim.problems import Problem
from tilesim.products import Product

from ..errors import KernelError
from .here import limits

MIN_STAGES, MAX_STAGES = 3, 6
"""With two stages each K-step waits for its loads: two blocks of 128x128 on an SM of an H200 reached 65 % of
its peak, and 99 % with three. Beyond six nothing was ever faster in `tilesim tune`."""


def pipeline(
    product: Product, tile: tuple[int, int, int], ctas_per_sm: int = 1, warps: int | None = None,
    stages: int | None = None, epilogue_subtiles: int | None = None,
) -> tuple[int, int, int]:  # fmt: skip
    """(warps, stages, epilogue_subtiles) for `ctas_per_sm` blocks per SM of this GPU, else of an H200. What
    is given stays. Else: whole warpgroups, with up to MAX_ACCUMULATORS accumulators a thread; as many stages
    as fit, to MAX_STAGES; and two subtiles where MIN_STAGES, or the stages given, fit no other way."""
    if warps is None:
        # with more than 8, and so many accumulators in each thread, a block would need all registers of an SM
        warps = min(8, max(WARPGROUP_WARPS, tile[0] * tile[1] // (32 * MAX_ACCUMULATORS)))
    available = (limits() or limits_of("")).shared_bytes(ctas_per_sm)

    def fit(subtiles: int) -> int:
        one = KernelConfig("persistent", "persistent", tile, warps=0, epilogue_subtiles=subtiles)
        return stages_that_fit(one, product, available)

    if epilogue_subtiles is None:
        epilogue_subtiles = 1 if fit(1) >= (stages or MIN_STAGES) else 2
    if stages is None:
        stages = min(MAX_STAGES, max(1, fit(epilogue_subtiles)))
    return warps, stages, epilogue_subtiles


TABLE_DRIVEN = TABLE + ":"

DEDICATED = (
    *(f"{name}-{loads}" for loads in ("ptr", "tma") for name in ("naive", "persistent")),
    *(f"persistent-{loads}-overlap" for loads in ("ptr", "tma")),
    "persistent-tma-overlap-split",
)

OTHERS = tuple(name for name, kernel in kernels().items() if not kernel.recordable)
NAMES = (*DEDICATED, *OTHERS)


def named(
    name: str, problem: Problem, ctas_per_sm: int = 1, warps: int | None = None, stages: int | None = None
) -> KernelConfig:
    """The configuration of that name, see pipeline. Raises KernelError where there is no such kernel."""
    product, tile, order = Product.of(problem), problem.tile, problem.order
    if name in OTHERS:
        one = kernels()[name]
        return KernelConfig(
            name, one.schedules[0], tile, order, warps or one.warps or 8, stages or one.stages or 1,
            one.loads, one.overlap,
        )  # fmt: skip
    if name.startswith(TABLE_DRIVEN):
        schedule = name.removeprefix(TABLE_DRIVEN)
        return recordable(TABLE, schedule, problem, ctas_per_sm=ctas_per_sm, warps=warps, stages=stages)
    if name not in DEDICATED:
        raise KernelError(unknown("kernel", name, [*NAMES, TABLE_DRIVEN + "SCHEDULE"]))
    made = KernelConfig.named(name, "", tile)
    warps, stages, _ = pipeline(product, tile, ctas_per_sm, warps, stages, made.epilogue_subtiles)
    return replace(made, schedule=made.kernel, order=order, warps=warps, stages=stages)


OWN = "dedicated"


def recordable(
    kernel: str, schedule: str, problem: Problem, loads: str = "tma", overlap: bool = True,
    ctas_per_sm: int = 1, warps: int | None = None, stages: int | None = None,
) -> KernelConfig:  # fmt: skip
    """The configuration of a kernel that writes stamps, "dedicated" or "table", in the problem's tiles. What
    is not given suits the tile and fits, see `pipeline`. Raises KernelError where the schedule has no
    dedicated kernel."""
    if kernel not in (OWN, TABLE):
        raise KernelError(f"the kernel is {shown(kernel)}; it must be {OWN!r} or {TABLE!r}")
    dedicated = [name for name, one in kernels().items() if one.recordable and name != TABLE]
    if kernel == OWN and schedule not in dedicated:
        none = unknown("dedicated kernel for the schedule", schedule, dedicated)
        raise KernelError(f"{none}; the kernel {TABLE!r} runs any")
    name = TABLE if kernel == TABLE else schedule
    overlap = overlap and kernels()[name].overlap
    warps, stages, subtiles = pipeline(Product.of(problem), problem.tile, ctas_per_sm, warps, stages)
    return KernelConfig(
        name, schedule, problem.tile, problem.order, warps, stages, loads, overlap, subtiles if overlap else 1
    )
