"""Where operands come from: how much of A and B a plan reads from DRAM, and when, behind a cache.

The thread blocks of a plan walk along K. What one of them loads, others load too: those in its row of tiles
the same piece of A, those in its column the same piece of B. A piece that was loaded a short while ago comes
from the cache. Whether it still lies there depends on how much else was loaded meanwhile: a cache of so many
bytes that throws out what was used least recently keeps a piece for a certain time, and all pieces for about
the same (H. Che, Y. Tung, Z. Wang, Hierarchical Web Caching Systems, IEEE JSAC 20 (7), 2002).

Time is counted in K-steps, and all slots keep step with each other: this looks at the plan, not at a run. So
it costs a sort of pieces of main loops. Their number is bounded: long main loops have longer pieces.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tilesim.plans import Plan
from tilesim.problems import DTYPE_BYTES, Problem

MOST_PIECES = 2**20
"""The most pieces that main loops are cut into, in plans of no more segments than that."""

MERGED = 1.0
"""K-steps within which the L2 sends once what several SMs ask for: while the first load is on its way."""


@dataclass(frozen=True, slots=True, eq=False)
class Traffic:
    """What comes from where while a piece of a main loop is multiplied, of one shape: float64 [pieces].

    `asked`: bytes that all slots together load, per K-step; `sent`: those that the L2 sends, once to all that
    ask for them within MERGED K-steps; `missed`: those that it takes from DRAM. `l2_miss`: how likely a main
    loop waits for DRAM: who loads what another loaded just before waits as long as that one.
    """

    asked: np.ndarray
    sent: np.ndarray
    missed: np.ndarray
    l2_miss: np.ndarray


class Operand(NamedTuple):
    """A or B, as pieces of main loops load it: arrays of pieces.

    `size`: bytes of a piece. `since`: float64, K-steps since the same was last loaded, infinite for the first
    time. `merged`: int64, pieces whose load the L2 merges with one before it, and `first`: with which.
    """

    size: int
    since: np.ndarray
    merged: np.ndarray
    first: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Loads:
    """What a plan loads, whatever the cache, piece by piece.

    `row`: int64, the segment of a piece in plan order, the queue last. `rows`: how many segments the plan
    has. `at`: pieces that are multiplied at one time have the same number. `cut`: int64, pieces within which
    their segment begins or ends, and `part`: the share of each of those that is loaded. `operands`: A and B.
    `length`: K-steps of a piece. `span`: of the whole run.
    """

    row: np.ndarray
    rows: int
    at: np.ndarray
    cut: np.ndarray
    part: np.ndarray
    operands: tuple[Operand, Operand]
    length: int
    span: float

    def behind(self, cache: int) -> Traffic:
        """What of it comes from where, behind a cache of so many bytes."""
        gone = self._gone(cache)
        asked = self._together(np.ones(1) for _ in self.operands)
        sent = self._together(one.since > MERGED for one in self.operands)
        missed = self._together(gone)
        for one, share in zip(self.operands, gone, strict=True):
            share[one.merged] = share[one.first]
        return Traffic(asked, sent, missed, 1 - (1 - gone[0]) * (1 - gone[1]))

    def of_segments(self, cache: int) -> tuple[np.ndarray, np.ndarray]:
        """Bytes that each segment loads, and those of them that come from DRAM: float64, shape [rows] each.

        What several of them load at a time comes for the first of them in plan order.
        """
        every = (self.length * self._of_pieces(share) for share in (np.ones((2, 1)), self._gone(cache)))
        asked, missed = (np.bincount(self.row, each, self.rows) for each in every)
        return asked, missed

    def _gone(self, cache: int) -> list[np.ndarray]:
        """The share of each operand of pieces that the cache has lost: float64 [pieces] each."""
        kept = self._kept_for(cache)
        return [lost(one.since, kept) for one in self.operands]

    def _of_pieces(self, shares: Iterable[np.ndarray]) -> np.ndarray:
        """What each piece loads per K-step, of each operand a share [pieces or 1]."""
        size = np.zeros(len(self.row))
        for one, share in zip(self.operands, shares, strict=True):
            size += one.size / self.length * share
        size[self.cut] *= self.part
        return size

    def _together(self, shares: Iterable[np.ndarray]) -> np.ndarray:
        """What pieces of one time load together per K-step, of each operand a share."""
        return np.bincount(self.at, self._of_pieces(shares))[self.at]

    def mean(self, values: np.ndarray) -> np.ndarray:
        """The mean of each segment's pieces: float64, shape [rows]."""
        if len(values) == self.rows:  # each has one
            return values
        pieces = np.bincount(self.row, minlength=self.rows)
        return np.bincount(self.row, values, self.rows) / np.maximum(1, pieces)

    def _kept_for(self, cache: int) -> float:
        """How long an operand stays in the cache, K-steps; what was loaded as long ago or longer is gone.

        In any window of T K-steps, on average sum(size · min(since, T)) / span different bytes are loaded.
        """
        # That is concave in T and has corners: each step of Newton's method stays below, until none is
        # between two of them.
        kept, before = 0.0, np.inf
        while kept < self.span:
            older = self._bytes(one.since > kept for one in self.operands)
            if older == before:
                return kept
            loaded = self._bytes(np.minimum(one.since, kept) for one in self.operands)
            kept += max(0.0, cache * self.span - loaded) / older
            before = older
        return np.inf

    def _bytes(self, factors: Iterable[np.ndarray]) -> float:
        """The bytes of all pieces, each times its factor [pieces] of each operand."""
        lacks, found = 1 - self.part, 0.0
        for one, of in zip(self.operands, factors, strict=True):
            # NumPy's product of two vectors would take several cores.
            found += one.size * float(of.sum() - (lacks * of[self.cut]).sum())
        return found


