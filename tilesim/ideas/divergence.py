"""Divergence: how many instructions a warp issues when its lanes take different paths.

A branch costs the sum of the paths that any lane takes, and a loop runs as often as the lane with the most
iterations; lanes reconverge after both (CUDA C++ Programming Guide, SIMT Architecture). `Issued` counts as
Nsight Compute's smsp__inst_executed and smsp__thread_inst_executed, without the branch instructions. Paths
and iteration counts are ints by lane, of 1 to 32 lanes.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tilesim.ideas.coalescing import WARP


class Issued(NamedTuple):
    """What a warp issues, step by step, each step under one mask. `instructions`: int64 [steps]. `masks`:
    bool [steps, lanes], the lanes that are active."""

    instructions: np.ndarray
    masks: np.ndarray

    @property
    def issued(self) -> int:
        return int(self.instructions.sum())

    @property
    def of_lanes(self) -> int:
        """Instructions summed over the lanes that are active in each."""
        return int(self.instructions @ self.masks.sum(axis=1))

    @property
    def active(self) -> float:
        """Average number of active lanes per instruction; 0 if none is issued."""
        return self.of_lanes / self.issued if self.issued else 0.0

    @property
    def efficiency(self) -> float:
        """The active fraction of the warp (nvprof's warp execution efficiency)."""
        return self.active / self.masks.shape[1]


def branch(ways: Sequence[int] | np.ndarray, lengths: Sequence[int]) -> Issued:
    """A branch in which lanes take one of the `ways` each, of `lengths[way]` instructions: a step per way."""
    taken = np.unique(ways)
    return Issued(np.array(lengths, np.int64)[taken], np.asarray(ways) == taken[:, None])


def loop(turns: Sequence[int] | np.ndarray, length: int) -> Issued:
    """A loop of `length` instructions that each lane repeats `turns` times: one step per mask."""
    wanted = np.asarray(turns)
    ends = np.unique(wanted[wanted > 0])
    return Issued(np.diff(ends, prepend=0) * length, wanted >= ends[:, None])


def alternating(ways: int) -> np.ndarray:
    """The path of each lane if adjacent lanes cycle through all paths: int64 [WARP]."""
    return np.arange(WARP) % ways
