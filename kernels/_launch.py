"""From a kernel, a plan and a product to launches."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
import triton
from triton.tools.tensor_descriptor import TensorDescriptor

from tilesim.devices import Device
from tilesim.orders import visit
from tilesim.plans import segments
from tilesim.problems import Problem
from tilesim.schedules import plan

from . import _hopper
from ._clock import WORDS
from ._errors import KernelError
from ._inputs import Matrices
from ._layouts import lines
from ._tiles import FORMULAS, INTERPRETED
from ._upload import Upload, rows_of, upload
from ._variants import Variant
from .element import element
from .naive import naive
from .persistent import persistent
from .planned import planned
from .skinny import skinny
from .uncoalesced import uncoalesced

KERNELS = {"naive": naive, "persistent": persistent, "planned": planned}
"""Those that can be stamped."""

LAG = 1
"""The K-step at whose top an overlapping kernel with stamps waits for its last store. At 0 it costs 5 % of
the time at 4096x4096x512, from 1 on 1 %; a store is rarely through before 1, and always before 2."""

WAIT_NS = 2_000_000_000
"""How long a split tile's owner waits for a partial: longer than a product that fits into a GPU takes."""

SM_REGISTERS, MOST_REGISTERS = 65536, 255
"""Of an SM, and of a thread (CUDA C++ Programming Guide, compute capabilities 5.0 to 12.0)."""

Launch = Callable[[], None]


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A kernel with its plan of one product.

    `rows`: the plan's segments, SEGMENT array, in the order of their stamps. `ctas`: thread blocks launched.
    `launcher(matrices, stamps=None)`: a function that launches once, and writes stamps [rows, WORDS] where
    there is a place for them, zero before; KernelError for a place of another size or kind. `check()`:
    raises KernelError where a launch since the last check went wrong inside.
    """

    rows: np.ndarray
    ctas: int
    launcher: Callable[..., Launch]
    check: Callable[[], None] = lambda: None


def job(
    what: Variant, problem: Problem, device: Device, memory: str = "cuda", concurrent: bool = False
) -> Job:
    """The job of `what` on `device`; `memory` is "cuda" or, for the interpreter, "cpu".

    All launches of a job work in the same room and must follow one another; with `concurrent`, those of two
    launchers may run at once, each launcher has room of its own, and `check` sees none of it.

    Raises ScheduleError or PlanError where the schedule makes no plan that ends on this device's slots,
    KernelError where what the plan needs does not fit into the GPU's memory.
    """
    if what.kernel in _UNSTAMPED:
        return _UNSTAMPED[what.kernel](what, problem, device)
    made = plan(what.schedule, problem, device)
    if what.kernel == "own":
        rows = segments(-1, visit(problem), 0, problem.k_steps)
        return Job(rows, made.ctas, partial(_own, what, problem, made.ctas))
    made.check(problem, device.slots)
    uploaded = upload(made, problem, memory, device.ctas_per_sm)
    if concurrent:
        kept = uploaded.without_partials()
        return Job(rows_of(made), made.ctas, lambda *args: _planned(what, problem, kept.with_room(), *args))
    return Job(rows_of(made), made.ctas, partial(_planned, what, problem, uploaded), uploaded.check)


def _own(
    what: Variant, problem: Problem, ctas: int, matrices: Matrices, stamps: torch.Tensor | None = None
) -> Launch:
    table, values = _order(problem, matrices)
    if what.schedule == "persistent":
        values |= dict(OVERLAP=what.overlap, LAG=LAG if what.overlap else 0, PARTS=what.parts)
    _check_room(stamps, problem.tiles, matrices)
    return _launch(KERNELS[what.schedule], ctas, what, problem, matrices, (table,), stamps, values)


def _order(problem: Problem, matrices: Matrices) -> tuple[torch.Tensor | None, dict[str, Any]]:
    """The table of tiles that a kernel reads where it has no formula, and the order's name and group."""
    order, _, group = problem.order.partition(":")
    table = None if order in FORMULAS else torch.from_numpy(visit(problem)).to(matrices[0].device)
    return table, dict(ORDER=order, GROUP=int(group or 1))


