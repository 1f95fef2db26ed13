"""specialised: a persistent, warp-specialised kernel, the "cooperative" one in CUTLASS's words.

One warp loads and the others multiply. The producer never waits for a multiplication, only for an empty
stage, so loads of the next tile run during an epilogue. All consumers work on one tile together, and the
tensor cores are idle while they store it.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import hopper
from triton.language.extra.cuda import gdc_launch_dependents

from .tile_ops import compute_pid
from .warp_specialised import (
    PRODUCER_REGISTERS,
    allocate_barriers,
    allocate_stages,
    next_stage,
    produce,
    split_columns,
    store_subtile,
    wgmma_operand,
)


@gluon.jit
def consume(
    c, smem_a, smem_b, smem_c, full, empty, visit, M, N, K,
    BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr, STAGES: gl.constexpr,
    ORDER: gl.constexpr, GROUP_M: gl.constexpr, EPILOGUE_SUBTILES: gl.constexpr,
    TRANS_A: gl.constexpr, TRANS_B: gl.constexpr,
):  # fmt: skip
    """Multiply and store every tile of this thread block."""
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, BN, 16])
    half: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, BN // 2, 16])
    stage = 0
    phase = 0
    for i in range(gl.program_id(0), gl.cdiv(M, BM) * gl.cdiv(N, BN), gl.num_programs(0)):
        acc = gl.zeros([BM, BN], gl.float32, layout)
        previous = 0  # not `stage`: Triton's frontend would take the two for one value
        for k in range(gl.cdiv(K, BK)):
            hopper.mbarrier.wait(full.index(stage), phase)
            x = wgmma_operand(smem_a.index(stage), TRANS_A)  # [BM, BK]
            y = wgmma_operand(smem_b.index(stage), TRANS_B)  # [BK, BN]
            acc = hopper.warpgroup_mma(x, y, acc, is_async=True)
            acc = hopper.warpgroup_mma_wait(1, deps=(acc,))
            hopper.mbarrier.arrive(empty.index(previous), pred=k > 0)
            previous = stage
            stage, phase = next_stage(stage, phase, STAGES)
        pid_m, pid_n = compute_pid(i, visit, M, N, BM, BN, ORDER, GROUP_M)
        row = pid_m * BM
        column = pid_n * BN
        acc = hopper.warpgroup_mma_wait(0, deps=(acc,))
        hopper.mbarrier.arrive(empty.index(previous))
        if EPILOGUE_SUBTILES == 1:
            store_subtile(c, smem_c, acc, row, column, layout, 0)
        else:
            left, right = split_columns(acc, BM, BN)
            store_subtile(c, smem_c, left, row, column, half, 0)
            store_subtile(c, smem_c, right, row, column + BN // 2, half, 0)
    hopper.tma.store_wait(0)


@gluon.jit
def specialised(
    a, b, c,  # [M, K], [K, N], [M, N]: TMA descriptors, c's block an epilogue subtile
    visit,  # int32 [tiles], read only for orders that have no formula
    M, N, K,
    BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr, STAGES: gl.constexpr,
    ORDER: gl.constexpr, GROUP_M: gl.constexpr,
    EPILOGUE_SUBTILES: gl.constexpr,  # 1, or 2 where a whole tile of C does not fit beside the stages
    TRANS_A: gl.constexpr = False, TRANS_B: gl.constexpr = False,  # see warp_specialised.load_stage
):  # fmt: skip
    gdc_launch_dependents()
    smem_a = allocate_stages(a, STAGES)
    smem_b = allocate_stages(b, STAGES)
    smem_c = gl.allocate_shared_memory(c.dtype, [BM, BN // EPILOGUE_SUBTILES], c.layout)
    full, empty = allocate_barriers(STAGES)
    hopper.fence_async_shared()
    gl.warp_specialize(
        [
            (consume, (c, smem_a, smem_b, smem_c, full, empty, visit, M, N, K,
                       BM, BN, BK, STAGES, ORDER, GROUP_M, EPILOGUE_SUBTILES, TRANS_A, TRANS_B)),
            (produce, (a, b, smem_a, smem_b, full, empty, visit, M, N, K,
                       BM, BN, BK, STAGES, ORDER, GROUP_M, TRANS_A, TRANS_B)),
        ],
        [1],
        [PRODUCER_REGISTERS],
    )  # fmt: skip
