"""Phrases that several films share, written from what a trace holds."""

import re
from collections.abc import Sequence

import numpy as np

from tilesim import SCHEDULES, Trace
from tilesim.metrics import breakdown, launches, next_in_slot, utilization
from tilesim.text import plural
from tilesim.view import hand_over

from . import glyphs
from .layout import is_classroom
from .script import Bar, Caption, Script, describe, microseconds

FAR = 0.15
"""Share of a film's clock, beyond which two hand-overs cannot be shown in one slow motion."""

LEAST_PAUSE = 50
"""ns, below which a pause would be shown as 0.0 µs."""

NAME_ROOM, LEAST_PX = 525, 36
"""What the narrowest panel has room for beside its clock, and the least size of what must be read."""


def is_foreign(trace: Trace) -> bool:
    """Whether the schedule is none that is registered: the name of a kernel that others wrote."""
    return trace.schedule.partition(":")[0] not in SCHEDULES


def name_in_sentence(trace: Trace) -> str:
    """The schedule's name, small unless others wrote it so."""
    return schedule_name(trace) if is_foreign(trace) else schedule_name(trace).lower()


def schedule_name(trace: Trace) -> str:
    """The schedule as a heading; the name of a kernel that others wrote stays as it is.

    >>> from tilesim import Device, Problem, simulate
    >>> [schedule_name(simulate(name, Problem(1, 1, 2, tile=(1, 1, 1)), Device(1)))
    ...  for name in ("persistent-dynamic", "stream-k-hybrid:1", "split-k:2")]
    ['Persistent dynamic', 'Stream-K hybrid:1', 'Split-K:2']
    """
    if is_foreign(trace):
        return _fitting(" ".join(trace.schedule.split()))
    return re.sub("-k(?![a-z])", "-K", re.sub("-(?!k(?![a-z]))", " ", trace.schedule).capitalize())


def _fitting(name: str) -> str:
    """`name`, cut where it is too long for a panel."""
    cut = name[:100]
    while glyphs.width(cut, LEAST_PX, glyphs.SANS, True) > NAME_ROOM:
        cut = f"{cut.removesuffix('…')[:-1]}…"
    return cut


def merge_captions(trace: Trace) -> list[Caption]:
    """The longest wait for a partial, if it is long enough to be seen; else that a tile is cut.

    Nothing where no SMs share a tile.
    """
    spans = trace.spans
    waits = spans["ready"] - spans["drain"]
    longest = spans[int(np.argmax(waits))]
    if waits.max() >= 0.02 * trace.makespan:
        text = f"A block on SM {longest['sm']} waits for another's part of tile {longest['tile']}"
        return [Caption(int(longest["drain"]), text)]
    by_tile = np.lexsort((spans["start"], spans["tile"]))
    before, after = spans[by_tile[:-1]], spans[by_tile[1:]]
    joins = after["start"][(before["tile"] == after["tile"]) & (before["sm"] != after["sm"])]
    text = "A tile in two colours is cut: SMs share its K-steps"
    if not is_classroom(trace):
        text = "Here a tile is cut: SMs share its K-steps"
    return [Caption(int(joins.min()), text)] if joins.size else []


def is_bare(trace: Trace) -> bool:
    """Whether a simulation's costs are K-steps alone, so that schedules can differ in the tail only."""
    costs = trace.meta.get("costs", {})
    knobs = ("dispatch", "launch", "prologue", "handover", "epilogue", "fixup")
    return bool(costs) and not any(costs.get(knob) for knob in knobs)


def overlaps(trace: Trace) -> bool:
    """Whether most tiles that are followed by another are still being written when that one starts."""
    after = next_in_slot(trace, "start")
    followed = after < after.max()
    return bool(followed.any() and (after < trace.spans["done"])[followed].mean() > 0.5)


def hand_overs(traces: tuple[Trace, ...]) -> list[tuple[int, int, int]]:
    """Each trace's typical first hand-over, or where those are far apart, all near the latest of them."""
    overs = [hand_over(trace) for trace in traces]
    drains = [drain for _, drain, _ in overs]
    if max(drains) - min(drains) > FAR * max(trace.makespan for trace in traces):
        return [hand_over(trace, near=max(drains)) for trace in traces]
    return overs


def around_hand_over(traces: tuple[Trace, ...]) -> tuple[float, float]:
    """The ns in which every trace makes its hand-over of `hand_overs`, with a little room on both sides.

    (0, 0) where one makes none, and where no pause is long enough to be seen.
    """
    overs = [over[1:] for over in hand_overs(traces)]
    low, high = min(start for start, _ in overs), max(end for _, end in overs)
    if not all(end for _, end in overs) or max(end - start for start, end in overs) < LEAST_PAUSE:
        return 0.0, 0.0
    room = max(0.02 * max(trace.makespan for trace in traces), 0.25 * (high - low))
    return max(0.0, low - room), high + 1.6 * room


def tells_writes(trace: Trace) -> bool:
    """Whether writing a tile is told apart from multiplying it, which stamps of others may not do."""
    return trace.origin == "simulated" or bool((trace.spans["done"] > trace.spans["fixup"]).any())


def time_bars(trace: Trace) -> list[Bar]:
    """Where a slot's time went, on average, in µs: the parts add up to the makespan."""
    parts = breakdown(trace)
    names = {
        "multiply": "multiplying" if tells_writes(trace) else "multiplying and writing",
        "launch": "launching blocks",
        "hand over": "handing over",
        "wait": "waiting for partials",
        "fix up": "adding partials",
        "write": "writing only",
        "idle": "idle",
    }
    return [
        Bar(name, parts[kind] / trace.device.slots / 1000, kind)
        for kind, name in names.items()
        if parts[kind] or kind in ("multiply", "launch", "idle") or (kind == "write" and tells_writes(trace))
    ]


def of_one_trace(trace: Trace, title: str, opening: str, note: str, captions: Sequence[Caption]) -> Script:
    """A film of a single trace: slow motion around its first hand-over, and where its time went."""
    tiles, sms = plural(trace.problem.tiles, "output tile"), plural(trace.device.sms, "SM")
    count, length = launches(trace), microseconds(trace.makespan)
    alone = trace.device.ctas_per_sm == 1
    who = "the SMs" if alone else "the slots"
    share = f"{who} multiply{'' if tells_writes(trace) else ' or write'} {utilization(trace):.0%} of the time"
    return Script(
        title=title,
        subtitle=f"{tiles} on {sms}: {describe(trace.problem)}",
        opening=opening,
        panels=[(schedule_name(trace), note)],
        captions=captions,
        slow=around_hand_over((trace,)),
        finding=[f"{count} launch{'es' * (count != 1)}, {length}: {share}."],
        bars=time_bars(trace),
        measure=f"where the {length} of an average SM go"
        if alone
        else f"where the {length} of an average slot go; an SM has several",
    )
