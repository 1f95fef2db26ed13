"""Script: what a film says, as data. The scene files write it from traces; the stage shows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tilesim import Problem, Trace
from tilesim.costs import badge


@dataclass(frozen=True, slots=True)
class Caption:
    """A sentence that appears when the clock reaches `at` ns, and stays until the next."""

    at: float
    text: str

    @property
    def seconds(self) -> float:
        """How long it takes to read: a moment to notice it, then four words a second.

        >>> Caption(0, "18 thread blocks, and room for 4").seconds
        2.1
        """
        return 0.35 + 0.25 * len(self.text.split())


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of the end card: what it is, how long in µs, and the kind of thing that gives it its colour.

    Kinds: "run" for what the film shows, "other" for what it is compared with, and as in a lane "multiply",
    "launch", "hand over", "wait", "fix up", "write" and "idle".
    """

    label: str
    us: float
    kind: str = "run"


@dataclass(frozen=True, slots=True, eq=False)
class Lead:
    """How far a simulation is ahead of the measured run over time, linear between `times`; all ns.

    `run`: how long the measured run takes.
    """

    times: np.ndarray
    leads: np.ndarray
    run: float

    def at(self, t: Any) -> Any:
        """The lead at an instant, or at an array of them.

        >>> Lead(np.array([0.0, 100.0]), np.array([0.0, 30.0]), 100).at([50, 80]).tolist()
        [15.0, 24.0]
        """
        return np.interp(t, self.times, self.leads)


@dataclass(frozen=True, slots=True)
class Script:
    """The words of a film and the ns between which it runs in slow motion.

    `panels` has (name, what it does) for each trace. `bars` and `finding` make the end card; `measure`
    says what the bars are. With a `lead`, a strip below the panels counts and draws it.
    """

    title: str
    subtitle: str
    opening: str
    panels: Sequence[tuple[str, str]]
    captions: Sequence[Caption]
    slow: tuple[float, float]
    finding: Sequence[str]
    bars: Sequence[Bar] = ()
    measure: str = ""
    lead: Lead | None = None


def microseconds(ns: float) -> str:
    """ns as films show them.

    >>> microseconds(21_640)
    '21.6 µs'
    """
    return f"{ns / 1000:.1f} µs"


def describe(problem: Problem) -> str:
    """A problem in a line.

    >>> describe(Problem(4096, 4096, 512))
    '4096 × 4096 × 512, bf16, tile 128 × 256 × 64'
    """
    tile = " × ".join(str(size) for size in problem.tile)
    order = "" if problem.order == "row-major" else f", {problem.order}"
    return f"{problem.m} × {problem.n} × {problem.k}, {problem.dtype}, tile {tile}{order}"


def origin(traces: Sequence[Trace]) -> str:
    """What the badge says: where the figures come from, as far as it is the same for all traces.

    >>> from tilesim import Costs, Device, simulate
    >>> run = "naive", Problem(8, 8, 8), Device.named("h200")
    >>> ideal, h200 = simulate(*run, Costs.ideal()), simulate(*run)
    >>> origin([ideal]), origin([h200]), origin([ideal, h200])
    ('simulated, ideal costs', 'simulated, H200 costs', 'simulated')
    """
    sources = {_source(trace) for trace in traces}
    if len(sources) == 1:
        return sources.pop()
    kinds = {trace.origin for trace in traces}
    if len(kinds) > 1:
        return "simulated and measured"
    return "measured on two GPUs" if "measured" in kinds else "simulated"


def _source(trace: Trace) -> str:
    if trace.origin == "measured":
        unknown = trace.device.title if trace.device.name else "a GPU"
        return f"measured on {trace.meta.get('gpu', unknown)}"
    return f"simulated, {badge(trace.meta.get('costs', {}), trace.device)}"
