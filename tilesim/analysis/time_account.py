"""Where the time of a run went, and where the difference between two runs comes from.

A slot's time from the run's first issue to its last done is split into parts without gaps or overlaps, so the
parts of all slots add up to slots · makespan.
"""

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
    by_sm = _by_sm(trace, loop_pace(trace) if k_step is None else k_step)
    free = list(trace.device.free_sms)
    return {part: int(by_sm[part][free].sum()) for part in PARTS}


def difference(slow: Trace, fast: Trace) -> dict[str, float]:
    """How much longer an average slot of `slow` spends on each of PARTS than one of `fast`, ns. The values
    add up to the difference of the makespans. Both runs are compared with the pace of `slow`."""
    k_step = loop_pace(slow)
    longer, shorter = account(slow, k_step), account(fast, k_step)
    return {part: longer[part] / slow.device.slots - shorter[part] / fast.device.slots for part in PARTS}


def difference_by_sm(slow: Trace, fast: Trace) -> dict[str, np.ndarray]:
    """`difference` for each SM of both devices: float64 ns [SMs] by part."""
    k_step, both = loop_pace(slow), min(slow.device.sms, fast.device.sms)
    longer, shorter = (
        {part: ns[:both] / run.device.ctas_per_sm for part, ns in _by_sm(run, k_step).items()}
        for run in (slow, fast)
    )
    return {part: longer[part] - shorter[part] for part in PARTS}


def _by_sm(trace: Trace, k_step: float) -> dict[str, np.ndarray]:
    """`account` for each SM, busy ones too: int64 [SMs] by part."""
    spans, (before, after) = trace.spans, in_turn(trace)
    every = np.arange(len(spans))
    first, last = (np.setdiff1d(every, rows) for rows in (after, before))
    drain, issue, start = spans["drain"][before], spans["issue"][after], spans["start"][after]
    issue = np.maximum(issue, drain)
    launched = np.clip(launch_end(trace)[after], issue, start)
    opens = np.isin(after, first_of_cta(trace))
    ready, fixed, done = (np.minimum(spans[name][before], issue) for name in ("ready", "fixup", "done"))
    over, loops = over_a_write(trace), spans["drain"] - spans["start"]

    def sums(*shares: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """By SM, of (rows, their ns)."""
        found = np.zeros(trace.device.sms, np.int64)
        for rows, ns in shares:
            np.add.at(found, spans["sm"][rows], ns)
        return found

    steps = sums((every[over], (spans["k1"] - spans["k0"])[over]))
    slowed = sums((every[over], loops[over])) - np.rint(steps * k_step).astype(np.int64)
    parts = {
        "launch": sums((after[opens], (launched - issue)[opens])),
        "first load": sums((after[opens], (start - launched)[opens])),
        "hand over": sums((after[~opens], (start - issue)[~opens])),
        "write": sums((before, done - fixed)),
        "gap": sums((before, issue - done)),
        "wait": sums((before, ready - drain), (last, (spans["ready"] - spans["drain"])[last])),
        "fix up": sums((before, fixed - ready), (last, (spans["fixup"] - spans["ready"])[last])),
        "multiply": sums((every, loops)) - slowed,
        "slowed by a write": slowed,
        "begin": sums((first, spans["start"][first])),
        "last write": sums((last, (spans["done"] - spans["fixup"])[last])),
    }
    return parts | {"tail": trace.device.ctas_per_sm * trace.makespan - sum(parts.values())}


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
