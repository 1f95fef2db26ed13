"""Stamps: a kernel records where and when each of its segments ran.

`stamps` is int64 [segments, WORDS], zero before the launch; row i belongs to the plan's i-th segment, which
for a plan of whole tiles is the i-th tile visited:

    cta sm start start_cycles drain drain_cycles done _ entry ready fixup _ _ _ _ _

entry, start, drain, ready, fixup and done are %globaltimer (ns); cycles are the SM's %clock64.

    entry  the thread block's first instructions; only in the row of its first segment
    start  before thread 0 issues the first wgmma, and after it has waited for the operands
    drain  after thread 0 has waited for the last wgmma. Both are those of the first warpgroup; barriers keep
           the others within a fraction of a K-step
    ready  owner of a split tile: after the first warp has seen the last partial's flags; else 0
    fixup  owner of a split tile: after the first warp has added the partials; else 0
    done   TMA: after the last warp has waited for its stores of C to be visible. A block with another segment
           waits at the top of its first K-step; with overlap, of its second, or its third if the plan splits
           tiles. Such a done is late; a block's last one is exact, but for a draw from the queue.
           Pointers: after the last warp has issued its stores, which become visible up to 1 µs later; waiting
           for that would make the kernel 10 % slower.
           A partial: after the first warp has raised the flag, when its part is visible

docs/accuracy.md says what stamps cost. They stay in place because they are volatile inline assembly, like the
wgmma and the waits, and neither LLVM nor ptxas reorders these. Triton's pipeliner does move anything that
uses a value needed at the end of the loop body, so a stamp computes its row's address itself, and its
condition shares nothing with the loop's. Conditions in the K loop are inside the assembly, because a Triton
branch makes ptxas serialize the wgmma.

In Triton's interpreter, which has neither clocks nor SMs, CTAs run one after another on SM 0, and the time is
a counter of stamps from 1, in word 7 of row 0.
"""

import triton
import triton.language as tl

from ..launch.here import INTERPRETED
from .tile_ops import wait_for_wgmma

WORDS = 16
"""A row is a cache line of 128 bytes, so thread blocks that stamp at the same time do not share one."""


@triton.constexpr_function
def assembly(body):
    """PTX around `body`, for which `row` is the address of row $2 of the stamps, and `p` says whether this is
    thread 0, and $3 holds."""
    return f"""{{
        .reg .pred p;
        .reg .b32 tid, lane, cta, sm;
        .reg .b64 row, id, at, ns, cycles;
        mov.u32 tid, %tid.x;
        setp.eq.u32 p, tid, 0;
        setp.ne.and.u32 p, $3, 0, p;
        mad.wide.s32 row, $2, {8 * WORDS}, $1;
        {body}
        skip:
        mov.u32 $0, 0;
        }}"""


@triton.jit
def run(BODY: tl.constexpr, stamps, i, when, time=0):
    """Run `assembly` of BODY, in which `time` is $4."""
    tl.inline_asm_elementwise(
        assembly(BODY), "=r,l,r,r,l",
        [stamps, tl.cast(i, tl.int32), tl.cast(when, tl.int32), tl.cast(time, tl.int64)],
        dtype=tl.int32, is_pure=False, pack=1,
    )  # fmt: skip


@triton.jit
def next_tick(stamps):
    """The interpreter's time: 1, 2, 3, ..."""
    return tl.atomic_add(stamps + 7, 1) + 1


@triton.jit
def note(stamps, i, WORD, value):
    """Write a word of row i, in the interpreter only."""
    tl.store(stamps + tl.cast(i, tl.int64) * 16 + WORD, value)


@triton.jit
def entry_time(stamps):
    """The time, int64, for `stamp_entry`; call this first."""
    if INTERPRETED:
        return next_tick(stamps)
    else:
        return tl.extra.cuda.globaltimer()


@triton.jit
def stamp_entry(stamps, i, when, time):
    """Thread 0 writes `time` if `when`, after the loads that determine the row."""
    if INTERPRETED:
        if when:
            note(stamps, i, 8, time)
    else:
        run("@p st.global.u64 [row + 64], $4;", stamps, i, when, time)


@triton.jit
def stamp_start(stamps, i, when):
    """Thread 0 writes CTA, SM, time and cycles if `when`."""
    if INTERPRETED:
        if when:
            now = next_tick(stamps)
            note(stamps, i, 0, tl.program_id(0))
            note(stamps, i, 2, now)
            note(stamps, i, 3, now)
    else:
        run(
            """@!p bra skip;
            mov.u64 ns, %globaltimer;
            mov.u64 cycles, %clock64;
            mov.u32 cta, %ctaid.x;
            mov.u32 sm, %smid;
            cvt.u64.u32 id, cta;
            cvt.u64.u32 at, sm;
            st.global.v2.u64 [row], {id, at};
            st.global.v2.u64 [row + 16], {ns, cycles};""",
            stamps, i, when,
        )  # fmt: skip


@triton.jit
def stamp_drain(stamps, i, acc):
    """Thread 0 writes time and cycles; returns acc, which is then complete."""
    if INTERPRETED:
        now = next_tick(stamps)
        note(stamps, i, 4, now)
        note(stamps, i, 5, now)
    else:
        acc = wait_for_wgmma(acc)
        run(
            """mov.u64 ns, %globaltimer;
            mov.u64 cycles, %clock64;
            @p st.global.v2.u64 [row + 32], {ns, cycles};""",
            stamps, i, True,
        )  # fmt: skip
    return acc


@triton.jit
def stamp_done(stamps, i, when, TMA: tl.constexpr):
    """If `when`, every warp waits for its TMA stores of C; the latest warp's time is kept."""
    if INTERPRETED:
        if when:
            note(stamps, i, 6, next_tick(stamps))
    else:
        WAIT: tl.constexpr = "cp.async.bulk.wait_group 0;" if TMA else ""
        run(
            """setp.ne.u32 p, $3, 0;
            @!p bra skip;
            """ + WAIT + """
            mov.u64 ns, %globaltimer;
            mov.u32 lane, %laneid;
            setp.eq.u32 p, lane, 0;
            @p red.global.max.u64 [row + 48], ns;""",
            stamps, i, when,
        )  # fmt: skip


@triton.jit
def stamp_time(stamps, i, WHAT: tl.constexpr):
    """Thread 0 writes the time when its warp has stored its part of a partial ("done"), seen the last partial
    of other blocks ("ready"), or added the partials ("fixup")."""
    if INTERPRETED:
        note(stamps, i, 6 if WHAT == "done" else 9 if WHAT == "ready" else 10, next_tick(stamps))
    else:
        BYTE: tl.constexpr = "48" if WHAT == "done" else "72" if WHAT == "ready" else "80"
        run(
            "@!p bra skip; mov.u64 ns, %globaltimer; st.global.u64 [row + " + BYTE + "], ns;", stamps, i, True
        )


@triton.jit
def read_timer(out, READS: tl.constexpr):
    """out: int64 [READS]; consecutive reads of %globaltimer."""
    for i in range(READS):
        tl.store(out + i, tl.extra.cuda.globaltimer())
