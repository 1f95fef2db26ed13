"""Split-K and friends: one product whose last wave is nearly empty, by each schedule with an answer to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tilesim import Costs, Device, Problem, Trace, simulate
from tilesim.errors import CostsError
from tilesim.kernel_costs.default import default_costs
from tilesim.ladder.reports import report
from tilesim.metrics import tail
from tilesim_scenes.look.language import tr
from tilesim_scenes.story.traces.runs import schedule_name, tiles
from tilesim_scenes.story.traces.stream_k import Idle, idlest

LAUNCH_CONTROL = "cluster-launch-control"
WHOLE_TILES = ("naive", "persistent", "persistent-contiguous")
SLOWER = 0.05
"""Share by which K-steps take longer, from which on that is what a schedule pays."""
STAYS = 0.8
"""Share of the first run's tail that a tail has that stays."""
LEAST_TAIL = 0.03
"""Share of the makespan below which there is no tail to speak of."""
MOST_HANDED = 10
"""Partial sums that are seen to travel."""
LARGE = (4096, 4096, 4096)
"""M, N and K of the product elsewhere."""


class Handed(NamedTuple):
    """A partial sum: rows of the trace's spans of who computed it and who adds it."""

    giver: int
    owner: int


@dataclass(frozen=True, slots=True)
class Friend:
    """One schedule's run. `base`: its name without parameters; `parameters`: what they are.

    `partials`: sums of parts of tiles that another thread block adds. `pace`: ns a K-step, of all main loops.
    `tail`: from when the first SM has nothing left to the end, ns, mean over SMs. `idle`: the time in which
    many SMs have nothing to do.
    """

    trace: Trace
    base: str
    parameters: tuple[str, ...]
    partials: int
    pace: float
    tail: float
    idle: Idle

    @property
    def us(self) -> float:
        return self.trace.makespan / 1000

    @property
    def measured(self) -> bool:
        return self.trace.origin == "measured"

    @property
    def has_tail(self) -> bool:
        return self.idle.end - self.idle.begin >= LEAST_TAIL * self.trace.makespan

    @property
    def name(self) -> str:
        names = {
            "naive": tr("Data-parallel"),
            "split-k": tr("Split-K"),
            "stream-k": tr("Stream-K"),
            "stream-k-hybrid": tr("Hybrid"),
            "persistent-dynamic": tr("Dynamic"),
            LAUNCH_CONTROL: tr("Launch control"),
        }
        return names.get(self.base) or schedule_name(self.trace)


@dataclass(frozen=True, slots=True)
class Friends:
    """Runs of one product, the one that cuts no tiles first.

    `elsewhere`: µs of whole tiles and of the winner at 4096³, where that was measured on this GPU.
    """

    runs: tuple[Friend, ...]
    elsewhere: tuple[float, float] | None

    @property
    def plain(self) -> Friend:
        return self.runs[0]

    @property
    def problem(self) -> Problem:
        return self.plain.trace.problem

    @property
    def longest(self) -> int:
        """ns."""
        return max(one.trace.makespan for one in self.runs)

    @property
    def winner(self) -> Friend:
        """The fastest of those whose time comes from where the first's does."""
        alike = [one for one in self.runs if one.measured == self.plain.measured]
        return min(alike, key=lambda one: one.trace.makespan)

    @property
    def left_over(self) -> int:
        """Tiles of the last wave, all that there are where it is full."""
        slots = self.plain.trace.device.slots
        return self.problem.tiles % slots or min(slots, self.problem.tiles)

    @property
    def question(self) -> str:
        slots = self.plain.trace.device.slots
        count = tiles(self.problem.tiles)
        if self.problem.tiles % slots == 0:
            return tr("{tiles} on {slots} SMs: every wave is full", tiles=count, slots=slots)
        return tr("{tiles} on {slots} SMs: {left} left over", tiles=count, slots=slots, left=self.left_over)

    def says(self, friend: Friend) -> str:
        """What a schedule does, and what that costs it."""
        slower = friend.pace / self.plain.pace - 1
        stays = friend.tail >= STAYS * self.plain.tail
        if friend.base == "split-k":
            return tr(
                "Split-K: {parts} parts a tile, {partials} partial sums",
                parts=friend.parameters[0], partials=friend.partials,
            )  # fmt: skip
        if friend.base == "stream-k" and slower >= SLOWER:
            return tr("Stream-K: equal shares, K-steps {slower:.0%} slower", slower=slower)
        if friend.base == "stream-k":
            return tr("Stream-K: equal shares, {partials} partial sums", partials=friend.partials)
        if friend.base == "stream-k-hybrid" and friend.parameters == ("1",):
            return tr("Hybrid: whole tiles first, then cut ones")
        if friend.base == "stream-k-hybrid":
            return tr("Hybrid: cut tiles first, then whole ones")
        if friend.base == "persistent-dynamic" and stays:
            return tr("Dynamic: tiles from a counter, same tail")
        if friend.base == "persistent-dynamic":
            return tr("Dynamic: tiles from a counter, a shorter tail")
        if friend.base == LAUNCH_CONTROL and stays:
            return tr("Launch control: blocks steal tiles, same tail")
        if friend.base == LAUNCH_CONTROL:
            return tr("Launch control: blocks steal tiles")
        if friend.base in WHOLE_TILES and friend.has_tail:
            return tr("Whole tiles: at the end {idle} SMs have none", idle=friend.idle.sms)
        return tr("{name}: {us:.1f} µs", name=friend.name, us=friend.us)

    @property
    def verdict(self) -> str:
        """Who wins, and by what."""
        best = self.winner
        if best is self.plain:
            return tr("Here nothing beats whole tiles")
        if best.base == "stream-k-hybrid":
            return tr("The hybrid wins: few cuts, and no tail")
        return tr("{name} wins here", name=best.name)

    @property
    def finding(self) -> str:
        best = self.winner
        if best is self.plain:
            return tr("Cutting tiles costs more here than the tail")
        if best.base == "stream-k-hybrid":
            return tr("Cut only what fills no wave")
        return tr("{name} wins here", name=best.name)

    @property
    def number(self) -> str:
        share = 1 - self.winner.trace.makespan / self.plain.trace.makespan
        return tr("{share:.0%} less time", share=share)

    @property
    def aside(self) -> str:
        """The same two where waves nearly fill."""
        if self.elsewhere is None:
            return ""
        whole, cut = self.elsewhere
        return tr("kernel time at 4096³: {whole:.0f}→{cut:.0f} µs", whole=whole, cut=cut)


