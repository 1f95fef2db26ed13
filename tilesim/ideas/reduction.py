"""Reduction: how a thread block sums its values, and the bank conflicts in shared memory that this causes.

T threads hold T values in shared memory and add pairs of words in log2 T levels. At stride s, from 1 to T/2,
the *interleaved* tree adds word 2st + s to word 2st in thread t. At stride s, from T/2 down to 1, the
*sequential* tree adds word t + s to word t. Of 32 banks, each serves one 32-bit word per clock (CUDA C++
Programming Guide, Shared Memory), so an access of a warp takes as many wavefronts as the most distinct words
that fall into one bank. With `shfl.sync.bfly`, a warp sums its registers without shared memory (Justin
Luitjens, Faster Parallel Reductions on Kepler, NVIDIA, 2014). The kernels follow Mark Harris, Optimizing
Parallel Reduction in CUDA (NVIDIA, 2007).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tilesim.ideas.coalescing import WARP

BANKS = 32
"""Of shared memory (CUDA C++ Programming Guide, Shared Memory)."""
THREADS, ADDED = 256, 8
"""Threads per block of the shipped kernels, and blocks of input that the later ones sum while loading."""


class Level(NamedTuple):
    """A level of a tree: thread i adds word `others[i]` to word `owns[i]`; both int64 [pairs]."""

    stride: int
    owns: np.ndarray

    @property
    def others(self) -> np.ndarray:
        return self.owns + self.stride


class Access(NamedTuple):
    """One access of a warp: its first lanes each read one of `words`, int64 [active lanes]."""

    words: np.ndarray

    @property
    def wavefronts(self) -> int:
        return wavefronts(self.words)


def interleaved(threads: int = THREADS) -> tuple[Level, ...]:
    """The tree that adds neighbors first; `threads` must be a power of two from 32 to 1024."""
    strides = [1 << level for level in range(threads.bit_length() - 1)]
    return tuple(Level(stride, np.arange(0, threads, 2 * stride)) for stride in strides)


def sequential(threads: int = THREADS) -> tuple[Level, ...]:
    """The tree that adds halves first."""
    return tuple(Level(level.stride, np.arange(level.stride)) for level in interleaved(threads)[::-1])


TREES = {"interleaved": interleaved, "sequential": sequential}


def wavefronts(words: np.ndarray) -> int:
    """Wavefronts of one access: the most distinct words in one bank, 0 if no lane reads."""
    return int(np.bincount(np.unique(words) % BANKS, minlength=BANKS).max())


def accesses(levels: Sequence[Level], operand: str = "owns") -> tuple[Access, ...]:
    """The loads of one operand of a tree's additions, `owns` or `others`; warps without a pair issue none."""
    words = [getattr(level, operand) for level in levels]
    return tuple(Access(each[at : at + WARP]) for each in words for at in range(0, len(each), WARP))


def tree_wavefronts(levels: Sequence[Level]) -> int:
    """Wavefronts for one operand of a whole tree."""
    return sum(one.wavefronts for one in accesses(levels))


class Work(NamedTuple):
    """A block's use of shared memory: `values` summed, `loads` issued by warps, wavefronts of loads
    (`load_wavefronts`) and stores (`store_wavefronts`), and `barriers`."""

    values: int
    loads: int
    load_wavefronts: int
    store_wavefronts: int
    barriers: int


def work(levels: Sequence[Level], added: int = 1) -> Work:
    """The work of a block that sums `added` blocks of input while loading, and then climbs a tree: each level
    waits at a barrier, loads both operands of its additions, and stores the sums over the first ones."""
    owns, others = accesses(levels), accesses(levels, "others")
    threads = 2 * len(levels[0].owns)
    stored = sum(one.wavefronts for one in owns)
    return Work(
        added * threads,
        len(owns) + len(others),
        stored + sum(one.wavefronts for one in others),
        stored + threads // WARP,
        len(levels),
    )


def shuffled(threads: int = THREADS, added: int = 1) -> Work:
    """The work of a block whose warps sum by shuffles: each stores its sum, and one warp sums these and
    stores the total, which one lane loads. A block of one warp uses no shared memory."""
    warps = threads // WARP
    values = added * threads
    if warps == 1:
        return Work(values, 0, 0, 0, 0)
    return Work(values, 2, wavefronts(np.arange(warps)) + 1, warps + 1, 2)


def steps(threads: int = THREADS, added: int = ADDED) -> dict[str, Work]:
    """The work of a block of each of the five kernels, by name; for multi-block, of each iteration."""
    return {
        "interleaved": work(interleaved(threads)),
        "sequential": work(sequential(threads)),
        "unrolled": work(sequential(threads), added),
        "shuffles": shuffled(threads, added),
        "multi-block": shuffled(threads, added),
    }
