"""The rows of a trace that a page holds if all of them would be too many for a browser."""

from dataclasses import dataclass

import numpy as np

from tilesim import metrics
from tilesim.traces import Trace

MOST = 2**16
"""Maximum number of segments in a page, over all its traces."""


@dataclass(frozen=True, slots=True)
class Window:
    """Rows `first` to `last` of a trace's spans, and what a page needs to count correctly with them.

    No other segment holds a slot between `since` and `until`, ns. `tiles`, `blocks`: tiles done and blocks
    launched before. `resident`: thread blocks of the window launched before it. `unfinished`: its tiles with
    a later segment.
    """

    first: int
    last: int
    since: int
    until: int
    tiles: int
    blocks: int
    resident: tuple[int, ...]
    unfinished: tuple[int, ...]


def window(trace: Trace, most: int = MOST, at: float = 0.0) -> Window:
    """At most `most` segments in order of issue, from the first that is not done at `at` ns.

    >>> from tilesim import view
    >>> found = window(view._example(), most=2, at=1500)
    >>> found.first, found.last, found.since, found.until, found.tiles, found.blocks
    (2, 4, 1000, 2000, 2, 2)
    """
    spans, count = trace.spans, len(trace.spans)
    first = 0
    if count > most:
        first = min(int(np.argmax(spans["done"] > at)), count - most) if at < trace.makespan else count - most
    last = min(count, first + most)
    before, inside, after = spans[:first], spans[first:last], spans[last:]
    since = int(before["done"].max(initial=0))
    until = int(after["issue"][0]) if len(after) else trace.makespan
    tiles, blocks = np.unique(inside["tile"]), np.unique(inside["cta"])
    # Flags by tile, because sorting the tiles of two million segments would take a second.
    later = np.zeros(trace.problem.tiles, bool)
    later[after["tile"]] = True
    held = np.count_nonzero(later) + np.count_nonzero(~later[tiles])
    firsts = metrics.first_of_cta(trace)
    return Window(
        first,
        last,
        since,
        max(until, since + 1),
        trace.problem.tiles - int(held),
        int(np.count_nonzero(firsts < first)),
        tuple(blocks[np.isin(blocks, before["cta"])].tolist()),
        tuple(tiles[later[tiles]].tolist()),
    )


def before(trace: Trace, shown: Window) -> int:
    """The time, in ns, at which to open the preceding window of equal size, with some overlap.

    >>> from tilesim import view
    >>> trace = view._example()
    >>> before(trace, window(trace, most=4, at=2500))
    0
    """
    count = shown.last - shown.first
    # A window begins with unfinished segments: at most one per slot, and another being written.
    shared = min(2 * trace.device.slots, count // 2)
    return int(trace.spans["issue"][max(0, shown.first - count + shared)])
