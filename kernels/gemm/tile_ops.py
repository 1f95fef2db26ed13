"""Operations on a tile that kernels share: find it, load its operands, multiply, store it.

`x` is a TMA descriptor or a pointer, as the constexpr TMA says, and only that branch is compiled. Matrices
are row-major with dense rows; LD is the number of elements between rows, None for the number of columns. A
column-major operand is passed as its transpose, with TRANS.
"""

import triton
import triton.language as tl

from ..launch.here import INTERPRETED


@triton.jit
def compute_pid(
    i, tile_order, M, N, BM: tl.constexpr, BN: tl.constexpr, ORDER: tl.constexpr, GROUP_M: tl.constexpr
):  # fmt: skip
    """(pid_m, pid_n) of the i-th tile visited: computed where there is a formula, else from `tile_order`."""
    tiles_m = tl.cdiv(M, BM)
    tiles_n = tl.cdiv(N, BN)
    if ORDER == "row-major":
        return i // tiles_n, i % tiles_n
    elif ORDER == "column-major":
        return i % tiles_m, i // tiles_m
    elif ORDER == "grouped":
        first = i // (GROUP_M * tiles_n) * GROUP_M
        rows = min(tiles_m - first, GROUP_M)
        offset = i % (GROUP_M * tiles_n)
        return first + offset % rows, offset // rows
    else:
        tile = tl.load(tile_order + i)
        return tile // tiles_n, tile % tiles_n


@triton.jit
def load(
    x, row, col, ROWS, COLS, LD, BR: tl.constexpr, BC: tl.constexpr, TMA: tl.constexpr, TRANS: tl.constexpr,
):  # fmt: skip
    """The block at (row, col) of x, or with TRANS of its transpose: [ROWS, COLS], zeros outside."""
    if TRANS:
        return load(x, col, row, COLS, ROWS, LD, BC, BR, TMA, False).T  # [BR, BC]
    elif TMA:
        return x.load([row, col])  # [BR, BC]
    else:
        pointers, mask = block_pointers(x, row, col, ROWS, COLS, LD, BR, BC)
        return tl.load(pointers, mask=mask, other=0.0)  # [BR, BC]


@triton.jit
def store(
    x, row, col, value, ROWS, COLS, BR: tl.constexpr, BC: tl.constexpr, TMA: tl.constexpr,
    SUBTILES: tl.constexpr = 1,
):  # fmt: skip
    """Write value [BR, BC] to x at (row, col), in x's dtype; elements outside the matrix are dropped. In 2
    epilogue SUBTILES, it needs half the shared memory."""
    if SUBTILES == 2:
        left, right = tl.split(tl.permute(tl.reshape(value, (BR, 2, BC // 2)), (0, 2, 1)))
        store(x, row, col, left, ROWS, COLS, BR, BC // 2, TMA)
        store(x, row, col + BC // 2, right, ROWS, COLS, BR, BC // 2, TMA)
    elif TMA:
        x.store([row, col], value.to(x.dtype))
    else:
        pointers, mask = block_pointers(x, row, col, ROWS, COLS, None, BR, BC)
        tl.store(pointers, value.to(x.dtype.element_ty), mask=mask)


@triton.jit
def block_pointers(x, row, col, ROWS, COLS, LD, BR: tl.constexpr, BC: tl.constexpr):
    """(pointers, mask) of a block of x, both [BR, BC]; only the corner needs 64 bits."""
    r = tl.arange(0, BR)
    c = tl.arange(0, BC)
    if LD is None:
        LD = COLS
    corner = x + (tl.cast(row, tl.int64) * LD + col)
    mask = (row + r < ROWS)[:, None] & (col + c < COLS)[None, :]  # [BR, BC]
    return corner + (r[:, None] * LD + c[None, :]), mask  # [BR, BC]


@triton.jit
def multiply(x, y, acc, PRECISION: tl.constexpr):
    """acc + x · y with fp32 sums; fp32 operands are multiplied in full ("ieee") or as "tf32"."""
    if INTERPRETED:
        # the interpreter's dot would multiply bf16 as raw 16-bit integers
        x = x.to(tl.float32)
        y = y.to(tl.float32)
    return tl.dot(x, y, acc, input_precision=PRECISION)


@triton.jit
def wait_for_wgmma(acc):
    """acc, complete: Triton waits for the wgmma before the first use of acc, and this use costs nothing."""
    if INTERPRETED:
        return acc
    return tl.inline_asm_elementwise(
        "mov.b32 $0, $1;", "=r,r", [acc], dtype=tl.float32, is_pure=False, pack=1
    )  # fmt: skip
