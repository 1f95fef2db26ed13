"""multi_block: one wave of thread blocks strides over the whole input; a second stage of one block ends it.

Two launches whatever the length, and no thread blocks that do little. Which block adds which values depends
on the number of blocks alone, so the sum has the same bits each time.
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
