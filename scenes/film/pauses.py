"""Pauses: the times between two main loops of a slot, in which it multiplies nothing. Pure data."""

from dataclasses import dataclass

from tilesim import Trace
from tilesim.analysis.time_account import PARTS, difference, difference_by_sm
from tilesim.metrics import in_turn

NEAR = 0.15
"""Share of the longer run, beyond which two moments are too far apart to be looked at together."""
LEAST = 50
"""ns, below which a pause would be shown as 0.0 µs."""
BEFORE, AFTER = 0.3, 0.18
"""What else a close look shows before and after a pause, as shares of its length."""


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
    """The longest pause of all slots; None where none can be seen.

    >>> from tilesim import Costs, Device, Problem, simulate
    >>> costs = Costs(1000, launch=250, prologue=1000, epilogue=250)
    >>> longest_pause(simulate("naive", Problem(128, 384, 8, tile=(128, 128, 4)), Device(2), costs))
    Pause(sm=0, place=0, begin=3250, end=4750)
    """
    found = max(pauses(trace), key=lambda one: one.length, default=None)
    return found if found is not None and found.length >= LEAST else None


def unlike_pauses(slow: Trace, fast: Trace) -> tuple[Pause, Pause] | None:
    """(slow, fast): the pauses of one SM that differ most, of those that lie near one another in time.

    The SM is the one whose times are nearest to the average's. None where one run has no pause there, or
    none is long enough to be seen.
    """
    sm = _usual_sm(slow, fast)
    each = [[one for one in pauses(trace) if (one.sm, one.place) == (sm, 0)] for trace in (slow, fast)]
    near = [
        pair
        for pair in zip(*each, strict=False)
        if abs(pair[0].begin - pair[1].begin) <= NEAR * slow.makespan
    ]
    pair = max(near, key=lambda pair: abs(pair[0].length - pair[1].length), default=None)
    return pair if pair is not None and max(one.length for one in pair) >= LEAST else None


def _usual_sm(slow: Trace, fast: Trace) -> int:
    average, alone = difference(slow, fast), difference_by_sm(slow, fast)
    strays = sum(abs(alone[part] - average[part]) for part in PARTS)
    both = sorted(set(slow.device.free_sms) & set(fast.device.free_sms))
    return min(both, key=lambda sm: strays[sm])


def window(trace: Trace, *seen: Pause) -> tuple[float, float]:
    """The ns of a run that a close look at some pauses shows."""
    begin, end = min(one.begin for one in seen), max(one.end for one in seen)
    low, high = begin - BEFORE * (end - begin), end + AFTER * (end - begin)
    return max(0.0, low), min(float(trace.makespan), high)
