"""planned: executes any Plan. Each thread block reads its segments from a table, then draws from the queue.

A row of the table is a segment: pid_m pid_n k0 k1 place peers. `peers` foreign partials, from `place` on,
belong to the tile that the segment owns; a segment that is a partial itself has no peers and a place from 0;
one that is a whole tile has no place (-1).

With OVERLAP it is one loop over K-steps, whatever tile they belong to, so that the next segment's loads fly
during the epilogue. A thread block that draws from the queue cannot know how many K-steps will be its own,
so it has a loop over segments with one over K-steps inside.
"""

import triton
import triton.language as tl

from .split_fixup import give, take, wait
from .stamps import (
    entry_time,
    stamp_done,
    stamp_drain,
    stamp_entry,
    stamp_fixup,
    stamp_handed,
    stamp_ready,
    stamp_start,
)
from .tile_ops import load, multiply, settled, store_in

ROW = tl.constexpr(8)
"""int32 words in a row of the table."""


@triton.jit
def segment(table, s):
    """pid_m, pid_n, k0, k1, place and peers of row s."""
    at = table + s * ROW
    return (
        tl.load(at), tl.load(at + 1), tl.load(at + 2), tl.load(at + 3), tl.load(at + 4), tl.load(at + 5),
    )  # fmt: skip


@triton.jit
def finish(
    acc, c, s, pid_m, pid_n, place, peers, partials, flags, fault, stamps, M, N,
    BM: tl.constexpr, BN: tl.constexpr, TMA: tl.constexpr, SPLIT: tl.constexpr, RECORD: tl.constexpr,
    WARPS: tl.constexpr, WAIT: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    """What follows the main loop of segment s: its partial is stored, or its tile is completed and stored."""
    if RECORD:
        acc = stamp_drain(stamps, s, acc)
    if SPLIT:
        acc = settled(acc)  # else no wait for the wgmma comes before the branches, and ptxas serialises them
        if (place >= 0) & (peers == 0):
            give(acc, partials, flags, place, BM, BN)
            if RECORD:
                stamp_handed(stamps, s)
        else:
            if peers > 0:
                for i in range(peers):
                    wait(flags, place + i, fault, WARPS, WAIT)
                if RECORD:
                    stamp_ready(stamps, s)
                for i in range(peers):
                    acc = take(acc, partials, place + i, BM, BN)
                if RECORD:
                    acc = stamp_fixup(stamps, s, acc)
            store_in(PARTS, c, pid_m * BM, pid_n * BN, acc, M, N, BM, BN, TMA)
    else:
        store_in(PARTS, c, pid_m * BM, pid_n * BN, acc, M, N, BM, BN, TMA)


@triton.jit
def planned(
    a, b, c,  # [M, K], [K, N], [M, N]: TMA descriptors or pointers
    table,  # int32 [segments + 1, 8]
    offsets,  # int32 [ctas + 1]: thread block i owns rows offsets[i] to offsets[i + 1]
    steps,  # int32 [ctas]: how many K-steps these have
    ticket,  # int32 [1], zero: the next row of the queue to hand out
    queue, rows,  # the queue is the table's rows from `queue` to `rows`
    partials, flags, fault,  # see split_fixup; read and written only if SPLIT
    stamps,  # int64 [segments, 16], written only if RECORD
    M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    TMA: tl.constexpr, SPLIT: tl.constexpr, QUEUE: tl.constexpr, OVERLAP: tl.constexpr,
    RECORD: tl.constexpr, LAG: tl.constexpr, WARPS: tl.constexpr, WAIT: tl.constexpr,
    PARTS: tl.constexpr = 1,  # see store_in
    lda=None, ldb=None, TRANS_A: tl.constexpr = False, TRANS_B: tl.constexpr = False,  # see tile_ops
    PRECISION: tl.constexpr = "ieee",
):  # fmt: skip
    if RECORD:
        entered = entry_time(stamps)
    cta = tl.program_id(0)
    first = tl.load(offsets + cta)
    end = tl.load(offsets + cta + 1)
    if OVERLAP:
        k_steps = tl.load(steps + cta)
        if RECORD:
            stamp_entry(stamps, first, first < end, entered)
        s = first - 1
        k = -1
        k0, k1 = 0, 0
        pid_m, pid_n = 0, 0
        place, peers = 0, 0
        whole = False
        acc = tl.zeros((BM, BN), tl.float32)
        for _ in tl.range(k_steps):
            # what the loads need is found at the top, or the pipeliner cannot run them ahead
            if k == k1 - 1:
                whole = (s >= first) & ((place < 0) | (peers > 0))
                s += 1
                pid_m, pid_n, k0, k1, place, peers = segment(table, s)
                k = k0
            else:
                k += 1
            if RECORD:
                stamp_done(stamps, s - 1, (k + 1 == min(k0 + LAG + 1, k1)) & whole, TMA)
            x = load(a, pid_m * BM, k * BK, M, K, lda, BM, BK, TMA, TRANS_A)  # [BM, BK]
            y = load(b, k * BK, pid_n * BN, K, N, ldb, BK, BN, TMA, TRANS_B)  # [BK, BN]
            if RECORD:
                stamp_start(stamps, s, k == k0)
            acc = multiply(x, y, acc, PRECISION)  # [BM, BN]
            if k == k1 - 1:
                finish(acc, c, s, pid_m, pid_n, place, peers, partials, flags, fault, stamps, M, N,
                       BM, BN, TMA, SPLIT, RECORD, WARPS, WAIT, PARTS)  # fmt: skip
                acc = tl.zeros((BM, BN), tl.float32)
        if RECORD:
            stamp_done(stamps, s, (first < end) & ((place < 0) | (peers > 0)), TMA)
    else:
        s = first
        if QUEUE and s == end:
            s = queue + tl.atomic_add(ticket, 1)
        if RECORD:
            stamp_entry(stamps, s, s < rows, entered)
        before = first - 1
        whole = False
        while s < (rows if QUEUE else end):
            pid_m, pid_n, k0, k1, place, peers = segment(table, s)
            acc = tl.zeros((BM, BN), tl.float32)
            for k in range(k0, k1):
                if RECORD:
                    stamp_done(stamps, before, (k == k0) & whole, TMA)
                x = load(a, pid_m * BM, k * BK, M, K, lda, BM, BK, TMA, TRANS_A)  # [BM, BK]
                y = load(b, k * BK, pid_n * BN, K, N, ldb, BK, BN, TMA, TRANS_B)  # [BK, BN]
                if RECORD:
                    stamp_start(stamps, s, k == k0)
                acc = multiply(x, y, acc, PRECISION)  # [BM, BN]
            finish(acc, c, s, pid_m, pid_n, place, peers, partials, flags, fault, stamps, M, N,
                   BM, BN, TMA, SPLIT, RECORD, WARPS, WAIT, PARTS)  # fmt: skip
            before = s
            whole = (place < 0) | (peers > 0)
            s += 1
            if QUEUE and s >= end:
                s = queue + tl.atomic_add(ticket, 1)
        if RECORD:
            stamp_done(stamps, before, whole, TMA)
        # every thread block draws once in vain; the last of them leaves the counter as it was found
        if QUEUE and s == rows + tl.num_programs(0) - 1:
            tl.store(ticket, 0)
