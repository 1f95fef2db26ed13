"""The thread block of all steps, and how it loads.

Which thread adds what has no word in Triton's tile language: tl.sum becomes shuffles. Gluon has shared
memory with views of it, but makes ldmatrix and stmatrix of them, and threads without a pair of their own
repeat what others do. So the two trees of the textbooks are PTX, as a thread of them reads in CUDA.
"""

import triton
import triton.language as tl

THREADS = tl.constexpr(256)
"""Threads of a block, for which the trees are written; each loads one value of a block of input."""

WARPS = 8

ADDED = tl.constexpr(8)
"""Blocks of input that a thread block adds while it loads, from `unrolled` on."""


@triton.jit
def load(x, first, n):
    """x[first : first + THREADS], a value for each thread, zeros from n on."""
    offsets = first + tl.arange(0, THREADS)
    return tl.load(x + offsets, mask=offsets < n, other=0.0)  # [THREADS]


@triton.jit
def load_and_add(x, first, n):
    """The sum of ADDED blocks of input from `first` on, thread by thread."""
    value = load(x, first, n)  # [THREADS]
    for i in tl.static_range(1, ADDED):
        value += load(x, first + i * THREADS, n)
    return value
