"""What there is to see of a trace at an instant: pure functions (trace, t) -> numbers, t in ns.

Everything a film draws comes from here, so that two films of one trace at one instant agree, whatever
their frame rate.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from tilesim.metrics import first_of_cta, in_turn, last_done
from tilesim.traces import TIMES, Trace


class Phase(IntEnum):
    """What is being done to a segment, or to a tile. AWAITING is for other thread blocks' partials."""

    WAITING = 0
    LAUNCHING = 1
    MULTIPLYING = 2
    AWAITING = 3
    ADDING = 4
    WRITING = 5
    DONE = 6


def progress(trace: Trace, t: float) -> np.ndarray:
    """Share of each segment's K-steps that is multiplied: float64 in [0, 1], shape [spans].

    A K-step in progress counts by the share of its main loop that has passed.

    >>> progress(_example(), 1500).tolist()
    [1.0, 1.0, 0.5, 0.5, 0.0]
    """
    return multiplied(trace.spans["start"], trace.spans["drain"], t)


def multiplied(start: np.ndarray, drain: np.ndarray, t: float) -> np.ndarray:
    """`progress` of some segments, given when their main loops begin and end: float64, shape [segments].

    >>> multiplied(np.array([0, 1000]), np.array([1000, 2000]), 1500).tolist()
    [1.0, 0.5]
    """
    share = np.clip((t - start) / np.maximum(1, drain - start), 0.0, 1.0)
    share[drain <= t] = 1.0
    return share


def segment_phases(trace: Trace, t: float) -> np.ndarray:
    """The Phase of each segment: int8, shape [spans].

    >>> [Phase(phase).name for phase in segment_phases(_example(), 1500)]
    ['DONE', 'DONE', 'MULTIPLYING', 'MULTIPLYING', 'WAITING']
    """
    return np.stack([trace.spans[name] <= t for name in TIMES]).sum(axis=0, dtype=np.int8)


def phases(trace: Trace, t: float) -> np.ndarray:
    """The Phase of each tile: int8, shape [tiles].

    A tile in several segments is launched and multiplied from when the first of them is, and past that
    when all of them are.

    >>> [Phase(phase).name for phase in phases(_example(), 1500)]
    ['DONE', 'DONE', 'MULTIPLYING', 'MULTIPLYING', 'WAITING']
    """
    of_segment, tile = segment_phases(trace, t), trace.spans["tile"]
    most, least = np.zeros(trace.problem.tiles, np.int8), np.full(trace.problem.tiles, np.int8(Phase.DONE))
    np.maximum.at(most, tile, of_segment)
    np.minimum.at(least, tile, of_segment)
    return np.where(least > Phase.MULTIPLYING, least, np.minimum(most, Phase.MULTIPLYING))


def tile_sm(trace: Trace) -> np.ndarray:
    """The SM that finishes each tile, of equals that of the higher thread block: int32, shape [tiles].

    >>> tile_sm(_example()).tolist()
    [0, 1, 0, 1, 0]
    """
    finishes = np.lexsort((trace.spans["cta"], trace.spans["done"]))
    sm = np.zeros(trace.problem.tiles, np.int32)
    sm[trace.spans["tile"][finishes]] = trace.spans["sm"][finishes]
    return sm


def written(trace: Trace) -> np.ndarray:
    """When each tile is written, with all its segments done: int64 ns, shape [tiles].

    >>> written(_example()).tolist()
    [1000, 1000, 2000, 2000, 3000]
    """
    done = np.zeros(trace.problem.tiles, np.int64)
    np.maximum.at(done, trace.spans["tile"], trace.spans["done"])
    return done


def tiles_done(trace: Trace, t: float) -> int:
    """Tiles that are written.

    >>> tiles_done(_example(), 1500)
    2
    """
    return int(np.count_nonzero(written(trace) <= t))


def launched(trace: Trace) -> np.ndarray:
    """When each thread block with work is given a slot: int64 ns, shape [thread blocks with work].

    >>> launched(_example()).tolist()
    [0, 0, 1000, 1000, 2000]
    """
    return trace.spans["issue"][first_of_cta(trace)]


def blocks_launched(trace: Trace, t: float) -> int:
    """Thread blocks, of those with work, that have been given a slot.

    >>> blocks_launched(_example(), 1500)
    4
    """
    return int(np.count_nonzero(launched(trace) <= t))


def busy_sms(trace: Trace, t: float) -> int:
    """SMs on which a segment is between issue and done.

    >>> busy_sms(_example(), 2500)
    1
    """
    spans = trace.spans
    return len(np.unique(spans["sm"][(spans["issue"] <= t) & (t < spans["done"])]))


def current_tile(trace: Trace, t: float) -> np.ndarray:
    """The tile that each thread block was last issued: int64, shape [ctas], -1 before its first.

    >>> current_tile(_example(), 1500).tolist()
    [0, 1, 2, 3, -1]
    """
    spans = trace.spans
    current = np.full(int(spans["cta"].max()) + 1, -1, np.int64)
    issued = spans[spans["issue"] <= t]
    current[issued["cta"]] = issued["tile"]
    return current


def wave_ends(trace: Trace) -> list[int]:
    """When the last of the first 1, 2, ... x slots segments, in order of issue, is done.

    >>> wave_ends(_example())
    [1000, 2000, 3000]
    """
    done = np.maximum.accumulate(trace.spans["done"])
    slots = trace.device.slots
    return [int(done[min(end, len(done)) - 1]) for end in range(slots, len(done) + slots, slots)]


def hand_over(trace: Trace, near: float | None = None) -> tuple[int, int, int]:
    """(sm, from, to): the first time one SM goes from one tile to the next, its drain and the next start.

    Of the SMs it is the one whose hand-over takes the median time. Given an instant, it is any hand-over, the
    one whose drain is nearest. Returns (sm, 0, 0) where no slot runs a second segment.

    >>> hand_over(_example()), hand_over(_example(), near=1900)
    ((0, 1000, 1000), (0, 2000, 2000))
    """
    spans, (before, after) = trace.spans, in_turn(trace)
    if near is None:
        firsts = ~np.isin(before, after)
        before, after = before[firsts], after[firsts]
    if not before.size:
        return int(spans["sm"][0]), 0, 0
    if near is None:
        gap = spans["start"][after] - spans["drain"][before]
        chosen = np.argsort(gap, kind="stable")[(len(gap) - 1) // 2]
    else:
        chosen = np.argmin(np.abs(spans["drain"][before] - near))
    last, following = spans[before[chosen]], spans[after[chosen]]
    return int(following["sm"]), int(last["drain"]), int(following["start"])


def tail_start(trace: Trace) -> int:
    """When the first slot has nothing left to do, ns.

    >>> tail_start(_example())
    2000
    """
    return int(last_done(trace).min())


def _example() -> Trace:
    """5 tiles of 1 µs on 2 SMs."""
    from tilesim import Costs, Device, Problem, simulate

    return simulate("naive", Problem(128, 640, 4, tile=(128, 128, 4)), Device(2), Costs.ideal())
