"""skinny: for products of few rows, which are limited by reading B; one thread block per tile, as in naive.

It computes the transposed tile: B's columns fill the at least 64 rows of a wgmma, and A's rows its as few as
16 columns. Since time depends on the bytes in flight, K-steps are long and stages many.
"""

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from tilesim.devices.device import Device
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product

from ..launch.here import INTERPRETED
from ..launch.job import Job
from .jobs import simple_job
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


def job(config: KernelConfig, product: Product, device: Device, memory: str, concurrent: bool) -> Job:
    # where there is TMA, there is programmatic dependent launch
    dependent_launch = config.loads == "tma" and not INTERPRETED
    values = {"DEPENDENT_LAUNCH": dependent_launch, "num_stages": config.stages}
    if dependent_launch:
        values["launch_pdl"] = True
    return simple_job(skinny, config.problem(product).tiles, config, product, values)
