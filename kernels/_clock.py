"""Stamps: a kernel writes down where and when each of its segments ran.

`stamps` is int64 [segments, WORDS], zero before the launch; row i belongs to the plan's i-th segment, which
for a plan of whole tiles is the i-th tile visited:

    cta sm start start_cycles drain drain_cycles done _ entry ready fixup _ _ _ _ _

entry, start, drain, ready, fixup and done are %globaltimer (ns), the cycles are %clock64 of the SM.

entry  the thread block's first instructions; in the row of its first segment alone.
start  before thread 0 issues the first wgmma, after it has waited for the operands: the loads that
       fill the pipeline come before start.
drain  after thread 0 has waited for the last wgmma. Both are the first warpgroup's; the barriers of
       every K-step hold the others within a fraction of a K-step.
ready  a split tile's owner: after every warp has seen the last foreign partial's flag; else 0.
fixup  a split tile's owner: after the partials are added; else 0.
done   TMA: after the last warp has waited for its part of C to be visible. A persistent kernel waits at
       the top of the next tile's first K-step, while that tile's loads fly; one that overlaps, at the
       top of its second, while the first multiplies. So done may come late there, by what lies between
       (at most 0.6 µs on an H200). A CTA's last done is exact.
       Pointers: after the last warp has issued its stores. They become visible up to 1 µs later, but a
       CTA does not stay for that, and one that did would make the kernel 10 % slower.

What keeps a stamp in its place: it is volatile inline assembly, as are the wgmma, the wait for them
and the wait for a TMA store, and neither LLVM nor ptxas moves one such instruction past another. Triton's
pipeliner does: whatever uses a value that the end of the loop body needs too, it puts there with it. So a
stamp finds its row's address for itself, and a condition of a stamp shares nothing with the loop's own. The
stamps in the K loop are predicated, since a branch there makes ptxas serialise the wgmma. A test reads the
order in the PTX, and another, on a GPU, weaves pauses of known length between stamps.

Triton's interpreter has neither clocks nor SMs: there CTAs run one after another on SM 0, and the time
is a counter of stamps from 1, kept in word 7 of row 0.
"""

import triton
import triton.language as tl

from ._tiles import INTERPRETED, settled

WORDS = 16
"""A power of two: a row's address is found in every K-step, and with 12 words that costs 3 % of the time."""


@triton.jit
def tick(stamps):
    """The interpreter's time: 1, 2, 3 ..."""
    return tl.atomic_add(stamps + 7, 1) + 1


@triton.jit
def row_of(stamps, i):
    """The address of row i, for the interpreter; elsewhere each stamp finds it for itself, as said above."""
    return stamps + tl.cast(i, tl.int64) * 16


@triton.jit
def stamp_entry(stamps, i):
    """Thread 0 writes the time; to be called before anything else."""
    if INTERPRETED:
        row = row_of(stamps, i)
        tl.store(row + 8, tick(stamps))
    else:
        tl.inline_asm_elementwise(
            """{
            .reg .pred p;
            .reg .b32 tid;
            .reg .b64 row, ns;
            mov.u64 ns, %globaltimer;
            mov.u32 tid, %tid.x;
            setp.eq.u32 p, tid, 0;
            mad.wide.s32 row, $2, 128, $1;
            @p st.global.u64 [row + 64], ns;
            mov.u32 $0, 0;
            }""",
            "=r,l,r", [stamps, tl.cast(i, tl.int32)], dtype=tl.int32, is_pure=False, pack=1,
        )  # fmt: skip


@triton.jit
def stamp_start(stamps, i, when):
    """Thread 0 writes CTA, SM, time and cycles where `when` holds."""
    if INTERPRETED:
        row = row_of(stamps, i)
        if when:
            now = tick(stamps)
            tl.store(row, tl.program_id(0))
            tl.store(row + 2, now)
            tl.store(row + 3, now)
    else:
        tl.inline_asm_elementwise(
            """{
            .reg .pred p;
            .reg .b32 tid, cta, sm;
            .reg .b64 row, id, at, ns, cycles;
            mov.u32 tid, %tid.x;
            setp.eq.u32 p, tid, 0;
            setp.ne.and.u32 p, $3, 0, p;
            @!p bra skip;
            mov.u64 ns, %globaltimer;
            mov.u64 cycles, %clock64;
            mov.u32 cta, %ctaid.x;
            mov.u32 sm, %smid;
            cvt.u64.u32 id, cta;
            cvt.u64.u32 at, sm;
            mad.wide.s32 row, $2, 128, $1;
            st.global.v2.u64 [row], {id, at};
            st.global.v2.u64 [row + 16], {ns, cycles};
            skip:
            mov.u32 $0, 0;
            }""",
            "=r,l,r,r", [stamps, tl.cast(i, tl.int32), tl.cast(when, tl.int32)],
            dtype=tl.int32, is_pure=False, pack=1,
        )  # fmt: skip


