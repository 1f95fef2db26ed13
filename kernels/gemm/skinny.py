"""skinny: for products of few rows, which are limited by reading B; one thread block per tile, as in naive.

It computes the transposed tile: B's columns fill the at least 64 rows of a wgmma, and A's rows its as few as
16 columns. Since time depends on the bytes in flight, K-steps are long and stages many.
"""

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from tilesim.kernel_config import KernelConfig

from ..launch.here import INTERPRETED
from .jobs import job_of
from .tile_ops import compute_pid, load, multiply, store


@triton.jit
def skinny(
    a, b, c,  # [M, K], [K, N], [M, N]: TMA descriptors or pointers
    tile_order,  # int32 [tiles], read only for orders without a formula
    M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    ORDER: tl.constexpr, GROUP_M: tl.constexpr,
    TMA: tl.constexpr,
    DEPENDENT_LAUNCH: tl.constexpr,  # programmatic dependent launch
    lda=None, ldb=None, TRANS_A: tl.constexpr = False, TRANS_B: tl.constexpr = False,  # see tile_ops
    PRECISION: tl.constexpr = "ieee",
):  # fmt: skip
    if DEPENDENT_LAUNCH:
        gdc_launch_dependents()
        gdc_wait()
    pid_m, pid_n = compute_pid(tl.program_id(0), tile_order, M, N, BM, BN, ORDER, GROUP_M)
    acc = tl.zeros((BN, BM), tl.float32)
    for k in range(tl.cdiv(K, BK)):
        x = load(a, pid_m * BM, k * BK, M, K, lda, BM, BK, TMA, TRANS_A)  # [BM, BK]
        y = load(b, k * BK, pid_n * BN, K, N, ldb, BK, BN, TMA, TRANS_B)  # [BK, BN]
        acc = multiply(tl.trans(y), tl.trans(x), acc, PRECISION)  # [BN, BM]
    store(c, pid_m * BM, pid_n * BN, tl.trans(acc), M, N, BM, BN, TMA)


def values(config: KernelConfig) -> dict[str, bool]:
    # where there is TMA, there is programmatic dependent launch
    if config.loads == "tma" and not INTERPRETED:
        return {"DEPENDENT_LAUNCH": True, "launch_pdl": True}
    return {"DEPENDENT_LAUNCH": False}


job = job_of(skinny, values)
