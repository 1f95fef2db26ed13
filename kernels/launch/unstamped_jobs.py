"""The jobs of kernels that leave no stamps."""

from collections.abc import Callable

import numpy as np
import torch

from tilesim.devices.device import Device
from tilesim.problems import Problem
from tilesim.variants import Variant

from ..errors import KernelError
from ..gemm.element import element
from ..gemm.skinny import skinny
from ..gemm.tile_ops import INTERPRETED
from ..gemm.uncoalesced import uncoalesced
from . import hopper
from .flags import flags
from .job import Job, operands_of, order_arguments
from .launcher import KernelLaunch
from .operands import Matrices

MAX_BLOCKS = 2**31 - 1
"""Of a grid's first dimension (CUDA C++ Programming Guide, compute capabilities from 3.0)."""


def _unstamped(
    ctas: int,
    launcher: Callable[[Matrices], KernelLaunch],
    workspace: Callable[[], dict[str, torch.Tensor]] = dict,
) -> Job:
    """The job of a kernel that leaves no stamps, and so has no segments to name."""

    def refuse(matrices: Matrices, stamps: torch.Tensor | None = None) -> KernelLaunch:
        if stamps is not None:
            raise KernelError("this kernel writes no stamps; record runs 'own' and 'planned' ones")
        return launcher(matrices)

    return Job(np.empty(0), ctas, refuse, workspace)


def _element(variant: Variant, problem: Problem, device: Device) -> Job:
    ctas = problem.m * problem.n
    if ctas > MAX_BLOCKS:
        raise KernelError(
            f"element launches a thread block for each of {ctas} elements; {MAX_BLOCKS} are allowed"
        )

    def launcher(matrices: Matrices) -> KernelLaunch:
        operands, _ = operands_of(variant, problem, element, matrices)
        arguments = (*operands, problem.m, problem.n, problem.k)
        constants = dict(BK=problem.tile_k, num_warps=variant.warps)
        return KernelLaunch(variant, problem, element, ctas, arguments, constants)

    return _unstamped(ctas, launcher)


def _uncoalesced(variant: Variant, problem: Problem, device: Device) -> Job:
    bm, bn, bk = problem.tile

    def launcher(matrices: Matrices) -> KernelLaunch:
        table, values = order_arguments(problem, matrices)
        operands, layout = operands_of(variant, problem, uncoalesced, matrices)
        arguments = (*operands, table, problem.m, problem.n, problem.k, 1)
        constants = values | layout | dict(BM=bm, BN=bn, BK=bk, num_warps=variant.warps)
        return KernelLaunch(variant, problem, uncoalesced, problem.tiles, arguments, constants)

    return _unstamped(problem.tiles, launcher)


def _skinny(variant: Variant, problem: Problem, device: Device) -> Job:
    bm, bn, bk = problem.tile
    tma = variant.loads == "tma"
    early = tma and not INTERPRETED  # where there is TMA, there is programmatic dependent launch

    def launcher(matrices: Matrices) -> KernelLaunch:
        table, values = order_arguments(problem, matrices)
        operands, layout = operands_of(variant, problem, skinny, matrices)
        constants = values | layout | dict(
            BM=bm, BN=bn, BK=bk, TMA=tma, EARLY=early, num_warps=variant.warps, num_stages=variant.stages
        )  # fmt: skip
        if early:
            constants["launch_pdl"] = True
        arguments = (*operands, table, problem.m, problem.n, problem.k)
        return KernelLaunch(variant, problem, skinny, problem.tiles, arguments, constants)

    return _unstamped(problem.tiles, launcher)


def _specialised(variant: Variant, problem: Problem, device: Device) -> Job:
    hopper.require(variant, problem)
    shared, ctas = hopper.shared_tiles(variant, problem, device)

    def workspace() -> dict[str, torch.Tensor]:
        if not shared:
            return {}
        return dict(
            partials=torch.empty(ctas, problem.tile_m * problem.tile_n, dtype=torch.float32, device="cuda"),
            flags=flags(ctas, variant.warps * hopper.groups(problem)),
        )

    one = workspace()
    before = hopper.launched_early(variant, problem, device)

    def launcher(matrices: Matrices) -> KernelLaunch:
        table, values = order_arguments(problem, matrices)
        kernel, operands, constants = hopper.kernel_and_arguments(variant, problem, matrices)
        sizes = (shared, problem.m, problem.n, problem.k)
        arguments = (*operands, table, one.get("partials"), one.get("flags"), *sizes)
        constants = values | constants | dict(SPLIT=shared > 0, launch_pdl=before)
        made_of = (0, 1, 2, 1) if constants["REST"] else (0, 1, 2)
        return KernelLaunch(variant, problem, kernel, ctas, arguments, constants, made_of)

    return _unstamped(ctas, launcher, workspace)


def _ping_pong(variant: Variant, problem: Problem, device: Device) -> Job:
    hopper.require(variant, problem)
    ctas = min(problem.tiles, device.sms - device.busy_sms)
    before = hopper.launched_early(variant, problem, device)

    def launcher(matrices: Matrices) -> KernelLaunch:
        table, values = order_arguments(problem, matrices)
        kernel, operands, constants = hopper.kernel_and_arguments(variant, problem, matrices)
        arguments = (*operands, table, problem.m, problem.n, problem.k)
        constants = values | constants | dict(launch_pdl=before)
        return KernelLaunch(variant, problem, kernel, ctas, arguments, constants)

    return _unstamped(ctas, launcher)


JOBS: dict[str, Callable[[Variant, Problem, Device], Job]] = {
    "element": _element,
    "uncoalesced": _uncoalesced,
    "skinny": _skinny,
    "specialised": _specialised,
    "ping-pong": _ping_pong,
}
