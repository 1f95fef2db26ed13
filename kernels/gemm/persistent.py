"""persistent: as many thread blocks as fit at once, each striding over the tiles."""

import triton
import triton.language as tl

from tilesim.schedules import plan

from .jobs import STORE_WAIT_K_STEP, job_of
from .stamps import entry_time, stamp_done, stamp_drain, stamp_entry, stamp_start
from .tile_ops import compute_pid, load, multiply, store


@triton.jit
def persistent(
    a, b, c,  # [M, K], [K, N], [M, N]: TMA descriptors or pointers
    tile_order,  # int32 [tiles], read only for orders without a formula
    stamps,  # int64 [tiles, 16], written only if RECORD
    M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    ORDER: tl.constexpr, GROUP_M: tl.constexpr,
    TMA: tl.constexpr, RECORD: tl.constexpr,
    FLATTEN: tl.constexpr,  # one loop over (tile, k): the next tile's loads run during the epilogue
    STORE_WAIT_K_STEP: tl.constexpr,  # K-step of the next tile that first waits for the store of C
    EPILOGUE_SUBTILES: tl.constexpr = 1,  # see store
    lda=None, ldb=None, TRANS_A: tl.constexpr = False, TRANS_B: tl.constexpr = False,  # see tile_ops
    PRECISION: tl.constexpr = "ieee",
):  # fmt: skip
    cta = tl.program_id(0)
    ctas = tl.num_programs(0)
    tiles = tl.cdiv(M, BM) * tl.cdiv(N, BN)
    k_steps = tl.cdiv(K, BK)
    if RECORD and cta < tiles:
        stamp_entry(stamps, cta, cta >= 0, entry_time(stamps))
    for i in tl.range(cta, tiles, ctas, flatten=FLATTEN):
        pid_m, pid_n = compute_pid(i, tile_order, M, N, BM, BN, ORDER, GROUP_M)
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(k_steps):
            if RECORD:
                stamp_done(stamps, i - ctas, (k == min(STORE_WAIT_K_STEP, k_steps - 1)) & (i > cta), TMA)
            x = load(a, pid_m * BM, k * BK, M, K, lda, BM, BK, TMA, TRANS_A)  # [BM, BK]
            y = load(b, k * BK, pid_n * BN, K, N, ldb, BK, BN, TMA, TRANS_B)  # [BK, BN]
            if RECORD:
                stamp_start(stamps, i, k == 0)
            acc = multiply(x, y, acc, PRECISION)  # [BM, BN]
        if RECORD:
            acc = stamp_drain(stamps, i, acc)
        store(c, pid_m * BM, pid_n * BN, acc, M, N, BM, BN, TMA, EPILOGUE_SUBTILES)
    if RECORD:
        last = cta + (tiles - 1 - cta) // ctas * ctas
        stamp_done(stamps, last, cta < tiles, TMA)


job = job_of(
    persistent,
    lambda config: dict(
        FLATTEN=config.overlap,
        STORE_WAIT_K_STEP=STORE_WAIT_K_STEP if config.overlap else 0,
        EPILOGUE_SUBTILES=config.epilogue_subtiles,
    ),
    ctas=lambda config, problem, device: plan(config.schedule, problem, device).ctas,
)
