"""Close-up: which SM, and which moment, shows best where the difference of two runs comes from."""

from dataclasses import dataclass

import numpy as np

from tilesim import Trace
from tilesim.analysis.time_account import PARTS, account, difference, difference_by_sm
from tilesim.metrics import in_turn, slot_index

NEAR = 0.15
"""Share of the longer run, beyond which two moments are too far apart to be looked at together."""
BEFORE, AFTER = 0.16, 0.04
"""Of what is looked at, how much is shown before and after it."""
LEAST_SEEN = 50
"""ns, below which a bracket would say 0.0 µs."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """Some time of an SM in the slow (0) or the fast (1) of two runs, ns."""

    run: int
    begin: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.begin


@dataclass(frozen=True, slots=True)
class CloseUp:
    """A pause of the SM `sm` in both runs, and the main loops after it, in one window of time, ns."""

    sm: int
    window: tuple[float, float]
    pauses: tuple[Bracket, Bracket]
    loops: tuple[Bracket, Bracket]


def shown_sm(slow: Trace, fast: Trace, few: bool) -> int:
    """The SM to look at in both runs.

    Of few, the one with the smallest tail, as what wins there wins the race; of many, the one whose times
    are nearest to the average's.
    """
    sms = sorted(set(slow.device.free_sms) & set(fast.device.free_sms))
    if few:
        tails = {sm: sum(account(trace, sms=frozenset({sm}))["tail"] for trace in (slow, fast)) for sm in sms}
        return min(sms, key=lambda sm: tails[sm])
    average, alone = difference(slow, fast), difference_by_sm(slow, fast)
    strays = sum(abs(alone[part] - average[part]) for part in PARTS)
    return min(sms, key=lambda sm: strays[sm])


def close_up(slow: Trace, fast: Trace, sm: int, causes: dict[str, float]) -> CloseUp | None:
    """The pause after which the two runs differ most, of those that lie near one another in time.

    What is compared is the larger of the two causes that a pause and a main loop are. None where one run
    has no second main loop on this SM, or no pause is long enough to be seen.
    """
    runs = list(enumerate((slow, fast)))
    between, loops = ([find(trace, sm, run) for run, trace in runs] for find in (pauses, _loops))
    far = NEAR * slow.makespan
    which = between if abs(causes.get("pauses", 0)) >= abs(causes.get("main loops", 0)) else loops
    pairs = [
        (abs(which[0][n].length - which[1][n].length), -n)
        for n in range(min(map(len, which)))
        if abs(between[0][n].begin - between[1][n].begin) <= far
    ]
    if not pairs:
        return None
    n = -max(pairs)[1]
    chosen, after = (tuple(runs[n] for runs in kind) for kind in (between, loops))
    if max(bracket.length for bracket in chosen) < LEAST_SEEN:
        return None
    low, high = min(b.begin for b in chosen), max(b.end for b in after)
    length = high - low
    return CloseUp(sm, (max(0.0, low - BEFORE * length), high + AFTER * length), chosen, after)


def pauses(trace: Trace, sm: int, run: int) -> list[Bracket]:
    """Of an SM's first slot, from each drain to the next start."""
    spans, (before, after) = trace.spans, _turns(trace, sm)
    times = zip(spans["drain"][before].tolist(), spans["start"][after].tolist(), strict=True)
    return [Bracket(run, begin, end) for begin, end in times]


def _loops(trace: Trace, sm: int, run: int) -> list[Bracket]:
    """The main loops that follow those pauses."""
    spans, (_, after) = trace.spans, _turns(trace, sm)
    times = zip(spans["start"][after].tolist(), spans["drain"][after].tolist(), strict=True)
    return [Bracket(run, begin, end) for begin, end in times]


def _turns(trace: Trace, sm: int) -> tuple[np.ndarray, np.ndarray]:
    """(before, after): rows of the segments that follow one another in an SM's first slot, in time."""
    spans, (before, after) = trace.spans, in_turn(trace)
    mine = slot_index(trace)[before] == sm * trace.device.ctas_per_sm
    order = np.argsort(spans["start"][after[mine]], kind="stable")
    return before[mine][order], after[mine][order]
