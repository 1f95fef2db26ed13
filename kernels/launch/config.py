"""A kernel's pipeline: its warps, how many K-steps its loads run ahead, in how many parts it writes C.

What nobody chooses follows from tile, dtype and residents alone, so kernels that are compared have the same.
"""

import torch

from tilesim.problems import Problem

from .hopper import BARRIERS, GROUP_WARPS, MOST_SUMS, ROOM
from .operands import DTYPES, RESULTS

MOST_WARPS = 8
"""Above, with MOST_SUMS sums in each thread, a thread block alone would have all registers of an SM."""

LEAST_STAGES, MOST_STAGES = 3, 6
"""With two stages each K-step waits for its loads: two blocks of 128x128 on an SM of an H200 multiplied at
65 % of its peak, and at 99 % with three. Beyond six nothing was ever faster in `tilesim tune`."""

SM_ROOM, RESERVED = 228 * 1024, 1024
"""Bytes of shared memory of an sm_90, and what the system takes of them for each thread block (CUDA C++
Programming Guide, table 30)."""


def pipeline(
    problem: Problem,
    ctas_per_sm: int = 1,
    warps: int | None = None,
    stages: int | None = None,
    parts: int | None = None,
) -> tuple[int, int, int]:
    """(warps, stages, parts) for `ctas_per_sm` blocks on an SM of this GPU, or of an sm_90 without one.

    What is given stays. Else: a thread has up to MOST_SUMS sums, in whole warpgroups; stages are as many as
    fit, to MOST_STAGES; and C is written in two parts where LEAST_STAGES, or those given, fit no other way.
    """
    if warps is None:
        warps = min(MOST_WARPS, max(GROUP_WARPS, problem.tile_m * problem.tile_n // (32 * MOST_SUMS)))
    room = shared_bytes(ctas_per_sm)
    if parts is None:
        parts = 1 if stages_that_fit(problem, room) >= (stages or LEAST_STAGES) else 2
    if stages is None:
        stages = min(MOST_STAGES, max(1, stages_that_fit(problem, room, parts)))
    return warps, stages, parts


def shared_bytes(ctas_per_sm: int) -> int:
    """What each of so many thread blocks on an SM can have of its shared memory for operands and C."""
    block, sm = ROOM, SM_ROOM
    if torch.cuda.is_available():
        here = torch.cuda.get_device_properties()
        block, sm = here.shared_memory_per_block_optin, here.shared_memory_per_multiprocessor
    return min(block, sm // ctas_per_sm - RESERVED) - BARRIERS


def stages_that_fit(problem: Problem, room: int, parts: int = 1) -> int:
    """How many K-steps of A and B fit into `room` bytes, beside one of C's parts; 0 parts need no room."""
    step = (problem.tile_m + problem.tile_n) * problem.tile_k * DTYPES[problem.dtype].itemsize
    c = problem.tile_m * problem.tile_n * RESULTS[problem.dtype].itemsize // parts if parts else 0
    return max(0, (room - c) // step)
