"""The five steps as data, and a vector's sum as launches of one of them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from ..errors import KernelError
from . import block
from .interleaved import interleaved
from .multi_block import multi_block
from .sequential import sequential
from .shuffles import shuffles
from .unrolled import unrolled


@dataclass(frozen=True, slots=True)
class ReductionStep:
    """A kernel whose thread blocks sum `values_per_block` values each, at a time if only one `wave` runs.
    `why`: how it improves on the previous step, in a sentence."""

    name: str
    why: str
    kernel: Any
    values_per_block: int
    wave: bool = False


THREADS = block.THREADS.value

ADDED = block.ADDED.value

STEPS = (
    ReductionStep(
        "interleaved",
        "a tree in shared memory adds neighbors first, so that up to eight lanes share a bank",
        interleaved,
        THREADS,
    ),
    ReductionStep(
        "sequential",
        "the tree adds halves, so that a warp reads adjacent words and no lanes share a bank",
        sequential,
        THREADS,
    ),
    ReductionStep(
        "unrolled",
        f"each thread block adds {ADDED} blocks of input while loading, and needs one tree for all",
        unrolled,
        ADDED * THREADS,
    ),
    ReductionStep(
        "shuffles",
        "lanes exchange their sums in registers, with two barriers instead of the tree's eight",
        shuffles,
        ADDED * THREADS,
    ),
    ReductionStep(
        "multi-block",
        "one wave of thread blocks strides over the whole input, and one block adds up their sums",
        multi_block,
        ADDED * THREADS,
        wave=True,
    ),
)


@dataclass(frozen=True, slots=True, eq=False)
class Summing:
    """A vector's sum as launches: `launch()` writes all of `sums`, of which `total`, 0-d, is the last."""

    launch: Callable[[], None]
    sums: torch.Tensor
    stages: int = 1

    @property
    def total(self) -> torch.Tensor:
        return self.sums[-1]


def launches(step: ReductionStep, n: int, slots: int) -> list[tuple[int, int]]:
    """(values, thread blocks) of each launch that sums n values if `slots` blocks run at once.

    >>> launches(STEPS[1], 1_000_000, 1056)
    [(1000000, 3907), (3907, 16), (16, 1)]
    >>> launches(STEPS[4], 100_000_000, 1056)
    [(100000000, 1056), (1056, 1)]
    """
    made = []
    while not made or n > 1:
        blocks = -(-n // step.values_per_block)
        if step.wave:
            blocks = 1 if made else min(blocks, slots)
        made.append((n, blocks))
        n = blocks
    return made


def summing(step: ReductionStep, x: torch.Tensor, slots: int) -> Summing:
    """The sum of x [n] by the kernel of `step`, with memory for the sums of all `launches`. Raises
    KernelError unless x is a dense fp32 vector with at least one value."""
    if x.dtype != torch.float32 or x.dim() != 1 or not x.is_contiguous():
        raise KernelError(f"x is {x.dtype} {list(x.shape)}; the kernels sum a dense torch.float32 vector")
    if not len(x):
        raise KernelError("x is empty; a sum needs at least one value")
    made = launches(step, len(x), slots)
    sums = torch.empty(sum(blocks for _, blocks in made), dtype=torch.float32, device=x.device)
    stages = sums.split([blocks for _, blocks in made])
    calls = [
        partial(step.kernel[(blocks,)], source, stage, n, num_warps=block.WARPS)
        for (n, blocks), source, stage in zip(made, (x, *stages), stages, strict=False)
    ]

    def launch() -> None:
        for call in calls:
            call()

    return Summing(launch, sums, len(calls))
