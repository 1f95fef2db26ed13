"""Divergence: what a warp issues when its lanes do not agree, and how many of them each instruction serves.

A warp has one instruction at a time for its 32 lanes. "If threads of a warp diverge via a data-dependent
conditional branch, the warp executes each branch path taken, disabling threads that are not on that path"
(NVIDIA, CUDA C++ Programming Guide, SIMT Architecture). So a branch costs the sum of the ways that at least
one lane takes, and a loop as many turns as the lane that has most; a mask of 32 bits says which lanes an
instruction is for, and the others wait. Behind a branch or a loop the lanes go on together: they reconverge.

`Issued` counts as Nsight Compute does: instructions issued by the warp (smsp__inst_executed), those of its
threads (smsp__thread_inst_executed), their ratio ("Avg. Active Threads Per Warp"), and that ratio's share of
the warp, which nvprof called warp execution efficiency.

Two things are not in the model: the instructions of the branch itself, and code so short that the compiler
predicates it instead of branching. Ways and turns are int arrays, a lane each.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilesim.errors import TilesimError, shown, whole

WARP = 32
"""Lanes of a warp (CUDA C++ Programming Guide, SIMT Architecture)."""
LONGEST = 2**20
"""Instructions of a way, or turns of a loop."""


@dataclass(frozen=True, slots=True)
class Issued:
    """What a warp issues: steps one after another, each of so many `instructions` under one mask.

    `instructions`: int64 [steps]. `masks`: bool [steps, lanes], whether the step is for the lane.
    """

    instructions: np.ndarray
    masks: np.ndarray

    @property
    def issued(self) -> int:
        """Instructions that the warp issues."""
        return int(self.instructions.sum())

    @property
    def of_lanes(self) -> int:
        """The same, each counted once for every lane that it is for."""
        return int(self.instructions @ self.masks.sum(axis=1))

    @property
    def active(self) -> float:
        """Lanes that an instruction is for, on average; 0 where none is issued."""
        return self.of_lanes / self.issued if self.issued else 0.0

    @property
    def efficiency(self) -> float:
        """The active lanes' share of the warp."""
        return self.active / self.masks.shape[1]

    @property
    def ends(self) -> np.ndarray:
        """Instructions issued when each step is done: int64 [steps]."""
        return np.cumsum(self.instructions)

    def then(self, other: "Issued") -> "Issued":
        """This, and after it something else of the same warp.

        >>> together(3).then(branch([0, 1] * 16, [5, 5])).issued
        13
        """
        both = (self.instructions, other.instructions), (self.masks, other.masks)
        return Issued(*(np.concatenate(parts) for parts in both))


def together(instructions: int, lanes: int = WARP) -> Issued:
    """Instructions for all lanes.

    >>> together(8).efficiency
    1.0
    """
    lanes = whole("the number of lanes", lanes, 1, WARP, TilesimError)
    count = whole("the number of instructions", instructions, 0, LONGEST, TilesimError)
    return Issued(np.array([count]), np.ones((1, lanes), bool))


def branch(ways: Sequence[int] | np.ndarray, lengths: Sequence[int]) -> Issued:
    """A branch: each lane takes one of the `ways`, and way w has `lengths[w]` instructions.

    A step for each way that a lane takes, in the order of the ways; hardware may choose another order.

    Raises TilesimError for no or too many lanes, or a way or length that there is not.

    Two ways halve the efficiency; a third that no lane takes costs nothing:

    >>> two = branch([0, 1] * 16, [10, 10, 99])
    >>> two.issued, two.of_lanes, two.active, two.efficiency
    (20, 320, 16.0, 0.5)

    Every lane a way of its own: one lane in 32 is at work.

    >>> branch(range(32), [10] * 32).efficiency
    0.03125
    """
    each = _lanes("way", ways, 0, len(lengths) - 1)
    costs = [whole("the length of a way", length, 0, LONGEST, TilesimError) for length in lengths]
    taken = np.unique(each)
    return Issued(np.array(costs, np.int64)[taken], each == taken[:, None])


def loop(turns: Sequence[int] | np.ndarray, length: int) -> Issued:
    """A loop of `length` instructions a turn, of which each lane wants so many `turns`.

    A step for each run of turns under one mask: the warp goes on until the last lane is done.

    Raises TilesimError for no or too many lanes, or for turns or a length out of range.

    Lane i wants i + 1 turns; the warp does 32, and on average little more than half of it is at work:

    >>> found = loop(range(1, 33), 10)
    >>> found.issued, found.active
    (320, 16.5)
    """
    wanted = _lanes("number of turns", turns, 0, LONGEST)
    length = whole("the length of a turn", length, 0, LONGEST, TilesimError)
    ends = np.unique(wanted[wanted > 0])
    return Issued(np.diff(ends, prepend=0) * length, wanted >= ends[:, None])


def alternating(ways: int, lanes: int = WARP) -> np.ndarray:
    """Which way each lane takes where neighbours take the ways in turn: int64 [lanes].

    >>> alternating(3, lanes=7).tolist()
    [0, 1, 2, 0, 1, 2, 0]
    """
    ways = whole("the number of ways", ways, 1, WARP, TilesimError)
    return np.arange(whole("the number of lanes", lanes, 1, WARP, TilesimError)) % ways


def _lanes(what: str, values: Sequence[int] | np.ndarray, low: int, high: int) -> np.ndarray:
    """A whole number for each lane: int64 [lanes]."""
    each = [
        whole(f"a lane's {what}", value, low, high, TilesimError) for value in np.asarray(values).tolist()
    ]
    if not 1 <= len(each) <= WARP:
        raise TilesimError(f"a warp has 1 to {WARP} lanes; got {shown(len(each))}")
    return np.array(each, np.int64)
