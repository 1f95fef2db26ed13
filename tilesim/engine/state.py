"""State: a plan that is being played, in columns for tilesim.engine.events, as lists or as arrays."""

from typing import NamedTuple

from tilesim.spans.columns import Column
from tilesim.spans.columns import SpanColumns as Log

NOBODY = -1


class Segments(NamedTuple):
    """Segments in plan order, the queue's last; thread block c owns those from offsets[c] to offsets[c + 1].

    `work`: a main loop's time alone on its SM, ns. `split`: see events.split_tile; empty where no tile is
    split.
    """

    tile: Column
    k0: Column
    k1: Column
    work: Column
    split: Column
    offsets: Column


class Rates(NamedTuple):
    """The costs, ns. `stores`: whether a partial has a cost of its own.

    `slowdown`: f(r) of r CTAs, from none to all slots of an SM, for row after row of `columns` numbers; of
    one row for all where that is 0. `shared`: whether one of them is not 1, or residents write in turn.
    """

    launch: int
    prologue: int
    handover: int
    contention: int
    epilogue: int
    epilogue_serialisation: int
    overlap: bool
    partial: int
    stores: bool
    merge: int
    fixup: int
    slowdown: Column
    columns: int
    shared: bool
    residents: int


class Slots(NamedTuple):
    """Columns by rank, in which the hardware fills slots.

    `queue` and `key`: see events.enqueue; `key` is a power of two long. `when` and `event`: what a
    slot awaits. `row`: the segment that it is at; `at`: where that is in the log. `late`: ns by which its
    first CTA's first load takes longer than the prologue, 0 afterwards. `next_row` to `end_row`: what is left
    of its CTA's own; `next_work`: the main loop of the first of them. `left`: what was left of its main loop
    at `since`, ns alone on the SM; NOBODY where it is in none. `beside`: the rank of its SM's next slot, in a
    circle. `home`: where `multiplying` counts its SM's CTAs in their main loops, and `written` says when its
    last tile is.
    """

    queue: Column
    key: Column
    when: Column
    event: Column
    cta: Column
    row: Column
    at: Column
    late: Column
    next_row: Column
    next_work: Column
    end_row: Column
    left: Column
    since: Column
    sm: Column
    slot: Column
    beside: Column
    home: Column
    multiplying: Column
    written: Column


class Merges(NamedTuple):
    """Columns by split tile: its `owner`, the row of its last segment, adds the others' partials.

    `missing` of them are still to come, the last so far came at `arrived`; the slot of rank `waiting` waits.
    """

    owner: Column
    partials: Column
    missing: Column
    arrived: Column
    waiting: Column


class Ties(NamedTuple):
    """Columns by instant at which more than one segment was issued: rows `first` to `end` of the log."""

    first: Column
    end: Column


CTA, QUEUED, ISSUED, TIE = range(4)


class State(NamedTuple):
    """All of it. `log`: the spans, a row per segment in the order of issue.

    `heads`: the next thread block, the next row of the queue, the next row of the log and the next of the
    ties, at CTA, QUEUED, ISSUED and TIE.
    """

    segments: Segments
    rates: Rates
    slots: Slots
    merges: Merges
    log: Log
    ties: Ties
    heads: Column
