"""interleaved: a tree in shared memory that adds neighbors first.

At stride s, from 1 to 128, thread t adds word 2st + s to word 2st, so a warp's addresses are 2s words apart
and fall into few of the 32 banks. The sm_90 code has this access as written, one ld.shared.b32 per operand.
One operand of the whole tree takes 47 wavefronts; sequential.py takes 12.
"""

import triton
import triton.language as tl

from .block import THREADS, TREE, add_up, load

NEIGHBORS = tl.constexpr(
    TREE.format(
        first=1,
        pair="""mul.lo.u32 own, tid, stride;
    shl.b32 own, own, 1;
    setp.lt.u32 mine, own, 256;
    mad.lo.u32 own, own, 4, base;""",
        following="shl.b32 stride, stride, 1; setp.lt.u32 more, stride, 256;",
    )
)


@triton.jit(do_not_specialize=["n"])
def interleaved(
    x,  # fp32 [n]
    sums,  # fp32 [blocks], written: of THREADS values each
    n,
):
    block = tl.program_id(0)
    add_up(load(x, block.to(tl.int64) * THREADS, n), sums + block, NEIGHBORS)
