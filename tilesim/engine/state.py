"""The state of a plan being played, in columns (lists or arrays) for tilesim.engine.events."""

from collections import namedtuple
from typing import Any, NamedTuple

from tilesim.spans.columns import Column

NOBODY = -1
CTA, QUEUED, ISSUED = range(3)

Segments = namedtuple("Segments", "tile k0 k1 work split offsets")
"""Segments in plan order, the queue's last; thread block c owns offsets[c] to offsets[c + 1]. `work`: a main
loop's time alone on its SM, ns. `split`: its tile's index among those that are split, or NOBODY."""

Rates = namedtuple(
    "Rates",
    "launch prologue tile_gap epilogue_overlap_penalty epilogue epilogue_serialisation overlap "
    "partial stores merge fixup slowdown columns shared residents",
)
"""The costs, ns. `stores`: whether a partial has a cost of its own.

`slowdown`: f(r) for 0 to all slots of an SM, in rows of `columns` numbers; `columns` is 0 if one row applies
to all. `shared`: whether any f(r) is not 1, or residents write in turn."""

Slots = namedtuple(
    "Slots",
    "queue key when event cta row at late next_row next_work end_row left since sm slot beside home "
    "multiplying written",
)
"""Columns by rank, the order in which the hardware fills slots.

`queue` and `key`: see events.enqueue; the length of `key` is a power of two. `when` and `event`: what a slot
awaits. `row`: its segment; `at`: that segment's row in the log. `late`: extra ns of its first CTA's first
load, then 0. `next_row` to `end_row`: its CTA's remaining segments; `next_work`: the main loop of the first.
`left`: ns of its main loop, alone on the SM, that were left at `since`, which is NOBODY outside main loops.
`beside`: the rank of its SM's next slot, cyclically. `home`: its SM's index in `multiplying`, which counts
CTAs in main loops, and in `written`, when the last tile is."""

Merges = namedtuple("Merges", "owner partials missing arrived waiting")
"""Columns by split tile: `owner`, the row of its last segment, adds the others' partials. `missing` partials
are still to come, and the latest so far came at `arrived`; the slot of rank `waiting` waits."""


class State(NamedTuple):
    """The whole state. `log`: SpanColumns, one row per segment in order of issue. `heads`: the next thread
    block, queue row and log row, at CTA, QUEUED and ISSUED."""

    segments: Segments
    rates: Rates
    slots: Slots
    merges: Merges
    log: Any
    heads: Column
