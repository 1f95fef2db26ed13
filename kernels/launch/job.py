"""A job: a kernel with its plan of one product; and what all jobs do to the operands."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from triton.tools.tensor_descriptor import TensorDescriptor

from tilesim.orders import visit
from tilesim.problems import Problem

from ..errors import KernelError
from ..gemm.tile_ops import FORMULAS
from .launcher import Run
from .layouts import lines
from .operands import Matrices
from .variants import Variant

Launch = Callable[[], object]


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A kernel with its plan of one product.

    `rows`: the plan's segments, SEGMENT array, in the order of their stamps. `ctas`: thread blocks launched.
    `launcher(matrices, stamps=None)`: a function that launches once, and writes stamps [rows, WORDS] where
    there is a place for them, zero before; KernelError for a place of another size or kind. `room()`: the
    kernel's arguments, by name, that two launches at once must not share, made anew. `check()`: raises
    KernelError where a launch since the last check went wrong inside.
    """

    rows: np.ndarray
    ctas: int
    launcher: Callable[..., Run]
    room: Callable[[], dict[str, torch.Tensor]] = dict
    check: Callable[[], None] = lambda: None


def ordered(problem: Problem, matrices: Matrices) -> tuple[torch.Tensor | None, dict[str, Any]]:
    """The table of tiles that a kernel reads where it has no formula, and the order's name and group."""
    order, _, group = problem.order.partition(":")
    table = None if order in FORMULAS else torch.from_numpy(visit(problem)).to(matrices[0].device)
    return table, dict(ORDER=order, GROUP=int(group or 1))


def operands_of(
    what: Variant,
    problem: Problem,
    kernel: Any,
    matrices: Matrices,
    describe: Callable[[torch.Tensor, list[int]], Any] = TensorDescriptor.from_tensor,
) -> tuple[list[Any], dict[str, Any]]:
    """A, B and C as a kernel takes them, and what it is told about them where they are not as usual.

    Raises KernelError for those that it cannot take.
    """
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
            operands.append(describe(view, [rows, columns]))
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
