"""Kernels by the names that reports give them: "persistent-tma-overlap", "table:stream-k", "ping-pong"."""

from dataclasses import replace

from tilesim.errors import unknown
from tilesim.gemm import kernels
from tilesim.kernel_config import TABLE, KernelConfig
from tilesim.problems import Problem
from tilesim.products import Product

from ..errors import KernelError
from .pipeline import pipeline

TABLE_DRIVEN = TABLE + ":"
"""What the names of table-driven kernels begin with; the schedule follows."""

DEDICATED = (
    *(f"{name}-{loads}" for loads in ("ptr", "tma") for name in ("naive", "persistent")),
    *(f"persistent-{loads}-overlap" for loads in ("ptr", "tma")),
    "persistent-tma-overlap-split",
)
"""The names of the kernels that are written for a schedule."""

OTHERS = tuple(name for name, kernel in kernels().items() if not kernel.recordable)
"""The names of those that cannot be recorded."""

NAMES = (*DEDICATED, *OTHERS)


def named(
    name: str,
    problem: Problem,
    ctas_per_sm: int = 1,
    warps: int | None = None,
    stages: int | None = None,
) -> KernelConfig:
    """The configuration of that name for a problem; what is not given suits its tile, see launch.pipeline.

    Raises KernelError where there is no such kernel.
    """
    product, tile, order = Product.of(problem), problem.tile, problem.order
    if name in OTHERS:
        one = kernels()[name]
        return KernelConfig(
            name, one.schedules[0], tile, order, warps or one.warps or 8, stages or one.stages or 1,
            one.loads, one.overlap,
        )  # fmt: skip
    if name.startswith(TABLE_DRIVEN):
        made = pipeline(product, tile, ctas_per_sm, warps, stages)
        return KernelConfig(
            TABLE, name.removeprefix(TABLE_DRIVEN), tile, order, *made[:2], "tma", True, made[2]
        )
    if name not in DEDICATED:
        raise KernelError(unknown("kernel", name, [*NAMES, TABLE_DRIVEN + "SCHEDULE"]))
    made = KernelConfig.named(name, "", tile)
    warps, stages, _ = pipeline(product, tile, ctas_per_sm, warps, stages, made.epilogue_subtiles)
    return replace(made, schedule=made.kernel, order=order, warps=warps, stages=stages)
