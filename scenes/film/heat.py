"""Race: which of several runs of one problem ends first, by how much, and what that is made of. Pure data."""

from collections.abc import Mapping
from dataclasses import dataclass

from tilesim import Trace
from tilesim.analysis.time_account import ENDS, LOOPS, PARTIALS, PAUSE, difference
from tilesim_scenes.film.pauses import Pause, unlike_pauses
from tilesim_scenes.film.runs import names

CAUSES = {"pauses": PAUSE, "partials": PARTIALS, "main loops": LOOPS, "tail": ("tail",), "rest": ENDS}
"""What can make a run faster, by the parts of the account of its time."""
LEAST = 0.1
"""Share of the gap, below which a cause is counted to the rest."""
SAME = 0.001
"""Share of a makespan, below which two runs take the same time."""


@dataclass(frozen=True, slots=True)
class Heat:
    """Runs of one problem on one clock. `slow` and `fast` number the last and the first to be done.

    `causes`: by how much each of CAUSES is longer for an average slot of the slow run than of the fast one,
    ns, largest first; they add up to `gap`. `pauses`: one SM's in the slow and the fast run, if any.
    """

    traces: tuple[Trace, ...]
    names: tuple[str, ...]
    slow: int
    fast: int
    causes: Mapping[str, float]
    pauses: tuple[Pause, Pause] | None

    @property
    def longest(self) -> int:
        """ns."""
        return self.traces[self.slow].makespan

    @property
    def shortest(self) -> int:
        """ns."""
        return self.traces[self.fast].makespan

    @property
    def gap(self) -> int:
        """By how much the first is done before the last, ns."""
        return self.longest - self.shortest

    @property
    def shown_gap(self) -> float:
        """The same in µs, as the difference of the two times that stand beside it, each to a tenth."""
        return round(round(self.longest / 1000, 1) - round(self.shortest / 1000, 1), 1)

    @property
    def same(self) -> bool:
        """Whether the runs take the same time, as far as anybody can tell."""
        return self.gap <= SAME * self.longest or self.shown_gap <= 0

    @property
    def shown_causes(self) -> dict[str, float]:
        """What the fast run gains and loses, and the rest: tenths of µs that add up to `shown_gap`.

        Gains come first. Empty where nothing is gained.
        """
        shown = {
            cause: us for cause, ns in self.causes.items() if cause != "rest" and (us := round(ns / 1000, 1))
        }
        rest = round(self.shown_gap - sum(shown.values()), 1)
        if rest:
            shown["rest"] = rest
        return (
            dict(sorted(shown.items(), key=lambda item: item[1] < 0))
            if max(shown.values(), default=0) > 0
            else {}
        )


def heat(traces: tuple[Trace, ...]) -> Heat:
    """Two runs or more on one clock, and what the largest of their differences is made of."""
    order = sorted(range(len(traces)), key=lambda n: traces[n].makespan)
    fast, slow = order[0], order[-1]
    pair = traces[slow], traces[fast]
    parts = difference(*pair)
    causes = {cause: sum(parts[part] for part in group) for cause, group in CAUSES.items()}
    gap = pair[0].makespan - pair[1].makespan
    # What is too small to see is in the rest.
    for cause in [cause for cause, ns in causes.items() if cause != "rest" and abs(ns) < LEAST * gap]:
        causes["rest"] += causes.pop(cause)
    causes = dict(sorted(causes.items(), key=lambda item: -item[1]))
    return Heat(traces, names(traces), slow, fast, causes, unlike_pauses(*pair))
