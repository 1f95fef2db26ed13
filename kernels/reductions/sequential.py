"""sequential: a tree with adjacent addresses.

At stride s, from 128 down to 1, thread t adds word t + s to word t. A warp reads 32 adjacent words, one from
each bank, and warps without a pair touch no memory.
"""

import triton
import triton.language as tl

from .block import THREADS, load


@triton.jit
def tree(value, total):
    """Store the sum of value [THREADS] at `total`."""
    tl.inline_asm_elementwise(
        """{
        .shared .align 4 .b32 held[256];
        .reg .pred mine, more;
        .reg .b32 tid, own, other, stride;
        .reg .f32 a, b;
        mov.u32 tid, %tid.x;
        mov.u32 own, held;
        mad.lo.u32 own, tid, 4, own;
        st.shared.f32 [own], $1;
        mov.u32 stride, 128;
        level:
        bar.sync 0;
        setp.lt.u32 mine, tid, stride;
        mad.lo.u32 other, stride, 4, own;
        @mine ld.shared.f32 a, [own];
        @mine ld.shared.f32 b, [other];
        @mine add.f32 a, a, b;
        @mine st.shared.f32 [own], a;
        shr.u32 stride, stride, 1;
        setp.ne.u32 more, stride, 0;
        @more bra level;
        setp.eq.u32 mine, tid, 0;
        @mine st.global.f32 [$2], a;
        mov.u32 $0, 0;
        }""",
        "=r,f,l", [value, total.to(tl.int64)], dtype=tl.int32, is_pure=False, pack=1,
    )  # fmt: skip


@triton.jit(do_not_specialize=["n"])
def sequential(
    x,  # fp32 [n]
    sums,  # fp32 [blocks], written: of THREADS values each
    n,
):
    block = tl.program_id(0)
    tree(load(x, block.to(tl.int64) * THREADS, n), sums + block)
