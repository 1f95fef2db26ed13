"""Shared memory: latency by a warp's chain of loads, bandwidth by loads of all warps."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from ..errors import KernelError
from .stamping import Launch, read_stamps, stamp, stamp_buffer

WORDS = 1024
"""4-byte words of a chase; the i-th holds the address of the one STRIDE further."""
STRIDE = 33
UNROLLED = 16
WARPS = 32
WIDTH = 16
"""Bytes that a thread loads at once."""

CHASE = f"""{{
    .reg .pred on;
    .reg .b32 tid, base, at, next, left, i;
    .shared .align 16 .b32 ring[{WORDS}];
    mov.u32 base, ring;
    mov.u32 tid, %tid.x;
    mov.u32 i, tid;
    fill:
    mad.lo.u32 at, i, 4, base;
    add.u32 next, i, {STRIDE};
    and.b32 next, next, {WORDS - 1};
    mad.lo.u32 next, next, 4, base;
    st.shared.u32 [at], next;
    add.u32 i, i, 32;
    setp.lt.u32 on, i, {WORDS};
    @on bra fill;
    bar.sync 0;
    mov.u64 $0, %clock64;
    mov.u64 $1, %globaltimer;
    mov.u32 at, base;
    mov.u32 left, $3;
    again:
    {"ld.shared.u32 at, [at];" * UNROLLED}
    sub.u32 left, left, 1;
    setp.ne.u32 on, left, 0;
    @on bra again;
    sub.u32 at, at, base;
    shr.u32 $2, at, 2;
    }}"""
READ = f"""{{
    .reg .pred on;
    .reg .b32 tid, base, at, left, sum, a, b, c, d;
    .shared .align 16 .b32 words[{32 * WARPS * WIDTH // 4}];
    mov.u32 base, words;
    mov.u32 tid, %tid.x;
    mad.lo.u32 at, tid, {WIDTH}, base;
    add.u32 a, tid, 1;
    st.shared.v4.u32 [at], {{a, a, a, a}};
    bar.sync 0;
    mov.u64 $0, %clock64;
    mov.u64 $1, %globaltimer;
    mov.u32 left, $3;
    mov.u32 sum, 0;
    again:
    {"ld.volatile.shared.v4.u32 {a, b, c, d}, [at]; add.u32 sum, sum, a;" * UNROLLED}
    sub.u32 left, left, 1;
    setp.ne.u32 on, left, 0;
    @on bra again;
    mov.u32 $2, sum;
    bar.sync 0;
    }}"""


@gluon.jit(do_not_specialize=["turns"])
def shared(stamps, turns, WORK: gl.constexpr):
    """Run CHASE or READ; the checksum is the first thread's last word or sum."""
    begin, begin_ns, found = gl.inline_asm_elementwise(
        WORK, "=l,=l,=r,r", [turns], dtype=(gl.int64, gl.int64, gl.int32), is_pure=False, pack=1
    )  # fmt: skip
    stamp(stamps, begin, begin_ns, found)


def chase_shared(hops: int) -> Launch:
    """A warp's chase through shared memory, `hops` a multiple of UNROLLED. Raises KernelError if it ends at a
    wrong word."""
    return _launch(CHASE, 1, 1, hops // UNROLLED, STRIDE * hops % WORDS)


def read_shared(blocks: int, loads: int) -> Launch:
    """Each thread of `blocks` blocks of 1024 does `loads` loads of WIDTH bytes, a multiple of UNROLLED.
    Raises KernelError if a thread reads other values than it wrote."""
    return _launch(READ, blocks, WARPS, loads // UNROLLED, blocks * loads)


def _launch(work: str, blocks: int, warps: int, turns: int, right: int) -> Launch:
    stamps = stamp_buffer(blocks)
    shared[(blocks,)](stamps, turns, WORK=work, num_warps=warps)
    seen = read_stamps(stamps.cpu().numpy())
    if seen.checksum != right:
        raise KernelError(f"loads from shared memory added up to {seen.checksum} instead of {right}")
    return seen
