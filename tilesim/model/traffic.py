"""Where operands come from: how much of A and B a plan reads from DRAM, and when, behind a cache.

The thread blocks of a plan walk along K. What one of them loads, others load too: those in its row of tiles
the same piece of A, those in its column the same piece of B. A piece that was loaded a short while ago comes
from the cache. Whether it still lies there depends on how much else was loaded meanwhile: a cache of so many
bytes that throws out what was used least recently keeps a piece for a certain time, and all pieces for about
the same (H. Che, Y. Tung, Z. Wang, Hierarchical Web Caching Systems, IEEE JSAC 20 (7), 2002).

Time is counted in K-steps, and all slots keep step with each other: this looks at the plan, not at a run. So
it costs a sort of pieces of main loops. Their number is bounded: long main loops have longer pieces.
"""

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True, eq=False)
class Loads:
    """What a plan loads, whatever the cache: two operands of each piece, arrays [pieces] or [2, pieces].

    `at`: pieces that are multiplied at one time have the same number. `part`: the share of a piece that is
    loaded, below 1 where a segment begins or ends within it. `since`: K-steps since the same operand was
    last loaded, infinite for the first time. `first`: int64, the piece that loaded it first of those which
    the L2 merges with this one, itself perhaps. `sizes`: bytes of a piece of A and of B. `length`: K-steps of
    a piece. `span`: of the whole run. `row`: int64, the segment of a piece in plan order, the queue last.
    `rows`: how many segments the plan has.
    """

    row: np.ndarray
    rows: int
    at: np.ndarray
    part: np.ndarray
    since: np.ndarray
    first: np.ndarray
    sizes: tuple[int, int]
    length: int
    span: float

    def behind(self, cache: int) -> Traffic:
        """What of it comes from where, behind a cache of so many bytes."""
        gone = lost(self.since, self._kept_for(cache))
        asked, sent, missed = map(self._together, (np.ones((2, 1)), self.since > MERGED, gone))
        waits = [of[first] for of, first in zip(gone, self.first, strict=True)]
        return Traffic(asked, sent, missed, 1 - (1 - waits[0]) * (1 - waits[1]))

    def of_segments(self, cache: int) -> tuple[np.ndarray, np.ndarray]:
        """Bytes that each segment loads, and those of them that come from DRAM: float64, shape [rows] each.

        What several of them load at a time comes for the first of them in plan order.
        """
        gone = lost(self.since, self._kept_for(cache))
        every = (self.length * self._of_pieces(share) for share in (np.ones((2, 1)), gone))
        asked, missed = (np.bincount(self.row, each, self.rows) for each in every)
        return asked, missed

    def _of_pieces(self, share: np.ndarray) -> np.ndarray:
        """What each piece loads per K-step, of each operand a `share` [2, pieces or 1]."""
        size = sum(size / self.length * of for size, of in zip(self.sizes, share, strict=True))
        return self.part * size

    def _together(self, share: np.ndarray) -> np.ndarray:
        """What pieces of one time load together per K-step, of each operand a `share`."""
        return np.bincount(self.at, self._of_pieces(share))[self.at]

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
        # That is concave in T: each step of Newton's method stays below, and few lead there.
        since, room = np.minimum(self.since, self.span), cache * self.span
        kept, further = 0.0, np.inf
        while further > kept * 1e-12:
            older = sum(self._bytes(since > kept))
            if not older:
                return np.inf
            further = max(0.0, room - sum(self._bytes(np.minimum(since, kept)))) / older
            kept += further
        return kept

    def _bytes(self, factors: np.ndarray) -> list[float]:
        """The bytes of A and of B of all pieces, each of them times its factor [2, pieces]."""
        # NumPy's product of two vectors would take several cores.
        return [size * float((self.part * of).sum()) for size, of in zip(self.sizes, factors, strict=True)]


def lost(since: np.ndarray, kept: float) -> np.ndarray:
    """The share of what was loaded `since` K-steps ago that a cache has lost: float64, shape of `since`.

    It is 1 / (1 + (kept / since)^4). The power says how sharply it loses what is old; if it were exactly LRU,
    that would be infinite.

    >>> lost(np.array([0.0, 1.0, 10.0, 30.0, np.inf]), kept=10.0).round(3).tolist()
    [0.0, 0.0, 0.5, 0.988, 1.0]
    """
    if not np.isfinite(kept):
        return np.isinf(since).astype(float)
    return 1 / (1 + np.square(np.square(kept / np.maximum(since, 1e-9))))


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
    rows = plan.rows
    steps = (rows["k1"] - rows["k0"]).astype(np.int64)
    length = int(max(1, -(-steps.sum() // MOST_PIECES)))
    first, last = rows["k0"] // length, -(-rows["k1"] // length)
    count = (last - first).astype(np.intp)  # the one type by which NumPy repeats
    row = np.repeat(np.arange(len(rows)), count)
    piece = np.arange(len(row)) + np.repeat(first - (np.cumsum(count) - count), count)
    its = slice(None) if len(row) == len(rows) else row  # each has one
    k0 = rows["k0"][its]
    begin = np.maximum(piece * length, k0)
    end = np.minimum((piece + 1) * length, rows["k1"][its])
    time = _starts(plan, steps, slots, gap)[its] + (begin - k0)
    pieces = -(-problem.k_steps // length)
    operands = [
        side[its] * pieces + piece for side in np.divmod(rows["tile"].astype(np.int64), problem.tiles_n)
    ]
    volume = problem.tile_k * length * DTYPE_BYTES[problem.dtype]
    since, ahead = zip(*(_since(operand, time) for operand in operands), strict=True)
    return Loads(
        row,
        len(rows),
        _numbered((time / length).astype(np.intp)),
        (end - begin) / length,
        np.stack(since),
        np.stack(ahead),
        (problem.tile_m * volume, problem.tile_n * volume),
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


def _since(operand: np.ndarray, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The `since` and `first` of Loads for one operand of each piece."""
    # The narrower the keys, the faster NumPy sorts them.
    operand = operand.astype(np.min_scalar_type(operand.max()))
    order = np.lexsort((time, operand))
    operand, time = operand[order], time[order]
    gap = np.full(len(order), np.inf)
    np.subtract(time[1:], time[:-1], out=gap[1:], where=operand[1:] == operand[:-1])
    since, first = np.empty(len(order)), np.empty(len(order), np.int64)
    since[order] = gap
    first[order] = order[np.maximum.accumulate(np.where(gap > MERGED, np.arange(len(order)), 0))]
    return since, first


def _numbered(time: np.ndarray) -> np.ndarray:
    """Small numbers that are equal where whole numbers `time` from 0 are: intp, by which NumPy counts."""
    return time if time.max() < 4 * len(time) else np.unique(time, return_inverse=True)[1]
