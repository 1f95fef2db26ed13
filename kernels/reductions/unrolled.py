"""unrolled: each thread block adds several blocks of input while it loads, and pays for its tree once.

A thread has all its loads in flight before the first addition needs one.
"""

import triton
import triton.language as tl

from .block import ADDED, THREADS, load_and_add
from .sequential import tree


@triton.jit(do_not_specialize=["n"])
def unrolled(
    x,  # fp32 [n]
    sums,  # fp32 [blocks], written: of ADDED * THREADS values each
    n,
):
    block = tl.program_id(0)
    tree(load_and_add(x, block.to(tl.int64) * (ADDED * THREADS), n), sums + block)
