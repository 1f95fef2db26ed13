"""The jobs of kernels that leave no stamps."""

from collections.abc import Callable

import numpy as np
import torch

from tilesim.devices import Device
from tilesim.problems import Problem

from ..errors import KernelError
from ..gemm.element import element
from ..gemm.skinny import skinny
from ..gemm.tile_ops import INTERPRETED
from ..gemm.uncoalesced import uncoalesced
from . import hopper
from .job import Job, operands_of, ordered
from .launcher import Run
from .operands import Matrices
from .variants import Variant

MOST_BLOCKS = 2**31 - 1
"""In a grid's first dimension (CUDA C++ Programming Guide, compute capabilities from 3.0)."""


def _unstamped(ctas: int, launcher: Callable[[Matrices], Run]) -> Job:
    """The job of a kernel that leaves no stamps, and so has no segments to name."""

    def refuse(matrices: Matrices, stamps: torch.Tensor | None = None) -> Run:
        if stamps is not None:
            raise KernelError("this kernel writes no stamps; record runs 'own' and 'planned' ones")
        return launcher(matrices)

    return Job(np.empty(0), ctas, refuse)


def _element(what: Variant, problem: Problem, device: Device) -> Job:
    ctas = problem.m * problem.n
    if ctas > MOST_BLOCKS:
        raise KernelError(
            f"element launches a thread block for each of {ctas} elements; {MOST_BLOCKS} are allowed"
        )

    def launcher(matrices: Matrices) -> Run:
        operands, _ = operands_of(what, problem, element, matrices)
        arguments = (*operands, problem.m, problem.n, problem.k)
        constants = dict(BK=problem.tile_k, num_warps=what.warps)
        return Run(what, problem, element, ctas, arguments, constants)

    return _unstamped(ctas, launcher)


def _uncoalesced(what: Variant, problem: Problem, device: Device) -> Job:
    bm, bn, bk = problem.tile

    def launcher(matrices: Matrices) -> Run:
        table, values = ordered(problem, matrices)
        operands, layout = operands_of(what, problem, uncoalesced, matrices)
        arguments = (*operands, table, problem.m, problem.n, problem.k, 1)
        constants = values | layout | dict(BM=bm, BN=bn, BK=bk, num_warps=what.warps)
        return Run(what, problem, uncoalesced, problem.tiles, arguments, constants)

    return _unstamped(problem.tiles, launcher)


def _skinny(what: Variant, problem: Problem, device: Device) -> Job:
    bm, bn, bk = problem.tile
    tma = what.loads == "tma"
    early = tma and not INTERPRETED  # where there is TMA, there is programmatic dependent launch

    def launcher(matrices: Matrices) -> Run:
        table, values = ordered(problem, matrices)
        operands, layout = operands_of(what, problem, skinny, matrices)
        constants = values | layout | dict(
            BM=bm, BN=bn, BK=bk, TMA=tma, EARLY=early, num_warps=what.warps, num_stages=what.stages
        )  # fmt: skip
        if early:
            constants["launch_pdl"] = True
        arguments = (*operands, table, problem.m, problem.n, problem.k)
        return Run(what, problem, skinny, problem.tiles, arguments, constants)

    return _unstamped(problem.tiles, launcher)


def _of_hopper(what: Variant, problem: Problem, device: Device) -> Job:
    hopper.require(what, problem)
    ctas = min(problem.tiles, device.sms - device.busy_sms)

    def launcher(matrices: Matrices) -> Run:
        table, values = ordered(problem, matrices)
        kernel, operands, constants = hopper.call(what, problem, matrices)
        arguments = (*operands, table, problem.m, problem.n, problem.k)
        return Run(what, problem, kernel, ctas, arguments, values | constants)

    return _unstamped(ctas, launcher)


JOBS: dict[str, Callable[[Variant, Problem, Device], Job]] = {
    "element": _element,
    "uncoalesced": _uncoalesced,
    "skinny": _skinny,
    "specialised": _of_hopper,
    "ping-pong": _of_hopper,
}
