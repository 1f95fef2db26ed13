"""What the film of busy SMs says: who notices that another kernel holds some, and what that costs.

Its lanes are traces. How the time grows with the SMs that are held is simulated, and measured by
`tilesim bench busy-sms`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from tilesim import Device, Problem, Trace, simulate
from tilesim.errors import TraceError
from tilesim.metrics import first_of_cta
from tilesim_scenes.look.language import tr
from tilesim_scenes.story.traces.runs import idle_sms, names

COUNTS = (0, 1, 2, 4, 7, 10, 15, 20, 30, 40, 50, 60, 66)
"""SMs held, of 132, at which the simulated curves have their points."""

Points = tuple[tuple[int, float], ...]
"""(SMs held, time over the time with none held)."""


class Queued(NamedTuple):
    """Thread blocks that find no SM: their numbers, the SM and the ns at which each begins."""

    blocks: tuple[int, ...]
    sms: tuple[int, ...]
    begins: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Story:
    """Runs of one product while SMs are held: `static` launches a block for each SM, and some must queue.

    `idle`: how many SMs stand idle once the queued blocks run, and from and to when, ns. `simulated` and
    `measured`: by run, how its time grows with the SMs held; measured where a report has the product, else
    empty. `alone`: µs with none held, by run.
    """

    traces: tuple[Trace, ...]
    names: tuple[str, ...]
    static: int
    queued: Queued
    idle: tuple[int, int, int]
    simulated: tuple[Points, ...]
    measured: tuple[Points, ...]
    alone: tuple[float, ...]
    growth: tuple[float, ...]

    @property
    def run(self) -> Trace:
        """The run whose blocks queue."""
        return self.traces[self.static]

    @property
    def held(self) -> tuple[int, ...]:
        """The SMs that the other kernel holds."""
        device = self.run.device
        return tuple(sm for sm in range(device.sms) if sm not in set(device.free_sms))

    @property
    def from_report(self) -> bool:
        """Whether the figures of the card were measured."""
        return bool(self.measured)

    @property
    def gpu(self) -> str:
        return str(self.run.meta.get("gpu", self.run.device.title))

    @property
    def title(self) -> str:
        return tr("Who notices that SMs are taken?")

    @property
    def taken(self) -> str:
        return tr("Another kernel holds {held} of {sms} SMs", held=len(self.held), sms=self.run.device.sms)

    @property
    def launched(self) -> str:
        blocks = self.run.device.sms * self.run.device.ctas_per_sm
        return tr(
            "{name} launches {blocks} blocks: {queued} find no SM",
            name=self.names[self.static], blocks=blocks, queued=len(self.queued.blocks),
        )  # fmt: skip

    @property
    def second_round(self) -> str:
        return tr("Their tiles begin only when other blocks end")

    @property
    def nobody_helps(self) -> str:
        if not self.idle[0]:
            return tr("All free SMs go through another round")
        return tr("Nobody else takes their tiles: {idle} SMs watch", idle=self.idle[0])

    @property
    def bracket(self) -> str:
        """What stands at the bracket of the time in which the queued blocks alone run."""
        return tr("{idle} SMs idle, {{length}}", idle=self.idle[0]) if self.idle[0] else "{length}"

    @property
    def waiting(self) -> str:
        return tr("{count} wait", count=len(self.queued.blocks))

    @property
    def others(self) -> str:
        return tr("Tiles that nobody owns go to whoever is free")

    @property
    def sweep(self) -> str:
        """What the curves show: how much of the static run's cost the first held SM brings."""
        first = next((times for held, times in self.grows(self.static) if held == 1), None)
        last = self.growth[self.static]
        if first is not None and first > 1 + 0.8 * (last - 1) and last > 1.2:
            return tr("For a fixed share of tiles, one held SM is enough")
        return tr("The time grows with the SMs that are held")

    def grows(self, run: int) -> Points:
        """How a run's time grows with the SMs held: measured, else simulated."""
        return (self.measured or self.simulated)[run]

    @property
    def apart(self) -> str:
        """Why the static run grows by less than is simulated, where its clock says so; else nothing."""
        rise, simulated = clock_rise(self.run, self.idle[1]), dict(self.simulated[self.static])
        if self.measured and rise > 0.02 and simulated[len(self.held)] > self.growth[self.static]:
            return tr("Idle SMs let the clock rise by {rise:.0%}", rise=rise)
        return ""

    @property
    def finding(self) -> str:
        """Whether those whose tiles have owners wait for longer than the others."""
        if self.growth[self.static] > 1.1 * min(self.growth):
            return tr("Tiles with a fixed owner wait for it")
        return tr("Here a fixed owner costs no more")

    @property
    def number(self) -> str:
        return f"×{self.growth[self.static]:.2f}"

    @property
    def aside(self) -> str:
        return tr("{held} of {sms} SMs held", held=len(self.held), sms=self.run.device.sms)


