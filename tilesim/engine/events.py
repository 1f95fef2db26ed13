"""Events: the only place where time advances. A plan's segments are played in slots, event by event.

The r main loops of an SM share it: each advances at 1/f(r) (processor sharing), so their ends are recomputed
whenever r changes. Each slot awaits one event, and the lowest key (time, event, rank), packed into an
integer, is next; ties between slots follow the rank in which the hardware fills them, so equal arguments give
equal runs. If main loops share nothing, one event plays a whole tile.

All state is in columns, so the same source runs in Python on lists and compiled on arrays. Only the queue has
two forms, a heap and a tree.
"""

from heapq import heappop, heappush, heapreplace
from math import ceil

from tilesim.engine.state import CTA, ISSUED, NOBODY, QUEUED, Column, Slots, State

DRAIN, NEXT, FREE, BEGIN, START = range(5)
EVENTS = 5
NEVER = 2**63 - 1
ROUNDING = 1e-6
"""ns by which a float may exceed the integer that it stands for."""


def play(state: State) -> None:
    """Fill the log. A slot that still waits for a partial at the end waits forever."""
    slots = state.slots
    while True:
        key = lowest(slots.queue, slots.key)
        if key == NEVER:
            return
        rank = key & (len(slots.key) - 1)
        now, event = slots.when[rank], slots.event[rank]
        if event == DRAIN:
            drain(state, rank, now)
        elif event == NEXT:
            written = state.log.done[slots.at[rank]]
            issue(state, rank, now, state.rates.tile_gap, written, written)
        elif event == FREE:
            enter(state, rank, now)
        elif event == BEGIN:
            issue(state, rank, now, launch_to_start(state, rank, now), 0, now + state.rates.launch)
        else:
            share(state, rank, now, 1)


def latest(slots: int) -> float:
    """Times below this, in ns, make keys that fit int64 with `slots` slots."""
    return NEVER / EVENTS / (2 * slots) - 1


def enter(state: State, rank: int, now: int) -> None:
    """The slot is free: dispatch the next thread block to it."""
    slots, heads = state.slots, state.heads
    cta = heads[CTA]
    if cta == len(state.segments.offsets) - 1:
        rest(slots, rank)
        return
    heads[CTA] = cta + 1
    slots.cta[rank] = cta
    slots.end_row[rank] = state.segments.offsets[cta + 1]
    go_to(state, rank, state.segments.offsets[cta])
    # Blocks that draw from the queue come after all others that are issued a segment now.
    if slots.next_row[rank] == slots.end_row[rank]:
        wait_for(slots, rank, now, BEGIN)
    else:
        issue(state, rank, now, launch_to_start(state, rank, now), 0, 0)


def go_to(state: State, rank: int, row: int) -> None:
    """Make `row` the next of the CTA's own segments, if any, and prefetch its main loop."""
    slots = state.slots
    slots.next_row[rank] = row
    if row < slots.end_row[rank]:
        slots.next_work[rank] = state.segments.work[row]


def launch_to_start(state: State, rank: int, now: int) -> int:
    """From the dispatch of a thread block to its first multiply; loads wait while its SM writes."""
    rates, slots = state.rates, state.slots
    late = slots.late[rank]
    slots.late[rank] = 0
    return max(now + rates.launch, slots.written[slots.home[rank]]) + rates.prologue + late - now


def issue(state: State, rank: int, now: int, gap: int, written: int, leave: int) -> None:
    """Issue the CTA's next segment, own or queue's, under a write until `written`; else leave at `leave`."""
    segments, rates, slots, log, heads = state.segments, state.rates, state.slots, state.log, state.heads
    row = slots.next_row[rank]
    if row < slots.end_row[rank]:
        work = slots.next_work[rank]
        go_to(state, rank, row + 1)
    elif heads[QUEUED] < len(segments.work):
        row = heads[QUEUED]
        work = segments.work[row]
        heads[QUEUED] = row + 1
    else:
        wait_for(slots, rank, leave, FREE)
        return
    at, start = heads[ISSUED], now + gap
    heads[ISSUED] = at + 1
    slots.row[rank], slots.at[rank] = row, at
    log.cta[at] = slots.cta[rank]
    log.tile[at], log.k0[at], log.k1[at] = segments.tile[row], segments.k0[row], segments.k1[row]
    log.sm[at], log.slot[at] = slots.sm[rank], slots.slot[rank]
    log.issue[at], log.start[at] = now, start
    if written > start:
        work += rates.epilogue_overlap_penalty
    if rates.shared:
        slots.left[rank] = work
        wait_for(slots, rank, start, START)
        return
    if segments.split[row] == NOBODY:
        log.drain[at] = start + work
        finish(state, rank, start + work, 0)
    else:
        wait_for(slots, rank, start + work, DRAIN)


