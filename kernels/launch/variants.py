"""Kernels as the benches still name them: a Variant beside a Problem, translated to a KernelConfig."""

from collections.abc import Sequence
from dataclasses import asdict, replace

import torch

from tilesim.errors import shown, unknown, whole
from tilesim.gemm import kernels
from tilesim.gemm.fit import why_not
from tilesim.kernel_config import KernelConfig
from tilesim.problems import Problem
from tilesim.products import Product
from tilesim.variants import LOADS, OWN, PLANNED, Variant

from ..errors import KernelError
from . import here

OWN_SCHEDULES = ("naive", "persistent")

VARIANTS = {
    v.name: v
    for loads in ("ptr", "tma")
    for v in (Variant("naive", loads), Variant("persistent", loads), Variant("persistent", loads, True))
} | {"persistent-tma-overlap-split": Variant("persistent", overlap=True, stages=4, epilogue_subtiles=2)}
"""Every kernel of a schedule's own by its name, with the default warps and stages."""

UNSTAMPED = {
    name: Variant(one.schedules[0], one.loads, one.overlap, one.warps or 8, one.stages or 1, name)
    for name, one in {
        "element": kernels()["element"],
        "uncoalesced": kernels()["uncoalesced"],
        "specialised": kernels()["warp-specialized"],
        "ping-pong": kernels()["ping-pong"],
        "skinny": kernels()["skinny"],
    }.items()
}
"""Kernels that cannot be recorded, by name."""


def config_of(variant: Variant, problem: Problem) -> KernelConfig:
    """The configuration of a variant in a problem's tiles."""
    return KernelConfig.of_fields(asdict(variant) | {"tile": problem.tile, "order": problem.order})


def product_of(problem: Problem, operands: Sequence[torch.Tensor] = ()) -> Product:
    """What a problem computes; fp8 lies along K, as all that multiplies it needs."""
    return Product.of(problem, "nt" if problem.dtype == "fp8" else "nn")


def checked_variant(
    schedule: str, loads: str, overlap: bool, warps: int, stages: int, kernel: str = OWN,
    epilogue_subtiles: int = 1,
) -> Variant:  # fmt: skip
    """The variant of these values; naive does not overlap whatever is asked. Raises KernelError."""
    names = [OWN, PLANNED, *UNSTAMPED]
    for name, value in (("kernel", kernel), ("schedule", schedule), ("loads", loads)):
        if not isinstance(value, str):
            raise KernelError(f"{name} is {shown(value)}; it must be a text")
    if kernel not in names:
        raise KernelError(unknown("kernel", kernel, names))
    if kernel == OWN and schedule not in OWN_SCHEDULES:
        raise KernelError(
            f"{unknown('kernel for the schedule', schedule, OWN_SCHEDULES)}; the kernel '{PLANNED}' runs any"
        )
    if loads not in LOADS:
        raise KernelError(f"loads is {shown(loads)}; it must be {' or '.join(map(repr, LOADS))}")
    if whole("warps", warps, 1, 32, KernelError) & (warps - 1):
        raise KernelError(f"warps is {warps}; it must be a power of two up to 32")
    whole("stages", stages, 1, 32, KernelError)
    whole("epilogue_subtiles", epilogue_subtiles, 1, 2, KernelError)
    if kernel in UNSTAMPED:
        scheduled = schedule if kernel == "specialised" else UNSTAMPED[kernel].schedule
        return replace(UNSTAMPED[kernel], schedule=scheduled, warps=warps, stages=stages)
    overlap = overlap and (kernel == PLANNED or schedule == "persistent")
    return Variant(schedule, loads, overlap, warps, stages, kernel, epilogue_subtiles if overlap else 1)


def on_this_machine(
    asked: Variant, problem: Problem, operands: Sequence[torch.Tensor] = ()
) -> tuple[Variant, str]:
    """(the variant that can run here, why it is not the one asked for)."""
    why = no_tma(problem, operands) if asked.loads == "tma" else ""
    return (replace(asked, loads="ptr"), why) if why else (asked, "")


def no_tma(problem: Problem, operands: Sequence[torch.Tensor] = ()) -> str:
    """Why TMA cannot load and store this problem's matrices here; empty where it can."""
    return here.no_tma(Product.of(problem), operands)


def check(problem: Problem) -> None:
    """Raise KernelError unless the kernels can run `problem`."""
    config = KernelConfig("naive", "naive", problem.tile, problem.order)
    if why := why_not(config, product_of(problem), here.limits()):
        raise KernelError(why)
