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
and the wait for a TMA store, and neither LLVM nor ptxas moves one such instruction past another. The
stamps in the K loop are predicated, since a branch there makes ptxas serialise the wgmma. The order
was read in the machine code for sm_80 and sm_90, and a test reads it in the PTX.

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
def stamp_entry(stamps, i):
    """Thread 0 writes the time; to be called before anything else."""
    row = stamps + tl.cast(i, tl.int64) * 16
    if INTERPRETED:
        tl.store(row + 8, tick(stamps))
    else:
        tl.inline_asm_elementwise(
            """{
            .reg .pred p;
            .reg .b32 tid;
            .reg .b64 ns;
            mov.u64 ns, %globaltimer;
            mov.u32 tid, %tid.x;
            setp.eq.u32 p, tid, 0;
            @p st.global.u64 [$1 + 64], ns;
            mov.u32 $0, 0;
            }""",
            "=r,l", [row], dtype=tl.int32, is_pure=False, pack=1,
        )  # fmt: skip


@triton.jit
def stamp_start(stamps, i, when):
    """Thread 0 writes CTA, SM, time and cycles where `when` holds."""
    row = stamps + tl.cast(i, tl.int64) * 16
    if INTERPRETED:
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
            .reg .b64 id, at, ns, cycles;
            mov.u32 tid, %tid.x;
            setp.eq.u32 p, tid, 0;
            setp.ne.and.u32 p, $2, 0, p;
            @!p bra skip;
            mov.u64 ns, %globaltimer;
            mov.u64 cycles, %clock64;
            mov.u32 cta, %ctaid.x;
            mov.u32 sm, %smid;
            cvt.u64.u32 id, cta;
            cvt.u64.u32 at, sm;
            st.global.v2.u64 [$1], {id, at};
            st.global.v2.u64 [$1 + 16], {ns, cycles};
            skip:
            mov.u32 $0, 0;
            }""",
            "=r,l,r", [row, tl.cast(when, tl.int32)], dtype=tl.int32, is_pure=False, pack=1,
        )  # fmt: skip


@triton.jit
def stamp_drain(stamps, i, acc):
    """Thread 0 writes time and cycles; returns acc, which must be complete by then."""
    row = stamps + tl.cast(i, tl.int64) * 16
    if INTERPRETED:
        now = tick(stamps)
        tl.store(row + 4, now)
        tl.store(row + 5, now)
    else:
        acc = settled(acc)
        tl.inline_asm_elementwise(
            """{
            .reg .pred p;
            .reg .b32 tid;
            .reg .b64 ns, cycles;
            mov.u64 ns, %globaltimer;
            mov.u64 cycles, %clock64;
            mov.u32 tid, %tid.x;
            setp.eq.u32 p, tid, 0;
            @p st.global.v2.u64 [$1 + 32], {ns, cycles};
            mov.u32 $0, 0;
            }""",
            "=r,l", [row], dtype=tl.int32, is_pure=False, pack=1,
        )  # fmt: skip
    return acc


@triton.jit
def stamp_done(stamps, i, when, TMA: tl.constexpr):
    """Where `when` holds, every warp waits for its TMA stores of C; the latest warp's time stays."""
    row = stamps + tl.cast(i, tl.int64) * 16
    if INTERPRETED:
        if when:
            tl.store(row + 6, tick(stamps))
    else:
        WAIT: tl.constexpr = "cp.async.bulk.wait_group 0;" if TMA else ""
        tl.inline_asm_elementwise(
            """{
            .reg .pred p;
            .reg .b32 lane;
            .reg .b64 ns;
            setp.ne.u32 p, $2, 0;
            @!p bra skip;
            """ + WAIT + """
            mov.u64 ns, %globaltimer;
            mov.u32 lane, %laneid;
            setp.eq.u32 p, lane, 0;
            @p red.global.max.u64 [$1 + 48], ns;
            skip:
            mov.u32 $0, 0;
            }""",
            "=r,l,r", [row, tl.cast(when, tl.int32)], dtype=tl.int32, is_pure=False, pack=1,
        )  # fmt: skip


@triton.jit
def read_timer(out, READS: tl.constexpr):
    """out: int64 [READS]; one %globaltimer after another."""
    for i in range(READS):
        tl.store(out + i, tl.extra.cuda.globaltimer())


@triton.jit
def stamp_ready(stamps, i):
    """Every warp writes the time, of which the latest stays: it has seen the last foreign partial."""
    row = stamps + tl.cast(i, tl.int64) * 16
    if INTERPRETED:
        tl.store(row + 9, tick(stamps))
    else:
        tl.inline_asm_elementwise(
            """{
            .reg .pred p;
            .reg .b32 lane;
            .reg .b64 ns;
            mov.u64 ns, %globaltimer;
            mov.u32 lane, %laneid;
            setp.eq.u32 p, lane, 0;
            @p red.global.max.u64 [$1 + 72], ns;
            mov.u32 $0, 0;
            }""",
            "=r,l", [row], dtype=tl.int32, is_pure=False, pack=1,
        )  # fmt: skip


@triton.jit
def stamp_fixup(stamps, i, acc):
    """Every warp writes the time, of which the latest stays; returns acc, complete with its partials."""
    row = stamps + tl.cast(i, tl.int64) * 16
    if INTERPRETED:
        tl.store(row + 10, tick(stamps))
    else:
        acc = settled(acc)
        tl.inline_asm_elementwise(
            """{
            .reg .pred p;
            .reg .b32 lane;
            .reg .b64 ns;
            mov.u64 ns, %globaltimer;
            mov.u32 lane, %laneid;
            setp.eq.u32 p, lane, 0;
            @p red.global.max.u64 [$1 + 80], ns;
            mov.u32 $0, 0;
            }""",
            "=r,l", [row], dtype=tl.int32, is_pure=False, pack=1,
        )  # fmt: skip
    return acc
