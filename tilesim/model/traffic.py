"""Traffic: how much of A and B a plan reads from DRAM, and when, with a cache in between.

A recently loaded piece is in the cache, unless too much else has been loaded since: an LRU cache keeps all
pieces for about the same time (H. Che, Y. Tung, Z. Wang, Hierarchical Web Caching Systems, IEEE JSAC 20 (7),
2002). Time is in K-steps, with all slots in step: this looks at the plan, not at a run.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tilesim.plans import Plan
from tilesim.problems import DTYPE_BYTES, Problem

MOST_PIECES = 2**20
"""Maximum number of pieces, in plans with no more segments than that."""
MERGED = 1.0
"""K-steps within which the L2 sends a piece once to several SMs: while the first load is in flight."""


@dataclass(frozen=True, slots=True, eq=False)
class Traffic:
    """The traffic while each piece of a main loop is multiplied: float64 [pieces]. In bytes per K-step of all
    slots, `asked`: loaded; `sent`: by the L2, once for loads within MERGED K-steps; `missed`: from DRAM.
    `l2_miss`: the probability that a main loop waits for DRAM."""

    asked: np.ndarray
    sent: np.ndarray
    missed: np.ndarray
    l2_miss: np.ndarray


class Operand(NamedTuple):
    """A or B, as pieces of main loops load it: `size`, bytes per piece; `since`, float64 K-steps since the
    same data was last loaded, infinite at first; `merged`, int64, pieces whose loads the L2 merges with an
    earlier one, in `first`."""

    size: int
    since: np.ndarray
    merged: np.ndarray
    first: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Loads:
    """What a plan loads, regardless of the cache, piece by piece. `row`: int64, the piece's segment in plan
    order, of so many `rows`. `at`: equal for pieces multiplied at the same time. `cut`: int64, pieces that a
    segment covers only partly, and `part`: the fraction of each that is loaded. `operands`: A and B. In
    K-steps, `length` of a piece and `span` of the whole run."""

    row: np.ndarray
    rows: int
    at: np.ndarray
    cut: np.ndarray
    part: np.ndarray
    operands: tuple[Operand, Operand]
    length: int
    span: float

    def behind(self, cache: int) -> Traffic:
        """The traffic with a cache of `cache` bytes."""
        gone = self._gone(cache)
        shares = np.ones((2, 1)), [one.since > MERGED for one in self.operands], gone
        asked, sent, missed = (np.bincount(self.at, self._of_pieces(each))[self.at] for each in shares)
        for one, share in zip(self.operands, gone, strict=True):
            share[one.merged] = share[one.first]
        return Traffic(asked, sent, missed, 1 - (1 - gone[0]) * (1 - gone[1]))

    def of_segments(self, cache: int) -> tuple[np.ndarray, np.ndarray]:
        """Bytes that segments load, all and from DRAM: float64 [rows]. Merged loads count for the first."""
        every = (self.length * self._of_pieces(share) for share in (np.ones((2, 1)), self._gone(cache)))
        asked, missed = (np.bincount(self.row, each, self.rows) for each in every)
        return asked, missed

    def _gone(self, cache: int) -> list[np.ndarray]:
        """The fraction of each operand of pieces that the cache has lost: float64 [pieces] each."""
        kept = self._kept_for(cache)
        return [lost(one.since, kept) for one in self.operands]

    def _of_pieces(self, shares: Iterable[np.ndarray]) -> np.ndarray:
        """Bytes per K-step of each piece, with a fraction [pieces or 1] of each operand."""
        size = np.zeros(len(self.row))
        for one, share in zip(self.operands, shares, strict=True):
            size += one.size / self.length * share
        size[self.cut] *= self.part
        return size

    def mean(self, values: np.ndarray) -> np.ndarray:
        """The mean of each segment's pieces: float64 [rows]."""
        if len(values) == self.rows:  # one piece each
            return values
        pieces = np.bincount(self.row, minlength=self.rows)
        return np.bincount(self.row, values, self.rows) / np.maximum(1, pieces)

    def _kept_for(self, cache: int) -> float:
        """How long an operand stays in the cache, K-steps. In a window of T K-steps, sum(size · min(since,
        T)) / span distinct bytes are loaded on average."""
        # This is concave and piecewise linear in T, so Newton's method ends at the exact value.
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
        """The bytes of all pieces, weighted by a factor [pieces] of each operand."""
        lacks, found = 1 - self.part, 0.0
        for one, of in zip(self.operands, factors, strict=True):
            # A dot product in NumPy would use several cores.
            found += one.size * float(of.sum() - (lacks * of[self.cut]).sum())
        return found


def lost(since: np.ndarray, kept: float) -> np.ndarray:
    """The fraction of data loaded `since` K-steps ago that a cache has lost: float64, same shape. It is 1 /
    (1 + (kept / since)^4); an exact LRU cache would have an infinite power."""
    if not np.isfinite(kept):
        return np.isinf(since).astype(float)
    share = np.maximum(since, 1e-9)
    np.divide(kept, share, out=share)
    np.square(share, out=share)
    np.square(share, out=share)
    share += 1
    return np.divide(1, share, out=share)


def loads(plan: Plan, problem: Problem, slots: int, gap: float) -> Loads:
    """What `plan` loads on `slots` slots, with `gap` K-steps between two main loops of a slot."""
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
    at = (time / length).astype(np.intp)
    if at.max() >= 4 * len(at):  # np.bincount needs small numbers
        at = np.unique(at, return_inverse=True)[1]
    return Loads(
        row,
        len(plan.rows),
        at,
        cut,
        steps[cut] / length,
        (
            _operand(problem.tile_m * volume, pid_m * pieces + piece, time),
            _operand(problem.tile_n * volume, pid_n * pieces + piece, time),
        ),
        length,
        float(time.max()) + length,
    )


def _starts(plan: Plan, steps: np.ndarray, slots: int, gap: float) -> np.ndarray:
    """When each segment's main loop starts, in K-steps: float64 [segments]. They are processed in waves of
    `slots`, or each block's in sequence where all blocks run at once."""
    if plan.ctas > slots or len(plan.shared):
        longest = np.maximum.reduceat(steps, np.arange(0, len(steps), slots)) + gap
        return np.repeat(np.append(0.0, np.cumsum(longest[:-1])), slots)[: len(steps)]
    ends = np.cumsum(steps + gap)
    before = np.append(0.0, ends)[plan.offsets[:-1]]
    return np.maximum(0.0, ends - (steps + gap) - before[plan.segments["cta"]])


def _operand(size: int, loaded: np.ndarray, time: np.ndarray) -> Operand:
    """An operand whose pieces load `size` bytes each, number `loaded` at `time`."""
    # NumPy sorts narrow keys faster.
    loaded = loaded.astype(np.min_scalar_type(loaded.max()))
    order = np.lexsort((time, loaded))
    loaded, time = loaded[order], time[order]
    gap = np.full(len(order), np.inf)
    np.subtract(time[1:], time[:-1], out=gap[1:], where=loaded[1:] == loaded[:-1])
    since = np.empty(len(order))
    since[order] = gap
    merged, first = np.flatnonzero(gap <= MERGED), np.flatnonzero(gap > MERGED)
    before = first[merged - np.arange(1, len(merged) + 1)]  # the unmerged ones so far
    return Operand(size, since, order[merged], order[before])
