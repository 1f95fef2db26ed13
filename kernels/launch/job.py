"""A job: a kernel with its plan of one product, ready for any operands."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from triton.tools.tensor_descriptor import TensorDescriptor

from tilesim.kernel_config import KernelConfig
from tilesim.orders import rasterize
from tilesim.problems import Problem

from ..errors import KernelError
from .launcher import KernelLaunch
from .layouts import lines
from .operands import Matrices

COMPUTED_ORDERS = ("row-major", "column-major", "grouped")
"""Orders that a kernel computes; it reads others from a table, which costs 3 % at 4096x4096x512."""

Launch = Callable[[], object]
"""A function that launches once."""


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A kernel with its plan of one product.

    `rows`: the plan's segments, SEGMENT array, in the order of their stamps. `ctas`: thread blocks launched.
    `launcher(matrices, stamps=None)`: a KernelLaunch. It writes into `stamps`, int64 [rows, WORDS] and zero
    before, where given; KernelError for stamps of another size or kind. `workspace()`: a new workspace, the
    arguments by name that two concurrent launches must not share. `check()`: raises KernelError where a
    launch since the last check has failed on the GPU.
    """

    rows: np.ndarray
    ctas: int
    launcher: Callable[..., KernelLaunch]
    workspace: Callable[[], dict[str, torch.Tensor]] = dict
    check: Callable[[], None] = lambda: None


def refusing_stamps(launcher: Callable[[Matrices], KernelLaunch]) -> Callable[..., KernelLaunch]:
    """The launcher of a kernel that writes no stamps, and so has no segments to name."""

    def launch(matrices: Matrices, stamps: torch.Tensor | None = None) -> KernelLaunch:
        if stamps is not None:
            raise KernelError("this kernel writes no stamps; record a dedicated or a table-driven one")
        return launcher(matrices)

    return launch


NO_ROWS = np.empty(0)
"""The segments of such a kernel."""


def order_arguments(problem: Problem, matrices: Matrices) -> tuple[torch.Tensor | None, dict[str, Any]]:
    """(tiles in the order visited, None for computed orders; the kernel's constants ORDER and GROUP_M)."""
    order, _, group = problem.order.partition(":")
    table = None if order in COMPUTED_ORDERS else torch.from_numpy(rasterize(problem)).to(matrices[0].device)
    return table, dict(ORDER=order, GROUP_M=int(group or 1))


def operands_of(
    config: KernelConfig,
    dtype: str,
    kernel: Any,
    matrices: Matrices,
    make_descriptor: Callable[[torch.Tensor, list[int]], Any] = TensorDescriptor.from_tensor,
    boxes: tuple[tuple[int, int], ...] = (),
) -> tuple[list[Any], dict[str, Any]]:
    """(A, B and C as the kernel takes them; its arguments for transposed, strided or tf32 operands).

    `boxes`: rows and columns of A, B and C that it loads and stores at a time, where they do not follow from
    the configuration. Raises KernelError for operands that it cannot take.
    """
    bm, bn, bk = config.tile
    boxes = boxes or ((bm, bk), (bk, bn), (bm, bn // config.epilogue_subtiles))
    operands: list[Any] = []
    layout: dict[str, Any] = {"PRECISION": "tf32"} if dtype == "tf32" else {}
    for name, x, block in zip("abc", matrices, boxes, strict=True):
        view, trans = lines(x) or (x, False)
        rows, columns = reversed(block) if trans else block
        if view.stride(1) != 1 or (name == "c" and not x.is_contiguous()):
            raise KernelError(
                f"{name.upper()}'s strides are {x.stride()}; A and B need a dense dimension, and C dense rows"
            )
        if trans:
            layout[f"TRANS_{name.upper()}"] = True
        if config.loads == "tma":
            operands.append(make_descriptor(view, [rows, columns]))
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
            f"{config.name} takes dense, row-major A and B and no tf32; it has no"
            f" {', '.join(sorted(strange))}"
        )
    return operands, layout