def share(state: State, rank: int, now: int, change: int) -> None:
    """A main loop of this slot begins (`change` 1) or ends (-1): recompute when those on its SM end."""
    slots, slowdown = state.slots, state.rates.slowdown
    left, since, many = slots.left, slots.since, slots.multiplying
    home = slots.home[rank]
    before = many[home]
    many[home] = after = before + change
    since[rank] = now if change == 1 else NOBODY
    other = slots.beside[rank]
    for _ in range(state.rates.residents):
        first = slots.row[other] * state.rates.columns
        was, will_be = slowdown[first + before], slowdown[first + after]
        if since[other] != NOBODY and (will_be != was or other == rank):
            left[other] -= (now - since[other]) / was
            since[other] = now
            ahead = ceil(left[other] * will_be - ROUNDING)
            wait_for(slots, other, now + ahead if ahead > 0 else now, DRAIN)
        other = slots.beside[other]


def drain(state: State, rank: int, now: int) -> None:
    """A main loop has ended: write a whole tile, store a partial, or wait for others' partials."""
    slots, merges, log = state.slots, state.merges, state.log
    row, at = slots.row[rank], slots.at[rank]
    if state.rates.shared:
        share(state, rank, now, -1)
    log.drain[at] = now
    split = state.segments.split[row]
    if split == NOBODY:
        finish(state, rank, now, 0)
        return
    if row == merges.owner[split]:
        merges.waiting[split] = rank
        rest(slots, rank)
    else:
        store_partial(state, rank, now)
        merges.missing[split] -= 1
        merges.arrived[split] = max(merges.arrived[split], log.done[at])
    waiting = merges.waiting[split]
    if waiting != NOBODY and merges.missing[split] == 0:
        ready = max(log.drain[slots.at[waiting]], merges.arrived[split])
        finish(state, waiting, ready, merges.partials[split])


def store_partial(state: State, rank: int, now: int) -> None:
    """Store the accumulator for another CTA to add."""
    if state.rates.stores:
        at, log = state.slots.at[rank], state.log
        log.ready[at] = log.fixup[at] = now
        log.done[at] = now + state.rates.partial
        go_on(state, rank, log.done[at], log.done[at])
    else:
        finish(state, rank, now, 0)


def finish(state: State, rank: int, ready: int, partials: int) -> None:
    """Add the partials, which have arrived, and write the tile; without partials, writes take turns."""
    rates, slots, log, at = state.rates, state.slots, state.log, state.slots.at[rank]
    fixup = ready + (rates.merge + rates.fixup * partials if partials else 0)
    done = fixup + rates.epilogue
    if rates.epilogue_serialisation and not partials:
        before = slots.written[slots.home[rank]]
        if before > fixup:
            done = max(done, before + rates.epilogue_serialisation)
        slots.written[slots.home[rank]] = max(done, before)
    log.ready[at], log.fixup[at], log.done[at] = ready, fixup, done
    go_on(state, rank, fixup if rates.overlap else done, done)


def go_on(state: State, rank: int, following: int, done: int) -> None:
    """The CTA asks for its next segment at `following`, or leaves at `done` if none can be left."""
    slots = state.slots
    if slots.next_row[rank] < slots.end_row[rank] or state.heads[QUEUED] < len(state.segments.work):
        wait_for(slots, rank, following, NEXT)
    else:
        wait_for(slots, rank, done, FREE)


def wait_for(slots: Slots, rank: int, time: int, event: int) -> None:
    """Let the slot await `event` at `time`."""
    slots.when[rank], slots.event[rank] = time, event
    enqueue(slots.queue, slots.key, rank, (time * EVENTS + event) * len(slots.key) + rank)


def rest(slots: Slots, rank: int) -> None:
    """Let the slot await nothing of its own."""
    enqueue(slots.queue, slots.key, rank, NEVER)


def lowest(heap: Column, keys: Column) -> int:
    """The lowest of `keys`, which are by rank; the heap also holds outdated keys."""
    while heap[0] != keys[heap[0] % len(keys)] and heap[0] != NEVER:
        heappop(heap)
    return heap[0]


def enqueue(heap: Column, keys: Column, rank: int, key: int) -> None:
    """Change the key of `rank`."""
    if heap[0] == keys[rank]:
        heapreplace(heap, key)
    else:
        heappush(heap, key)
    keys[rank] = key


def lowest_in_tree(tree: Column, keys: Column) -> int:
    """`lowest`, compiled: node i of a winner tree is the minimum of nodes 2i and 2i + 1; leaves are the keys.
    D. Knuth, The Art of Computer Programming 3, section 5.4.1."""
    return tree[1]


def enqueue_in_tree(tree: Column, keys: Column, rank: int, key: int) -> None:
    """`enqueue`, compiled, with one branch-free step per level of the tree."""
    node = len(keys) + rank
    tree[node] = key
    while node > 1:
        other = tree[node ^ 1]
        key = other if other < key else key
        node //= 2
        tree[node] = key
