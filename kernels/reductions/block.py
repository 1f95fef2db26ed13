"""The thread block of all steps, and its loads.

The two trees are PTX, because Triton's tile language turns tl.sum into shuffles, and Gluon turns its views of
shared memory into ldmatrix and stmatrix and makes threads without a pair repeat others' work.
"""

import triton
import triton.language as tl

THREADS = tl.constexpr(256)
"""Threads per block, for which the trees are written; each loads one value of a block of input."""

WARPS = 8

ADDED = tl.constexpr(8)
"""Blocks of input that a thread block adds while loading, from `unrolled` on."""


@triton.jit
def load(x, first, n):
    """x[first : first + THREADS], one value per thread, zeros from n on."""
    offsets = first + tl.arange(0, THREADS)
    return tl.load(x + offsets, mask=offsets < n, other=0.0)  # [THREADS]


@triton.jit
def load_and_add(x, first, n):
    """The sum of ADDED blocks of input from `first` on, thread by thread."""
    value = load(x, first, n)  # [THREADS]
    for i in tl.static_range(1, ADDED):
        value += load(x, first + i * THREADS, n)
    return value
