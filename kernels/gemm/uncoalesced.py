"""uncoalesced: one tile per thread block as in naive, but adjacent threads load from adjacent rows.

To keep the compiler from coalescing, `stride` must not be specialized, so that it cannot see that elements of
a row are contiguous. It then takes the dimensions in order: from the first before Triton 3.7, from the last
since.
"""

import triton
import triton.language as tl

from .jobs import job_of
from .tile_ops import compute_pid, multiply, store

LAST_DIM_FIRST = tl.constexpr(tuple(map(int, triton.__version__.split(".")[:2])) >= (3, 7))


@triton.jit
def load_uncoalesced(x, row, col, ROWS, COLS, stride, BR: tl.constexpr, BC: tl.constexpr):
    """The block of x at (row, col), zeros outside; a warp loads down a column."""
    r = row + tl.arange(0, BR)
    c = col + tl.arange(0, BC)
    if LAST_DIM_FIRST:
        return tl.trans(load_elements(x, r[None, :], c[:, None], ROWS, COLS, stride))  # [BR, BC]
    else:
        return load_elements(x, r[:, None], c[None, :], ROWS, COLS, stride)  # [BR, BC]


@triton.jit
def load_elements(x, r, c, ROWS, COLS, stride):
    pointers = x + (tl.cast(r, tl.int64) * COLS * stride + tl.cast(c, tl.int64) * stride)
    return tl.load(pointers, mask=(r < ROWS) & (c < COLS), other=0.0)


@triton.jit(do_not_specialize=["stride"])
def uncoalesced(
    a, b, c,  # pointers to [M, K], [K, N], [M, N]
    tile_order,  # int32 [tiles], read only for orders without a formula
    M, N, K,
    stride,  # 1: elements between adjacent columns
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    ORDER: tl.constexpr, GROUP_M: tl.constexpr,
    PRECISION: tl.constexpr = "ieee",
):  # fmt: skip
    pid_m, pid_n = compute_pid(tl.program_id(0), tile_order, M, N, BM, BN, ORDER, GROUP_M)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, tl.cdiv(K, BK), num_stages=1):
        x = load_uncoalesced(a, pid_m * BM, k * BK, M, K, stride, BM, BK)  # [BM, BK]
        y = load_uncoalesced(b, k * BK, pid_n * BN, K, N, stride, BK, BN)  # [BK, BN]
        acc = multiply(x, y, acc, PRECISION)  # [BM, BN]
    store(c, pid_m * BM, pid_n * BN, acc, M, N, BM, BN, False)


job = job_of(uncoalesced, lambda config: {"stride": 1})
