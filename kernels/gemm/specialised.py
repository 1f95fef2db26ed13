"""specialised: a persistent kernel in which one warp loads and the others multiply.

The warp that loads never waits for a multiplication, only for room, so loads of the next tile fly during an
epilogue. All consumers work on one tile together, and while they write it nothing multiplies.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import hopper
from triton.language.extra.cuda import gdc_launch_dependents

from .tile_ops import place
from .warp_specialised import PRODUCER_REGISTERS, barriers, following, halves, produce, put, ring, turned


@gluon.jit
def consume(
    c, ring_a, ring_b, room, full, empty, visit, M, N, K,
    BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr, STAGES: gl.constexpr,
    ORDER: gl.constexpr, GROUP: gl.constexpr, PARTS: gl.constexpr,
    TRANS_A: gl.constexpr, TRANS_B: gl.constexpr,
):  # fmt: skip
    """Multiply and write every tile of this thread block."""
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, BN, 16])
    half: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, BN // 2, 16])
    stage = 0
    phase = 0
    for i in range(gl.program_id(0), gl.cdiv(M, BM) * gl.cdiv(N, BN), gl.num_programs(0)):
        acc = gl.zeros([BM, BN], gl.float32, layout)
        before = 0  # were it `stage`, Triton's frontend would take it for the same value throughout
        for k in range(gl.cdiv(K, BK)):
            hopper.mbarrier.wait(full.index(stage), phase)
            x = turned(ring_a.index(stage), TRANS_A)  # [BM, BK]
            y = turned(ring_b.index(stage), TRANS_B)  # [BK, BN]
            acc = hopper.warpgroup_mma(x, y, acc, is_async=True)
            acc = hopper.warpgroup_mma_wait(1, deps=(acc,))
            hopper.mbarrier.arrive(empty.index(before), pred=k > 0)
            before = stage
            stage, phase = following(stage, phase, STAGES)
        pid_m, pid_n = place(i, visit, M, N, BM, BN, ORDER, GROUP)
        row = pid_m * BM
        column = pid_n * BN
        acc = hopper.warpgroup_mma_wait(0, deps=(acc,))
        hopper.mbarrier.arrive(empty.index(before))
        if PARTS == 1:
            put(c, room, acc, row, column, layout, 0)
        else:
            left, right = halves(acc, BM, BN)
            put(c, room, left, row, column, half, 0)
            put(c, room, right, row, column + BN // 2, half, 0)
    hopper.tma.store_wait(0)


@gluon.jit
def specialised(
    a, b, c,  # [M, K], [K, N], [M, N]: TMA descriptors, c's block a PARTS-th of a tile
    visit,  # int32 [tiles], read only for orders that have no formula
    M, N, K,
    BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr, STAGES: gl.constexpr,
    ORDER: gl.constexpr, GROUP: gl.constexpr,
    PARTS: gl.constexpr,  # 1, or 2 where a whole tile has no room beside the ring
    TRANS_A: gl.constexpr = False, TRANS_B: gl.constexpr = False,  # of the transpose
):  # fmt: skip
    gdc_launch_dependents()
    ring_a = ring(a, STAGES)
    ring_b = ring(b, STAGES)
    room = gl.allocate_shared_memory(c.dtype, [BM, BN // PARTS], c.layout)
    full, empty = barriers(STAGES)
    hopper.fence_async_shared()
    gl.warp_specialize(
        [
            (consume, (c, ring_a, ring_b, room, full, empty, visit, M, N, K,
                       BM, BN, BK, STAGES, ORDER, GROUP, PARTS, TRANS_A, TRANS_B)),
            (produce, (a, b, ring_a, ring_b, full, empty, visit, M, N, K,
                       BM, BN, BK, STAGES, ORDER, GROUP, TRANS_A, TRANS_B)),
        ],
        [1],
        [PRODUCER_REGISTERS],
    )  # fmt: skip
