"""The rules of spans, implemented twice: a fast compiled pass for a million rows, which accepts or not, and
checks by column, which find the row and the words. What the pass accepts, the checks accept."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from tilesim import compiled
from tilesim.devices.device import Device
from tilesim.plans import coverage_fault
from tilesim.spans.columns import FIELDS, LONGEST_NS, MOST_CYCLES, TIMES, Column, columns_of
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
    last = one_pass(columns_of(spans), free, drained, problem.k_steps, complete)
    if not 0 < last <= LONGEST_NS // device.slots:
        return False
    return bool(len(complete) and complete.all()) or not coverage_fault(spans, problem)


def last_done(spans: Any, free: Column, drained: Column, k_steps: int, complete: Column) -> int:
    """When the last of `spans`, SpanColumns, is done; -1 if one breaks a rule, overlaps or is not in order.
    `free`, by SM: whether it is. `drained`: zeros, by slot of the device. `complete`, by tile: set to True if
    a row has all of its `k_steps`."""
    ctas_per_sm = len(drained) // len(free)
    last, last_issue, last_start, last_place = -1, 0, 0, 0
    if spans.issue[0] != 0:
        return -1
    for row in range(len(spans.issue)):
        sm, slot = spans.sm[row], spans.slot[row]
        if not (0 <= sm < len(free) and 0 <= slot < ctas_per_sm and 0 <= spans.cta[row] < 2**31 - 1):
            return -1
        issue, start, drain, done = spans.issue[row], spans.start[row], spans.drain[row], spans.done[row]
        if not (issue <= start <= drain <= spans.ready[row] <= spans.fixup[row] <= done):
            return -1
        place = sm * ctas_per_sm + slot
        if not (free[sm] and 0 <= spans.cycles[row] <= MOST_CYCLES):
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
    columns = {name: spans[name] for name in FIELDS}
    return coverage_fault(spans, problem) or row_fault(problem, device, columns) or _overlap_fault(spans)


def row_fault(
    problem: Work,
    device: Device,
    columns: Mapping[str, np.ndarray],
    at: Callable[[int], str] = lambda row: f"row {row}",
) -> str:
    """What is wrong in one of the rows, or "". `columns`: those of SPAN, pid_m, pid_n and entry, of which any
    but tile, sm, start and done may be missing. `at` names a row for the sentence."""
    limits = {
        "pid_m": (0, problem.tiles_m - 1),
        "pid_n": (0, problem.tiles_n - 1),
        "tile": (0, problem.tiles - 1),
        "k0": (0, problem.k_steps - 1),
        "k1": (1, problem.k_steps),
        "cta": (0, 2**31 - 2),
        "sm": (0, device.sms - 1),
        "slot": (0, device.ctas_per_sm - 1),
        "cycles": (0, MOST_CYCLES),
    }
    for name in [name for name in limits if name in columns]:
        (low, high), values = limits[name], columns[name]
        for row in np.flatnonzero((values < low) | (values > high))[:1]:
            rule = f"it must be from {low} to {high} for {problem.title} on {device.title}"
            return f"{at(row)}: {name} is {values[row]}; {rule}"
    for row in np.flatnonzero(~np.isin(columns["sm"], device.free_sms))[:1]:
        return f"{at(row)}: sm is {columns['sm'][row]}; another kernel holds that SM"
    known = [name for name in TIMES if name in columns]
    for earlier, later in [("entry", "start"), *pairwise(known)]:
        before, after = columns.get(earlier, columns[later]), columns[later]
        for row in np.flatnonzero(after < before)[:1]:
            return (
                f"{at(row)}: tile {columns['tile'][row]} has its {later.replace('done', 'end')} at "
                f"{after[row]} ns, before its {earlier} at {before[row]} ns"
            )
    begin = np.minimum.reduce([columns[name] for name in ("entry", "issue", "start") if name in columns])
    first, last = int(begin.argmin()), int(columns["done"].argmax())
    zero, end, limit = int(begin[first]), int(columns["done"][last]), LONGEST_NS // device.slots
    if not 0 < end - zero <= limit:
        apart = f"they must be 1 to {limit} ns apart"
        return f"{at(first)} begins at {zero} ns and {at(last)} ends at {end} ns; {apart}"
    return ""


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
