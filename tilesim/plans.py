"""Plan: the work of each thread block, in order, without times.

A segment is a run of K-steps [k0, k1) of one tile. Those in `shared` go to whichever thread block asks next.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from tilesim.errors import PlanError
from tilesim.text import plural
from tilesim.work import Work

SEGMENT = np.dtype([("cta", "i4"), ("tile", "i4"), ("k0", "i4"), ("k1", "i4")])
UNASSIGNED = -1
"""The `cta` of a segment in the shared queue."""


def segments(cta: ArrayLike, tile: ArrayLike, k0: ArrayLike, k1: ArrayLike) -> np.ndarray:
    """A SEGMENT array from its four columns, which are broadcast."""
    columns = np.broadcast_arrays(cta, tile, k0, k1)
    rows = np.empty(columns[0].shape, SEGMENT)
    for name, column in zip(SEGMENT.names or (), columns, strict=True):
        rows[name] = column
    return rows


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """`ctas` thread blocks, dispatched in id order.

    `segments`: SEGMENT array, sorted by cta, in execution order within each. `shared`: SEGMENT array, the
    queue that a thread block draws from after its own segments. `offsets`: int64 [ctas + 1]; thread block c
    owns segments[offsets[c]:offsets[c + 1]]. `rows`: all segments, the queue last.

    Raises PlanError unless segments are sorted by a cta in [0, ctas).
    """

    segments: np.ndarray
    ctas: int
    shared: np.ndarray = field(default_factory=lambda: np.empty(0, SEGMENT))
    offsets: np.ndarray = field(init=False)
    rows: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        cta = self.segments["cta"]
        if np.any(cta[1:] < cta[:-1]) or (cta.size and not 0 <= cta[0] <= cta[-1] < self.ctas):
            raise PlanError(f"segments must be sorted by a thread block from 0 to {self.ctas - 1}")
        if self.ctas < 1:
            raise PlanError(f"the plan has {self.ctas} thread blocks; it needs at least one")
        offsets = np.arange(self.ctas + 1, dtype=np.int64)
        each_has_one = np.array_equal(cta, offsets[:-1])
        object.__setattr__(self, "offsets", offsets if each_has_one else np.searchsorted(cta, offsets))
        rows = np.concatenate([self.segments, self.shared]) if len(self.shared) else self.segments
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "segments", rows[: len(cta)])
        object.__setattr__(self, "shared", rows[len(cta) :])
        for array in (self.rows, self.segments, self.shared, self.offsets):
            array.flags.writeable = False

    def __repr__(self) -> str:
        own, queued = plural(len(self.segments), "segment"), len(self.shared)
        queue = f" and {queued} in a shared queue" if queued else ""
        return f"<Plan: {plural(self.ctas, 'thread block')} with {own}{queue}>"

    def check(self, problem: Work, slots: int | None = None) -> None:
        """Raise PlanError, naming a tile, unless every K-step of every tile is done exactly once. With
        `slots`, also raise it if a run in that many slots might never end."""
        wrong = coverage_fault(self.rows, problem)
        if not wrong and slots is not None:
            wrong = deadlock_fault(self, slots)
        if wrong:
            raise PlanError(wrong)


def deadlock_fault(plan: Plan, slots: int) -> str:
    """Why a run of `plan` in `slots` slots might never end, or "" if it always does.

    A segment from the queue may wait for a thread block without a slot, which gets one only when another
    block finds the queue empty: never, if such tiles can hold every slot. No other wait can be circular.
    """
    if len(plan.shared) < slots:
        return ""
    late = plan.segments[plan.offsets[min(slots, plan.ctas)] :]
    stuck = np.intersect1d(late["tile"], plan.shared["tile"])
    if len(stuck) < slots:
        return ""
    block = late["cta"][late["tile"] == stuck[0]][0]
    return (
        f"tile {stuck[0]} waits forever for thread block {block}, "
        f"because such tiles can hold every slot ({slots} in total)"
    )


def owners(tile: np.ndarray, done: np.ndarray | None = None) -> np.ndarray:
    """Whether each segment finishes its tile rather than storing a partial: bool, same shape as `tile`. The
    last one does: in plan order, or by `done`."""
    by_tile = np.argsort(tile, kind="stable") if done is None else np.lexsort((done, tile))
    owns = np.empty(len(tile), bool)
    owns[by_tile] = np.append(np.diff(tile[by_tile]) != 0, True)
    return owns


def splits_tiles(rows: np.ndarray, problem: Work) -> bool:
    """Whether `rows`, segments or spans that cover `problem`, compute any tile in several segments."""
    return len(rows) > problem.tiles


def plan_from_spans(spans: np.ndarray) -> Plan:
    """The plan reconstructed from a trace's `spans`; thread blocks are numbered in order of issue."""
    _, first, cta = np.unique(spans["cta"], return_index=True, return_inverse=True)
    issue = np.full(len(first), np.iinfo(np.int64).max)
    np.minimum.at(issue, cta, spans["issue"])
    number = np.empty(len(first), np.int64)
    number[np.lexsort((spans["cta"][first], issue))] = np.arange(len(first))
    rows = np.lexsort((spans["start"], number[cta]))
    return Plan(
        segments(number[cta][rows], *(spans[name][rows] for name in ("tile", "k0", "k1"))), len(first)
    )