def _planned(
    what: Variant, problem: Problem, plan: Upload, matrices: Matrices, stamps: torch.Tensor | None = None,
    wait_ns: int = WAIT_NS,
) -> Launch:  # fmt: skip
    queue = plan.rows > plan.queue
    # A block with one segment has nothing to overlap with, and C then needs no shared memory of its own.
    overlap = what.overlap and plan.longest > 1 and not queue
    tables = (
        plan.table, plan.offsets, plan.steps, plan.ticket, plan.queue, plan.rows,
        plan.partials, plan.flags, plan.flags[-1:],
    )  # fmt: skip
    values: dict[str, Any] = dict(
        SPLIT=plan.split, QUEUE=queue, OVERLAP=overlap, LAG=LAG if overlap else 0,
        WARPS=what.warps, WAIT=wait_ns,
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


def _operands(
    what: Variant, problem: Problem, kernel: Any, matrices: Matrices
) -> tuple[list[Any], dict[str, Any]]:
    """A, B and C as a kernel takes them, and what it is told about them where they are not as usual."""
    bm, bn, bk = problem.tile
    operands: list[Any] = []
    layout: dict[str, Any] = {"PRECISION": "tf32"} if problem.dtype == "tf32" else {}
    for name, x, box in zip("abc", matrices, ((bm, bk), (bk, bn), (bm, bn // what.parts)), strict=True):
        view, trans = lines(x) or (x, False)
        rows, columns = reversed(box) if trans else box
        if view.stride(1) != 1 or (name == "c" and not x.is_contiguous()):
            raise KernelError(
                f"{name.upper()}'s strides are {x.stride()}; A and B need a dense dimension, and C dense rows"
            )
        if trans:
            layout[f"TRANS_{name.upper()}"] = True
        if what.loads == "tma":
            operands.append(TensorDescriptor.from_tensor(view, [rows, columns]))
            continue
        if (rows - 1) * view.stride(0) + columns > 2**31:
            raise KernelError(
                f"{rows} lines of {name.upper()} span 2^31 elements or more, which are too many for a tile"
            )
        operands.append(view)
        if view.stride(0) != view.shape[1]:
            layout[f"ld{name}"] = view.stride(0)
    if strange := layout.keys() - set(kernel.arg_names):
        raise KernelError(
            f"{what.name} takes dense, row-major A and B and no tf32; it has no {', '.join(sorted(strange))}"
        )
    return operands, layout


def _launch(
    kernel: Any, ctas: int, what: Variant, problem: Problem, matrices: Matrices, tables: tuple,
    stamps: torch.Tensor | None, values: dict[str, Any],
) -> Launch:  # fmt: skip
    """A function that launches `kernel` once: C = A · B.

    Launching raises KernelError where the tile needs more shared memory than the GPU has, or where this
    Triton cannot compile the kernel for it.
    """
    bm, bn, bk = problem.tile
    operands, layout = _operands(what, problem, kernel, matrices)
    constants = values | layout | dict(
        BM=bm, BN=bn, BK=bk, TMA=what.loads == "tma", RECORD=stamps is not None,
        num_warps=what.warps, num_stages=what.stages,
    )  # fmt: skip

    return _caller(
        what, problem, kernel, ctas,
        (*operands, *tables, stamps, problem.m, problem.n, problem.k), constants,
    )  # fmt: skip


def _caller(
    what: Variant, problem: Problem, kernel: Any, ctas: int, arguments: tuple, constants: dict[str, Any]
) -> Launch:
    """A function that calls kernel[(ctas,)](*arguments, **constants), with KernelError as said above."""

    def launch() -> None:
        try:
            kernel[(ctas,)](*arguments, **constants)
        except triton.runtime.errors.OutOfResources as short:
            raise KernelError(
                f"tiles of {'x'.join(map(str, problem.tile))} in {problem.dtype} with {what.stages} stages"
                f" need {short.required} of {short.name}, and this GPU has {short.limit}; take smaller"
                " tiles or fewer stages"
            ) from None
        except RuntimeError as failed:
            if "PassManager" not in str(failed):
                raise
            version = f"Triton {triton.__version__}"
            raise KernelError(f"{version} cannot compile {what.name} for {problem} on this GPU") from None

    return launch


def _unstamped(ctas: int, launcher: Callable[[Matrices], Launch]) -> Job:
    """The job of a kernel that leaves no stamps, and so has no segments to name."""

    def refuse(matrices: Matrices, stamps: torch.Tensor | None = None) -> Launch:
        if stamps is not None:
            raise KernelError("this kernel writes no stamps; record runs 'own' and 'planned' ones")
        return launcher(matrices)

    return Job(np.empty(0), ctas, refuse)


def _element(what: Variant, problem: Problem, device: Device) -> Job:
    ctas = problem.m * problem.n

    def launcher(matrices: Matrices) -> Launch:
        operands, _ = _operands(what, problem, element, matrices)
        arguments = (*operands, problem.m, problem.n, problem.k)
        constants = dict(BK=problem.tile_k, num_warps=what.warps)
        return _caller(what, problem, element, ctas, arguments, constants)

    return _unstamped(ctas, launcher)


def _uncoalesced(what: Variant, problem: Problem, device: Device) -> Job:
    bm, bn, bk = problem.tile

    def launcher(matrices: Matrices) -> Launch:
        table, values = _order(problem, matrices)
        operands, layout = _operands(what, problem, uncoalesced, matrices)
        arguments = (*operands, table, problem.m, problem.n, problem.k, 1)
        constants = values | layout | dict(BM=bm, BN=bn, BK=bk, num_warps=what.warps)
        return _caller(what, problem, uncoalesced, problem.tiles, arguments, constants)

    return _unstamped(problem.tiles, launcher)


def _skinny(what: Variant, problem: Problem, device: Device) -> Job:
    bm, bn, bk = problem.tile
    tma = what.loads == "tma"
    early = tma and not INTERPRETED  # where there is TMA, there is programmatic dependent launch

    def launcher(matrices: Matrices) -> Launch:
        table, values = _order(problem, matrices)
        operands, layout = _operands(what, problem, skinny, matrices)
        constants = values | layout | dict(
            BM=bm, BN=bn, BK=bk, TMA=tma, EARLY=early, num_warps=what.warps, num_stages=what.stages
        )  # fmt: skip
        if early:
            constants["launch_pdl"] = True
        arguments = (*operands, table, problem.m, problem.n, problem.k)
        return _caller(what, problem, skinny, problem.tiles, arguments, constants)

    return _unstamped(problem.tiles, launcher)


def _of_hopper(what: Variant, problem: Problem, device: Device) -> Job:
    _hopper.require(what, problem)
    ctas = min(problem.tiles, device.sms - device.busy_sms)

    def launcher(matrices: Matrices) -> Launch:
        table, _ = _order(problem, matrices)
        kernel, arguments, constants = _hopper.launcher(what, problem, ctas, matrices, table)
        return _caller(what, problem, kernel, ctas, arguments, constants)

    return _unstamped(ctas, launcher)


_UNSTAMPED: dict[str, Callable[[Variant, Problem, Device], Job]] = {
    "element": _element,
    "uncoalesced": _uncoalesced,
    "skinny": _skinny,
    "specialised": _of_hopper,
    "ping-pong": _of_hopper,
}
