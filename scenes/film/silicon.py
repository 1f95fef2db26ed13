"""What the film of a simulation beside its measured run says: how far apart, at which tile, and why."""

from dataclasses import dataclass

import numpy as np

from tilesim import Trace
from tilesim.analysis.compare import Pair, compare
from tilesim.analysis.divergence import time_lag
from tilesim.metrics import slot_index
from tilesim.view import written
from tilesim_scenes.look.language import tr

SEEN = 10
"""Segments of a slot, up to which a close look shows all from the first."""
LEAST_GAP = 50
"""ns, below which a tile's difference would be shown as 0.0 µs."""
LEAST_ERROR = 0.0005
"""Share of the run, below which an error would be shown as 0.0 %."""


@dataclass(frozen=True, slots=True)
class Chain:
    """How a tile came to its end in one run: `loops`, `pauses` and its own `end` after its main loop, ns.

    They add up to `done`. `ends`: when its slot had written each tile, or part of one, ns, its own last.
    """

    sm: int
    loops: int
    pauses: int
    end: int
    ends: tuple[int, ...]

    @property
    def before(self) -> int:
        """Tiles, or parts of them, that its slot computed first."""
        return len(self.ends) - 1

    @property
    def done(self) -> int:
        return self.loops + self.pauses + self.end


@dataclass(frozen=True, slots=True)
class Divergence:
    """The tile that is written at times farthest apart, in the simulation and on silicon.

    `cause` is what adds most to that: "order" where its slot computed another number of tiles before, else
    "loops", "pauses" or "end", and `by` how much longer that takes on silicon, ns. `window`: ns to look at.
    """

    tile: int
    simulated: Chain
    measured: Chain
    cause: str
    by: int
    window: tuple[float, float]

    @property
    def gap(self) -> int:
        """By how much later it is written on silicon, ns."""
        return self.measured.done - self.simulated.done


@dataclass(frozen=True, slots=True)
class SiliconStory:
    """`lag`: (times, lags), by how much silicon is behind at each instant, ns. `divergence`: None if none."""

    traces: tuple[Trace, Trace]
    run: Pair
    lag: tuple[np.ndarray, np.ndarray]
    divergence: Divergence | None

    @property
    def longest(self) -> float:
        return max(self.run.simulated, self.run.measured)


def tell(simulated: Trace, measured: Trace) -> SiliconStory:
    """The story of two runs, each from its first multiply on; raises TraceError where they differ in kind.

    >>> from tilesim import Costs, Device, Problem, simulate
    >>> runs = [simulate("naive", Problem(128, 512, 4, tile=(128, 128, 4)), Device(2), Costs(k_step=ns))
    ...         for ns in (1000, 1100)]
    >>> found = tell(*runs)
    >>> round(found.run.error, 3), found.divergence.tile, found.divergence.cause, found.divergence.by
    (-0.091, 2, 'loops', 200)
    """
    found = compare(simulated, measured)
    return SiliconStory(
        (simulated, measured), found.run, time_lag(simulated, measured), _divergence(simulated, measured)
    )


def _divergence(simulated: Trace, measured: Trace) -> Divergence | None:
    late = written(measured) - written(simulated)
    tile = int(np.argmax(np.abs(late)))
    if abs(late[tile]) < LEAST_GAP:
        return None
    one, other = (_chain(trace, tile) for trace in (simulated, measured))
    parts = {name: getattr(other, name) - getattr(one, name) for name in ("loops", "pauses", "end")}
    cause = max(parts, key=lambda name: abs(parts[name]))
    by = parts[cause]
    if one.before != other.before:
        cause, by = "order", other.before - one.before
    # From the first of its slot where those are few, else the last of them, on either side.
    latest = max(one.done, other.done)
    few = max(one.before, other.before) < SEEN
    low = 0.0 if few else max(0.0, latest - SEEN * (one.loops / (one.before + 1)))
    return Divergence(tile, one, other, cause, by, (low, low + 1.12 * (latest - low)))


def _chain(trace: Trace, tile: int) -> Chain:
    """How the segment that ends a tile came to its end."""
    spans = trace.spans
    mine = np.flatnonzero(spans["tile"] == tile)
    row = mine[np.argmax(spans["done"][mine])]
    slot = slot_index(trace)
    before = spans[(slot == slot[row]) & (spans["start"] < spans["start"][row])]
    last = spans[row]
    loops = int((before["drain"] - before["start"]).sum() + last["drain"] - last["start"])
    end = int(last["done"] - last["drain"])
    ends = (*before[np.argsort(before["start"])]["done"].tolist(), int(last["done"]))
    return Chain(int(last["sm"]), loops, int(last["done"]) - loops - end, end, ends)


def cause(found: Divergence) -> str:
    """Where a divergence comes from."""
    us = abs(found.by) / 1000
    if found.cause == "order":
        return tr(
            "Its SM computes {measured} before it, not {simulated}",
            measured=found.measured.before,
            simulated=found.simulated.before,
        )
    longer = {
        "loops": tr("Main loops take {us:.1f} µs longer on silicon", us=us),
        "pauses": tr("Pauses take {us:.1f} µs longer on silicon", us=us),
        "end": tr("Writing it takes {us:.1f} µs longer on silicon", us=us),
    }
    shorter = {
        "loops": tr("Main loops take {us:.1f} µs less on silicon", us=us),
        "pauses": tr("Pauses take {us:.1f} µs less on silicon", us=us),
        "end": tr("Writing it takes {us:.1f} µs less on silicon", us=us),
    }
    return (longer if found.by > 0 else shorter)[found.cause]


def most_apart(found: Divergence) -> str:
    """Which tile differs the most."""
    return tr("Farthest apart: tile {tile}, by {us:.1f} µs", tile=found.tile, us=abs(found.gap) / 1000)


def is_unseen(simulated: Trace) -> bool:
    """Whether the simulation's costs were fitted, and to runs of other sizes than this."""
    source, problem = simulated.meta.get("costs", {}).get("source", ""), simulated.problem
    return source.startswith("calibrated to") and f"{problem.m}x{problem.n}x{problem.k}" not in source


def opening(story: SiliconStory) -> str:
    """What the simulation knows of the run."""
    if is_unseen(story.traces[0]):
        return tr("The simulator never saw this size")
    return tr("One plan, simulated and measured, one clock")


def finding(story: SiliconStory) -> str:
    """How true the simulation is."""
    error = story.run.error or 0.0
    us = abs(story.run.simulated - story.run.measured) / 1000
    if abs(error) < LEAST_ERROR:
        return tr("The simulation takes as long as silicon")
    if error > 0:
        return tr("The simulation takes {us:.1f} µs longer than silicon", us=us)
    return tr("The simulation takes {us:.1f} µs less than silicon", us=us)


def number(story: SiliconStory) -> str:
    """By how much it is off."""
    return tr("{share:.1%} off", share=abs(story.run.error or 0.0))


def aside(story: SiliconStory) -> str:
    """How far off a tile is at most, of which the total says nothing."""
    if story.divergence is None:
        return ""
    return tr("One tile is {us:.1f} µs off", us=abs(story.divergence.gap) / 1000)
