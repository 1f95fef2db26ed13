"""sequential: a tree with adjacent addresses.

At stride s, from 128 down to 1, thread t adds word t + s to word t. A warp reads 32 adjacent words, one from
each bank, and warps without a pair touch no memory.
"""

import triton
import triton.language as tl

from .block import THREADS, TREE, add_up, load

HALVES = tl.constexpr(
    TREE.format(
        first=128,
        pair="setp.lt.u32 mine, tid, stride;",
        following="shr.u32 stride, stride, 1; setp.ne.u32 more, stride, 0;",
    )
)


@triton.jit(do_not_specialize=["n"])
def sequential(
    x,  # fp32 [n]
    sums,  # fp32 [blocks], written: of THREADS values each
    n,
):
    block = tl.program_id(0)
    add_up(load(x, block.to(tl.int64) * THREADS, n), sums + block, HALVES)
