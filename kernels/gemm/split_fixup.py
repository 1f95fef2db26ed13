"""Split tiles: how thread blocks that share a tile hand over what they summed.

Every segment of a split tile but the last in plan order stores its accumulator as a *partial*; the last, the
tile's owner, waits for them and adds them in plan order, so the result is the same to the bit every time.
C itself is written once, by the owner.

`partials` is fp32 [places, BM * BN]; a tile's partials have consecutive places. `flags` is int32
[places] and all zero between launches: each warp of the writer adds 1 to its place's flag when its part
is visible, each warp of the owner adds 1 when it has seen all of the writer's, and the last of these sets it
back to zero. `fault` is one int32: a wait that lasts too long writes its place plus 1 there and goes on, so
that a kernel ends whatever happens; the launch is then an error.

A place keeps each 8 x 8 block of an accumulator together, since that is what a warp holds of one in a
wgmma's layout: its stores and loads are then whole cache lines. Any other layout gets the same values.
"""

import triton
import triton.language as tl

from .tile_ops import INTERPRETED


@triton.jit
def halves(acc, BM: tl.constexpr, BN: tl.constexpr):
    """The even and the odd columns of acc [BM, BN], which a thread holds in pairs."""
    return tl.split(tl.reshape(acc, (BM, BN // 2, 2)))  # 2 x [BM, BN / 2]


@triton.jit
def pairs_of(partials, place, BM: tl.constexpr, BN: tl.constexpr):
    """Where each pair of neighbouring columns lies in a place: pointers [BM, BN / 2]."""
    r = tl.arange(0, BM)[:, None]
    c = 2 * tl.arange(0, BN // 2)[None, :]
    inside = (r // 8 * (BN // 8) + c // 8) * 64 + r % 8 * 8 + c % 8
    return partials + tl.cast(place, tl.int64) * (BM * BN) + inside


@triton.jit
def give(acc, partials, flags, place, BM: tl.constexpr, BN: tl.constexpr):
    """Store acc as the partial of `place`, and raise its flag."""
    at = pairs_of(partials, place, BM, BN)
    even, odd = halves(acc, BM, BN)
    if INTERPRETED:
        tl.store(at, even)
        tl.store(at + 1, odd)
        tl.store(flags + place, 1)
    else:
        tl.inline_asm_elementwise(
            "st.global.v2.f32 [$1], {$2, $3}; mov.u32 $0, 0;",
            "=r,l,f,f", [tl.cast(at, tl.int64), even, odd], dtype=tl.int32, is_pure=False, pack=1,
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
            "=r,l", [flags + place], dtype=tl.int32, is_pure=False, pack=1,
        )  # fmt: skip


@triton.jit
def wait(flags, place, fault, WARPS: tl.constexpr, WAIT: tl.constexpr):
    """Each warp returns when the partial of `place` is there, or after WAIT ns with a fault."""
    if INTERPRETED:
        if tl.load(flags + place) == 0:
            tl.store(fault, place + 1)
        tl.store(flags + place, 0)
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
            [tl.cast(flags + place, tl.int64), tl.cast(fault, tl.int64), place + 1,
             tl.full((), WARPS, tl.int32), tl.full((), WAIT, tl.int64), tl.full((), 2 * WARPS - 1, tl.int32)],
            dtype=tl.int32, is_pure=False, pack=1,
        )  # fmt: skip


@triton.jit
def take(acc, partials, place, BM: tl.constexpr, BN: tl.constexpr):
    """acc plus the partial of `place`, which must be there."""
    at = pairs_of(partials, place, BM, BN)
    even, odd = halves(acc, BM, BN)
    if INTERPRETED:
        even += tl.load(at)
        odd += tl.load(at + 1)
    else:
        # the sums are part of the assembly, so that the loads come in the layout of acc
        even, odd = tl.inline_asm_elementwise(
            """{
            .reg .f32 x, y;
            ld.global.v2.f32 {x, y}, [$2];
            add.f32 $0, x, $3;
            add.f32 $1, y, $4;
            }""",
            "=f,=f,l,f,f", [tl.cast(at, tl.int64), even, odd],
            dtype=(tl.float32, tl.float32), is_pure=False, pack=1,
        )  # fmt: skip
    return tl.reshape(tl.join(even, odd), (BM, BN))
