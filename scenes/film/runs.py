"""Runs: what a run is called, and what its trace can tell. Words for any film of traces."""

import re

from tilesim import SCHEDULES, Problem, Trace, WorkItems
from tilesim.metrics import breakdown, first_of_cta, launch_end
from tilesim_scenes.look.language import tr

LONGEST_NAME = 24
"""Characters that stand beside a lane or a bar."""


def is_foreign(trace: Trace) -> bool:
    """Whether the schedule is none that is registered: the name of a kernel that others wrote."""
    return trace.schedule.partition(":")[0] not in SCHEDULES


def schedule_name(trace: Trace) -> str:
    """The schedule as a heading; the name of a kernel that others wrote stays as it is, cut where too long.

    >>> from tilesim import Device, Problem, simulate
    >>> [schedule_name(simulate(name, Problem(1, 1, 2, tile=(1, 1, 1)), Device(1)))
    ...  for name in ("persistent-dynamic", "stream-k-hybrid:1", "split-k:2")]
    ['Persistent dynamic', 'Stream-K hybrid:1', 'Split-K:2']
    """
    if is_foreign(trace):
        name = " ".join(trace.schedule.split())
        return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1].rstrip()}…"
    return re.sub("-k(?![a-z])", "-K", re.sub("-(?!k(?![a-z]))", " ", trace.schedule).capitalize())


def names(traces: tuple[Trace, ...]) -> tuple[str, ...]:
    """The runs' headings, numbered where two are called alike.

    >>> from tilesim import Device, Problem, simulate
    >>> names((simulate("naive", Problem(1, 1, 2, tile=(1, 1, 1)), Device(1)),) * 2)
    ('Naive 1', 'Naive 2')
    """
    found = [schedule_name(trace) for trace in traces]
    alike = [found[:number].count(name) + 1 for number, name in enumerate(found)]
    return tuple(
        f"{name} {number}" if found.count(name) > 1 else name
        for name, number in zip(found, alike, strict=True)
    )


def time_shares(trace: Trace) -> dict[str, float]:
    """What share of all slots' time each part takes, in [0, 1]; those that take none are left out.

    The parts are those of `metrics.breakdown`, with the first load told from the launch. They add up to 1.

    >>> from tilesim import Costs, Device, Problem, simulate
    >>> costs = Costs(1000, launch=250, prologue=1000, epilogue=250)
    >>> run = simulate("naive", Problem(128, 384, 8, tile=(128, 128, 4)), Device(2), costs)
    >>> {part: round(share, 3) for part, share in time_shares(run).items()}
    {'multiply': 0.429, 'launch': 0.054, 'first load': 0.214, 'write': 0.054, 'idle': 0.25}
    """
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
    return tiles(problem.tiles)


def tiles(count: int) -> str:
    """So many tiles.

    >>> tiles(1), tiles(18)
    ('1 tile', '18 tiles')
    """
    return tr("1 tile") if count == 1 else tr("{tiles} tiles", tiles=count)


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
