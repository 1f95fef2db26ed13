"""Stream-K in a kernel: the K-steps of each thread block, and the fix-up of tiles that blocks share.

The K-steps of the first `shared` tiles of the order are shared evenly by all thread blocks. A block processes
its range backward, tile by tile, and then takes whole tiles in turn: the plans of the schedules stream-k (all
tiles are shared) and stream-k-hybrid. Basic Stream-K: arXiv 2301.03598, figure 2b.

So at most a block's first segment ends before K does, and its sums are stored as a partial. The highest
thread block of a tile owns it: it waits for the partials of lower blocks, adds them in ascending order, so
that the result is bitwise reproducible, and writes C.

`partials` is fp32 [thread blocks, rows * columns]. `flags` is int32 [thread blocks, warps], zero between
launches. A warp has the same part of every tile: the writer's warp sets its flag when its part of the partial
is visible, and the owner's resets it. All thread blocks must be resident at once; a wait of 2 s traps.
"""

import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from .tile_ops import compute_pid

MAX_LOADED = gl.constexpr(64)
"""fp32 values of partials that a thread loads before adding them, so that loads of small partials overlap."""


@triton.jit
def range_begin(cta, total, ctas):
    """The first K-step of a thread block, of `total` that are shared evenly."""
    return total // ctas * cta + total % ctas * cta // ctas


