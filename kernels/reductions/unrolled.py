"""unrolled: each thread block adds several blocks of input while loading, and needs one tree for all.

A thread has all its loads in flight before the first addition needs a value.
"""

import triton
import triton.language as tl

from .block import ADDED, THREADS, add_up, load_and_add
from .sequential import HALVES


@triton.jit(do_not_specialize=["n"])
def unrolled(
    x,  # fp32 [n]
    sums,  # fp32 [blocks], written: of ADDED * THREADS values each
    n,
):
    block = tl.program_id(0)
    add_up(load_and_add(x, block.to(tl.int64) * (ADDED * THREADS), n), sums + block, HALVES)
