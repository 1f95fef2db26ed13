"""The clock: the only place where time advances. It plays the segments of a plan in slots, event by event.

A slot is at any instant free, launching, in a main loop, waiting for a partial, or writing. Main loops of one
SM share it: with r of them each advances at 1/f(r) (processor sharing), so a drain that has been foreseen is
foreseen anew whenever r changes. A slot awaits one event at a time, and a winner tree over the slots tells
whose is next (D. Knuth, The Art of Computer Programming 3, section 5.4.1).

The key is (time, event, rank): what ends comes before what begins, and ties between slots go by the rank in
which the hardware fills them, so a run is the same for ever. A step that touches nothing which slots share
needs no event of its own: where main loops share nothing, one event plays a whole tile.

All state is in columns, so that this source runs as Python on lists, and compiled on arrays: see
tilesim.compiled.
"""

from collections.abc import MutableSequence
from math import ceil
from typing import Any, NamedTuple

Column = MutableSequence[Any]
"""A list, or an array of one dimension."""

DRAIN, NEXT, FREE, BEGIN, START = range(5)
EVENTS = 5
NOBODY = -1
NEVER = 2**63 - 1
ROUNDING = 1e-6
"""ns by which a float may stick out of the whole nanosecond that it means."""


class Segments(NamedTuple):
    """Segments in plan order, the queue's last; thread block c owns those from offsets[c] to offsets[c + 1].

    `work`: a main loop's time alone on its SM, ns. `cut`: the number of a segment's tile among those that
    have several, NOBODY where it has one; the column is empty where all have one.
    """

    tile: Column
    k0: Column
    k1: Column
    work: Column
    cut: Column
    offsets: Column


class Rates(NamedTuple):
    """The costs, ns; `lead` is launch and prologue, `slowdown` f(1), f(2) ... up to all slots of an SM.

    `stores`: whether a partial has a cost of its own. `shared`: whether main loops of an SM slow each other
    down.
    """

    dispatch: int
    launch: int
    lead: int
    handover: int
    staging: int
    contention: int
    epilogue: int
    overlap: bool
    partial: int
    stores: bool
    merge: int
    fixup: int
    slowdown: Column
    shared: bool


class Slots(NamedTuple):
    """Columns by rank, which goes over the SMs and then over their slots: rank = slot · SMs + first.

    `first`: the rank of its SM's first slot, by which `multiplying` counts the CTAs in main loops.
    `when` and `event`: what a slot awaits, the time NEVER where nothing. `row`: the segment that it is at, and
    `at`, where that is in the log. `next_row` to `end_row`: what is left of its CTA's own. `left`: what was
    left of its main loop at `since`, ns alone on the SM; NOBODY where it is in none.
    """

    tree: Column
    when: Column
    event: Column
    cta: Column
    row: Column
    at: Column
    next_row: Column
    end_row: Column
    left: Column
    since: Column
    sm: Column
    slot: Column
    first: Column
    multiplying: Column


class Merges(NamedTuple):
    """Columns by cut tile: the last of its segments, `owner`, adds the others' partials.

    `missing` of them are still to come, the last so far came at `arrived`; the slot of rank `waiting` waits.
    """

    owner: Column
    partials: Column
    missing: Column
    arrived: Column
    waiting: Column


class Log(NamedTuple):
    """What is found: a row per segment in the order of issue, fields as of a span."""

    cta: Column
    tile: Column
    k0: Column
    k1: Column
    sm: Column
    slot: Column
    issue: Column
    start: Column
    drain: Column
    ready: Column
    fixup: Column
    done: Column


class Run(NamedTuple):
    """A plan that is played. `heads`: the next thread block, of the queue and of the log, last dispatch."""

    segments: Segments
    rates: Rates
    slots: Slots
    merges: Merges
    log: Log
    heads: Column


CTA, QUEUE, ROW, DISPATCHED = range(4)
"""What stands in Run.heads."""


