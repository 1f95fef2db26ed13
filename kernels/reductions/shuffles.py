"""shuffles: lanes of a warp exchange their sums in registers; shared memory holds one sum per warp.

This is what tl.sum becomes: five shfl.sync.bfly for the 32 lanes, eight words through shared memory, and
three more shuffles for the eight warps, with two barriers instead of the tree's eight.
"""

import triton
import triton.language as tl

from .block import ADDED, THREADS, load_and_add


@triton.jit(do_not_specialize=["n"])
def shuffles(
    x,  # fp32 [n]
    sums,  # fp32 [blocks], written: of ADDED * THREADS values each
    n,
):
    block = tl.program_id(0)
    value = load_and_add(x, block.to(tl.int64) * (ADDED * THREADS), n)  # [THREADS]
    tl.store(sums + block, tl.sum(value, 0))
