"""thread_indexing: one kernel, a cell a thread, with neighbours from one cell to a whole row of cells apart.

The matrix holds whole numbers so small that fp32 adds them exactly: each stride's sum must be equal to the
bit to the sum in float64, which is the same for all.
"""

from functools import partial
from typing import Any

import torch

from ..errors import KernelError
from ..ideas.strided_sum import BLOCK, launch
from ..launch.operands import beyond_l2
from ..measure.machine import facts
from ..measure.timing import method, replayed, require_gpu, working_gpu

SIDE = 8192
"""Rows and columns of the matrix: five times what the L2 of an H200 holds."""

STRIDES = (1, 2, 4, 8, 16, 32, SIDE)
ELEMENT = 4
MOST = 8
"""A cell holds a whole number below it, so that a thread block's sum is exact."""

METHOD = (
    f"a matrix of {SIDE} x {SIDE} in fp32, one cell a thread, neighbouring threads `stride` cells apart; "
    + method("one launch per matrix, of {sets} matrices", "strides")
    + "; before any timing each stride's sum must be exact; gb_per_s: bytes of the matrix by the median time"
)


def thread_indexing(samples: int = 40) -> dict[str, Any]:
    """Time each stride, in JSON values: "machine", "method", "side", "element" and "rows".

    A row: stride, us (median), p20, p80, gb_per_s, sum (of the matrix) and samples.

    Raises KernelError without an NVIDIA GPU, for a wrong sum, or a GPU that fails.
    """
    require_gpu()
    sets = beyond_l2(ELEMENT * SIDE**2)
    with working_gpu():
        random = torch.Generator("cuda").manual_seed(0)
        matrices = [
            torch.randint(MOST, (SIDE**2,), device="cuda", generator=random).float() for _ in range(sets)
        ]
        sums = torch.empty(SIDE**2 // BLOCK, device="cuda")
        totals = {stride: checked_sum(matrices[0], sums, stride) for stride in STRIDES}
        launches = {str(stride): [partial(launch, x, sums, stride) for x in matrices] for stride in STRIDES}
        timed = replayed(launches, 10, samples)
    rows = [
        {"stride": stride, **timed[str(stride)], "sum": totals[stride], "samples": samples}
        for stride in STRIDES
    ]
    for row in rows:
        row["gb_per_s"] = round(ELEMENT * SIDE**2 / row["us"] / 1000, 1)
    about = {"machine": facts(), "method": METHOD.format(sets=sets)}
    return about | {"side": SIDE, "element": ELEMENT, "rows": rows}


def checked_sum(x: torch.Tensor, sums: torch.Tensor, stride: int) -> int:
    """The sum of x by this stride, which must be the float64 sum; sums are poisoned with NaN before.

    Raises KernelError where it is another.
    """
    sums.fill_(float("nan"))
    launch(x, sums, stride)
    made, reference = float(sums.double().sum()), float(x.double().sum())
    if made != reference:
        raise KernelError(f"with stride {stride} the sum is {made:g} instead of {reference:g}")
    return int(made)
