"""ping_pong: a persistent, warp-specialized kernel whose two consumer groups alternate between tiles.

While one group stores its tile the other multiplies, so the tensor cores do not pause. The producer loads for
the group in its main loop. A group enters its main loop only when the other group's last operands have
arrived, so no group waits for a stage more than one round ahead.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import hopper
from triton.language.extra.cuda import gdc_launch_dependents

from tilesim.devices.device import Device
from tilesim.gemm.warp_specialized import SUBTILES, WARPGROUP_WARPS
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product

from ..launch.job import Job
from . import stages
from .jobs import simple_job
from .stream_k import corner


@gluon.jit
def consume(
    c, smem_a, smem_b, smem_c, full, empty, order_barriers, tile_order, M, N, K, CONSUMER: gl.constexpr,
    BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr, STAGES: gl.constexpr,
    ORDER: gl.constexpr, GROUP_M: gl.constexpr, TRANS_A: gl.constexpr, TRANS_B: gl.constexpr,
    stamps, RECORD: gl.constexpr,
):  # fmt: skip
    """Multiply and store every other tile of this thread block; group CONSUMER = 0 starts with the first."""
    layout: gl.constexpr = stages.wgmma_layout(BN, smem_a.dtype, gl.num_warps())
    quarter: gl.constexpr = stages.wgmma_layout(BN // 4, smem_a.dtype, gl.num_warps())
    k_steps = gl.cdiv(K, BK)
    order_phase = 1 - CONSUMER  # group 0 starts without waiting
    step = CONSUMER * k_steps  # index into all K-steps that the producer loads
    for i in range(
        gl.program_id(0) + CONSUMER * gl.num_programs(0),
        gl.cdiv(M, BM) * gl.cdiv(N, BN),
        2 * gl.num_programs(0),
    ):
        stage = step % STAGES
        phase = step // STAGES & 1
        step += 2 * k_steps
        acc = gl.zeros([BM, BN], gl.float32, layout)
        previous = 0  # not `stage`, which Triton's frontend would treat as the same value
        hopper.mbarrier.wait(order_barriers.index(CONSUMER), order_phase)
        order_phase ^= 1
        if RECORD:
            hopper.mbarrier.wait(full.index(stage), phase)
            stages.stamp(stamps, i, 2)
        for k in range(k_steps):
            hopper.mbarrier.wait(full.index(stage), phase)
            hopper.mbarrier.arrive(order_barriers.index(1 - CONSUMER), pred=k == k_steps - 1)
            x = stages.turned(smem_a.index(stage), TRANS_A)  # [BM, BK]
            y = stages.turned(smem_b.index(stage), TRANS_B)  # [BK, BN]
            acc = hopper.warpgroup_mma(x, y, acc, is_async=True)
            acc = hopper.warpgroup_mma_wait(1, deps=(acc,))
            hopper.mbarrier.arrive(empty.index(previous), pred=k > 0)
            previous = stage
            stage, phase = stages.next_stage(stage, phase, STAGES)
        row, column = corner(i, tile_order, M, N, 1, 0, BM, BN, ORDER, GROUP_M, False)
        acc = hopper.warpgroup_mma_wait(0, deps=(acc,))
        hopper.mbarrier.arrive(empty.index(previous))
        if RECORD:
            stages.stamp(stamps, i, 4)
        stages.store_pieces(c, smem_c, 2, acc, row, column, 0, CONSUMER, BM, BN, BN // 4, quarter)
        if RECORD:
            stages.stamp(stamps, i, 6)
    hopper.tma.store_wait(0)


@gluon.jit
def ping_pong(
    a, b, c,  # [M, K], [K, N], [M, N]: TMA descriptors, c's block an epilogue subtile, a quarter of a tile
    tile_order,  # int32 [tiles], read only for orders without a formula
    M, N, K,
    BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr, STAGES: gl.constexpr,
    ORDER: gl.constexpr, GROUP_M: gl.constexpr,
    TRANS_A: gl.constexpr = False, TRANS_B: gl.constexpr = False,  # see stages.load_stage
    stamps=None, RECORD: gl.constexpr = False,  # see stages.stamp
):  # fmt: skip
    gdc_launch_dependents()
    smem_a = stages.allocate_stages(a, STAGES)
    smem_b = stages.allocate_stages(b, STAGES)
    smem_c = gl.allocate_shared_memory(c.dtype, [4, BM, BN // 4], c.layout)
    full, empty = stages.allocate_barriers(STAGES)
    order_barriers = gl.allocate_shared_memory(gl.int64, [2, 1], hopper.mbarrier.MBarrierLayout())
    hopper.mbarrier.init(order_barriers.index(0), count=1)
    hopper.mbarrier.init(order_barriers.index(1), count=1)
    hopper.fence_async_shared()
    gl.warp_specialize(
        [
            (consume, (c, smem_a, smem_b, smem_c, full, empty, order_barriers, tile_order, M, N, K, 0,
                       BM, BN, BK, STAGES, ORDER, GROUP_M, TRANS_A, TRANS_B, stamps, RECORD)),
            (consume, (c, smem_a, smem_b, smem_c, full, empty, order_barriers, tile_order, M, N, K, 1,
                       BM, BN, BK, STAGES, ORDER, GROUP_M, TRANS_A, TRANS_B, stamps, RECORD)),
            (stages.produce, (a, b, smem_a, smem_b, full, empty, tile_order, 0, M, N, K,
                              BM, BN, BK, STAGES, ORDER, GROUP_M, False, TRANS_A, TRANS_B)),
        ],
        [4, 1],
        [stages.CONSUMER_REGISTERS, stages.PRODUCER_REGISTERS],
    )  # fmt: skip


def job(config: KernelConfig, product: Product, device: Device, memory: str, concurrent: bool) -> Job:
    problem = config.problem(product)
    stages.shared_bytes_here(config, product)
    bm, bn, _ = config.tile
    ctas = min(problem.tiles, device.sms - device.busy_sms)
    dependent_launch = stages.uses_dependent_launch(config, product, device)
    values = {"num_warps": WARPGROUP_WARPS, "launch_pdl": dependent_launch}
    descriptors = {"make_descriptor": stages.descriptor, "boxes": {"c": (bm, bn // SUBTILES)}}
    return simple_job(ping_pong, ctas, config, product, values, **descriptors)
