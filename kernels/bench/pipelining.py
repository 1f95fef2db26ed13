"""pipelining: one product by a kernel whose loads run 0, 1, 2 and 3 K-steps ahead; all else is the same."""

from typing import Any

import numpy as np

from tilesim.problems import Problem
from tilesim.traces import Trace

from ..launch.named import named
from ..measure.machine import measuring
from ..measure.record import record
from .bench import METHOD, compare

PRODUCT = Problem(2048, 2048, 2048, order="grouped:8")
"""128 tiles for 132 SMs: every thread block has its SM to itself, whatever the stages."""

STAGES = (1, 2, 3, 4)
"""Five pairs of a tile of 128x256x64 in bf16 exceed the 227 KB of shared memory that a block may have."""


@measuring
def pipelining(samples: int = 100) -> dict[str, Any]:
    """Time the kernel with 1 to 4 stages, then record it. A row has what `bench` says, and k_step_ns and
    k_step_cycles: what a K-step of the main loop takes, the median over the thread blocks of the most typical
    run recorded."""
    kernels = {str(stages): named("naive-ptr", PRODUCT, warps=8, stages=stages) for stages in STAGES}
    timed = compare(PRODUCT, kernels, samples=samples)
    rows = []
    for row, stages in zip(timed, STAGES, strict=True):
        trace = record("naive", PRODUCT, loads="ptr", warps=8, stages=stages)
        rows.append(row | {"kernel": "naive-ptr"} | k_step(trace))
    return {"method": METHOD, "rows": rows}


def k_step(trace: Trace) -> dict[str, float]:
    """What a K-step takes in a trace: ns, and cycles of the SM's clock."""
    spans = trace.spans
    steps = spans["k1"] - spans["k0"]
    found = {"k_step_ns": (spans["drain"] - spans["start"]) / steps, "k_step_cycles": spans["cycles"] / steps}
    return {name: round(float(np.median(values)), 1) for name, values in found.items()}