def tell(traces: tuple[Trace, ...], report: Mapping[str, Any] | None = None) -> Story:
    """The story of runs of one product, made while the same number of SMs was held.

    Raises TraceError where none was held, where they differ in that, or where no run launches a block for
    each SM and lets some of them queue.
    """
    held = [trace.device.busy_sms for trace in traces]
    if not all(held) or len(set(held)) > 1:
        counts = ", ".join(map(str, held))
        raise TraceError(f"the film busy-sms shows runs while as many SMs are held, 1 or more; here {counts}")
    found = [(number, queued) for number, trace in enumerate(traces) if (queued := queue_of(trace)).blocks]
    if not found:
        raise TraceError(
            "the film busy-sms needs a run that launches a block for each SM, of which some with tiles find"
            f" none; {', '.join(trace.schedule for trace in traces)} have no such blocks"
        )
    static, queued = found[0]
    rows = [_measured(trace, report) for trace in traces] if report else []
    measured = rows if rows and all(rows) else []
    simulated = [_simulated(trace.schedule, trace.problem, trace.device) for trace in traces]
    best = measured or simulated
    return Story(
        traces=traces,
        names=names(traces),
        static=static,
        queued=queued,
        idle=_idle(traces[static], queued),
        simulated=tuple(map(_grows, simulated)),
        measured=tuple(map(_grows, measured)),
        alone=tuple(each[0] for each in best),
        growth=tuple(each[held[0]] / each[0] for each in best),
    )


def queue_of(trace: Trace) -> Queued:
    """The blocks with tiles of their own that found no SM at first, of a run with a block for each place.

    None where a run has more blocks than places, as its blocks are many on purpose.
    """
    spans = trace.spans
    first = first_of_cta(trace)
    if len(first) > trace.device.sms * trace.device.ctas_per_sm:
        return Queued((), (), ())
    late = first[spans["issue"][first] > 0]
    late = late[np.argsort(spans["issue"][late], kind="stable")]
    return Queued(*(tuple(spans[name][late].tolist()) for name in ("cta", "sm", "issue")))


def clock_rise(trace: Trace, since: float) -> float:
    """By how much faster SMs' clocks run in main loops that start from `since` on than in those before.

    0 where the run does not tell cycles.
    """
    spans = trace.spans
    late = spans["start"] >= since
    ns, cycles = spans["drain"] - spans["start"], spans["cycles"]
    if not late.any() or late.all() or not cycles[late].all() or not cycles[~late].all():
        return 0.0
    return float(cycles[late].sum() / ns[late].sum() * ns[~late].sum() / cycles[~late].sum()) - 1


def _idle(trace: Trace, queued: Queued) -> tuple[int, int, int]:
    """(SMs, from, to): how many are idle for most of the time in which only the queued blocks run."""
    begin, end = max(queued.begins), trace.makespan
    idle = idle_sms(trace, np.linspace(begin, end, 101)[1:-1])
    usual = int(np.median(idle))
    since = np.linspace(begin, end, 101)[1:-1][np.flatnonzero(idle >= usual)[0]]
    return usual, int(since), end


def _grows(times: Mapping[int, float]) -> Points:
    return tuple((count, us / times[0]) for count, us in sorted(times.items()))


@cache
def _simulated(schedule: str, problem: Problem, device: Device) -> Mapping[int, float]:
    """{SMs held: µs} of a schedule, as it is simulated; the number that the device has is among them."""
    shares = {round(count * device.sms / 132) for count in COUNTS} | {device.busy_sms}
    # What is held comes first in the order, so a recorded one would hold the same SMs each time.
    plain = replace(device, sm_order=())
    counts = sorted(count for count in shares if count < device.sms)
    return {
        count: simulate(schedule, problem, replace(plain, busy_sms=count)).makespan / 1000 for count in counts
    }


def _measured(trace: Trace, report: Mapping[str, Any]) -> dict[int, float]:
    """{SMs held: µs} of a trace's product and schedule in a report; empty where it lacks what is needed."""
    problem = trace.problem
    asked = {"m": problem.m, "n": problem.n, "k": problem.k, "dtype": problem.dtype}
    found = {
        int(row["busy_sms"]): float(row["us"])
        for row in report["rows"]
        if row["kernel"] == trace.schedule and all(row[name] == value for name, value in asked.items())
        and tuple(row["tile"]) == problem.tile
    }  # fmt: skip
    alike = report["machine"]["gpu"] == trace.meta.get("gpu") and trace.origin == "measured"
    return found if alike and {0, trace.device.busy_sms} <= found.keys() else {}
