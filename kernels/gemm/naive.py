"""naive: one thread block per tile; block i computes the i-th tile of the order and exits.

SWAP computes the transposed tile, and DEPENDENT_LAUNCH begins while the kernel before ends: see skinny.
"""

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from .jobs import job_of
from .stamps import entry_time, stamp_done, stamp_drain, stamp_entry, stamp_start
from .tile_ops import compute_pid, load, multiply, store


@triton.jit
def naive(
    a, b, c,  # [M, K], [K, N], [M, N]: TMA descriptors or pointers
    tile_order,  # int32 [tiles], read only for orders without a formula
    stamps,  # int64 [tiles, 16], written only if RECORD
    M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    ORDER: tl.constexpr, GROUP_M: tl.constexpr,
    TMA: tl.constexpr, RECORD: tl.constexpr,
    lda=None, ldb=None, TRANS_A: tl.constexpr = False, TRANS_B: tl.constexpr = False,  # see tile_ops
    PRECISION: tl.constexpr = "ieee", SWAP: tl.constexpr = False, DEPENDENT_LAUNCH: tl.constexpr = False,
):  # fmt: skip
    if DEPENDENT_LAUNCH:
        gdc_launch_dependents()
        gdc_wait()
    i = tl.program_id(0)
    if RECORD:
        stamp_entry(stamps, i, i >= 0, entry_time(stamps))
    pid_m, pid_n = compute_pid(i, tile_order, M, N, BM, BN, ORDER, GROUP_M)
    acc = tl.zeros((BN, BM) if SWAP else (BM, BN), tl.float32)
    for k in range(tl.cdiv(K, BK)):
        x = load(a, pid_m * BM, k * BK, M, K, lda, BM, BK, TMA, TRANS_A)  # [BM, BK]
        y = load(b, k * BK, pid_n * BN, K, N, ldb, BK, BN, TMA, TRANS_B)  # [BK, BN]
        if RECORD:
            stamp_start(stamps, i, k == 0)
        acc = multiply(y.T, x.T, acc, PRECISION) if SWAP else multiply(x, y, acc, PRECISION)
    if RECORD:
        acc = stamp_drain(stamps, i, acc)
    if SWAP:
        acc = acc.T
    store(c, pid_m * BM, pid_n * BN, acc, M, N, BM, BN, TMA)
    if RECORD:
        stamp_done(stamps, i, i >= 0, TMA)


job = job_of(naive)
