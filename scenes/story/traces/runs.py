"""Runs: what a run is called, and what its trace can tell. Words for any film of traces."""

import re

import numpy as np

from tilesim import SCHEDULES, Problem, Trace, WorkItems
from tilesim.costs import with_current_names
from tilesim.metrics import next_in_slot
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


def is_bare(trace: Trace) -> bool:
    """Whether a simulation's costs are K-steps alone, so that schedules can differ in the tail only."""
    costs = with_current_names(trace.meta.get("costs", {}))
    knobs = ("launch", "prologue", "tile_gap", "epilogue", "fixup")
    return bool(costs) and not any(costs.get(knob) for knob in knobs)


def is_persistent(trace: Trace) -> bool:
    """Whether every thread block with work found a slot at once, so that none ever waited.

    >>> from tilesim import Device, Problem, simulate
    >>> problem = Problem(2, 1, 1, tile=(1, 1, 1))
    >>> [is_persistent(simulate(name, problem, Device(1))) for name in ("naive", "persistent")]
    [False, True]
    """
    return len(np.unique(trace.spans["cta"])) <= trace.device.slots


def overlaps(trace: Trace) -> bool:
    """Whether most tiles that are followed by another are still being written when that one starts."""
    after = next_in_slot(trace, "start")
    followed = after < after.max()
    return bool(followed.any() and (after < trace.spans["done"])[followed].mean() > 0.5)


def tells_writes(trace: Trace) -> bool:
    """Whether writing a tile is told apart from multiplying it, which stamps of others may not do."""
    return trace.origin == "simulated" or bool((trace.spans["done"] > trace.spans["fixup"]).any())


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


def thread_blocks(count: int) -> str:
    """So many thread blocks.

    >>> thread_blocks(1), thread_blocks(132)
    ('1 thread block', '132 thread blocks')
    """
    return tr("1 thread block") if count == 1 else tr("{blocks} thread blocks", blocks=count)


def cubed(m: int, n: int, k: int) -> str:
    """A product's sizes, short where they are alike.

    >>> cubed(4096, 4096, 4096), cubed(1, 2, 3)
    ('4096³', '1 × 2 × 3')
    """
    return f"{m}³" if m == n == k else f"{m} × {n} × {k}"


def idle_sms(trace: Trace, times: np.ndarray) -> np.ndarray:
    """How many SMs have nothing between issue and done, at each of `times`, ns: int64, shape [times].

    >>> from tilesim import Costs, Device, Problem, simulate
    >>> run = simulate("naive", Problem(128, 640, 4, tile=(128, 128, 4)), Device(2), Costs.ideal())
    >>> idle_sms(run, np.array([500, 2500])).tolist()
    [0, 1]
    """
    spans, busy = trace.spans, np.zeros(len(times), np.int64)
    for sm in np.unique(spans["sm"]):
        mine = spans[spans["sm"] == sm]
        begun = np.searchsorted(np.sort(mine["issue"]), times, "right")
        busy += begun > np.searchsorted(np.sort(mine["done"]), times, "right")
    return len(trace.device.free_sms) - busy
