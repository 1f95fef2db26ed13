"""warp-specialized: a persistent, warp-specialized kernel, which CUTLASS calls "cooperative".

One warp loads and the others multiply. The producer waits only for empty stages, so the next tile's loads run
during an epilogue. All consumers work on one tile, and the tensor cores are idle while they store it.

    SPLIT    the first `shared` tiles of the order are split along K by Stream-K (see stream_k)
    GROUPS   with 3 consumer groups of 64 rows, tiles of 192 rows, which can fill a last wave better
    REST     the columns of a tile beyond a power of two, to which Triton's tensors are limited: 192 columns
             are summed as 128 and 64, and tiles of 192 x 192 request fewer bytes than any others
    SWAP     computes the transposed tile, so that products of few rows waste no multiplication: B's columns
             fill the at least 64 rows of a wgmma, and A's rows its as few as 16 columns
"""

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import hopper
from triton.language.extra.cuda import gdc_launch_dependents

from tilesim.devices.device import Device
from tilesim.gemm.warp_specialized import PIECE, groups, rest, subtiles, swap_ab
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product
from tilesim.schedules.stream_k import shares

from ..launch.job import Job, Workspace
from . import stages
from .jobs import simple_job
from .stream_k import add_partials, corner, cta_of, segment, segment_count, store_partial

GROUP_REGISTERS = gl.constexpr(160)
"""Per thread of the second and third consumer group, which leaves 168 for the first."""