def lost(since: np.ndarray, kept: float) -> np.ndarray:
    """The share of what was loaded `since` K-steps ago that a cache has lost: float64, shape of `since`.

    It is 1 / (1 + (kept / since)^4). The power says how sharply it loses what is old; if it were exactly LRU,
    that would be infinite.

    >>> lost(np.array([0.0, 1.0, 10.0, 30.0, np.inf]), kept=10.0).round(3).tolist()
    [0.0, 0.0, 0.5, 0.988, 1.0]
    """
    if not np.isfinite(kept):
        return np.isinf(since).astype(float)
    share = np.maximum(since, 1e-9)
    np.divide(kept, share, out=share)
    np.square(share, out=share)
    np.square(share, out=share)
    share += 1
    return np.divide(1, share, out=share)


def loads(plan: Plan, problem: Problem, slots: int, gap: float) -> Loads:
    """What `plan` loads on `slots` slots; `gap` K-steps pass in a slot between two main loops.

    >>> from tilesim import Device, plan
    >>> wide = Problem(128, 2560, 128, tile=(128, 128, 64))
    >>> seen = loads(plan("naive", wide, Device(4)), wide, slots=4, gap=0)
    >>> found = seen.behind(cache=10**9)
    >>> found.missed[seen.row == 0].tolist()  # A once and four tiles of B: 5 x 128 x 64 x 2 bytes
    [81920.0, 81920.0]
    >>> found.missed[seen.row == 4].tolist()  # A is in the cache
    [65536.0, 65536.0]
    """
    tile, k0, k1 = (plan.rows[name].astype(np.int64) for name in ("tile", "k0", "k1"))
    steps = k1 - k0
    length = int(max(1, -(-steps.sum() // MOST_PIECES)))
    time = _starts(plan, steps, slots, gap)
    row, piece = np.arange(len(tile)), k0 // length
    count = (k1 + (length - 1)) // length - piece
    if count.max() > 1:
        row = np.repeat(row, count)
        piece = np.arange(len(row)) + (piece - (np.cumsum(count) - count))[row]
        begin, end = np.maximum(piece * length, k0[row]), np.minimum((piece + 1) * length, k1[row])
        time, tile, steps = time[row] + (begin - k0[row]), tile[row], end - begin
    cut = np.flatnonzero(steps < length)
    pieces, pid_m = -(-problem.k_steps // length), tile // problem.tiles_n
    pid_n = tile - pid_m * problem.tiles_n
    volume = problem.tile_k * length * DTYPE_BYTES[problem.dtype]
    return Loads(
        row,
        len(plan.rows),
        _numbered((time / length).astype(np.intp)),
        cut,
        steps[cut] / length,
        (
            _operand(problem.tile_m * volume, pid_m * pieces + piece, time),
            _operand(problem.tile_n * volume, pid_n * pieces + piece, time),
        ),
        length,
        float(time.max()) + length,
    )


def in_waves(plan: Plan, slots: int) -> bool:
    """Whether segments are taken as one wave of `slots` after the other, rather than each block's in turn."""
    return plan.ctas > slots or len(plan.shared) > 0


def _starts(plan: Plan, steps: np.ndarray, slots: int, gap: float) -> np.ndarray:
    """When each segment's main loop starts, in K-steps: float64, shape [segments]."""
    if in_waves(plan, slots):
        longest = np.maximum.reduceat(steps, np.arange(0, len(steps), slots)) + gap
        return np.repeat(np.append(0.0, np.cumsum(longest[:-1])), slots)[: len(steps)]
    ends = np.cumsum(steps + gap)
    before = np.append(0.0, ends)[plan.offsets[:-1]]
    return np.maximum(0.0, ends - (steps + gap) - before[plan.segments["cta"]])


def _operand(size: int, loaded: np.ndarray, time: np.ndarray) -> Operand:
    """An operand of which pieces load `size` bytes each, number `loaded` at `time`."""
    # The narrower the keys, the faster NumPy sorts them.
    loaded = loaded.astype(np.min_scalar_type(loaded.max()))
    order = np.lexsort((time, loaded))
    loaded, time = loaded[order], time[order]
    gap = np.full(len(order), np.inf)
    np.subtract(time[1:], time[:-1], out=gap[1:], where=loaded[1:] == loaded[:-1])
    since = np.empty(len(order))
    since[order] = gap
    merged, first = np.flatnonzero(gap <= MERGED), np.flatnonzero(gap > MERGED)
    before = first[merged - np.arange(1, len(merged) + 1)]  # as many of `first` come before as are not merged
    return Operand(size, since, order[merged], order[before])


def _numbered(time: np.ndarray) -> np.ndarray:
    """Small numbers that are equal where whole numbers `time` from 0 are: intp, by which NumPy counts."""
    return time if time.max() < 4 * len(time) else np.unique(time, return_inverse=True)[1]
