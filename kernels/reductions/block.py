"""The thread block of all steps, and its loads.

The two trees are PTX, because Triton's tile language turns tl.sum into shuffles, and Gluon turns its views of
shared memory into ldmatrix and stmatrix and makes threads without a pair repeat others' work.
"""

import triton
import triton.language as tl

THREADS = tl.constexpr(256)
"""Threads per block, for which the trees are written; each loads one value of a block of input."""

WARPS = 8

ADDED = tl.constexpr(8)
"""Blocks of input that a thread block adds while loading, from `unrolled` on."""


TREE = """{{
    .shared .align 4 .b32 held[256];
    .reg .pred mine, more;
    .reg .b32 tid, base, own, other, stride;
    .reg .f32 a, b;
    mov.u32 tid, %tid.x;
    mov.u32 base, held;
    mad.lo.u32 own, tid, 4, base;
    st.shared.f32 [own], $1;
    mov.u32 stride, {first};
    level:
    bar.sync 0;
    {pair}
    mad.lo.u32 other, stride, 4, own;
    @mine ld.shared.f32 a, [own];
    @mine ld.shared.f32 b, [other];
    @mine add.f32 a, a, b;
    @mine st.shared.f32 [own], a;
    {following}
    @more bra level;
    setp.eq.u32 mine, tid, 0;
    @mine st.global.f32 [$2], a;
    mov.u32 $0, 0;
    }}"""
"""A tree over one word of each thread: its first stride; whether a thread has a pair at a stride, and where;
and the following stride, if there is more to add."""


@triton.jit
def add_up(value, total, TREE: tl.constexpr):
    """Store the sum of value [THREADS] at `total`, by a TREE."""
    tl.inline_asm_elementwise(
        TREE, "=r,f,l", [value, total.to(tl.int64)], dtype=tl.int32, is_pure=False, pack=1
    )


@triton.jit
def load(x, first, n):
    """x[first : first + THREADS], one value per thread, zeros from n on."""
    offsets = first + tl.arange(0, THREADS)
    return tl.load(x + offsets, mask=offsets < n, other=0.0)  # [THREADS]


@triton.jit
def load_and_add(x, first, n):
    """The sum of ADDED blocks of input from `first` on, thread by thread."""
    value = load(x, first, n)  # [THREADS]
    for i in tl.static_range(1, ADDED):
        value += load(x, first + i * THREADS, n)
    return value
