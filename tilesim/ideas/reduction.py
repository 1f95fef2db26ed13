"""Reduction: how a thread block adds its values up, and how its lanes queue at shared memory's banks.

A thread block of T threads holds T values in shared memory and adds pairs of them, level by level, until one
is left. Which pairs is free to choose. At stride s, from 1 to T/2, the *interleaved* tree has thread t add
word 2st + s to word 2st: neighbours first. At stride s, from T/2 down to 1, the *sequential* tree has thread
t add word t + s to word t: halves first. Both do T - 1 additions in log2 T levels, by the same threads.

They differ in where a warp's addresses fall. Shared memory has 32 banks, "organized such that successive
32-bit words map to successive banks", and each bank answers one word per clock (CUDA C++ Programming Guide,
Shared Memory). Lanes that ask one bank for several words queue; lanes that ask for the same word are answered
together. So a warp's access takes as many beats as the longest queue has words. Nsight Compute calls a beat a
wavefront. Over a tree of 256, one operand of its additions takes 47 beats interleaved and 12 sequential.
Counted on an H200 for both operands: 94 and 24 for each thread block of the kernels that ship, exactly.

A thread that adds several blocks of input while it loads them pays for its tree once for all of them. And a
warp needs no tree in shared memory: by `shfl.sync.bfly` each lane adds what the lane whose number differs in
one bit has in a register, and after five rounds all lanes have the warp's sum (Justin Luitjens, "Faster
Parallel Reductions on Kepler", NVIDIA, 2014). Shared memory is left with one word of each warp.

The steps are those of Mark Harris, "Optimizing Parallel Reduction in CUDA" (NVIDIA, 2007).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tilesim.errors import TilesimError, shown, whole

WARP = 32
"""Threads of a warp (CUDA C++ Programming Guide, SIMT Architecture)."""
BANKS, WORD = 32, 4
"""Banks of shared memory, and bytes of a word of theirs (CUDA C++ Programming Guide, Shared Memory)."""
MOST_THREADS = 1024
"""Threads of a block (CUDA C++ Programming Guide, Technical Specifications per Compute Capability)."""
SM_THREADS = 2048
"""Threads that an SM holds, on compute capabilities 8.0, 9.0 and 10.0 (the same table)."""
THREADS, ADDED = 256, 8
"""Threads of a block of the kernels that ship, and blocks of input that one adds while it loads, where it
does."""
LARGEST = 2**48
"""Values of a vector."""


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a tree: thread i adds word `others[i]` to word `owns[i]`, int64 [pairs] both."""

    stride: int
    owns: np.ndarray
    others: np.ndarray


@dataclass(frozen=True, slots=True)
class Access:
    """One instruction of a warp: its first lanes, as many as there are `words`, each ask for one of these.

    `level`: of the tree, from 0. `words`: int64 [lanes at work].
    """

    level: int
    warp: int
    words: np.ndarray

    @property
    def banks(self) -> np.ndarray:
        """The bank of each word: int64 [lanes at work]."""
        return bank(self.words)

    @property
    def beats(self) -> int:
        """How long it takes."""
        return beats(self.words)


