"""Pipelining: loading the operands of later K-steps while earlier ones are multiplied.

A kernel with S stages loads S − 1 K-steps ahead. For K-step i,

    load starts[i]     = multiply starts[i - S + 1], or 0 for the first S − 1
    multiply starts[i] = max(load starts[i] + load, multiply ends[i - 1])
    multiply ends[i]   = multiply starts[i] + multiply

With one stage a load waits until the previous multiplication ends. Loads do not slow each other down.
Sources: CUTLASS, include/cutlass/gemm/threadblock/mma_multistage.h; NVIDIA, CUDA C++ Programming Guide,
Asynchronous Data Copies.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from tilesim.errors import TilesimError

STEP = np.dtype([(name, np.int64) for name in ("load", "loaded", "multiply", "done")])


class Pipeline(NamedTuple):
    """When the K-steps of a tile are loaded into buffer i % stages, from `load` to `loaded`, and multiplied,
    from `multiply` to `done`, in ns since the first load: STEP [K-steps]."""

    stages: int
    steps: np.ndarray

    @property
    def bubbles(self) -> np.ndarray:
        """How long the tensor cores are idle before each K-step: int64 [steps], ns."""
        return self.steps["multiply"] - np.append(0, self.steps["done"][:-1])

    @property
    def makespan(self) -> int:
        """ns from the first load to the end of the last multiplication."""
        return int(self.steps["done"][-1])


def pipeline(steps: int, stages: int, load: int, multiply: int) -> Pipeline:
    """Run `steps` K-steps through `stages` buffers; `load` and `multiply` are whole ns per K-step."""
    found = np.zeros(steps, STEP)
    free = 0
    for i in range(steps):
        ahead = i - stages + 1
        start = free if stages == 1 else int(found["multiply"][ahead]) if ahead >= 0 else 0
        begun = max(start + load, free)
        free = begun + multiply
        found[i] = start, start + load, begun, free
    return Pipeline(stages, found)


def k_step(stages: int, load: int, multiply: int) -> float:
    """ns per K-step in the steady state."""
    return load + multiply if stages == 1 else max(multiply, load / (stages - 1))


def times(k_steps: Mapping[int, float]) -> tuple[int, int]:
    """(load, multiply) in whole ns from measured ns per K-step, {stages: ns}: the fastest K-step is taken as
    the multiplication, and one stage takes both. Raises TilesimError without one stage and a faster one."""
    if 1 not in k_steps or len(k_steps) < 2 or not min(k_steps.values()) < k_steps[1]:
        raise TilesimError(
            f"K-steps were measured with {sorted(k_steps)} stages; 1 stage and more are needed, and more"
            " must be faster"
        )
    multiply = round(min(k_steps.values()))
    return round(k_steps[1]) - multiply, multiply
