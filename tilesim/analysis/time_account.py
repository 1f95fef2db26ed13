"""Where the time of a run went, and where the difference between two runs comes from.

A slot's time from the run's first issue to its last done is split into parts without gaps or overlaps, so the
parts of all slots add up to slots · makespan.
"""

from typing import Any

import numpy as np

from tilesim.metrics import first_of_cta, in_turn, launch_end
from tilesim.traces import Trace

PAUSE = ("launch", "first load", "hand over", "write", "gap")
"""Parts of a pause, from the end of one main loop to the start of the next in the slot."""
PARTIALS = ("wait", "fix up")
LOOPS = ("multiply", "slowed by a write")
ENDS = ("begin", "last write")
PARTS = (*PAUSE, *PARTIALS, *LOOPS, *ENDS, "tail")


def account(trace: Trace, k_step: float | None = None) -> dict[str, int]:
    """ns of all slots by each of PARTS.

    | part | from what to what |
    | --- | --- |
    | begin | the run's zero to the slot's first main loop: launch and first load |
    | launch, first load | issue to first main loop of later thread blocks |
    | hand over | issue to main loop of a block's later segments |
    | write | write of a segment until the next one is issued |
    | gap | nothing is issued between two segments |
    | wait, fix up | waiting for and adding other blocks' partials, until the next is issued |
    | slowed by a write | beyond `k_step` ns per K-step, of main loops that begin during the slot's write |
    | multiply | the rest of all main loops |
    | last write | the slot's last write |
    | tail | after that, until the run ends; all the time of an unused slot |

    `k_step` defaults to `loop_pace` of this run.
    """
    sums = {name: int(column.sum()) for name, column in _columns(trace).items()}
    whole = trace.device.slots * trace.makespan
    parts = _parts(sums, loop_pace(trace) if k_step is None else k_step, whole)
    return {part: int(parts[part]) for part in PARTS}


def difference(slow: Trace, fast: Trace) -> dict[str, float]:
    """How much longer an average slot of `slow` spends on each of PARTS than one of `fast`, ns. The values
    add up to the difference of the makespans. Both runs are compared with the pace of `slow`."""
    k_step = loop_pace(slow)
    longer, shorter = account(slow, k_step), account(fast, k_step)
    return {part: longer[part] / slow.device.slots - shorter[part] / fast.device.slots for part in PARTS}


def difference_by_sm(slow: Trace, fast: Trace) -> dict[str, np.ndarray]:
    """`difference` for each SM of both devices: float64 ns [SMs] by part."""
    k_step, both = loop_pace(slow), min(slow.device.sms, fast.device.sms)
    slots = slow.device.ctas_per_sm, fast.device.ctas_per_sm
    longer, shorter = (
        _parts(_columns(trace), k_step, each * trace.makespan)
        for trace, each in zip((slow, fast), slots, strict=True)
    )
    return {part: longer[part][:both] / slots[0] - shorter[part][:both] / slots[1] for part in PARTS}


def _columns(trace: Trace) -> dict[str, np.ndarray]:
    """The input of `_parts` for each SM: ns, and K-steps of main loops over a write; int64 [SMs]."""
    spans, (before, after) = trace.spans, in_turn(trace)
    every = np.arange(len(spans))
    first, last = (np.setdiff1d(every, rows) for rows in (after, before))
    drain, issue, start = spans["drain"][before], spans["issue"][after], spans["start"][after]
    issue = np.maximum(issue, drain)
    launched = np.clip(launch_end(trace)[after], issue, start)
    opens = np.isin(after, first_of_cta(trace))
    ready, fixed, done = (np.minimum(spans[name][before], issue) for name in ("ready", "fixup", "done"))
    over, loops = over_a_write(trace), spans["drain"] - spans["start"]
    columns: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {
        "launch": [(after[opens], (launched - issue)[opens])],
        "first load": [(after[opens], (start - launched)[opens])],
        "hand over": [(after[~opens], (start - issue)[~opens])],
        "write": [(before, done - fixed)],
        "gap": [(before, issue - done)],
        "wait": [(before, ready - drain), (last, (spans["ready"] - spans["drain"])[last])],
        "fix up": [(before, fixed - ready), (last, (spans["fixup"] - spans["ready"])[last])],
        "begin": [(first, spans["start"][first])],
        "last write": [(last, (spans["done"] - spans["fixup"])[last])],
        "loops": [(every, loops)],
        "loops over a write": [(every[over], loops[over])],
        "steps over a write": [(every[over], (spans["k1"] - spans["k0"])[over])],
    }
    sums = {}
    for name, shares in columns.items():
        sums[name] = np.zeros(trace.device.sms, np.int64)
        for rows, ns in shares:
            np.add.at(sums[name], spans["sm"][rows], ns)
    return sums


def _parts(columns: dict[str, Any], k_step: float, whole: int) -> dict[str, Any]:
    """Split numbers or arrays into PARTS, at `k_step` ns per K-step for main loops over a write."""
    columns = dict(columns)
    loops, over, steps = (columns.pop(name) for name in ("loops", "loops over a write", "steps over a write"))
    slowed = over - np.rint(steps * k_step).astype(np.int64)
    parts = columns | {"multiply": loops - slowed, "slowed by a write": slowed}
    return parts | {"tail": whole - sum(parts.values())}


def over_a_write(trace: Trace) -> np.ndarray:
    """Whether a main loop begins during its slot's previous write: bool [spans]."""
    before, after = in_turn(trace)
    over = np.zeros(len(trace.spans), bool)
    over[after] = trace.spans["done"][before] > trace.spans["start"][after]
    return over


def loop_pace(trace: Trace) -> float:
    """ns per K-step of main loops that follow another in their slot, and not over its write.

    The first main loops, which run with cold caches, count only if there are no others; those over a write
    count only if all are.
    """
    spans, over = trace.spans, over_a_write(trace)
    follows = np.zeros(len(spans), bool)
    follows[in_turn(trace)[1]] = True
    rows = next(rows for rows in (follows & ~over, ~over, ~over | over) if rows.any())
    return float((spans["drain"] - spans["start"])[rows].sum() / (spans["k1"] - spans["k0"])[rows].sum())
