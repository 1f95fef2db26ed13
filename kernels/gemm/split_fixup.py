"""The fix-up of split tiles: all segments of a tile but the last in plan order store their accumulators as
partials. The last, its owner, waits for them, adds them in plan order, so that the result is bitwise
reproducible, and writes C.

`partials` is fp32 [partials, BM * BN]; a tile's partials are consecutive. `flags` is int32 [partials], all
zero between launches: each warp of the writer adds 1 when its part of the partial is visible, each warp of
the owner adds 1 when it has seen the flags of all the writer's warps, and the last of these resets the flag
to zero. `fault` is one int32: a wait that times out writes its partial's index plus 1 there and continues, so
the kernel always ends, and the launch is then an error.
"""

import triton
import triton.language as tl

from ..launch.here import INTERPRETED


@triton.jit
def pair_pointers(partials, partial, BM: tl.constexpr, BN: tl.constexpr):
    """Pointers to each pair of adjacent columns of a partial: [BM, BN / 2]. Each 8 x 8 block, which a warp
    holds in a wgmma's layout, is contiguous."""
    r = tl.arange(0, BM)[:, None]
    c = 2 * tl.arange(0, BN // 2)[None, :]
    offset = (r // 8 * (BN // 8) + c // 8) * 64 + r % 8 * 8 + c % 8
    return partials + tl.cast(partial, tl.int64) * (BM * BN) + offset


@triton.jit
def store_partial(acc, partials, flags, partial, BM: tl.constexpr, BN: tl.constexpr):
    pointers = pair_pointers(partials, partial, BM, BN)
    even, odd = tl.split(tl.reshape(acc, (BM, BN // 2, 2)))  # columns, of which a thread has pairs
    if INTERPRETED:
        tl.store(pointers, even)
        tl.store(pointers + 1, odd)
        tl.store(flags + partial, 1)
    else:
        tl.inline_asm_elementwise(
            "st.global.v2.f32 [$1], {$2, $3}; mov.u32 $0, 0;",
            "=r,l,f,f", [tl.cast(pointers, tl.int64), even, odd], dtype=tl.int32, is_pure=False, pack=1,
        )  # fmt: skip
        tl.inline_asm_elementwise(
            """{
            .reg .pred p;
            .reg .b32 lane;
            mov.u32 lane, %laneid;
            setp.eq.u32 p, lane, 0;
            bar.warp.sync 0xffffffff;
            @p red.release.gpu.global.add.u32 [$1], 1;
            mov.u32 $0, 0;
            }""",
            "=r,l", [flags + partial], dtype=tl.int32, is_pure=False, pack=1,
        )  # fmt: skip


@triton.jit
def wait_for_partial(flags, partial, fault, WARPS: tl.constexpr, TIMEOUT_NS: tl.constexpr):
    """Each warp returns when the partial of this index is visible, or after TIMEOUT_NS with a fault."""
    if INTERPRETED:
        if tl.load(flags + partial) == 0:
            tl.store(fault, partial + 1)
        tl.store(flags + partial, 0)
    else:
        tl.inline_asm_elementwise(
            """{
            .reg .pred p, seen;
            .reg .b32 lane, flag, failed;
            .reg .b64 began, now;
            mov.u64 began, %globaltimer;
            poll:
            ld.acquire.gpu.global.u32 flag, [$1];
            setp.ge.u32 seen, flag, $4;
            @seen bra there;
            ld.relaxed.gpu.global.u32 failed, [$2];
            setp.ne.u32 p, failed, 0;
            @p bra there;
            mov.u64 now, %globaltimer;
            sub.u64 now, now, began;
            setp.lt.u64 p, now, $5;
            @p bra poll;
            st.relaxed.gpu.global.u32 [$2], $3;
            there:
            bar.warp.sync 0xffffffff;
            mov.u32 lane, %laneid;
            setp.eq.and.u32 p, lane, 0, seen;
            @!p bra out;
            atom.relaxed.gpu.global.add.u32 flag, [$1], 1;
            setp.eq.u32 p, flag, $6;
            @p st.relaxed.gpu.global.u32 [$1], 0;
            out:
            mov.u32 $0, 0;
            }""",
            "=r,l,l,r,r,l,r",
            [tl.cast(flags + partial, tl.int64), tl.cast(fault, tl.int64), partial + 1,
             tl.full((), WARPS, tl.int32), tl.full((), TIMEOUT_NS, tl.int64),
             tl.full((), 2 * WARPS - 1, tl.int32)],
            dtype=tl.int32, is_pure=False, pack=1,
        )  # fmt: skip


@triton.jit
def add_partial(acc, partials, partial, BM: tl.constexpr, BN: tl.constexpr):
    """acc plus the partial of this index, which must be visible."""
    pointers = pair_pointers(partials, partial, BM, BN)
    even, odd = tl.split(tl.reshape(acc, (BM, BN // 2, 2)))  # columns, of which a thread has pairs
    if INTERPRETED:
        even += tl.load(pointers)
        odd += tl.load(pointers + 1)
    else:
        # additions are in the assembly, so that loads have the layout of acc
        even, odd = tl.inline_asm_elementwise(
            """{
            .reg .f32 x, y;
            ld.global.v2.f32 {x, y}, [$2];
            add.f32 $0, x, $3;
            add.f32 $1, y, $4;
            }""",
            "=f,=f,l,f,f", [tl.cast(pointers, tl.int64), even, odd],
            dtype=(tl.float32, tl.float32), is_pure=False, pack=1,
        )  # fmt: skip
    return tl.reshape(tl.join(even, odd), (BM, BN))