@gluon.jit
def consume(
    c, smem_a, smem_b, smem_c, full, empty, tile_order, partials, flags, shared, M, N, K,
    BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr, STAGES: gl.constexpr,
    ORDER: gl.constexpr, GROUP_M: gl.constexpr, EPILOGUE_SUBTILES: gl.constexpr,
    SPLIT: gl.constexpr, SWAP: gl.constexpr, TRANS_A: gl.constexpr, TRANS_B: gl.constexpr,
    GROUPS: gl.constexpr, GROUP: gl.constexpr, smem_rest=None, REST: gl.constexpr = 0,
    stamps=None, RECORD: gl.constexpr = False,
):  # fmt: skip
    """Multiply every segment of this thread block, and store its tile or its partial: one group's rows."""
    ROWS: gl.constexpr = BN if SWAP else BM // GROUPS
    COLUMNS: gl.constexpr = BM if SWAP else BN - REST
    layout: gl.constexpr = stages.wgmma_layout(COLUMNS, smem_a.dtype, gl.num_warps())
    PIECE: gl.constexpr = BN // EPILOGUE_SUBTILES
    BUFFERS: gl.constexpr = 2 if REST else 1
    piece_layout: gl.constexpr = stages.wgmma_layout(PIECE, smem_a.dtype, gl.num_warps())
    rest_layout: gl.constexpr = stages.wgmma_layout(REST if REST else 16, smem_a.dtype, gl.num_warps())
    stored = 0  # pieces
    stage = 0
    phase = 0
    ctas = gl.num_programs(0)
    cta = cta_of(gl.program_id(0), ctas, shared, SPLIT)
    k_steps = gl.cdiv(K, BK)
    for s in range(segment_count(cta, ctas, shared, gl.cdiv(M, BM) * gl.cdiv(N, BN), k_steps, SPLIT)):
        i, k0, k1 = segment(s, cta, ctas, shared, k_steps, SPLIT)
        acc = gl.zeros([ROWS, COLUMNS], gl.float32, layout)
        rest = gl.zeros([ROWS, REST], gl.float32, rest_layout) if REST else 0
        previous = 0  # not `stage`, which Triton's frontend would treat as the same value
        if RECORD:
            hopper.mbarrier.wait(full.index(stage), phase)
            stages.stamp(stamps, i, 2)
        for k in range(k0, k1):
            hopper.mbarrier.wait(full.index(stage), phase)
            x = stages.turned(smem_a.index(stage * GROUPS + GROUP), TRANS_A)  # [BM, BK]
            y = stages.turned(smem_b.index(stage), TRANS_B)  # [BK, BN]
            if SWAP:
                acc = hopper.warpgroup_mma(y.permute((1, 0)), x.permute((1, 0)), acc, is_async=True)
            else:
                acc = hopper.warpgroup_mma(x, y, acc, is_async=True)
            if REST:
                z = stages.turned(smem_rest.index(stage), TRANS_B)  # [BK, REST]
                rest = hopper.warpgroup_mma(x, z, rest, is_async=True)
                acc, rest = hopper.warpgroup_mma_wait(2, deps=(acc, rest))
            else:
                acc = hopper.warpgroup_mma_wait(1, deps=(acc,))
            hopper.mbarrier.arrive(empty.index(previous), pred=k > k0)
            previous = stage
            stage, phase = stages.next_stage(stage, phase, STAGES)
        row, column = corner(i, tile_order, M, N, ctas, shared, BM, BN, ORDER, GROUP_M, SPLIT)
        row += GROUP * (BM // GROUPS)
        if REST:
            acc, rest = hopper.warpgroup_mma_wait(0, deps=(acc, rest))
        else:
            acc = hopper.warpgroup_mma_wait(0, deps=(acc,))
        hopper.mbarrier.arrive(empty.index(previous))
        if RECORD:
            stages.stamp(stamps, i, 4)
        if SPLIT:  # noqa: SIM102, as a constant and a value have no `and`
            if (k0 > 0) & (k1 == k_steps):
                acc = add_partials(
                    acc, partials, flags, i * k_steps, cta, shared * k_steps, ctas,
                    ROWS, COLUMNS, layout, GROUPS, GROUP,
                )  # fmt: skip
        if SPLIT and k1 < k_steps:
            store_partial(acc, partials, flags, cta * GROUPS + GROUP, ROWS, COLUMNS, layout)
        elif SWAP:
            stages.store_subtile(c, smem_c.index(GROUP), acc, row, column, layout, 0, True)
        else:
            stored = stages.store_pieces(
                c, smem_c, BUFFERS, acc, row, column, stored, GROUP, ROWS, COLUMNS, PIECE, piece_layout
            )  # fmt: skip
            if REST:
                column += COLUMNS
                stored = stages.store_pieces(
                    c, smem_c, BUFFERS, rest, row, column, stored, GROUP, ROWS, REST, PIECE, piece_layout
                )  # fmt: skip
        if RECORD:
            stages.stamp(stamps, i, 6)
    hopper.tma.store_wait(0)


@gluon.jit(do_not_specialize=["shared"])
def warp_specialized(
    a, b, c,  # [M, K], [K, N], [M, N]: TMA descriptors, c's block an epilogue subtile
    b_rest,  # b in boxes of REST columns, or None
    tile_order,  # int32 [tiles], read only for orders without a formula
    partials, flags,  # see stream_k; read and written only if SPLIT
    shared,  # tiles that are split along K
    M, N, K,
    BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr, STAGES: gl.constexpr,
    ORDER: gl.constexpr, GROUP_M: gl.constexpr,
    EPILOGUE_SUBTILES: gl.constexpr,  # 1, or 2 if C does not fit beside the stages; with REST one per
    # 32 columns, through two buffers
    SPLIT: gl.constexpr, SWAP: gl.constexpr,
    REST: gl.constexpr = 0,  # columns of a tile beyond the largest power of two
    GROUPS: gl.constexpr = 1,  # of consumers, 1 or 3: each has as many rows of the tile
    TRANS_A: gl.constexpr = False, TRANS_B: gl.constexpr = False,  # see stages.load_stage
    stamps=None, RECORD: gl.constexpr = False,  # see stages.stamp; with one group of consumers
):  # fmt: skip
    gdc_launch_dependents()
    smem_a = stages.allocate_stages(a, STAGES * GROUPS)
    smem_b = stages.allocate_stages(b, STAGES)
    smem_rest = stages.allocate_stages(b_rest, STAGES) if REST else smem_b  # unused
    BUFFERS: gl.constexpr = 2 * GROUPS if REST else GROUPS
    smem_c = gl.allocate_shared_memory(c.dtype, [BUFFERS, BM // GROUPS, BN // EPILOGUE_SUBTILES], c.layout)
    full, empty = stages.allocate_barriers(STAGES, GROUPS)
    hopper.fence_async_shared()
    if GROUPS == 1:
        gl.warp_specialize(
            [
                (consume, (c, smem_a, smem_b, smem_c, full, empty, tile_order, partials, flags, shared,
                           M, N, K, BM, BN, BK, STAGES, ORDER, GROUP_M, EPILOGUE_SUBTILES, SPLIT, SWAP,
                           TRANS_A, TRANS_B, GROUPS, 0, smem_rest, REST, stamps, RECORD)),
                (stages.produce, (a, b, smem_a, smem_b, full, empty, tile_order, shared, M, N, K,
                                  BM, BN, BK, STAGES, ORDER, GROUP_M, SPLIT, TRANS_A, TRANS_B, GROUPS,
                                  b_rest, smem_rest, REST)),
            ],
            [1],
            [stages.PRODUCER_REGISTERS],
        )  # fmt: skip
    else:
        gl.warp_specialize(
            [
                (consume, (c, smem_a, smem_b, smem_c, full, empty, tile_order, partials, flags, shared,
                           M, N, K, BM, BN, BK, STAGES, ORDER, GROUP_M, EPILOGUE_SUBTILES, SPLIT, SWAP,
                           TRANS_A, TRANS_B, GROUPS, 0, smem_rest, REST)),
                (consume, (c, smem_a, smem_b, smem_c, full, empty, tile_order, partials, flags, shared,
                           M, N, K, BM, BN, BK, STAGES, ORDER, GROUP_M, EPILOGUE_SUBTILES, SPLIT, SWAP,
                           TRANS_A, TRANS_B, GROUPS, 1, smem_rest, REST)),
                (consume, (c, smem_a, smem_b, smem_c, full, empty, tile_order, partials, flags, shared,
                           M, N, K, BM, BN, BK, STAGES, ORDER, GROUP_M, EPILOGUE_SUBTILES, SPLIT, SWAP,
                           TRANS_A, TRANS_B, GROUPS, 2, smem_rest, REST)),
                (stages.produce, (a, b, smem_a, smem_b, full, empty, tile_order, shared, M, N, K,
                                  BM, BN, BK, STAGES, ORDER, GROUP_M, SPLIT, TRANS_A, TRANS_B, GROUPS,
                                  b_rest, smem_rest, REST)),
            ],
            [4, 4, 1],
            [GROUP_REGISTERS, GROUP_REGISTERS, stages.PRODUCER_REGISTERS],
        )  # fmt: skip


def job(config: KernelConfig, product: Product, device: Device, memory: str, concurrent: bool) -> Job:
    """One thread block for each free SM, or as many as the schedule says."""
    problem = config.problem(product)
    parts = subtiles(config, product, stages.shared_bytes_here(config, product))
    shared, ctas = shares(config.schedule, problem, device.sms - device.busy_sms)
    bm, bn, bk = config.tile
    narrow = rest(config.tile)
    pieces = (bn - narrow) // PIECE if narrow else parts
    rows = bm // groups(config)
    boxes = {"a": (rows, bk), "b": (bk, bn - narrow), "c": (rows, (bn - narrow) // pieces)}
    if narrow:
        boxes["b_rest"] = bk, narrow

    def workspace() -> Workspace:
        if not shared:
            return {}
        return dict(
            partials=torch.empty(ctas, bm * bn, dtype=torch.float32, device="cuda"),
            flags=stages.flags(ctas, config.warps * groups(config)),
        )

    values = dict(
        b_rest=None, partials=None, flags=None, shared=shared, EPILOGUE_SUBTILES=parts,
        SWAP=swap_ab(config.tile), REST=narrow, GROUPS=groups(config), SPLIT=shared > 0,
        launch_pdl=stages.uses_dependent_launch(config, product, device),
    )  # fmt: skip
    return simple_job(
        warp_specialized, ctas, config, product, values,
        workspace, concurrent, make_descriptor=stages.descriptor, boxes=boxes,
    )  # fmt: skip
