"""interleaved: a tree in shared memory that adds neighbors first.

At stride s, from 1 to 128, thread t adds word 2st + s to word 2st, so a warp's addresses are 2s words apart
and fall into few of the 32 banks. The sm_90 code has this access as written, one ld.shared.b32 per operand.
One operand of the whole tree takes 47 wavefronts; sequential.py takes 12.
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
        .reg .b32 tid, base, own, other, stride;
        .reg .f32 a, b;
        mov.u32 tid, %tid.x;
        mov.u32 base, held;
        mad.lo.u32 own, tid, 4, base;
        st.shared.f32 [own], $1;
        mov.u32 stride, 1;
        level:
        bar.sync 0;
        mul.lo.u32 own, tid, stride;
        shl.b32 own, own, 1;
        setp.lt.u32 mine, own, 256;
        mad.lo.u32 own, own, 4, base;
        mad.lo.u32 other, stride, 4, own;
        @mine ld.shared.f32 a, [own];
        @mine ld.shared.f32 b, [other];
        @mine add.f32 a, a, b;
        @mine st.shared.f32 [own], a;
        shl.b32 stride, stride, 1;
        setp.lt.u32 more, stride, 256;
        @more bra level;
        setp.eq.u32 mine, tid, 0;
        @mine st.global.f32 [$2], a;
        mov.u32 $0, 0;
        }""",
        "=r,f,l", [value, total.to(tl.int64)], dtype=tl.int32, is_pure=False, pack=1,
    )  # fmt: skip


@triton.jit(do_not_specialize=["n"])
def interleaved(
    x,  # fp32 [n]
    sums,  # fp32 [blocks], written: of THREADS values each
    n,
):
    block = tl.program_id(0)
    tree(load(x, block.to(tl.int64) * THREADS, n), sums + block)
