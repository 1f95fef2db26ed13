"""ping_pong: two groups of consumers that take turns, each with a tile of its own.

While one group writes its tile the other multiplies, so the tensor cores have no pause. A third group, the
producer, loads for whoever's turn it is. A turn is a main loop: it begins when the other group has received
the last of its operands, and so no group ever waits for a stage that is more than one round of the ring away.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import hopper
from triton.language.extra.cuda import gdc_launch_dependents

from .tile_ops import place
from .warp_specialised import (
    CONSUMER_REGISTERS,
    PRODUCER_REGISTERS,
    barriers,
    following,
    halves,
    produce,
    put,
    ring,
    turned,
)


@gluon.jit
def consume(
    c, ring_a, ring_b, rooms, full, empty, turns, visit, M, N, K, ME: gl.constexpr,
    BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr, STAGES: gl.constexpr,
    ORDER: gl.constexpr, GROUP: gl.constexpr, TRANS_A: gl.constexpr, TRANS_B: gl.constexpr,
):  # fmt: skip
    """Multiply and write every second tile of this thread block; group 0 has the first."""
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, BN, 16])
    quarter: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, BN // 4, 16])
    k_steps = gl.cdiv(K, BK)
    turn = 1 - ME  # the parity that `turns` must have left; group 0 may begin at once
    step = ME * k_steps  # of all that the producer loads
    for i in range(
        gl.program_id(0) + ME * gl.num_programs(0),
        gl.cdiv(M, BM) * gl.cdiv(N, BN),
        2 * gl.num_programs(0),
    ):
        stage = step % STAGES
        phase = step // STAGES & 1
        step += 2 * k_steps
        acc = gl.zeros([BM, BN], gl.float32, layout)
        before = 0  # were it `stage`, Triton's frontend would take it for the same value throughout
        hopper.mbarrier.wait(turns.index(ME), turn)
        turn ^= 1
        for k in range(k_steps):
            hopper.mbarrier.wait(full.index(stage), phase)
            hopper.mbarrier.arrive(turns.index(1 - ME), pred=k == k_steps - 1)
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
        # in quarters, through two rooms in turn, so that one is filled while the other is read
        left, right = halves(acc, BM, BN)
        first, second = halves(left, BM, BN // 2)
        third, fourth = halves(right, BM, BN // 2)
        put(c, rooms.index(2 * ME), first, row, column, quarter, 1)
        put(c, rooms.index(2 * ME + 1), second, row, column + BN // 4, quarter, 1)
        put(c, rooms.index(2 * ME), third, row, column + BN // 2, quarter, 1)
        put(c, rooms.index(2 * ME + 1), fourth, row, column + 3 * BN // 4, quarter, 1)
    hopper.tma.store_wait(0)


@gluon.jit
def ping_pong(
    a, b, c,  # [M, K], [K, N], [M, N]: TMA descriptors, c's block a quarter of a tile
    visit,  # int32 [tiles], read only for orders that have no formula
    M, N, K,
    BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr, STAGES: gl.constexpr,
    ORDER: gl.constexpr, GROUP: gl.constexpr,
    TRANS_A: gl.constexpr = False, TRANS_B: gl.constexpr = False,  # of the transpose
):  # fmt: skip
    gdc_launch_dependents()
    ring_a = ring(a, STAGES)
    ring_b = ring(b, STAGES)
    rooms = gl.allocate_shared_memory(c.dtype, [4, BM, BN // 4], c.layout)
    full, empty = barriers(STAGES)
    turns = gl.allocate_shared_memory(gl.int64, [2, 1], hopper.mbarrier.MBarrierLayout())
    hopper.mbarrier.init(turns.index(0), count=1)
    hopper.mbarrier.init(turns.index(1), count=1)
    hopper.fence_async_shared()
    gl.warp_specialize(
        [
            (consume, (c, ring_a, ring_b, rooms, full, empty, turns, visit, M, N, K, 0,
                       BM, BN, BK, STAGES, ORDER, GROUP, TRANS_A, TRANS_B)),
            (consume, (c, ring_a, ring_b, rooms, full, empty, turns, visit, M, N, K, 1,
                       BM, BN, BK, STAGES, ORDER, GROUP, TRANS_A, TRANS_B)),
            (produce, (a, b, ring_a, ring_b, full, empty, visit, M, N, K,
                       BM, BN, BK, STAGES, ORDER, GROUP, TRANS_A, TRANS_B)),
        ],
        [4, 1],
        [CONSUMER_REGISTERS, PRODUCER_REGISTERS],
    )  # fmt: skip
