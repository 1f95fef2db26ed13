"""What became slower between measured runs of the same work, and where."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tilesim.analysis.time_account import account, loop_pace
from tilesim.errors import TraceError
from tilesim.traces import Trace

PARTS = {
    "launch": ("launch",),
    "first load": ("first load", "begin"),
    "main loop": ("multiply", "slowed by a write"),
    "hand-over": ("hand over", "gap"),
    "write": ("write", "last write"),
    "partials": ("wait", "fix up"),
    "tail": ("tail",),
}
"""Parts of a slot's time, and what they are made of in `time_account`; "begin" is mostly the first load."""
LISTED = 5
"""Tiles and SMs that are told."""


@dataclass(frozen=True, slots=True)
class Change:
    """Medians over repeats, ns; `noise`: the most that repeats of a side differ by, None without repeats."""

    before: float
    after: float
    noise: float | None

    @property
    def ns(self) -> float:
        return self.after - self.before

    @property
    def share(self) -> float:
        return self.ns / self.before if self.before else 0.0

    @property
    def certain(self) -> bool:
        """Whether it is larger than the noise; without repeats nobody knows, and it counts as such."""
        return abs(self.ns) > (self.noise or 0.0)


@dataclass(frozen=True, slots=True)
class Regression:
    """How measured runs differ from earlier ones.

    `parts`: an average slot's time by PARTS, which add up to the makespan where each side is one run.
    `tiles`: main loops of the tiles that lost most, by number. `sms`: when those SMs are done that lost most.
    """

    makespan: Change
    parts: dict[str, Change]
    tiles: dict[int, Change]
    sms: dict[int, Change]

    def as_json(self) -> dict[str, Any]:
        figures = asdict(self)
        figures["makespan"]["share"] = self.makespan.share
        return figures


def regression(before: Sequence[Trace], after: Sequence[Trace]) -> Regression:
    """What runs `after` take longer than runs `before`, one or several repeats of each.

    Raises TraceError where they compute different work, or on different numbers of SMs.
    """
    first = before[0]
    for trace in (*before, *after):
        if trace.problem.tiles != first.problem.tiles or trace.problem.title != first.problem.title:
            raise TraceError(
                f"{trace.problem.title} and {first.problem.title} are different work; give runs of the same"
            )
        if trace.device.sms != first.device.sms:
            raise TraceError(
                f"a run on {trace.device.sms} SMs and one on {first.device.sms} have no SM in common;"
                " give runs on one GPU"
            )
    pace = loop_pace(first)

    def parts(trace: Trace) -> list[float]:
        sums = account(trace, pace)
        return [sum(sums[part] for part in made) / trace.device.slots for made in PARTS.values()]

    def changes(figures: Callable[[Trace], Any]) -> list[Change]:
        """A change for each of the figures of a run."""
        sides = [np.array([figures(one) for one in side]) for side in (before, after)]
        middles = (np.median(side, axis=0).tolist() for side in sides)
        noise = np.maximum(*(np.ptp(side, axis=0) for side in sides)).tolist()
        repeated = len(before) + len(after) > 2
        return [
            Change(one, other, most if repeated else None)
            for one, other, most in zip(*middles, noise, strict=True)
        ]

    return Regression(
        changes(lambda trace: [trace.makespan])[0],
        dict(zip(PARTS, changes(parts), strict=True)),
        _most(changes(_by_tile)),
        _most(changes(_by_sm)),
    )


def _by_tile(trace: Trace) -> np.ndarray:
    """ns of main loops, by tile."""
    spans = trace.spans
    return np.bincount(spans["tile"], spans["drain"] - spans["start"], trace.problem.tiles)


def _by_sm(trace: Trace) -> np.ndarray:
    """When each SM has written its last tile, ns."""
    ends = np.zeros(trace.device.sms)
    np.maximum.at(ends, trace.spans["sm"], trace.spans["done"])
    return ends


def _most(changes: list[Change]) -> dict[int, Change]:
    """Those that lost most, the largest loss first."""
    order = sorted(range(len(changes)), key=lambda number: -changes[number].ns)
    return {number: changes[number] for number in order[:LISTED] if changes[number].ns > 0}