def tell(traces: Sequence[Trace]) -> Friends:
    """The story of some runs of one product; the first is of whole tiles."""
    runs = tuple(friend(trace) for trace in traces)
    told = Friends(runs, None)
    return Friends(runs, _elsewhere(told))


def friend(trace: Trace) -> Friend:
    """What a run tells."""
    base, *parameters = trace.schedule.split(":")
    spans = trace.spans
    steps = int((spans["k1"] - spans["k0"]).sum())
    return Friend(
        trace,
        base,
        tuple(parameters),
        len(spans) - len(np.unique(spans["tile"])),
        float((spans["drain"] - spans["start"]).sum()) / steps,
        tail(trace)[1] / trace.device.slots,
        idlest((trace,)),
    )


def launch_control(problem: Problem, device: Device, costs: Costs | None = None, seed: int = 0) -> Trace:
    """The product by cluster launch control: simulated, as only Blackwell has it.

    On other devices with the costs of the dynamic schedule, which takes its tiles from a counter in memory
    and not from the hardware.
    """
    try:
        return simulate(LAUNCH_CONTROL, problem, device, costs, seed)
    except CostsError:
        stand_in = default_costs("persistent-dynamic", problem, device)
        return simulate(LAUNCH_CONTROL, problem, device, stand_in, seed)


def handed(trace: Trace, most: int = MOST_HANDED) -> tuple[Handed, ...]:
    """Some of a run's partial sums, evenly spread over the time in which they are done.

    The owner of a tile is its highest thread block, which adds what the others did.
    """
    spans = trace.spans
    order = np.lexsort((spans["cta"], spans["tile"]))
    tiles = spans["tile"][order]
    last = np.append(tiles[1:] != tiles[:-1], True)
    owner = np.empty(len(spans), np.int64)
    owner[order] = order[last][np.cumsum(np.append(False, last[:-1]))]
    givers = np.flatnonzero(owner != np.arange(len(spans)))
    givers = givers[np.argsort(spans["done"][givers], kind="stable")]
    chosen = givers[np.unique(np.linspace(0, len(givers) - 1, min(most, len(givers))).round().astype(int))]
    return tuple(Handed(int(row), int(owner[row])) for row in chosen)


def _elsewhere(told: Friends, measured: Mapping[str, Any] | None = None) -> tuple[float, float] | None:
    """µs of whole tiles and of the winner's plan at LARGE, by the shipped report."""
    found = measured or report("split_k_and_friends")
    if not told.plain.measured or told.plain.trace.meta.get("gpu") != found["machine"]["gpu"]:
        return None
    us = {row["kernel"]: row["us"] for row in found["rows"] if (row["m"], row["n"], row["k"]) == LARGE}
    best = told.winner
    name = best.trace.schedule + ":2" * (best.trace.schedule == "stream-k-hybrid")
    kernels = f"table:{told.plain.trace.schedule}", f"table:{name}"
    if told.plain is best or not set(kernels) <= set(us):
        return None
    return us[kernels[0]], us[kernels[1]]
