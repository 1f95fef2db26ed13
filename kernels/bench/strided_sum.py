"""strided_sum: one table of numbers, added up along its rows or down its columns.

The table has `columns` cells a row and is read down its columns: thread i of `threads` takes LOADS cells of
column i // (rows / LOADS), which are rows / LOADS rows apart. With one column, a row is a cell, so
neighboring threads take neighboring cells. Each cell is taken once, so all sums are the same.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import torch
import triton
import triton.language as tl

from ..errors import KernelError
from ..launch.job import Launch
from ..launch.operands import beyond_l2
from ..measure.machine import measuring
from ..measure.timing import method, replayed
from .counters import COUNTERS, profiled

BLOCK, WARPS = 256, 8
"""Threads per block."""


@triton.jit(do_not_specialize=["columns"])
def sum_columns(x, sums, part, columns, BLOCK: tl.constexpr, LOADS: tl.constexpr):
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
    sum_columns[(blocks,)](
        x, sums, len(x) // columns // loads, columns, BLOCK=BLOCK, LOADS=loads, num_warps=WARPS
    )


CELLS = 8192**2
"""Of the table: 268 MB, five times what the L2 of an H200 holds."""

COLUMNS = (1, 2, 4, 8, 16, 32, 8192)
"""With one column, neighboring threads take neighboring cells."""

LOADS = (1, 4, 8, 16)
"""Cells that a thread asks for before it adds them."""

ELEMENT = 4
MOST = 8
"""A cell holds a whole number below it, so that fp32 sums are exact."""

READ = ("load_requests", "load_sectors", "l2_read_sectors", "l2_hit_sectors", "dram_read_bytes")
COUNTED = {name: COUNTERS[name] for name in READ}

METHOD = (
    f"a table of {CELLS} cells in fp32, read down its columns, so that neighboring threads take cells"
    " `columns` apart; a thread asks for `loads` cells of its column before it adds them; "
    + method("one launch per table, of {sets} tables", "cases")
    + "; before any timing each sum must be exact; counters: one launch each, cold"
)


@measuring
def strided_sum(samples: int = 40) -> dict[str, Any]:
    """Time each case: "cells", "element" (bytes) and "rows": columns, loads, us (median), p20, p80, gb_per_s
    (bytes of the table by the median time), sum, samples, and where counters can be read what COUNTED names.
    """
    cases = [(columns, loads) for columns in COLUMNS for loads in LOADS]
    sets = beyond_l2(ELEMENT * CELLS)
    tables = [table(seed) for seed in range(sets)]
    sums = torch.empty(CELLS // BLOCK, device="cuda")
    totals = [checked_sum(tables[0], sums, *case) for case in cases]
    launches = {str(case): [partial(launch, x, sums, *case) for x in tables] for case in cases}
    timed = replayed(launches, 10, samples).values()
    counts = profiled("strided_sum", cases, len(cases), COUNTED, "sum_columns")
    rows = [
        {"columns": columns, "loads": loads}
        | times
        | {"gb_per_s": round(ELEMENT * CELLS / times["us"] / 1000, 1), "sum": total, "samples": samples}
        | counted
        for (columns, loads), times, total, counted in zip(cases, timed, totals, counts, strict=True)
    ]
    return {"method": METHOD.format(sets=sets), "cells": CELLS, "element": ELEMENT, "rows": rows}


def table(seed: int) -> torch.Tensor:
    random = torch.Generator("cuda").manual_seed(seed)
    return torch.randint(MOST, (CELLS,), device="cuda", generator=random).float()


def once(cases: Sequence[Any]) -> Iterator[Launch]:
    x, sums = table(0), torch.empty(CELLS // BLOCK, device="cuda")
    for columns, loads in cases:
        yield partial(launch, x, sums, columns, loads)


def checked_sum(x: torch.Tensor, sums: torch.Tensor, columns: int, loads: int = 1) -> int:
    """The sum of x in this way, with sums poisoned before; KernelError unless it is the float64 sum."""
    sums.fill_(float("nan"))
    launch(x, sums, columns, loads)
    made, reference = float(sums[: len(x) // (BLOCK * loads)].double().sum()), float(x.double().sum())
    if made != reference:
        raise KernelError(
            f"with {columns} columns and {loads} loads, the sum is {made:g} instead of {reference:g}"
        )
    return int(made)
