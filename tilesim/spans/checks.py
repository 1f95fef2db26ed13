"""The rules of spans, implemented twice: a fast compiled pass for a million rows, which accepts or not, and
checks by column, which find the row and the words. What the pass accepts, the checks accept."""

from itertools import pairwise
from typing import Any

import numpy as np

from tilesim import compiled
from tilesim.devices.device import Device
from tilesim.plans import coverage_fault
from tilesim.spans.columns import LONGEST_NS, MOST_CYCLES, TIMES, Column, columns_of
from tilesim.work import Work


def is_sound(problem: Work, device: Device, spans: np.ndarray) -> bool:
    """Whether `spans` start at 0, are in order and keep all rules; False if no fast pass is available."""
    one_pass = compiled.fast(last_done, len(spans))
    if not one_pass:
        return False
    free = np.zeros(device.sms, bool)
    free[list(device.free_sms)] = True
    drained = np.zeros(device.sms * device.ctas_per_sm, np.int64)
    complete = np.zeros(problem.tiles if len(spans) == problem.tiles else 0, bool)
    last = one_pass(columns_of(spans), spans["cycles"], free, drained, problem.k_steps, complete)
    if not 0 < last <= LONGEST_NS // device.slots:
        return False
    return bool(len(complete) and complete.all()) or not coverage_fault(spans, problem)


def last_done(
    spans: Any, cycles: Column, free: Column, drained: Column, k_steps: int, complete: Column
) -> int:
    """When the last of `spans`, SpanColumns, is done; -1 if one breaks a rule, overlaps or is not in order.
    `free`, by SM: whether it is. `drained`: zeros, by slot of the device. `complete`, by tile: set to True if
    a row has all of its `k_steps`."""
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
        if not (free[sm] and 0 <= cycles[row] <= MOST_CYCLES):
            return -1
        if start < drained[place] or issue < last_issue:
            return -1
        if issue == last_issue and (start, place) < (last_start, last_place):
            return -1
        last, last_issue, last_start, last_place = max(last, done), issue, start, place
        drained[place] = drain
        tile = spans.tile[row]
        if spans.k0[row] == 0 and spans.k1[row] == k_steps and 0 <= tile < len(complete):
            complete[tile] = True
    return last


def fault(problem: Work, device: Device, spans: np.ndarray) -> str:
    """What is wrong with `spans`, which may have any order and zero, and in which row; "" if nothing is."""
    return (
        coverage_fault(spans, problem)
        or _place_fault(device, spans)
        or _time_fault(spans)
        or _length_fault(device, spans)
        or _overlap_fault(spans)
    )


def _place_fault(device: Device, spans: np.ndarray) -> str:
    for name, limit in {"cta": 2**31 - 1, "sm": device.sms, "slot": device.ctas_per_sm}.items():
        for row in np.flatnonzero((spans[name] < 0) | (spans[name] >= limit))[:1]:
            return f"row {row} has {name} {spans[name][row]}; the device has 0 to {limit - 1}"
    for row in np.flatnonzero(~np.isin(spans["sm"], device.free_sms))[:1]:
        return f"row {row} ran on SM {spans['sm'][row]}, which another kernel occupies"
    return ""


def _time_fault(spans: np.ndarray) -> str:
    for name in ("issue", "cycles"):
        for row in np.flatnonzero(spans[name] < 0)[:1]:
            return f"row {row} has {name} {spans[name][row]}; it cannot be negative"
    for row in np.flatnonzero(spans["cycles"] > MOST_CYCLES)[:1]:
        return f"row {row} has {spans['cycles'][row]} cycles; a main loop has at most {MOST_CYCLES}"
    for earlier, later in pairwise(TIMES):
        for row in np.flatnonzero(spans[later] < spans[earlier])[:1]:
            return (
                f"row {row} (tile {spans['tile'][row]}) has {later} at {spans[later][row]} ns, "
                f"before its {earlier} at {spans[earlier][row]} ns"
            )
    return ""


def _length_fault(device: Device, spans: np.ndarray) -> str:
    length, limit = int(spans["done"].max()) - int(spans["issue"].min()), LONGEST_NS // device.slots
    return "" if 0 < length <= limit else f"the run takes {length} ns; it must take 1 to {limit} ns"


def _overlap_fault(spans: np.ndarray) -> str:
    """A slot runs one main loop at a time."""
    by_slot = spans[np.lexsort((spans["drain"], spans["start"], spans["slot"], spans["sm"]))]
    before, after = by_slot[:-1], by_slot[1:]
    same = (before["sm"] == after["sm"]) & (before["slot"] == after["slot"])
    for i in np.flatnonzero(same & (after["start"] < before["drain"]))[:1]:
        return (
            f"tile {after['tile'][i]} starts at {after['start'][i]} ns on SM {after['sm'][i]}, slot "
            f"{after['slot'][i]}, where the main loop of tile {before['tile'][i]} runs until "
            f"{before['drain'][i]} ns"
        )
    return ""
