"""Divergence: how many instructions a warp issues when its lanes take different paths.

A branch costs the sum of the paths that any lane takes, and a loop runs as often as the lane with the most
iterations; lanes reconverge after both (CUDA C++ Programming Guide, SIMT Architecture). `Issued` counts as
Nsight Compute's smsp__inst_executed and smsp__thread_inst_executed, without the branch instructions. Paths
and iteration counts are int arrays by lane; values out of range raise TilesimError.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilesim.errors import TilesimError, shown, whole
from tilesim.ideas.coalescing import WARP

LONGEST = 2**20
"""Maximum instructions in a path, or iterations of a loop."""


@dataclass(frozen=True, slots=True)
class Issued:
    """What a warp issues, step by step, each step under one mask. `instructions`: int64 [steps]. `masks`:
    bool [steps, lanes], the lanes that are active."""

    instructions: np.ndarray
    masks: np.ndarray

    @property
    def issued(self) -> int:
        """Instructions that the warp issues."""
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

    @property
    def ends(self) -> np.ndarray:
        """Instructions issued by the end of each step: int64 [steps]."""
        return np.cumsum(self.instructions)


def branch(ways: Sequence[int] | np.ndarray, lengths: Sequence[int]) -> Issued:
    """A branch in which each lane takes one of the `ways`, and path w has `lengths[w]` instructions: one step
    per path taken, in ascending order."""
    each = _lanes("way", ways, 0, len(lengths) - 1)
    costs = [whole("the length of a way", length, 0, LONGEST, TilesimError) for length in lengths]
    taken = np.unique(each)
    return Issued(np.array(costs, np.int64)[taken], each == taken[:, None])


def loop(turns: Sequence[int] | np.ndarray, length: int) -> Issued:
    """A loop of `length` instructions that each lane repeats `turns` times: one step per run under the same
    mask."""
    wanted = _lanes("number of turns", turns, 0, LONGEST)
    length = whole("the length of a turn", length, 0, LONGEST, TilesimError)
    ends = np.unique(wanted[wanted > 0])
    return Issued(np.diff(ends, prepend=0) * length, wanted >= ends[:, None])


def alternating(ways: int) -> np.ndarray:
    """The path of each lane if adjacent lanes cycle through all paths: int64 [WARP]."""
    ways = whole("the number of ways", ways, 1, WARP, TilesimError)
    return np.arange(WARP) % ways


def _lanes(what: str, values: Sequence[int] | np.ndarray, low: int, high: int) -> np.ndarray:
    each = [
        whole(f"a lane's {what}", value, low, high, TilesimError) for value in np.asarray(values).tolist()
    ]
    if not 1 <= len(each) <= WARP:
        raise TilesimError(f"a warp has 1 to {WARP} lanes; got {shown(len(each))}")
    return np.array(each, np.int64)