def play(run: Run) -> None:
    """Fill the log. Whoever still waits for a partial at the end waits for ever."""
    slots = run.slots
    while True:
        key = slots.tree[1]
        if key == NEVER:
            return
        rank = key & (len(slots.tree) // 2 - 1)
        now, event = slots.when[rank], slots.event[rank]
        if event == DRAIN:
            drain(run, rank, now)
        elif event == NEXT:
            written = run.log.done[slots.at[rank]]
            gap = run.rates.handover + (run.rates.staging if written > now else 0)
            issue(run, rank, now, gap, written, written)
        elif event == FREE:
            enter(run, rank, now)
        elif event == BEGIN:
            issue(run, rank, now, run.rates.lead, 0, now + run.rates.launch)
        else:
            slots.multiplying[slots.first[rank]] += 1
            share(run, rank, now, 1)


def latest(slots: int) -> float:
    """Times before this, ns, make keys that fit int64."""
    return NEVER / EVENTS / (2 * slots) - 1


def enter(run: Run, rank: int, now: int) -> None:
    """The slot is free: dispatch the next thread block to it."""
    slots, heads = run.slots, run.heads
    cta = heads[CTA]
    if cta == len(run.segments.offsets) - 1:
        rest(slots, rank)
        return
    heads[CTA] = cta + 1
    heads[DISPATCHED] = begin = max(now, heads[DISPATCHED] + run.rates.dispatch)
    slots.cta[rank] = cta
    slots.next_row[rank] = run.segments.offsets[cta]
    slots.end_row[rank] = run.segments.offsets[cta + 1]
    if begin > now or slots.next_row[rank] == slots.end_row[rank]:
        wait_for(slots, rank, begin, BEGIN)
    else:
        issue(run, rank, now, run.rates.lead, 0, 0)


def issue(run: Run, rank: int, now: int, gap: int, written: int, leave: int) -> None:
    """Issue the next segment, the CTA's own or the queue's, with an epilogue under it until `written`.

    Where neither is left the CTA leaves at `leave`.
    """
    segments, rates, slots, log, heads = run.segments, run.rates, run.slots, run.log, run.heads
    row = slots.next_row[rank]
    if row < slots.end_row[rank]:
        slots.next_row[rank] = row + 1
    elif heads[QUEUE] < len(segments.work):
        row = heads[QUEUE]
        heads[QUEUE] = row + 1
    else:
        wait_for(slots, rank, leave, FREE)
        return
    at, start = heads[ROW], now + gap
    heads[ROW] = at + 1
    slots.row[rank], slots.at[rank] = row, at
    log.cta[at] = slots.cta[rank]
    log.tile[at], log.k0[at], log.k1[at] = segments.tile[row], segments.k0[row], segments.k1[row]
    log.sm[at], log.slot[at] = slots.sm[rank], slots.slot[rank]
    log.issue[at], log.start[at] = now, start
    work = segments.work[row] + (rates.contention if written > start else 0)
    if rates.shared:
        slots.left[rank] = work
        wait_for(slots, rank, start, START)
        return
    drained = start + ceil(work * 1.0 - ROUNDING)
    if is_cut(run, row):
        wait_for(slots, rank, drained, DRAIN)
    else:
        log.drain[at] = drained
        finish(run, rank, drained, 0)


def share(run: Run, rank: int, now: int, change: int) -> None:
    """Foresee the drains of an SM anew, now that this slot begins or ends a main loop there: `change` 1 or -1."""
    slots, slowdown = run.slots, run.rates.slowdown
    first = slots.first[rank]
    many = slots.multiplying[first]
    before, after = slowdown[max(1, many - change) - 1], slowdown[max(1, many) - 1]
    if change > 0:
        slots.since[rank] = now
        foresee(run, rank, now, after)
    if before != after:
        for other in range(first, len(slots.left), len(slots.multiplying)):
            if other != rank and slots.since[other] != NOBODY:
                slots.left[other] -= (now - slots.since[other]) / before
                slots.since[other] = now
                foresee(run, other, now, after)


def foresee(run: Run, rank: int, now: int, slowdown: float) -> None:
    """Expect the drain of a main loop that goes on at this slowdown."""
    left = ceil(run.slots.left[rank] * slowdown - ROUNDING)
    wait_for(run.slots, rank, now + max(0, left), DRAIN)


def drain(run: Run, rank: int, now: int) -> None:
    """A main loop is over: write a tile that has no other segment, hand in a partial, or wait for others'."""
    slots, merges, log = run.slots, run.merges, run.log
    row, at = slots.row[rank], slots.at[rank]
    if run.rates.shared:
        slots.since[rank] = NOBODY
        slots.multiplying[slots.first[rank]] -= 1
        share(run, rank, now, -1)
    log.drain[at] = now
    if not is_cut(run, row):
        finish(run, rank, now, 0)
        return
    cut = run.segments.cut[row]
    if row == merges.owner[cut]:
        merges.waiting[cut] = rank
        rest(slots, rank)
    else:
        hand_in(run, rank, now)
        merges.missing[cut] -= 1
        merges.arrived[cut] = max(merges.arrived[cut], log.done[at])
    waiting = merges.waiting[cut]
    if waiting != NOBODY and merges.missing[cut] == 0:
        ready = max(log.drain[slots.at[waiting]], merges.arrived[cut])
        finish(run, waiting, ready, merges.partials[cut])


def hand_in(run: Run, rank: int, now: int) -> None:
    """Store the accumulator for another CTA to add."""
    if run.rates.stores:
        at, log = run.slots.at[rank], run.log
        log.ready[at] = log.fixup[at] = now
        log.done[at] = now + run.rates.partial
        go_on(run, rank, log.done[at], log.done[at])
    else:
        finish(run, rank, now, 0)


def finish(run: Run, rank: int, ready: int, partials: int) -> None:
    """Add the partials, which have come, and write the tile."""
    rates, log, at = run.rates, run.log, run.slots.at[rank]
    fixup = ready + (rates.merge + rates.fixup * partials if partials else 0)
    done = fixup + rates.epilogue
    log.ready[at], log.fixup[at], log.done[at] = ready, fixup, done
    go_on(run, rank, fixup if rates.overlap else done, done)


def go_on(run: Run, rank: int, following: int, done: int) -> None:
    """The CTA asks for its next segment at `following`, or leaves at `done` where none can be left."""
    slots = run.slots
    if slots.next_row[rank] < slots.end_row[rank] or run.heads[QUEUE] < len(run.segments.work):
        wait_for(slots, rank, following, NEXT)
    else:
        wait_for(slots, rank, done, FREE)


def is_cut(run: Run, row: int) -> bool:
    """Whether a segment's tile has others."""
    return len(run.segments.cut) > 0 and run.segments.cut[row] != NOBODY


def wait_for(slots: Slots, rank: int, time: int, event: int) -> None:
    """The slot awaits `event` at `time`."""
    slots.when[rank], slots.event[rank] = time, event
    replay(slots.tree, rank, (time * EVENTS + event) * (len(slots.tree) // 2) + rank)


def rest(slots: Slots, rank: int) -> None:
    """The slot awaits nothing of its own."""
    replay(slots.tree, rank, NEVER)


def replay(tree: Column, rank: int, key: int) -> None:
    """Play the matches of a slot anew, from its leaf up: the lower key wins."""
    node = len(tree) // 2 + rank
    tree[node] = key
    while node > 1:
        other = tree[node ^ 1]
        key = other if other < key else key
        node //= 2
        tree[node] = key
