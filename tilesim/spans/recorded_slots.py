"""The slot and issue of each segment of a measured run, which the hardware does not report."""

import numpy as np

from tilesim.devices.device import MAX_CTAS_PER_SM
from tilesim.errors import TraceError


def complete(spans: np.ndarray, entry: np.ndarray | None = None) -> np.ndarray:
    """A copy of `spans`, a SPAN array, with `slot` and `issue` derived from the other fields. `entry`: int64
    ns [spans], the first instruction of each row's thread block, if it was recorded.

    A thread block holds a slot from its entry (or first start) to its last done, and takes the first free
    slot of its SM. The first segment of a slot is issued at the earliest entry (or start) of all, a thread
    block's first when the previous block in the slot is done, its later ones at the previous done or, if they
    start before that, drain. Raises TraceError if a block is on two SMs or starts before its entry, or an SM
    holds too many.
    """
    spans = spans.copy()
    spans["slot"] = slots(spans, entry)
    spans["issue"] = issues(spans, entry)
    return spans


def slots(spans: np.ndarray, entry: np.ndarray | None = None) -> np.ndarray:
    """The slot of each of `spans`: int64 [spans]; `entry` and errors as in `complete`."""
    first, cta = _by_cta(spans)
    for row in np.flatnonzero(spans["sm"] != spans["sm"][first][cta])[:1]:
        raise TraceError(
            f"thread block {spans['cta'][row]} ran on SM {spans['sm'][first[cta[row]]]} and on SM "
            f"{spans['sm'][row]}; it can run on only one"
        )
    came = _extreme(np.minimum, spans["start"] if entry is None else entry, cta)
    for row in np.flatnonzero(spans["start"] < came[cta])[:1]:
        raise TraceError(
            f"thread block {spans['cta'][row]} starts tile {spans['tile'][row]} at {spans['start'][row]} ns, "
            f"before its entry at {came[cta[row]]} ns"
        )
    left = _extreme(np.maximum, spans["done"], cta)
    return first_free(spans["sm"][first], came, left, MAX_CTAS_PER_SM)[cta]


def issues(spans: np.ndarray, entry: np.ndarray | None = None) -> np.ndarray:
    """When each of `spans`, with known slots, was issued: int64 ns [spans]; `entry` as in `complete`. It is
    never after the start, even if two main loops of a thread block overlap; Trace reports that."""
    _, cta = _by_cta(spans)
    left = _extreme(np.maximum, spans["done"], cta)[cta]
    order = np.lexsort((spans["done"], spans["drain"], spans["start"], spans["slot"], spans["sm"]))
    before, after = order[:-1], order[1:]
    same_slot = (spans["sm"][before] == spans["sm"][after]) & (spans["slot"][before] == spans["slot"][after])
    done = np.where(cta[before] == cta[after], spans["done"][before], left[before])
    free = np.where(done <= spans["start"][after], done, spans["drain"][before])
    issue = np.full(len(spans), (spans["start"] if entry is None else entry).min())
    issue[after[same_slot]] = np.minimum(free, spans["start"][after])[same_slot]
    return issue


def _by_cta(spans: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(a row of each thread block, the block of each row): int64 [ctas] and [spans]."""
    return np.unique(spans["cta"], return_index=True, return_inverse=True)[1:]


def _extreme(pick: np.ufunc, times: np.ndarray, cta: np.ndarray) -> np.ndarray:
    """The minimum or maximum of each thread block's `times`: int64 ns [ctas]."""
    by_cta = np.argsort(cta, kind="stable")
    firsts = np.flatnonzero(np.diff(cta[by_cta], prepend=-1))
    return pick.reduceat(times[by_cta], firsts)


def first_free(group: np.ndarray, begin: np.ndarray, end: np.ndarray, most: int | None = None) -> np.ndarray:
    """The place of each interval in its group, the first that is free when it begins: int64 [intervals].
    Raises TraceError where thread blocks of a group, an SM, take more than `most`."""
    places = np.zeros(len(group), np.int64)
    held: dict[int, list[int]] = {}
    order = np.lexsort((end, begin))
    rows = zip(*(column[order].tolist() for column in (group, begin, end)), strict=True)
    for row, (of, first, last) in zip(order.tolist(), rows, strict=True):
        until = held.setdefault(of, [])
        place = next((place for place, time in enumerate(until) if time <= first), len(until))
        if place == most:
            raise TraceError(
                f"SM {of} held more than {most} thread blocks at once, at {first} ns; "
                "no GPU can hold that many"
            )
        until[place : place + 1] = [last]
        places[row] = place
    return places
