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
ready  a split tile's owner: after the first warp has seen the last foreign partial's flags; else 0.
fixup  a split tile's owner: after the first warp has added the partials; else 0.
done   TMA: after the last warp has waited for its stores of C to be visible. A block with several segments
       waits at the top of the next segment's first K-step, while the loads of that segment are in flight. One
       that overlaps waits at the top of its second K-step, while the first multiplies, or of its third where
       the plan splits tiles. So such a done is late by what lies between. A block's last done is exact, but
       for one more draw from the queue.
       Pointers: after the last warp has issued its stores. They become visible up to 1 µs later, but a
       CTA does not stay for that, and one that did would make the kernel 10 % slower.
       A partial: after the first warp has raised the flag, before which its share is visible.

How late, on an H200 with 128x256 tiles, by the medians of done - drain: 0.3 µs where segments overlap, 0.6
where they do not, 1.2 where the segment in between is read from a table or drawn, and then 0.8 at the end.

What stamps cost there, of the median time of the kernel without them, both measured in turn, over 3 to 16
repeats: 0.4 to 0.9 % at 4096x4096x4096 and 1.0 to 2.1 % at 4096x4096x512. Where a plan splits most of its
tiles they cost 1.4 to 3.0 % there, half of it for `done`, whose wait stands in the K loop. One warpgroup
alone on an SM has no time to spare in its loop: planned kernels with tiles of 128x128, four warps and a block
per SM take up to 15 % more.

Cycles of two SMs, or of one SM at two times, differ in length: in one launch SMs ran at 1.57 to 1.61 GHz in
their main loops, and at 1.98 GHz where they were made to pause.

What keeps a stamp where it is: it is volatile inline assembly, as are the wgmma, the wait for them and the
wait for a TMA store, and neither LLVM nor ptxas moves one such instruction past another. Triton's pipeliner
does: it moves whatever uses a value that the end of the loop body needs too. So a stamp computes its row's
address itself, and a condition of a stamp shares nothing with the loop's own. The stamps in the K loop have
their conditions inside the assembly, since a branch of Triton's there makes ptxas serialise the wgmma. A test
reads the order in the PTX, and another, on a GPU, inserts pauses of known length between stamps.

Triton's interpreter has neither clocks nor SMs: there CTAs run one after another on SM 0, and the time
is a counter of stamps from 1, kept in word 7 of row 0.
"""

import triton
import triton.language as tl

from .tile_ops import INTERPRETED, wait_for_wgmma

WORDS = 16
"""A row is 128 bytes, a cache line of its own: thread blocks that stamp at once do not share one."""


@triton.jit
def next_tick(stamps):
    """The interpreter's time: 1, 2, 3 ..."""
    return tl.atomic_add(stamps + 7, 1) + 1


@triton.jit
def row_pointer(stamps, i):
    """The address of row i, for the interpreter; elsewhere each stamp computes it itself, as said above."""
    return stamps + tl.cast(i, tl.int64) * 16


@triton.jit
def entry_time(stamps):
    """The time, int64, for `stamp_entry`; to be called before anything else."""
    if INTERPRETED:
        return next_tick(stamps)
    else:
        return tl.extra.cuda.globaltimer()


@triton.jit
def stamp_entry(stamps, i, when, time):
    """Thread 0 writes `time` where `when` holds: after the loads that say which row it goes to, and all that
    were issued with them, so that none waits for another."""
    if INTERPRETED:
        if when:
            tl.store(row_pointer(stamps, i) + 8, time)
    else:
        tl.inline_asm_elementwise(
            """{
            .reg .pred p;
            .reg .b32 tid;
            .reg .b64 row;
            mov.u32 tid, %tid.x;
            setp.eq.u32 p, tid, 0;
            setp.ne.and.u32 p, $3, 0, p;
            mad.wide.s32 row, $2, 128, $1;
            @p st.global.u64 [row + 64], $4;
            mov.u32 $0, 0;
            }""",
            "=r,l,r,r,l", [stamps, tl.cast(i, tl.int32), tl.cast(when, tl.int32), time],
            dtype=tl.int32, is_pure=False, pack=1,
        )  # fmt: skip


@triton.jit
def stamp_start(stamps, i, when):
    """Thread 0 writes CTA, SM, time and cycles where `when` holds."""
    if INTERPRETED:
        row = row_pointer(stamps, i)
        if when:
            now = next_tick(stamps)
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
        row = row_pointer(stamps, i)
        now = next_tick(stamps)
        tl.store(row + 4, now)
        tl.store(row + 5, now)
    else:
        acc = wait_for_wgmma(acc)
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
    """Where `when` holds, every warp waits for its TMA stores of C; the time of the last warp is kept."""
    if INTERPRETED:
        row = row_pointer(stamps, i)
        if when:
            tl.store(row + 6, next_tick(stamps))
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
def _stamp_time(stamps, i, WORD: tl.constexpr, BYTE: tl.constexpr):
    """Thread 0 writes the time into a word of row i; BYTE is the word's offset as text."""
    if INTERPRETED:
        tl.store(row_pointer(stamps, i) + WORD, next_tick(stamps))
    else:
        tl.inline_asm_elementwise(
            """{
            .reg .pred p;
            .reg .b32 tid;
            .reg .b64 row, ns;
            mov.u32 tid, %tid.x;
            setp.eq.u32 p, tid, 0;
            @!p bra skip;
            mov.u64 ns, %globaltimer;
            mad.wide.s32 row, $2, 128, $1;
            st.global.u64 [row + """ + BYTE + """], ns;
            skip:
            mov.u32 $0, 0;
            }""",
            "=r,l,r", [stamps, tl.cast(i, tl.int32)], dtype=tl.int32, is_pure=False, pack=1,
        )  # fmt: skip


@triton.jit
def stamp_partial(stamps, i):
    """Thread 0 writes the time as `done`, after its warp has stored its share of a partial."""
    _stamp_time(stamps, i, 6, "48")


@triton.jit
def stamp_ready(stamps, i):
    """Thread 0 writes the time, after its warp has seen the last foreign partial."""
    _stamp_time(stamps, i, 9, "72")


@triton.jit
def stamp_fixup(stamps, i, acc):
    """Thread 0 writes the time, after its warp has added the partials; returns acc, complete with them."""
    acc = wait_for_wgmma(acc)
    _stamp_time(stamps, i, 10, "80")
    return acc


@triton.jit
def read_timer(out, READS: tl.constexpr):
    """out: int64 [READS]; one %globaltimer after another."""
    for i in range(READS):
        tl.store(out + i, tl.extra.cuda.globaltimer())
