"""From a kernel, a plan and a product to launches."""

from functools import partial
from typing import Any

import torch

from tilesim.devices.device import Device
from tilesim.orders import visit
from tilesim.plans import segments
from tilesim.problems import Problem
from tilesim.schedules import plan
from tilesim.variants import OWN, Variant

from ..errors import KernelError
from ..gemm.naive import naive
from ..gemm.persistent import persistent
from ..gemm.planned import planned
from ..gemm.stamps import WORDS
from . import unstamped_jobs
from .job import Job, operands_of, order_arguments
from .launcher import KernelLaunch
from .operands import Matrices
from .plan_table import PlanTable, upload

KERNELS = {"naive": naive, "persistent": persistent, "planned": planned}
"""Those that can be recorded."""

STORE_WAIT_K_STEP = 1
"""The K-step of the next tile at whose top an overlapping kernel with stamps waits for its store of C. At 0
the wait costs 5 % of the time at 4096x4096x512, from 1 on 1 %; a store rarely ends before 1 and always before
2."""

SPLIT_STORE_WAIT_K_STEP = 2
"""The same where a plan splits tiles, whose owners wait for each other: at 1 stamps cost stream-k-hybrid 2.9
% of the time there, at 2 they cost 2.4 %."""

TIMEOUT_NS = 2_000_000_000
"""How long a split tile's owner waits for a partial: longer than any product takes that fits into a GPU."""

SM_REGISTERS, MAX_REGISTERS = 65536, 255
"""Registers of an SM, and of a thread at most (CUDA C++ Programming Guide, compute capabilities 5.0 to
12.0)."""


def job(
    variant: Variant, problem: Problem, device: Device, memory: str = "cuda", concurrent: bool = False
) -> Job:
    """The job of `variant` on `device`; `memory` is "cuda" or, for the interpreter, "cpu".

    All launches of a job share one workspace and must follow one another. With `concurrent` each launcher has
    a workspace of its own, so that launches of two may run at once, and `check` sees none of them.

    Raises ScheduleError or PlanError where the schedule makes no plan that ends on this device's slots,
    KernelError where what the plan needs does not fit into the GPU's memory.
    """
    for name, side in (("tile_m", problem.tile_m), ("tile_n", problem.tile_n)):
        if side & (side - 1) and variant.kernel != "specialised":
            raise KernelError(f"{name} is {side}, which `specialised` alone can have; take a power of two")
    if variant.kernel in unstamped_jobs.JOBS:
        return unstamped_jobs.JOBS[variant.kernel](variant, problem, device)
    made = plan(variant.schedule, problem, device)
    if variant.kernel == OWN:
        rows = segments(-1, visit(problem), 0, problem.k_steps)
        return Job(rows, made.ctas, partial(_own, variant, problem, made.ctas))
    made.check(problem, device.slots)
    uploaded = upload(made, problem, memory, device.ctas_per_sm)
    if concurrent:
        uploaded = uploaded.without_partials()

        def launcher(matrices: Matrices, stamps: torch.Tensor | None = None) -> KernelLaunch:
            return _planned(variant, problem, uploaded, matrices, stamps).bound_to(
                matrices, uploaded.workspace()
            )

        return Job(made.rows, made.ctas, launcher, uploaded.workspace)
    return Job(made.rows, made.ctas, partial(_planned, variant, problem, uploaded), check=uploaded.check)


def _own(
    variant: Variant, problem: Problem, ctas: int, matrices: Matrices, stamps: torch.Tensor | None = None
) -> KernelLaunch:
    table, values = order_arguments(problem, matrices)
    if variant.schedule == "persistent":
        values |= dict(
            FLATTEN=variant.overlap,
            STORE_WAIT_K_STEP=STORE_WAIT_K_STEP if variant.overlap else 0,
            EPILOGUE_SUBTILES=variant.epilogue_subtiles,
        )
    _check_stamps(stamps, problem.tiles, matrices)
    return _launch(KERNELS[variant.schedule], ctas, variant, problem, matrices, (table,), stamps, values)


def _planned(
    variant: Variant, problem: Problem, table: PlanTable, matrices: Matrices,
    stamps: torch.Tensor | None = None, timeout_ns: int = TIMEOUT_NS,
) -> KernelLaunch:  # fmt: skip
    queue = table.rows > table.queue_start
    # A thread block with one segment has nothing to overlap, and C then shares the stages' memory.
    overlap = variant.overlap and table.most_segments > 1 and not queue
    tables = (
        table.table, table.offsets, table.k_steps, table.queue_head, table.queue_start, table.rows,
        table.partials, table.flags, table.flags[-1:],
    )  # fmt: skip
    store_wait = SPLIT_STORE_WAIT_K_STEP if table.split else STORE_WAIT_K_STEP
    values: dict[str, Any] = dict(
        SPLIT=table.split, QUEUE=queue, FLATTEN=overlap, STORE_WAIT_K_STEP=store_wait if overlap else 0,
        WARPS=variant.warps, TIMEOUT_NS=timeout_ns, EPILOGUE_SUBTILES=variant.epilogue_subtiles,
    )  # fmt: skip
    _check_stamps(stamps, table.rows, matrices)
    if table.split:
        # By default ptxas takes so few registers that a fix-up has four loads in flight, not dozens.
        registers = SM_REGISTERS // (32 * variant.warps * table.ctas_per_sm) // 8 * 8
        accumulator = problem.tile_m * problem.tile_n // (32 * variant.warps)
        if registers >= accumulator + 64:  # else so many blocks do not fit, and `record` says so
            values["maxnreg"] = min(MAX_REGISTERS, registers)
    return _launch(planned, table.ctas, variant, problem, matrices, tables, stamps, values)


def _check_stamps(stamps: torch.Tensor | None, rows: int, matrices: Matrices) -> None:
    """Raise KernelError unless `stamps` has exactly `rows` rows, which the kernel does not check."""
    if stamps is None:
        return
    here = matrices[0].device
    dense = stamps.is_contiguous() and stamps.device == here
    if (stamps.dtype, stamps.shape, dense) != (torch.int64, (rows, WORDS), True):
        raise KernelError(
            f"the stamps are {stamps.dtype} {list(stamps.shape)} on {stamps.device}; a plan of {rows}"
            f" segments needs a dense torch.int64 [{rows}, {WORDS}] on {here}"
        )


def _launch(
    kernel: Any, ctas: int, variant: Variant, problem: Problem, matrices: Matrices, tables: tuple,
    stamps: torch.Tensor | None, values: dict[str, Any],
) -> KernelLaunch:  # fmt: skip
    bm, bn, bk = problem.tile
    operands, layout = operands_of(variant, problem, kernel, matrices)
    constants = values | layout | dict(
        BM=bm, BN=bn, BK=bk, TMA=variant.loads == "tma", RECORD=stamps is not None,
        num_warps=variant.warps, num_stages=variant.stages,
    )  # fmt: skip

    arguments = (*operands, *tables, stamps, problem.m, problem.n, problem.k)
    return KernelLaunch(variant, problem, kernel, ctas, arguments, constants)
