"""Runs: what a run is called, and what its trace can tell. Words and data for any film of traces."""

import re
from dataclasses import dataclass, replace

import numpy as np

from tilesim import SCHEDULES, Problem, Trace, WorkItems
from tilesim.analysis.time_account import PARTS, difference, difference_by_sm
from tilesim.gemm import kernel_of
from tilesim.gemm.fit import limits_of
from tilesim.metrics import breakdown, first_of_cta, in_turn, launch_end, next_in_slot
from tilesim.products import Product
from tilesim_scenes.look.language import tr

LONGEST_NAME = 24
"""Characters that stand beside a lane or a bar."""
NEAR = 0.15
"""Share of the longer run, beyond which two moments are too far apart to be looked at together."""
LEAST = 50
"""ns, below which a pause would be shown as 0.0 µs."""
BEFORE, AFTER = 0.3, 0.18
"""What else a close look shows before and after a pause, as shares of its length."""


def schedule_name(trace: Trace) -> str:
    """The schedule as a heading; the name of a kernel that others wrote stays as it is, cut where too long.

    >>> from tilesim import Device, Problem, simulate
    >>> [schedule_name(simulate(name, Problem(1, 1, 2, tile=(1, 1, 1)), Device(1)))
    ...  for name in ("persistent-dynamic", "stream-k-hybrid:1", "split-k:2")]
    ['Persistent dynamic', 'Stream-K hybrid:1', 'Split-K:2']
    """
    if trace.schedule.partition(":")[0] not in SCHEDULES:
        name = " ".join(trace.schedule.split())
        return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1].rstrip()}…"
    return re.sub("-k(?![a-z])", "-K", re.sub("-(?!k(?![a-z]))", " ", trace.schedule).capitalize())


def shared_kb(trace: Trace) -> tuple[int, int]:
    """KB of shared memory that a thread block of a recorded matrix product takes, and that its SM has."""
    block = kernel_of(trace.config).shared_bytes(trace.config, Product.of(trace.problem))
    return block // 1024, limits_of(trace.device.name).sm_bytes // 1024


def names(traces: tuple[Trace, ...]) -> tuple[str, ...]:
    """The runs' headings: origins where only those tell them apart, else numbered where alike.

    >>> from tilesim import Device, Problem, simulate
    >>> run = simulate("naive", Problem(1, 1, 2, tile=(1, 1, 1)), Device(1))
    >>> names((run, run)), names((run, replace(run, origin="measured")))
    (('Naive 1', 'Naive 2'), ('Simulation', 'Measurement'))
    """
    found = [schedule_name(trace) for trace in traces]
    if len(set(found)) == 1 and len({trace.origin for trace in traces}) == len(traces) > 1:
        of_origin = {"simulated": tr("Simulation"), "measured": tr("Measurement")}
        return tuple(of_origin[trace.origin] for trace in traces)
    return tuple(
        f"{name} {found[:number].count(name) + 1}" if found.count(name) > 1 else name
        for number, name in enumerate(found)
    )


def time_shares(trace: Trace) -> dict[str, float]:
    """The share of all slots' time that each part takes, if it takes any, in [0, 1]; they add up to 1."""
    parts, first = breakdown(trace), first_of_cta(trace)
    launched = int((launch_end(trace) - trace.spans["issue"])[first].sum())
    ns = {"multiply": parts["multiply"], "launch": launched, "first load": parts["launch"] - launched} | {
        part: parts[part] for part in ("hand over", "wait", "fix up", "write", "idle")
    }
    whole = sum(ns.values())
    return {part: length / whole for part, length in ns.items() if length}


def parts(problem: Problem | WorkItems) -> str:
    """So many tiles, or work items.

    >>> parts(Problem(128, 128, 64)), parts(WorkItems(["attention", "project"]))
    ('1 tile', '2 work items')
    """
    if isinstance(problem, WorkItems):
        return tr("{items} work items", items=problem.tiles)
    return tr("1 tile") if problem.tiles == 1 else tr("{tiles} tiles", tiles=problem.tiles)


def sms_of(count: int) -> str:
    """So many SMs.

    >>> sms_of(1), sms_of(132)
    ('1 SM', '132 SMs')
    """
    return tr("1 SM") if count == 1 else tr("{sms} SMs", sms=count)


def thread_blocks(count: int) -> str:
    """So many thread blocks.

    >>> thread_blocks(1), thread_blocks(132)
    ('1 thread block', '132 thread blocks')
    """
    return tr("1 thread block") if count == 1 else tr("{blocks} thread blocks", blocks=count)


@dataclass(frozen=True, slots=True)
class Pause:
    """From one main loop's end to the next one's begin, ns, in the slot `place` of an SM."""

    sm: int
    place: int
    begin: int
    end: int

    @property
    def length(self) -> int:
        """ns."""
        return self.end - self.begin


def pauses(trace: Trace) -> list[Pause]:
    """All pauses of a run, slot by slot, each slot's in the order of time."""
    spans, (before, after) = trace.spans, in_turn(trace)
    columns = spans["sm"][before], spans["slot"][before], spans["drain"][before], spans["start"][after]
    return [Pause(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def longest_pause(trace: Trace) -> Pause | None:
    """The longest pause of all slots; None where none can be seen."""
    found = max(pauses(trace), key=lambda one: one.length, default=None)
    return found if found is not None and found.length >= LEAST else None


def unlike_pauses(slow: Trace, fast: Trace) -> tuple[Pause, Pause] | None:
    """(slow, fast): the pauses of one SM that differ most, of those that lie near one another in time.

    The SM is the one whose times are nearest to the average's. None where one run has no pause there, or
    none is long enough to be seen.
    """
    average, alone = difference(slow, fast), difference_by_sm(slow, fast)
    strays = sum(abs(alone[part] - average[part]) for part in PARTS)
    sm = min(sorted(set(slow.device.free_sms) & set(fast.device.free_sms)), key=lambda sm: strays[sm])
    each = [[one for one in pauses(trace) if (one.sm, one.place) == (sm, 0)] for trace in (slow, fast)]
    near = [
        (one, other)
        for one, other in zip(*each, strict=False)
        if abs(one.begin - other.begin) <= NEAR * slow.makespan
    ]
    pair = max(near, key=lambda pair: abs(pair[0].length - pair[1].length), default=None)
    return pair if pair is not None and max(one.length for one in pair) >= LEAST else None


def window(trace: Trace, *seen: Pause) -> tuple[float, float]:
    """The ns of a run that a close look at some pauses shows."""
    begin, end = min(one.begin for one in seen), max(one.end for one in seen)
    low, high = begin - BEFORE * (end - begin), end + AFTER * (end - begin)
    return max(0.0, low), min(float(trace.makespan), high)


def written_after_hand_over(trace: Trace) -> Trace:
    """The same run, with each write that runs under a main loop drawn from that main loop's begin.

    Stamps do not tell when the copy unit begins. The block multiplies again once it has handed its tile over.
    """
    spans = trace.spans.copy()
    begun = next_in_slot(trace, "start")
    under = begun < spans["done"]
    spans["fixup"] = np.where(under, np.maximum(begun, spans["drain"]), spans["fixup"])
    return replace(trace, spans=spans)
