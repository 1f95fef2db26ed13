"""strided_sum: every thread takes one cell of a matrix; adjacent threads take cells `stride` apart.

Thread i takes cell (i % turns) stride + i // turns of n, where turns = n // stride (stride 1: cell i; a row's
length: down the column). Each cell is taken once, so the sum is the same for every stride.
"""

import torch
import triton
import triton.language as tl

BLOCK, WARPS = 256, 8
"""Threads per block, with one cell each."""


@triton.jit(do_not_specialize=["stride"])
def strided_sum(x, sums, turns, stride, BLOCK: tl.constexpr):
    """x: fp32 [turns * stride]. sums: fp32, one per thread block."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
    cell = (i % turns) * stride + i // turns
    tl.store(sums + tl.program_id(0), tl.sum(tl.load(x + cell), 0))


def launch(x: torch.Tensor, sums: torch.Tensor, stride: int) -> None:
    """Sum x [n], n a multiple of BLOCK and of the stride, into sums [n / BLOCK]."""
    strided_sum[(len(sums),)](x, sums, len(x) // stride, stride, BLOCK=BLOCK, num_warps=WARPS)
