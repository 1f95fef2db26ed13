"""strided_sum: threads add up a table; neighboring threads take neighboring cells, or cells of one column.

The table has `columns` cells a row and is read down its columns: thread i of `threads` takes LOADS cells of
column i // (rows / LOADS), which are rows / LOADS rows apart. With one column, a row is a cell, so
neighboring threads take neighboring cells. Each cell is taken once, so all sums are the same.
"""

import torch
import triton
import triton.language as tl

BLOCK, WARPS = 256, 8
"""Threads per block."""


@triton.jit(do_not_specialize=["columns"])
def strided_sum(x, sums, part, columns, BLOCK: tl.constexpr, LOADS: tl.constexpr):
    """x: fp32 [rows * columns]. sums: fp32, one per thread block. part: rows / LOADS."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
    cell = (i % part) * columns + i // part
    total = tl.load(x + cell)
    for turn in tl.static_range(1, LOADS):
        total += tl.load(x + cell + turn * part * columns)
    tl.store(sums + tl.program_id(0), tl.sum(total, 0))


def launch(x: torch.Tensor, sums: torch.Tensor, columns: int, loads: int = 1) -> None:
    """Sum x [n], n a multiple of BLOCK, loads and columns together, into the first of sums [n / BLOCK]."""
    blocks = len(x) // (BLOCK * loads)
    strided_sum[(blocks,)](
        x, sums, len(x) // columns // loads, columns, BLOCK=BLOCK, LOADS=loads, num_warps=WARPS
    )