@triton.jit
def cta_of(pid, ctas, shared, SPLIT: tl.constexpr):
    """The thread block of the plan that a program is. If tiles have equally many blocks, adjacent programs,
    which are in one GPC, take the same K-steps of adjacent tiles, so that their loads merge."""
    if SPLIT:  # noqa: SIM102, as a constant and a value have no `and`
        if ctas % shared == 0:
            pid = pid % shared * (ctas // shared) + pid // shared
    return pid


@triton.jit
def segment_count(cta, ctas, shared, tiles, k_steps, SPLIT: tl.constexpr):
    whole = tl.maximum(tl.cdiv(tiles - shared - cta, ctas), 0)
    if SPLIT:
        begin = range_begin(cta, shared * k_steps, ctas)
        end = range_begin(cta + 1, shared * k_steps, ctas)
        return tl.cdiv(end, k_steps) - begin // k_steps + whole
    else:
        return whole


@triton.jit
def segment(s, cta, ctas, shared, k_steps, SPLIT: tl.constexpr):
    """(position in the order, first K-step, end) of a thread block's segment s."""
    if SPLIT:
        begin = range_begin(cta, shared * k_steps, ctas)
        end = range_begin(cta + 1, shared * k_steps, ctas)
        last = tl.cdiv(end, k_steps) - 1
        place = last - s
        k0 = tl.maximum(begin - place * k_steps, 0)
        k1 = tl.minimum(end - place * k_steps, k_steps)
        if place < begin // k_steps:
            place = shared + cta + (s - (last - begin // k_steps + 1)) * ctas
            k0 = begin * 0
            k1 = k_steps
        return place, k0, k1
    else:
        return cta + s * ctas, 0, k_steps


@triton.jit
def corner(
    i, tile_order, M, N, ctas, shared,
    BM: tl.constexpr, BN: tl.constexpr, ORDER: tl.constexpr, GROUP_M: tl.constexpr, SPLIT: tl.constexpr,
):  # fmt: skip
    """(row, column) at which the i-th tile visited begins. A tile that would extend beyond the matrix is
    moved inside, over its neighbors, and stores the same values there, because TMA takes several times as
    long for a row outside the matrix as for one inside. If tiles are not split along K alike, their sums
    differ in the last bit, and none is moved."""
    pid_m, pid_n = compute_pid(i, tile_order, M, N, BM, BN, ORDER, GROUP_M)
    row = pid_m * BM
    column = pid_n * BN
    alike = ctas % shared == 0 if SPLIT else True
    if alike:
        row = tl.maximum(tl.minimum(row, M - BM), 0)
        column = tl.maximum(tl.minimum(column, N - BN), 0)
    return row, column


@gluon.jit
def partial_pointers(partials, cta, ROWS: gl.constexpr, COLUMNS: gl.constexpr, layout: gl.constexpr):
    """Pointers to a partial in `layout`: each 8 x 8 block, which a warp holds, is contiguous."""
    r = gl.arange(0, ROWS, gl.SliceLayout(1, layout))[:, None]
    c = gl.arange(0, COLUMNS, gl.SliceLayout(0, layout))[None, :]
    offset = (r // 8 * (COLUMNS // 8) + c // 8) * 64 + r % 8 * 8 + c % 8
    return partials + cta.to(gl.int64) * (ROWS * COLUMNS) + offset


@gluon.jit
def store_partial(acc, partials, flags, cta, ROWS: gl.constexpr, COLUMNS: gl.constexpr, layout: gl.constexpr):
    gl.store(partial_pointers(partials, cta, ROWS, COLUMNS, layout), acc)
    gl.inline_asm_elementwise(
        """{
        .reg .pred p;
        .reg .b32 lane, warp;
        .reg .b64 flag;
        mov.u32 warp, %tid.x;
        shr.u32 warp, warp, 5;
        and.b32 warp, warp, $2;
        mad.wide.u32 flag, warp, 4, $1;
        mov.u32 lane, %laneid;
        setp.eq.u32 p, lane, 0;
        bar.warp.sync 0xffffffff;
        @p st.release.gpu.global.u32 [flag], 1;
        mov.u32 $0, 0;
        }""",
        "=r,l,r", [flags + cta * gl.num_warps(), gl.num_warps() - 1], dtype=gl.int32, is_pure=False, pack=1,
    )  # fmt: skip


@gluon.jit
def wait_for_partials(flags, lowest, owner, STRIDE: gl.constexpr):
    """Each warp returns when its parts of the partials from `lowest` to below `owner` are visible; its lanes
    poll different partials, all at once."""
    gl.inline_asm_elementwise(
        """{
        .reg .pred p;
        .reg .b32 lane, warp, peer, flag;
        .reg .b64 at, began, now;
        mov.u64 began, %globaltimer;
        mov.u32 warp, %tid.x;
        shr.u32 warp, warp, 5;
        and.b32 warp, warp, $5;
        mov.u32 lane, %laneid;
        sub.s32 peer, $3, lane;
        next:
        sub.s32 peer, peer, 1;
        setp.lt.s32 p, peer, $2;
        @p bra out;
        mad.lo.s32 flag, peer, $4, warp;
        mad.wide.s32 at, flag, 4, $1;
        poll:
        ld.acquire.gpu.global.u32 flag, [at];
        setp.ne.u32 p, flag, 0;
        @p bra there;
        mov.u64 now, %globaltimer;
        sub.u64 now, now, began;
        setp.lt.u64 p, now, 2000000000;
        @p bra poll;
        trap;
        there:
        st.relaxed.gpu.global.u32 [at], 0;
        sub.s32 peer, peer, 31;
        bra next;
        out:
        bar.warp.sync 0xffffffff;
        mov.u32 $0, 0;
        }""",
        "=r,l,r,r,r,r", [flags, lowest, owner, STRIDE, gl.num_warps() - 1],
        dtype=gl.int32, is_pure=False, pack=1,
    )  # fmt: skip


@gluon.jit
def add_partials(
    acc, partials, flags, first, owner, total, ctas,
    ROWS: gl.constexpr, COLUMNS: gl.constexpr, layout: gl.constexpr,
    GROUPS: gl.constexpr, GROUP: gl.constexpr,
):  # fmt: skip
    """acc plus the partials of the blocks below `owner` that share the tile from K-step `first` on."""
    lowest = owner
    while range_begin(lowest, total, ctas) > first:
        lowest -= 1
    wait_for_partials(flags + GROUP * gl.num_warps(), lowest, owner, GROUPS * gl.num_warps())
    AT_ONCE: gl.constexpr = max(1, min(8, MAX_LOADED * 32 * gl.num_warps() // (ROWS * COLUMNS)))
    for peer in range(lowest, owner, AT_ONCE):
        pointers = partial_pointers(partials, peer * GROUPS + GROUP, ROWS, COLUMNS, layout)
        loaded = ()
        for i in gl.static_range(AT_ONCE):
            here = pointers + i * (GROUPS * ROWS * COLUMNS)
            loaded += (gl.load(here, mask=peer + i < owner, other=0.0, cache_modifier=".cg"),)
        for i in gl.static_range(AT_ONCE):
            acc += loaded[i]
    return acc
