"""uncoalesced: a tile per program as in naive, but neighbouring threads load what lies rows apart.

A warp's 32 threads go down a column: 32 cache lines for one instruction, of each of which it uses one
element. The compiler would lay its threads along the rows; it is kept from knowing that neighbours in a row
are neighbours in memory by a stride that it may not specialise on. Then it takes the dimensions as they come,
from the first to the last before Triton 3.7, and from the last to the first since.
"""

import triton
import triton.language as tl

from .tile_ops import multiply, place

LAST_FIRST = tl.constexpr(tuple(map(int, triton.__version__.split(".")[:2])) >= (3, 7))


@triton.jit
def down_columns(x, row, col, ROWS, COLS, stride, BR: tl.constexpr, BC: tl.constexpr):
    """The block of x at (row, col), zeros outside, loaded column by column."""
    r = row + tl.arange(0, BR)
    c = col + tl.arange(0, BC)
    if LAST_FIRST:
        return tl.trans(at(x, r[None, :], c[:, None], ROWS, COLS, stride))  # [BR, BC]
    else:
        return at(x, r[:, None], c[None, :], ROWS, COLS, stride)  # [BR, BC]


@triton.jit
def at(x, r, c, ROWS, COLS, stride):
    """The elements of x at rows r and columns c, zeros outside."""
    where = x + (tl.cast(r, tl.int64) * COLS * stride + tl.cast(c, tl.int64) * stride)
    return tl.load(where, mask=(r < ROWS) & (c < COLS), other=0.0)


@triton.jit(do_not_specialize=["stride"])
def uncoalesced(
    a, b, c,  # pointers to [M, K], [K, N], [M, N]
    visit,  # int32 [tiles], read only for orders that have no formula
    M, N, K,
    stride,  # 1: elements between neighbours in a row
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    ORDER: tl.constexpr, GROUP: tl.constexpr,
    PRECISION: tl.constexpr = "ieee",
):  # fmt: skip
    pid_m, pid_n = place(tl.program_id(0), visit, M, N, BM, BN, ORDER, GROUP)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, tl.cdiv(K, BK), num_stages=1):
        x = down_columns(a, pid_m * BM, k * BK, M, K, stride, BM, BK)  # [BM, BK]
        y = down_columns(b, k * BK, pid_n * BN, K, N, stride, BK, BN)  # [BK, BN]
        acc = multiply(x, y, acc, PRECISION)  # [BM, BN]
    r = pid_m * BM + tl.arange(0, BM)[:, None]
    n = pid_n * BN + tl.arange(0, BN)[None, :]
    where = c + (tl.cast(r, tl.int64) * N + n)
    tl.store(where, acc.to(c.dtype.element_ty), mask=(r < M) & (n < N))
