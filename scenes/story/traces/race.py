"""Race: which run of a product is done first, by how much, and where the difference comes from."""

from collections.abc import Mapping
from dataclasses import dataclass

from tilesim import Device, Problem, Trace, simulate
from tilesim.analysis.time_account import ENDS, LOOPS, PARTIALS, PAUSE, difference
from tilesim.ladder.kernel_times import kernel_times
from tilesim_scenes.story.traces.close_up import Bracket, CloseUp, close_up, pauses, shown_sm
from tilesim_scenes.story.traces.runs import names

CAUSES = {"pauses": PAUSE, "partials": PARTIALS, "main loops": LOOPS, "tail": ("tail",), "rest": ENDS}
"""What can make a run faster, by the parts of the account of its time."""
LEAST = 0.1
"""Share of the gap, below which a cause is counted to the rest."""
SAME = 0.001
"""Share of a makespan, below which two runs take the same time."""
FEW = 8
"""Slots up to which each has a lane of its own."""

CLASSROOM = Problem(384, 1536, 512)
"""18 tiles, which take four SMs five waves."""
KERNELS = ("naive-tma", "persistent-tma", "persistent-tma-overlap", "cublas")
"""The kernels whose times split the gain into its causes."""
FILMED = ("naive-tma", "persistent-tma-overlap")


@dataclass(frozen=True, slots=True)
class Heat:
    """Runs of one product on one clock. `slow` and `fast` number the last and the first to be done.

    `causes`: by how much each of CAUSES is longer in the slow run, ns of an average slot, or of the SM that
    is looked at closely where `alone`; largest first. They add up to `gap`. `pauses`: of that SM in both.
    """

    traces: tuple[Trace, ...]
    names: tuple[str, ...]
    slow: int
    fast: int
    alone: bool
    causes: Mapping[str, float]
    over_writes: bool
    close_up: CloseUp | None
    pauses: tuple[Bracket, ...]

    @property
    def gap(self) -> int:
        """By how much the first is done before the last, ns."""
        return self.longest - self.traces[self.fast].makespan

    @property
    def longest(self) -> int:
        """ns."""
        return self.traces[self.slow].makespan

    @property
    def lanes(self) -> bool:
        """Whether each slot has a lane of its own; else a run is one image."""
        return max(trace.device.slots for trace in self.traces) <= FEW

    @property
    def same(self) -> bool:
        """Whether the runs take the same time, as far as anybody can tell."""
        return self.gap <= SAME * self.longest

    @property
    def gained(self) -> list[tuple[str, float]]:
        """(cause, ns): what the fast run spends less on, largest first."""
        return [(cause, ns) for cause, ns in self.causes.items() if ns > 0]

    @property
    def lost(self) -> list[tuple[str, float]]:
        """(cause, ns): what it spends more on, largest first."""
        return [(cause, -ns) for cause, ns in reversed(self.causes.items()) if ns < 0]


@dataclass(frozen=True, slots=True)
class Race:
    """What the film is about. `heats`: where many SMs were recorded, four of them explain it first.

    `kernels`: µs by kernel of KERNELS, and `elsewhere` the same of a product with long main loops; empty
    where they were not measured on this machine.
    """

    heats: tuple[Heat, ...]
    kernels: Mapping[str, float]
    elsewhere: Mapping[str, float]

    @property
    def last(self) -> Heat:
        """The race of the traces themselves."""
        return self.heats[-1]


LARGE = (4096, 4096, 4096)
"""M, N and K of the product elsewhere."""


def tell(traces: tuple[Trace, ...]) -> Race:
    """The story of 2 to 4 runs of one product."""
    here = traces[0].problem
    kernels = _kernels(here, traces)
    heats = [heat(traces)]
    if kernels:
        four = Device.named("h200", 4)
        heats.insert(0, heat(tuple(simulate(trace.schedule, CLASSROOM, four) for trace in traces)))
    large = Problem(*LARGE, here.tile, here.dtype, here.order) if isinstance(here, Problem) else here
    elsewhere = _kernels(large, traces)
    return Race(tuple(heats), kernels, elsewhere)


def heat(traces: tuple[Trace, ...]) -> Heat:
    """Runs on one clock, and where the largest of their differences comes from."""
    order = sorted(range(len(traces)), key=lambda n: traces[n].makespan)
    fast, slow = order[0], order[-1]
    pair = traces[slow], traces[fast]
    gap = pair[0].makespan - pair[1].makespan
    few = max(trace.device.slots for trace in traces) <= FEW
    sm = shown_sm(*pair, few)
    parts, whole = difference(*pair, frozenset({sm})), difference(*pair)
    # The account of one lane is shown where that lane is seen to hold all of it.
    seen = close_up(*pair, sm, _causes(parts, gap))
    alone = few and seen is not None and abs(parts["tail"]) <= LEAST * gap
    if max(trace.device.ctas_per_sm for trace in pair) > 1 or not alone:
        alone, parts = False, whole
    return Heat(
        traces,
        names(traces),
        slow,
        fast,
        alone,
        _causes(parts, gap),
        parts["slowed by a write"] < min(0.0, parts["multiply"]),
        seen,
        tuple(one for run, trace in enumerate(pair) for one in pauses(trace, sm, run)),
    )


def _causes(parts: Mapping[str, float], gap: float) -> dict[str, float]:
    """Parts of an account by what causes them, largest first; what is too small to see is in the rest."""
    causes = {cause: sum(parts[part] for part in group) for cause, group in CAUSES.items()}
    for cause in [cause for cause, ns in causes.items() if cause != "rest" and abs(ns) < LEAST * gap]:
        causes["rest"] += causes.pop(cause)
    return dict(sorted(causes.items(), key=lambda item: -item[1]))


def _kernels(problem: Problem, traces: tuple[Trace, ...]) -> dict[str, float]:
    """µs by kernel, where all of KERNELS are measured for a problem and the traces are of FILMED."""
    rows = kernel_times(problem, traces[0].meta)
    if (
        any(kernel_times(problem, trace.meta) != rows for trace in traces)
        or not set(KERNELS) <= set(rows)
        or sorted(trace.kernel for trace in traces) != sorted(FILMED)
    ):
        return {}
    return {kernel: rows[kernel]["us"] for kernel in KERNELS}
