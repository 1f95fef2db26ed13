"""Whether spans are as a Trace has them, in one pass over a million. Written to be compiled."""

from tilesim.engine.state import Column, Log


def last_done(
    spans: Log, cycles: Column, free: Column, drained: Column, k_steps: int, complete: Column
) -> int:
    """When the last span is done, or -1 where one contradicts itself or another, or is not in order from 0.

    `free`, by SM: whether it is. `drained`: zeros, by slot of the device. What tiles are computed is left to
    judge; `complete`, by tile, is set to True where a row has all of its `k_steps`.
    """
    ctas_per_sm = len(drained) // len(free)
    last, last_issue, last_start, last_place = -1, 0, 0, 0
    if spans.issue[0] != 0:
        return -1
    for row in range(len(cycles)):
        sm, slot = spans.sm[row], spans.slot[row]
        if not (0 <= sm < len(free) and 0 <= slot < ctas_per_sm and 0 <= spans.cta[row] < 2**31 - 1):
            return -1
        issue, start, drain, done = spans.issue[row], spans.start[row], spans.drain[row], spans.done[row]
        if not (issue <= start <= drain <= spans.ready[row] <= spans.fixup[row] <= done):
            return -1
        place = sm * ctas_per_sm + slot
        if not free[sm] or cycles[row] < 0 or start < drained[place] or issue < last_issue:
            return -1
        if issue == last_issue and (start, place) < (last_start, last_place):
            return -1
        last, last_issue, last_start, last_place = max(last, done), issue, start, place
        drained[place] = drain
        tile = spans.tile[row]
        if spans.k0[row] == 0 and spans.k1[row] == k_steps and 0 <= tile < len(complete):
            complete[tile] = True
    return last
