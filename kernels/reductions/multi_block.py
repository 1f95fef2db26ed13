"""multi_block: one wave of thread blocks strides over the whole input; a launch of one block finishes the
sum.

It takes two launches for any length. The assignment of values depends only on the number of blocks, so the
sum is bitwise reproducible.
"""

import triton
import triton.language as tl

from .block import ADDED, THREADS, load_and_add


@triton.jit(do_not_specialize=["n"])
def multi_block(
    x,  # fp32 [n]
    sums,  # fp32 [blocks], written: of every `blocks`-th run of ADDED * THREADS values
    n,
):
    block = tl.program_id(0)
    chunk = ADDED * THREADS
    value = tl.zeros((THREADS,), tl.float32)
    for first in range(block.to(tl.int64) * chunk, n, tl.num_programs(0).to(tl.int64) * chunk):
        value += load_and_add(x, first, n)
    tl.store(sums + block, tl.sum(value, 0))
