"""The state of a trace at time t: pure functions (trace, t) -> numbers, t in ns."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from tilesim.metrics import first_of_cta, last_done
from tilesim.traces import TIMES, Trace


class Phase(IntEnum):
    """The state of a segment or a tile. AWAITING means waiting for other thread blocks' partials."""

    WAITING = 0
    LAUNCHING = 1
    MULTIPLYING = 2
    AWAITING = 3
    ADDING = 4
    WRITING = 5
    DONE = 6


def progress(trace: Trace, t: float) -> np.ndarray:
    """The fraction of each segment's K-steps that is multiplied: float64 in [0, 1], [spans]."""
    return multiplied(trace.spans["start"], trace.spans["drain"], t)


def multiplied(start: np.ndarray, drain: np.ndarray, t: float) -> np.ndarray:
    """`progress` from the start and end of main loops: float64 [segments]."""
    share = np.clip((t - start) / np.maximum(1, drain - start), 0.0, 1.0)
    share[drain <= t] = 1.0
    return share


def segment_phases(trace: Trace, t: float) -> np.ndarray:
    """The Phase of each segment: int8 [spans]."""
    return np.stack([trace.spans[name] <= t for name in TIMES]).sum(axis=0, dtype=np.int8)


def phases(trace: Trace, t: float) -> np.ndarray:
    """The Phase of each tile: int8 [tiles]. A split tile is launched and multiplied as soon as its first
    segment is; later phases need all its segments."""
    of_segment, tile = segment_phases(trace, t), trace.spans["tile"]
    most, least = np.zeros(trace.problem.tiles, np.int8), np.full(trace.problem.tiles, np.int8(Phase.DONE))
    np.maximum.at(most, tile, of_segment)
    np.minimum.at(least, tile, of_segment)
    return np.where(least > Phase.MULTIPLYING, least, np.minimum(most, Phase.MULTIPLYING))


def tile_sm(trace: Trace) -> np.ndarray:
    """The SM that finishes each tile; ties go to the higher thread block: int32 [tiles]."""
    finishes = np.lexsort((trace.spans["cta"], trace.spans["done"]))
    sm = np.zeros(trace.problem.tiles, np.int32)
    sm[trace.spans["tile"][finishes]] = trace.spans["sm"][finishes]
    return sm


def written(trace: Trace) -> np.ndarray:
    """When all segments of each tile are done: int64 ns [tiles]."""
    done = np.zeros(trace.problem.tiles, np.int64)
    np.maximum.at(done, trace.spans["tile"], trace.spans["done"])
    return done


def tiles_done(trace: Trace, t: float) -> int:
    """Tiles that are written."""
    return int(np.count_nonzero(written(trace) <= t))


def launched(trace: Trace) -> np.ndarray:
    """When each thread block with work gets a slot: int64 ns [thread blocks with work]."""
    return trace.spans["issue"][first_of_cta(trace)]


def blocks_launched(trace: Trace, t: float) -> int:
    """Thread blocks with work that have been given a slot."""
    return int(np.count_nonzero(launched(trace) <= t))


def busy_sms(trace: Trace, t: float) -> int:
    """SMs with a segment between issue and done."""
    spans = trace.spans
    return len(np.unique(spans["sm"][(spans["issue"] <= t) & (t < spans["done"])]))


def tail_start(trace: Trace) -> int:
    """When the first slot runs out of work, ns."""
    return int(last_done(trace).min())
