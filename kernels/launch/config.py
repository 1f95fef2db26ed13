"""A kernel's configuration: warps, pipeline stages and epilogue subtiles.

What is not given follows from tile, dtype and thread blocks per SM alone, so kernels that are compared have
the same.
"""

import torch

from tilesim.problems import Problem

from .hopper import BARRIER_BYTES, MAX_ACCUMULATORS, SMEM_BYTES, WARPGROUP_WARPS
from .operands import RESULTS

MAX_WARPS = 8
"""With more, and MAX_ACCUMULATORS in each thread, one thread block would need all registers of an SM."""

MIN_STAGES, MAX_STAGES = 3, 6
"""With two stages each K-step waits for its loads: two blocks of 128x128 on an SM of an H200 reached 65 % of
its peak, and 99 % with three. Beyond six nothing was ever faster in `tilesim tune`."""

SM_SMEM_BYTES, RESERVED_BYTES = 228 * 1024, 1024
"""Shared memory of an SM of sm_90, and what the system reserves of it for each thread block (CUDA C++
Programming Guide, table 30)."""


def pipeline(
    problem: Problem,
    ctas_per_sm: int = 1,
    warps: int | None = None,
    stages: int | None = None,
    epilogue_subtiles: int | None = None,
) -> tuple[int, int, int]:
    """(warps, stages, epilogue_subtiles) for `ctas_per_sm` blocks per SM of this GPU, else of sm_90.

    What is given stays. Else: whole warpgroups, with up to MAX_ACCUMULATORS accumulators a thread; as many
    stages as fit, to MAX_STAGES; and two subtiles where MIN_STAGES, or the stages given, fit no other way.
    """
    if warps is None:
        needed = problem.tile_m * problem.tile_n // (32 * MAX_ACCUMULATORS)
        warps = min(MAX_WARPS, max(WARPGROUP_WARPS, needed))
    available = available_smem_bytes(ctas_per_sm)
    if epilogue_subtiles is None:
        epilogue_subtiles = 1 if stages_that_fit(problem, available) >= (stages or MIN_STAGES) else 2
    if stages is None:
        stages = min(MAX_STAGES, max(1, stages_that_fit(problem, available, epilogue_subtiles)))
    return warps, stages, epilogue_subtiles


def available_smem_bytes(ctas_per_sm: int) -> int:
    """Shared memory that each of so many thread blocks on an SM can have for operands and C."""
    block, sm = SMEM_BYTES, SM_SMEM_BYTES
    if torch.cuda.is_available():
        here = torch.cuda.get_device_properties()
        block, sm = here.shared_memory_per_block_optin, here.shared_memory_per_multiprocessor
    return min(block, sm // ctas_per_sm - RESERVED_BYTES) - BARRIER_BYTES


def stages_that_fit(problem: Problem, available: int, epilogue_subtiles: int = 1) -> int:
    """How many K-steps of A and B fit into `available` bytes beside an epilogue subtile; 0: beside none."""
    stage = problem.k_step_bytes
    c = problem.tile_m * problem.tile_n * RESULTS[problem.dtype].itemsize
    return max(0, (available - (c // epilogue_subtiles if epilogue_subtiles else 0)) // stage)
