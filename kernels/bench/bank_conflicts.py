"""bank-conflicts: what the five sums of a vector do to shared memory, counted by the GPU."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import torch

from ..errors import KernelError
from ..launch.job import Launch
from ..measure.machine import measuring
from ..reductions import STEPS, THREADS, WARPS, launches, summing
from .counters import profiled
from .reductions import slots, verified_sum

VALUES = 2**24
"""So many that every step has a full GPU of thread blocks."""

METRICS = {
    "load_wavefronts": "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "store_wavefronts": "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "instructions": "smsp__inst_executed.sum",
    "thread_instructions": "smsp__thread_inst_executed_pred_on.sum",
}
"""A wavefront is what all banks can answer at once. It is counted where the instruction is issued, so that
what else the pipe is busy with is not in it. An instruction is a warp's; of its threads, those count that are
at work."""

METHOD = (
    f"one launch of each step over {VALUES} values of fp32, counted by Nsight Compute, after its sums were"
    f" checked as by `reductions`; figures are of all {THREADS}-thread blocks together"
)


@measuring
def bank_conflicts() -> dict[str, Any]:
    """Count METRICS of each step's first launch, in rows of name, n, thread_blocks, and the METRICS. Raises
    KernelError, too, without a profiler that may read the GPU's counters."""
    random = torch.Generator("cuda").manual_seed(0)
    x = torch.empty(VALUES, device="cuda")
    for step in STEPS:
        verified_sum(step.name, summing(step, x, slots()), x, random)
    counts = profiled("bank_conflicts", [VALUES], len(STEPS), METRICS)
    if not counts[0]:
        raise KernelError("Nsight Compute (ncu) is not there, or may not read this GPU's counters")
    rows = [
        {"name": step.name, "n": VALUES, "thread_blocks": launches(step, VALUES, slots())[0][1]} | counted
        for step, counted in zip(STEPS, counts, strict=True)
    ]
    return {"method": METHOD, "rows": rows}


def once(cases: Sequence[int]) -> Iterator[Launch]:
    x = torch.ones(*cases, device="cuda")
    for step in STEPS:
        n, blocks = launches(step, len(x), slots())[0]
        yield partial(step.kernel[(blocks,)], x, x.new_empty(blocks), n, num_warps=WARPS)