def interleaved(threads: int = THREADS) -> tuple[Level, ...]:
    """The tree that adds neighbours first.

    Raises TilesimError unless `threads` is a power of two from 32 to 1024.

    >>> [(level.stride, len(level.owns), level.owns[:3].tolist()) for level in interleaved(64)[:3]]
    [(1, 32, [0, 2, 4]), (2, 16, [0, 4, 8]), (4, 8, [0, 8, 16])]
    """
    check_threads(threads)
    levels = []
    for level in range(threads.bit_length() - 1):
        stride = 1 << level
        owns = 2 * stride * np.arange(threads // (2 * stride))
        levels.append(Level(stride, owns, owns + stride))
    return tuple(levels)


def sequential(threads: int = THREADS) -> tuple[Level, ...]:
    """The tree that adds halves first. Raises what `interleaved` raises.

    >>> [(level.stride, level.others[:2].tolist()) for level in sequential(64)[:3]]
    [(32, [32, 33]), (16, [16, 17]), (8, [8, 9])]
    """
    check_threads(threads)
    strides = [threads >> (level + 1) for level in range(threads.bit_length() - 1)]
    return tuple(Level(stride, np.arange(stride), np.arange(stride) + stride) for stride in strides)


TREES: Mapping[str, Callable[[int], tuple[Level, ...]]] = {
    "interleaved": interleaved,
    "sequential": sequential,
}


def bank(words: np.ndarray) -> np.ndarray:
    """The bank of each word of 4 bytes: int64, in the shape of `words`."""
    return np.asarray(words) % BANKS


def queues(words: np.ndarray) -> np.ndarray:
    """How many different words one access asks of each bank: int64 [BANKS].

    Eight lanes that are eight words apart meet at four banks, in twos; all on one word meet at none:

    >>> queues(8 * np.arange(8))[:17:8].tolist(), queues(np.zeros(32, int)).tolist()[:3]
    ([2, 2, 2], [1, 0, 0])
    """
    return np.bincount(bank(np.unique(words)), minlength=BANKS)


def beats(words: np.ndarray) -> int:
    """Beats that one access takes: the longest queue at a bank, 0 where no lane asks.

    Words s apart, s a power of two up to 32, meet in s lanes a bank:

    >>> [beats(stride * np.arange(32)) for stride in (1, 2, 4, 8, 16, 32)], beats(33 * np.arange(32))
    ([1, 2, 4, 8, 16, 32], 1)
    """
    return int(queues(words).max())


def served(words: np.ndarray) -> np.ndarray:
    """In which beat, from 0, each lane is answered where a bank takes its words in the lanes' order.

    int64 [lanes]; lanes that ask for one word are answered together.

    >>> served(16 * np.arange(4)).tolist(), served(np.array([5, 37, 5])).tolist()
    ([0, 0, 1, 1], [0, 1, 0])
    """
    words = np.asarray(words)
    places: dict[int, int] = {}
    waiting = np.zeros(BANKS, np.int64)
    for word in words.tolist():
        if word not in places:
            places[word] = int(waiting[word % BANKS])
            waiting[word % BANKS] += 1
    return np.array([places[word] for word in words.tolist()], np.int64)


def accesses(levels: Sequence[Level]) -> tuple[Access, ...]:
    """The loads of one operand, `owns`, of a tree's additions, warp by warp. Warps without a pair issue none.

    >>> [(one.level, one.warp, one.beats) for one in accesses(interleaved(128))[:4]]
    [(0, 0, 2), (0, 1, 2), (1, 0, 4), (2, 0, 4)]
    """
    return tuple(
        Access(number, warp, level.owns[WARP * warp : WARP * (warp + 1)])
        for number, level in enumerate(levels)
        for warp in range(-(-len(level.owns) // WARP))
    )


def tree_beats(levels: Sequence[Level]) -> int:
    """Beats that the banks are taken for one operand of a whole tree.

    >>> tree_beats(interleaved()), tree_beats(sequential())
    (47, 12)
    """
    return sum(one.beats for one in accesses(levels))


@dataclass(frozen=True, slots=True)
class Work:
    """What a thread block does to shared memory: `values` added, by `loads` (a warp's instructions) that take
    `load_beats`, by stores that take `store_beats`, with so many `barriers`."""

    values: int
    loads: int
    load_beats: int
    store_beats: int
    barriers: int


def work(levels: Sequence[Level], added: int = 1) -> Work:
    """What a block does that adds `added` blocks of input while it loads, and then climbs a tree.

    Each value is stored once, at neighbouring words; a level waits at a barrier, loads both operands of each
    addition and stores its sum over the first. Loads are those of warps that have a pair.

    >>> work(interleaved())
    Work(values=256, loads=24, load_beats=94, store_beats=55, barriers=8)
    >>> work(sequential(), added=8)
    Work(values=2048, loads=24, load_beats=24, store_beats=20, barriers=8)
    """
    added = whole("the blocks of input that are added", added, 1, MOST_THREADS, TilesimError)
    owns = accesses(levels)
    others = accesses([Level(level.stride, level.others, level.owns) for level in levels])
    threads = 2 * len(levels[0].owns) if levels[0].stride == 1 else 2 * levels[0].stride
    stored = sum(one.beats for one in owns)
    return Work(
        added * threads,
        len(owns) + len(others),
        stored + sum(one.beats for one in others),
        stored + threads // WARP,
        len(levels),
    )


def shuffled(threads: int = THREADS, added: int = 1) -> Work:
    """What a block does whose warps add their values by `exchanges`.

    The first lane of each warp stores its sum; one warp loads these, adds them in the same way and stores the
    total, which one lane loads. A block of one warp has nothing to share.

    Raises what `interleaved` raises.

    >>> shuffled(added=8)
    Work(values=2048, loads=2, load_beats=2, store_beats=9, barriers=2)
    """
    check_threads(threads)
    warps = threads // WARP
    values = added * threads
    if warps == 1:
        return Work(values, 0, 0, 0, 0)
    return Work(values, 2, beats(np.arange(warps)) + 1, warps + 1, 2)


def steps(threads: int = THREADS, added: int = ADDED) -> dict[str, Work]:
    """What a block of each of the five kernels does, by its name; multi-block's for each turn's values.

    On an H200 Nsight Compute counts as many beats of loads and of stores, to the last one.

    >>> {name: found.load_beats for name, found in steps().items()}
    {'interleaved': 94, 'sequential': 24, 'unrolled': 24, 'shuffles': 2, 'multi-block': 2}
    """
    return {
        "interleaved": work(interleaved(threads)),
        "sequential": work(sequential(threads)),
        "unrolled": work(sequential(threads), added),
        "shuffles": shuffled(threads, added),
        "multi-block": shuffled(threads, added),
    }


def exchanges(lanes: int = WARP) -> np.ndarray:
    """The butterfly: with which lane each lane exchanges its sum, round by round: int64 [rounds, lanes].

    Raises TilesimError unless `lanes` is a power of two from 1 to 32.

    >>> exchanges(8).tolist()
    [[4, 5, 6, 7, 0, 1, 2, 3], [2, 3, 0, 1, 6, 7, 4, 5], [1, 0, 3, 2, 5, 4, 7, 6]]
    """
    whole("the number of lanes", lanes, 1, WARP, TilesimError)
    if lanes & (lanes - 1):
        raise TilesimError(f"the number of lanes is {shown(lanes)}; it must be a power of two")
    masks = [lanes >> (number + 1) for number in range(lanes.bit_length() - 1)]
    return np.array([np.arange(lanes) ^ mask for mask in masks], np.int64).reshape(-1, lanes)


def blocks(n: int, values: int = THREADS) -> int:
    """Thread blocks that sum n values where each takes `values` of them.

    >>> blocks(2**28), blocks(2**28, ADDED * THREADS)
    (1048576, 131072)
    """
    n = whole("the number of values", n, 1, LARGEST, TilesimError)
    return -(-n // whole("the values of a thread block", values, 1, LARGEST, TilesimError))


def turns(n: int, sms: int, values: int = ADDED * THREADS, threads: int = THREADS) -> int:
    """How often each block takes `values` more, where as many as `sms` SMs hold stride over n values.

    >>> turns(2**28, 132), turns(1000, 132)
    (125, 1)
    """
    return -(-blocks(n, values) // wave(sms, threads))


def wave(sms: int, threads: int = THREADS) -> int:
    """Thread blocks that `sms` SMs hold at once where their threads alone limit it.

    >>> wave(132)
    1056
    """
    check_threads(threads)
    return whole("the number of SMs", sms, 1, LARGEST, TilesimError) * (SM_THREADS // threads)


def check_threads(threads: int) -> None:
    """Raise TilesimError unless a block of so many threads climbs these trees."""
    whole("the threads of a block", threads, WARP, MOST_THREADS, TilesimError)
    if threads & (threads - 1):
        raise TilesimError(
            f"the threads of a block are {shown(threads)}; halving them must end at one, so they must be a"
            " power of two"
        )
