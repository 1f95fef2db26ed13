"""What stamps leave open: which slot each segment of a measured run was in, and when it was issued.

A kernel can stamp its SM and its times, but the hardware does not tell it which place on the SM it has.
The definitions are those of a trace's `slot` and `issue`, for runs that were measured.
"""

import numpy as np

from tilesim.devices import MAX_CTAS_PER_SM
from tilesim.errors import TraceError


def complete(spans: np.ndarray, entry: np.ndarray | None = None) -> np.ndarray:
    """A copy of `spans`, a SPAN array, with `slot` and `issue` derived from what else it holds.

    `entry`: int64 ns, shape [spans], the first instruction of each row's thread block, if it was stamped.

    A thread block holds a slot from its entry, or else its first start, to its last done; in the order in
    which they come, they take their SM's first free one. The first segment of a slot is issued at the zero
    of all: the earliest entry, or else the earliest start. A thread block's first segment is issued when the
    one before it in the slot is done with all of its own. Its later ones are issued at the previous done or,
    where they start before that, at the previous drain.

    Raises TraceError where a thread block is on two SMs or starts before its entry, or where an SM holds
    more than MAX_CTAS_PER_SM at once.
    """
    spans = spans.copy()
    _, first, cta = np.unique(spans["cta"], return_index=True, return_inverse=True)
    for row in np.flatnonzero(spans["sm"] != spans["sm"][first][cta])[:1]:
        raise TraceError(
            f"thread block {spans['cta'][row]} ran on SM {spans['sm'][first[cta[row]]]} and on SM "
            f"{spans['sm'][row]}; it can only be on one"
        )
    came = _extreme(np.minimum, spans["start"] if entry is None else entry, cta)
    for row in np.flatnonzero(spans["start"] < came[cta])[:1]:
        raise TraceError(
            f"thread block {spans['cta'][row]} starts tile {spans['tile'][row]} at {spans['start'][row]} ns, "
            f"before its entry at {came[cta[row]]} ns"
        )
    left = _extreme(np.maximum, spans["done"], cta)
    spans["slot"] = _slots(spans["sm"][first], came, left)[cta]
    spans["issue"] = _issues(spans, left[cta], int(came.min()))
    return spans


def _extreme(pick: np.ufunc, times: np.ndarray, cta: np.ndarray) -> np.ndarray:
    """The least or the greatest of each thread block's `times`: int64 ns, shape [ctas]."""
    by_cta = np.argsort(cta, kind="stable")
    firsts = np.flatnonzero(np.diff(cta[by_cta], prepend=-1))
    return pick.reduceat(times[by_cta], firsts)


def _slots(sm: np.ndarray, came: np.ndarray, left: np.ndarray) -> np.ndarray:
    """The slot that each thread block holds on its SM from `came` to `left`: int64, shape [ctas].

    >>> _slots(np.array([0, 0, 1, 0]), np.array([0, 5, 6, 50]), np.array([50, 30, 9, 70])).tolist()
    [0, 1, 0, 0]
    """
    slot = np.zeros(len(sm), np.int64)
    held: dict[int, list[int]] = {}
    order = np.lexsort((left, came))
    rows = zip(order.tolist(), sm[order].tolist(), came[order].tolist(), left[order].tolist(), strict=True)
    for cta, at, begin, end in rows:
        until = held.setdefault(at, [])
        free = next((place for place, time in enumerate(until) if time <= begin), len(until))
        if free == MAX_CTAS_PER_SM:
            raise TraceError(
                f"SM {at} held more than {MAX_CTAS_PER_SM} thread blocks at once, at {begin} ns; "
                "no GPU has room for them"
            )
        until[free : free + 1] = [end]
        slot[cta] = free
    return slot


def _issues(spans: np.ndarray, left: np.ndarray, zero: int) -> np.ndarray:
    """When each segment's slot was given to it: int64 ns, shape [spans].

    `left`: the last done of each row's thread block. Never after the start, even where two main loops of a
    thread block overlap: Trace has the sentence for that.
    """
    order = np.lexsort((spans["done"], spans["drain"], spans["start"], spans["slot"], spans["sm"]))
    before, after = order[:-1], order[1:]
    same_slot = (spans["sm"][before] == spans["sm"][after]) & (spans["slot"][before] == spans["slot"][after])
    same_cta = spans["cta"][before] == spans["cta"][after]
    done = np.where(same_cta, spans["done"][before], left[before])
    free = np.where(done <= spans["start"][after], done, spans["drain"][before])
    issue = np.full(len(spans), zero)
    issue[after[same_slot]] = np.minimum(free, spans["start"][after])[same_slot]
    return issue
