"""The suite: the fewest runs that show what a GPU's kernels and memory take, sized to the GPU.

Eight kernels run with a short K, which shows hand-overs, writes and launches, and with a long K, which shows
main loops; where tiles are split, also with four blocks for each tile. In five further runs K-steps wait for
one thing each: l2-apart (a row of tiles a wave: A is shared, and B comes out of the L2), l2-merged (narrow
tiles in groups, which load more and share most of it), dram (one wave in which each tile has a B of its own),
l2-latency (two stages and one block on an SM, in groups of four waves) and dram-latency (the same in one
wave, so that no operand was loaded before).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tilesim.kernel_config import TABLE
from tilesim.problems import DTYPE_BYTES, Problem

DEDICATED = "dedicated"

ORDER = "grouped:8"
SHORT_K, LONG_K = 512, 4096
WAVES = 4
"""Of the runs with a short K: half a wave more."""
BLOCKS_A_TILE = 4
"""Of the runs with few tiles."""
DTYPES = ("bf16", "fp16", "fp32")
"""The first of these that its tensor cores have is the GPU's."""
ROOMY_KIB = 160
"""Shared memory of a thread block, from which on three stages of the large tiles fit."""
LARGE = (128, 256, 64), (128, 128, 64), (128, 64, 64)
SMALL = (128, 128, 32), (128, 64, 32), (64, 64, 32)


@dataclass(frozen=True, slots=True)
class Run:
    """A run to record: of which schedule, kernel, problem, thread blocks per SM and, where given, stages."""

    name: str
    schedule: str
    problem: Problem
    kernel: str
    ctas_per_sm: int
    stages: int | None = None


def suite(known: Mapping[str, Any]) -> list[Run]:
    """The runs for a GPU of which these facts are known: sms, l2_mb, peak_tflops, shared_kib_per_block."""
    tiles = LARGE if known.get("shared_kib_per_block", 0) >= ROOMY_KIB else SMALL
    dtype = next(name for name in (*DTYPES, *known["peak_tflops"]) if name in known["peak_tflops"])
    wide, square, narrow = (Problem(*tile, tile=tile, dtype=dtype, order=ORDER) for tile in tiles)
    sms = known["sms"]
    runs = []
    for schedule, kernel in (("naive", DEDICATED), ("persistent", DEDICATED), ("stream-k", TABLE)):
        for shape, one, residents in (("wide", wide, 1), ("square", square, 2), ("alone", square, 1)):
            slots = sms * residents
            sizes = {
                "short": (8, -(-(2 * WAVES + 1) * slots // 16), SHORT_K),
                "long": (8, -(-13 * slots // 64), LONG_K),
            }
            if schedule == "stream-k":
                sizes["few"] = (4, slots // (4 * BLOCKS_A_TILE), 2 * LONG_K)
            for length, size in sizes.items():
                if (schedule, shape) != ("naive", "alone"):  # nothing keeps a second block from its SM
                    name = f"{schedule}-{shape}-{length}"
                    runs.append(Run(name, schedule, _sized(one, *size), kernel, residents))
    slots = 2 * sms
    row_major = replace(square, order="row-major")
    runs += [
        Run("l2-apart", "naive", _resident(row_major, 8, slots, known), DEDICATED, 2),
        Run("l2-merged", "naive", _resident(narrow, 48, slots // 4, known), DEDICATED, 2),
        Run("dram", "naive", _sized(row_major, 1, slots, LONG_K // 2), DEDICATED, 2),
        Run("l2-latency", "persistent", _resident(narrow, 48, sms // 2, known), DEDICATED, 1, 2),
        Run("dram-latency", "persistent", _sized(narrow, 8, sms // 8, LONG_K), DEDICATED, 1, 2),
    ]
    return runs


def _sized(one: Problem, rows: int, columns: int, k: int) -> Problem:
    """`one` with so many tiles, and as long a K."""
    return replace(one, m=rows * one.tile_m, n=max(1, columns) * one.tile_n, k=k)


def _resident(one: Problem, rows: int, columns: int, known: Mapping[str, Any]) -> Problem:
    """The same, with the longest K, of 4 to 16 K-steps, whose operands take half of the L2 at most."""
    sized = _sized(one, rows, columns, 4 * one.tile_k)
    bytes_per_k = (sized.m + sized.n) * DTYPE_BYTES[one.dtype]
    steps = int(known["l2_mb"] * 1e6 / 2 / bytes_per_k) // one.tile_k
    return replace(sized, k=min(16, max(4, steps)) * one.tile_k)