@triton.jit
def stamp_drain(stamps, i, acc):
    """Thread 0 writes time and cycles; returns acc, which must be complete by then."""
    if INTERPRETED:
        row = row_of(stamps, i)
        now = tick(stamps)
        tl.store(row + 4, now)
        tl.store(row + 5, now)
    else:
        acc = settled(acc)
        tl.inline_asm_elementwise(
            """{
            .reg .pred p;
            .reg .b32 tid;
            .reg .b64 row, ns, cycles;
            mov.u64 ns, %globaltimer;
            mov.u64 cycles, %clock64;
            mov.u32 tid, %tid.x;
            setp.eq.u32 p, tid, 0;
            mad.wide.s32 row, $2, 128, $1;
            @p st.global.v2.u64 [row + 32], {ns, cycles};
            mov.u32 $0, 0;
            }""",
            "=r,l,r", [stamps, tl.cast(i, tl.int32)], dtype=tl.int32, is_pure=False, pack=1,
        )  # fmt: skip
    return acc


@triton.jit
def stamp_done(stamps, i, when, TMA: tl.constexpr):
    """Where `when` holds, every warp waits for its TMA stores of C; the latest warp's time stays."""
    if INTERPRETED:
        row = row_of(stamps, i)
        if when:
            tl.store(row + 6, tick(stamps))
    else:
        WAIT: tl.constexpr = "cp.async.bulk.wait_group 0;" if TMA else ""
        tl.inline_asm_elementwise(
            """{
            .reg .pred p;
            .reg .b32 lane;
            .reg .b64 row, ns;
            setp.ne.u32 p, $3, 0;
            @!p bra skip;
            """ + WAIT + """
            mov.u64 ns, %globaltimer;
            mov.u32 lane, %laneid;
            setp.eq.u32 p, lane, 0;
            mad.wide.s32 row, $2, 128, $1;
            @p red.global.max.u64 [row + 48], ns;
            skip:
            mov.u32 $0, 0;
            }""",
            "=r,l,r,r", [stamps, tl.cast(i, tl.int32), tl.cast(when, tl.int32)],
            dtype=tl.int32, is_pure=False, pack=1,
        )  # fmt: skip


@triton.jit
def read_timer(out, READS: tl.constexpr):
    """out: int64 [READS]; one %globaltimer after another."""
    for i in range(READS):
        tl.store(out + i, tl.extra.cuda.globaltimer())


@triton.jit
def stamp_ready(stamps, i):
    """Every warp writes the time, of which the latest stays: it has seen the last foreign partial."""
    if INTERPRETED:
        row = row_of(stamps, i)
        tl.store(row + 9, tick(stamps))
    else:
        tl.inline_asm_elementwise(
            """{
            .reg .pred p;
            .reg .b32 lane;
            .reg .b64 row, ns;
            mov.u64 ns, %globaltimer;
            mov.u32 lane, %laneid;
            setp.eq.u32 p, lane, 0;
            mad.wide.s32 row, $2, 128, $1;
            @p red.global.max.u64 [row + 72], ns;
            mov.u32 $0, 0;
            }""",
            "=r,l,r", [stamps, tl.cast(i, tl.int32)], dtype=tl.int32, is_pure=False, pack=1,
        )  # fmt: skip


@triton.jit
def stamp_fixup(stamps, i, acc):
    """Every warp writes the time, of which the latest stays; returns acc, complete with its partials."""
    if INTERPRETED:
        row = row_of(stamps, i)
        tl.store(row + 10, tick(stamps))
    else:
        acc = settled(acc)
        tl.inline_asm_elementwise(
            """{
            .reg .pred p;
            .reg .b32 lane;
            .reg .b64 row, ns;
            mov.u64 ns, %globaltimer;
            mov.u32 lane, %laneid;
            setp.eq.u32 p, lane, 0;
            mad.wide.s32 row, $2, 128, $1;
            @p red.global.max.u64 [row + 80], ns;
            mov.u32 $0, 0;
            }""",
            "=r,l,r", [stamps, tl.cast(i, tl.int32)], dtype=tl.int32, is_pure=False, pack=1,
        )  # fmt: skip
    return acc
