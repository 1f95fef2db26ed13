"""From a kernel, a plan and a product to launches."""

from functools import partial
from typing import Any

import torch

from tilesim.devices import Device
from tilesim.orders import visit
from tilesim.plans import segments
from tilesim.problems import Problem
from tilesim.schedules import plan

from ..errors import KernelError
from ..gemm.naive import naive
from ..gemm.persistent import persistent
from ..gemm.planned import planned
from ..gemm.stamps import WORDS
from . import unstamped_jobs
from .job import Job, operands_of, ordered
from .launcher import Run
from .operands import Matrices
from .plan_table import Upload, rows_of, upload
from .variants import Variant

KERNELS = {"naive": naive, "persistent": persistent, "planned": planned}
"""Those that can be stamped."""

LAG = 1
"""The K-step at whose top an overlapping kernel with stamps waits for its last store. At 0 it costs 5 % of
the time at 4096x4096x512, from 1 on 1 %; a store is rarely through before 1, and always before 2."""

SPLIT_LAG = 2
"""The same where a plan cuts tiles, and who waits makes others wait: at 1 stamps cost a hybrid 2.9 % of the
time there, at 2 they cost 2.4 %."""

WAIT_NS = 2_000_000_000
"""How long a split tile's owner waits for a partial: longer than a product that fits into a GPU takes."""

SM_REGISTERS, MOST_REGISTERS = 65536, 255
"""Of an SM, and of a thread (CUDA C++ Programming Guide, compute capabilities 5.0 to 12.0)."""


def job(
    what: Variant, problem: Problem, device: Device, memory: str = "cuda", concurrent: bool = False
) -> Job:
    """The job of `what` on `device`; `memory` is "cuda" or, for the interpreter, "cpu".

    All launches of a job work in the same room and must follow one another; with `concurrent`, those of two
    launchers may run at once, each launcher has room of its own, and `check` sees none of it.

    Raises ScheduleError or PlanError where the schedule makes no plan that ends on this device's slots,
    KernelError where what the plan needs does not fit into the GPU's memory.
    """
    if what.kernel in unstamped_jobs.JOBS:
        return unstamped_jobs.JOBS[what.kernel](what, problem, device)
    made = plan(what.schedule, problem, device)
    if what.kernel == "own":
        rows = segments(-1, visit(problem), 0, problem.k_steps)
        return Job(rows, made.ctas, partial(_own, what, problem, made.ctas))
    made.check(problem, device.slots)
    uploaded = upload(made, problem, memory, device.ctas_per_sm)
    if concurrent:
        uploaded = uploaded.without_partials()

        def launcher(matrices: Matrices, stamps: torch.Tensor | None = None) -> Run:
            return _planned(what, problem, uploaded, matrices, stamps).on(matrices, uploaded.room())

        return Job(rows_of(made), made.ctas, launcher, uploaded.room)
    return Job(rows_of(made), made.ctas, partial(_planned, what, problem, uploaded), check=uploaded.check)


def _own(
    what: Variant, problem: Problem, ctas: int, matrices: Matrices, stamps: torch.Tensor | None = None
) -> Run:
    table, values = ordered(problem, matrices)
    if what.schedule == "persistent":
        values |= dict(OVERLAP=what.overlap, LAG=LAG if what.overlap else 0, PARTS=what.parts)
    _check_room(stamps, problem.tiles, matrices)
    return _launch(KERNELS[what.schedule], ctas, what, problem, matrices, (table,), stamps, values)


def _planned(
    what: Variant, problem: Problem, plan: Upload, matrices: Matrices, stamps: torch.Tensor | None = None,
    wait_ns: int = WAIT_NS,
) -> Run:  # fmt: skip
    queue = plan.rows > plan.queue
    # A block with one segment has nothing to overlap with, and C then needs no shared memory of its own.
    overlap = what.overlap and plan.longest > 1 and not queue
    tables = (
        plan.table, plan.offsets, plan.steps, plan.ticket, plan.queue, plan.rows,
        plan.partials, plan.flags, plan.flags[-1:],
    )  # fmt: skip
    lag = SPLIT_LAG if plan.split else LAG
    values: dict[str, Any] = dict(
        SPLIT=plan.split, QUEUE=queue, OVERLAP=overlap, LAG=lag if overlap else 0,
        WARPS=what.warps, WAIT=wait_ns, PARTS=what.parts,
    )  # fmt: skip
    _check_room(stamps, plan.rows, matrices)
    if plan.split:
        # Left to itself, ptxas takes so few registers that a fix-up has four loads in flight, not dozens.
        registers = SM_REGISTERS // (32 * what.warps * plan.residents) // 8 * 8
        accumulator = problem.tile_m * problem.tile_n // (32 * what.warps)
        if registers >= accumulator + 64:  # else so many blocks do not fit, and the recorder says so
            values["maxnreg"] = min(MOST_REGISTERS, registers)
    return _launch(planned, plan.ctas, what, problem, matrices, tables, stamps, values)


def _check_room(stamps: torch.Tensor | None, rows: int, matrices: Matrices) -> None:
    """Raise KernelError unless `stamps` has exactly `rows` rows: a kernel writes without looking."""
    if stamps is None:
        return
    here = matrices[0].device
    dense = stamps.is_contiguous() and stamps.device == here
    if (stamps.dtype, stamps.shape, dense) != (torch.int64, (rows, WORDS), True):
        raise KernelError(
            f"the stamps' room is {stamps.dtype} {list(stamps.shape)} on {stamps.device}; a plan of {rows}"
            f" segments needs a dense torch.int64 [{rows}, {WORDS}] on {here}"
        )


def _launch(
    kernel: Any, ctas: int, what: Variant, problem: Problem, matrices: Matrices, tables: tuple,
    stamps: torch.Tensor | None, values: dict[str, Any],
) -> Run:  # fmt: skip
    bm, bn, bk = problem.tile
    operands, layout = operands_of(what, problem, kernel, matrices)
    constants = values | layout | dict(
        BM=bm, BN=bn, BK=bk, TMA=what.loads == "tma", RECORD=stamps is not None,
        num_warps=what.warps, num_stages=what.stages,
    )  # fmt: skip

    arguments = (*operands, *tables, stamps, problem.m, problem.n, problem.k)
    return Run(what, problem, kernel, ctas, arguments, constants)