def coverage_fault(rows: np.ndarray, problem: Work) -> str:
    """What is wrong with how `rows` (fields tile, k0, k1) cover `problem`, or ""."""
    tile, k0, k1 = rows["tile"], rows["k0"], rows["k1"]
    steps = problem.k_steps
    whole = (k0 == 0) & (k1 == steps)
    alien = np.flatnonzero((tile < 0) | (tile >= problem.tiles))
    if alien.size:
        return f"there is no tile {tile[alien[0]]}; the problem has tiles 0 to {problem.tiles - 1}"
    empty = np.flatnonzero((k0 < 0) | (k0 >= k1) | (k1 > steps))
    if empty.size:
        i = empty[0]
        return f"tile {tile[i]} has a segment of K-steps {k0[i]} to {k1[i]}; they must lie in 0 to {steps}"
    # Counting comes after this check, because a header can claim 2^31 tiles.
    if len(tile) < problem.tiles:
        found = np.unique(tile)
        missing = np.flatnonzero(np.append(found, -1) != np.arange(len(found) + 1))
    else:
        counts = np.bincount(tile, minlength=problem.tiles)
        missing = np.flatnonzero(counts == 0)
    if missing.size:
        return f"tile {missing[0]} is never computed"
    cut = (counts > 1)[tile] | ~whole
    return _cut_fault(tile[cut], k0[cut], k1[cut], steps)


def _cut_fault(tile: np.ndarray, k0: np.ndarray, k1: np.ndarray, steps: int) -> str:
    """What is wrong with how all segments of some tiles cover them, or ""."""
    by_tile = np.lexsort((k0, tile))
    tile, k0, k1 = tile[by_tile], k0[by_tile], k1[by_tile]
    first = np.append(True, tile[1:] != tile[:-1])
    expected = np.where(first, 0, np.append(0, k1[:-1]))
    for wrong in np.flatnonzero(k0 != expected):
        verdict = "computed more than once" if k0[wrong] < expected[wrong] else "never computed"
        low, high = sorted((int(k0[wrong]), int(expected[wrong])))
        return f"K-steps {low} to {high} of tile {tile[wrong]} are {verdict}"
    last = np.append(first[1:], True)
    for short in np.flatnonzero(last & (k1 != steps)):
        return f"K-steps {k1[short]} to {steps} of tile {tile[short]} are never computed"
    return ""


MORE = "..."
"""In place of the number, where thread blocks are left out."""


def plan_lines(plan: Plan, problem: Work, most: int) -> Iterator[tuple[str, str]]:
    """Of the first `most` thread blocks, the number and the tiles, at most so many, with the K-steps where
    they are not all of the tile's: "3[0:16]"; then how many blocks are left out, and the shared queue.

    >>> from tilesim import Device, Problem, plan
    >>> problem = Problem(256, 768, 64)
    >>> list(plan_lines(plan("persistent", problem, Device(2)), problem, 4))
    [('0', '0 2 4'), ('1', '1 3 5')]
    """
    nothing = "from the shared queue" if len(plan.shared) else "none"
    for cta in range(min(plan.ctas, most)):
        rows = plan.segments[plan.offsets[cta] : plan.offsets[cta + 1]]
        yield str(cta), _tiles(rows, problem, most) or nothing
    if plan.ctas > most:
        yield MORE, f"{plan.ctas - most} more"
    if len(plan.shared):
        yield "shared queue", _tiles(plan.shared, problem, most)


def _tiles(rows: np.ndarray, problem: Work, most: int) -> str:
    words = []
    for _, tile, k0, k1 in rows[:most].tolist():
        part = "" if (k0, k1) == (0, problem.k_steps) else f"[{k0}:{k1}]"
        words.append(f"{tile}{part}")
    return " ".join(words) + (f" ... ({len(rows)} in all)" if len(rows) > most else "")
