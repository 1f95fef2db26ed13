"""What kernels share whose warps have different work: a ring of stages in shared memory, filled and emptied.

One warp, the producer, loads by TMA. Groups of 4 or 8 warps, the consumers, multiply with wgmma and write.
Each stage of the ring holds one K-step of A and B and has two barriers. `full` completes when the bytes are
there; `empty` completes when whoever multiplies them has done so. A barrier's phase alternates with every
round of the ring: who waits names the parity of the phase that must have ended, and so a producer's first
round, which finds nothing to wait for, begins with the odd one.

Written in Gluon, which ships with Triton: the tile language cannot say which warp does what. It needs wgmma,
which sm_90 alone has, and Triton's interpreter cannot run it.

A kernel that is launched with programmatic dependent launch begins while its predecessor ends: its blocks
are set up by then, and `produce` waits for all of the predecessor's writes before its first load. Whatever a
consumer does follows from such a load, so it need not wait for itself.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import hopper
from triton.language.extra.cuda import gdc_wait

from .tile_ops import place

# Triton 3.6 has the long names, Triton 3.9 the short ones
tma_load = getattr(hopper.tma, "async_load", None) or hopper.tma.async_copy_global_to_shared
tma_store = getattr(hopper.tma, "async_store", None) or hopper.tma.async_copy_shared_to_global

CONSUMER_REGISTERS, PRODUCER_REGISTERS = gl.constexpr(240), gl.constexpr(24)
"""Of a thread: with two groups of 128 threads, and a third for the producer, all that an SM has."""


@gluon.jit
def ring(x, STAGES: gl.constexpr):
    """Shared memory for so many blocks of x."""
    return gl.allocate_shared_memory(x.dtype, [STAGES] + x.block_type.shape, x.layout)  # noqa: RUF005


@gluon.jit
def barriers(STAGES: gl.constexpr):
    """(full, empty): a barrier per stage each, for one arrival a round."""
    full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], hopper.mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], hopper.mbarrier.MBarrierLayout())
    for stage in gl.static_range(STAGES):
        hopper.mbarrier.init(full.index(stage), count=1)
        hopper.mbarrier.init(empty.index(stage), count=1)
    return full, empty


@gluon.jit
def produce(
    a, b, ring_a, ring_b, full, empty, visit, M, N, K,
    BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr, STAGES: gl.constexpr,
    ORDER: gl.constexpr, GROUP: gl.constexpr, TRANS_A: gl.constexpr, TRANS_B: gl.constexpr,
):  # fmt: skip
    """Load every K-step of this thread block's tiles, each as soon as its stage is empty."""
    gdc_wait()
    stage = 0
    phase = 1
    for i in range(gl.program_id(0), gl.cdiv(M, BM) * gl.cdiv(N, BN), gl.num_programs(0)):
        pid_m, pid_n = place(i, visit, M, N, BM, BN, ORDER, GROUP)
        for k in range(gl.cdiv(K, BK)):
            hopper.mbarrier.wait(empty.index(stage), phase)
            hopper.mbarrier.expect(full.index(stage), (BM + BN) * BK * a.dtype.primitive_bitwidth // 8)
            fetch(a, pid_m * BM, k * BK, full.index(stage), ring_a.index(stage), TRANS_A)
            fetch(b, k * BK, pid_n * BN, full.index(stage), ring_b.index(stage), TRANS_B)
            stage, phase = following(stage, phase, STAGES)


@gluon.jit
def fetch(x, row, column, full, room, TRANS: gl.constexpr):
    """Load the block at (row, column) of x, or with TRANS of its transpose, into `room` as it lies in x."""
    if TRANS:
        tma_load(x, [column, row], full, room)
    else:
        tma_load(x, [row, column], full, room)


@gluon.jit
def turned(room, TRANS: gl.constexpr):
    """What such a `room` holds, as a product takes it: wgmma reads 16-bit operands along either dimension."""
    if TRANS:
        return room.permute((1, 0))
    else:
        return room


@gluon.jit
def following(stage, phase, STAGES: gl.constexpr):
    """The stage after this one, and its phase."""
    stage += 1
    if stage == STAGES:
        stage = 0
        phase ^= 1
    return stage, phase


@gluon.jit
def halves(x, ROWS: gl.constexpr, COLUMNS: gl.constexpr):
    """The left and the right half of x, which each thread has registers of."""
    return x.reshape([ROWS, 2, COLUMNS // 2]).permute(0, 2, 1).split()


@gluon.jit
def put(c, room, part, row, column, layout: gl.constexpr, PENDING: gl.constexpr):
    """Store part to c at (row, column) through `room`, free once at most PENDING stores are unread."""
    part = gl.convert_layout(part.to(c.dtype), layout)
    hopper.tma.store_wait(PENDING)
    room.store(part)
    hopper.fence_async_shared()
    tma_store(c, [row, column], room)
