"""Pipelining: a K-step's operands are loaded while earlier K-steps are multiplied, in several buffers.

A kernel of S stages has S pairs of buffers in shared memory and loads S − 1 K-steps ahead. All its warps run
one program, in which a load is issued as soon as the multiplication S − 1 K-steps before it has begun, into
the buffer that the one before that has just emptied. For the K-steps i of a tile,

    load starts[i]     = multiply starts[i - S + 1], or 0 for the first S − 1
    load ends[i]       = load starts[i] + load
    multiply starts[i] = max(load ends[i], multiply ends[i - 1])
    multiply ends[i]   = multiply starts[i] + multiply

With one stage a load waits for the multiplication before it to end. Loads in flight do not slow each other.
This is CUTLASS's multistage main loop (include/cutlass/gemm/threadblock/mma_multistage.h) and what Triton's
num_stages asks for. NVIDIA, CUDA C++ Programming Guide, Asynchronous Data Copies, calls it a multi-stage
pipeline. A warp that only loads can be earlier still: see tilesim.ideas.warp_specialization.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tilesim.errors import TilesimError, whole
from tilesim.problems import Problem

SHARED_MEMORY = 227 * 1024
"""Bytes that a thread block can have on compute capability 9.0 (CUDA C++ Programming Guide, Technical
Specifications per Compute Capability)."""
MOST_STEPS = 2**20
LONGEST = 10**12

STEP = np.dtype([(name, np.int64) for name in ("load", "loaded", "multiply", "done")])


@dataclass(frozen=True, slots=True)
class Pipeline:
    """When the K-steps of a tile are loaded and multiplied, in ns from the first load.

    `steps`: a row per K-step, in order; from `load` to `loaded` it is on its way into buffer i % stages, from
    `multiply` to `done` the tensor cores are at it.
    """

    stages: int
    steps: np.ndarray

    @property
    def bubbles(self) -> np.ndarray:
        """How long the tensor cores stand still before each K-step: int64 [steps], ns."""
        return self.steps["multiply"] - np.append(0, self.steps["done"][:-1])

    @property
    def makespan(self) -> int:
        """ns from the first load to the end of the last multiplication."""
        return int(self.steps["done"][-1])

    @property
    def busy(self) -> float:
        """The share of the makespan in which the tensor cores multiply."""
        return 1 - int(self.bubbles.sum()) / self.makespan


def pipeline(steps: int, stages: int, load: int, multiply: int) -> Pipeline:
    """`steps` K-steps through `stages` buffers; `load` and `multiply` are what each takes, in whole ns.

    Raises TilesimError for counts below 1, a negative load, or a multiply below 1.

    >>> [pipeline(5, stages, load=15, multiply=10).bubbles.tolist() for stages in (1, 2, 3)]
    [[15, 15, 15, 15, 15], [15, 5, 5, 5, 5], [15, 0, 0, 0, 0]]
    """
    steps = whole("the number of K-steps", steps, 1, MOST_STEPS, TilesimError)
    stages = whole("the number of stages", stages, 1, MOST_STEPS, TilesimError)
    load = whole("the time of a load", load, 0, LONGEST, TilesimError)
    multiply = whole("the time of a multiplication", multiply, 1, LONGEST, TilesimError)
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
    """ns from one multiplication to the next in the long run: what a K-step of the main loop takes.

    >>> [k_step(stages, load=15, multiply=10) for stages in (1, 2, 3, 4)]
    [25, 15.0, 10, 10]
    """
    return load + multiply if stages == 1 else max(multiply, load / (stages - 1))


def times(k_steps: Mapping[int, float]) -> tuple[int, int]:
    """(load, multiply) in whole ns, from measured K-steps: {stages: ns}, of 1 stage and of more.

    The shortest K-step is the multiplication, as its loads are hidden; with 1 stage both add up.

    Raises TilesimError without 1 stage or without more, or where 1 stage is the fastest.

    >>> times({1: 1651.0, 2: 1140.0, 4: 662.0})
    (989, 662)
    """
    if 1 not in k_steps or len(k_steps) < 2 or not min(k_steps.values()) < k_steps[1]:
        raise TilesimError(
            f"K-steps were measured with {sorted(k_steps)} stages; it takes 1 and more, the more being faster"
        )
    multiply = round(min(k_steps.values()))
    return round(k_steps[1]) - multiply, multiply


def stages_that_fit(problem: Problem, shared: int = SHARED_MEMORY) -> int:
    """How many stages fit into `shared` bytes; 0 where not even one does.

    >>> stages_that_fit(Problem(2048, 2048, 2048, tile=(128, 256, 64), dtype="bf16"))
    4
    """
    return shared // problem.k_step_bytes
