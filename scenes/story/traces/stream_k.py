"""Stream-K: what SMs do while the last tiles are finished, and what cutting those tiles along K wins."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from math import gcd
from typing import NamedTuple

import numpy as np

from tilesim import Trace
from tilesim.errors import TraceError
from tilesim.metrics import splits_tiles
from tilesim.orders import rasterize
from tilesim_scenes.story.traces.race import Heat, heat
from tilesim_scenes.story.traces.runs import idle_sms

MOST_SHARES = 6
"""Thread blocks whose shares of a ribbon can be told apart."""
MOST_PIECES = 6
ELSEWHERE = "data/traces/h200-{name}-4096x4096x4096-grouped8.npz"


class Idle(NamedTuple):
    """`sms` SMs of the run `run` are idle from `begin` to `end`, ns."""

    run: int
    sms: int
    begin: int
    end: int


class Share(NamedTuple):
    """K-steps of a tile that an SM does, which lie from `begin` to `end` of the ribbon of all tiles."""

    sm: int
    tile: int
    begin: int
    end: int


class Handing(NamedTuple):
    """A tile of which `giver` computed a part and `owner` another: rows of the trace's spans."""

    tile: int
    giver: int
    owner: int


@dataclass(frozen=True, slots=True)
class StreamK:
    """What the film says. `heat`: the two runs, the one that cuts no tiles first.

    `left_over`: tiles of the last wave, where it is not full. `pieces`: SMs to each of them. `shares`: of the
    first thread blocks, whose ribbon begins and ends with a tile; `of_each`: K-steps of a thread block.
    `elsewhere`: µs of both schedules at 4096³, where they were recorded on this machine.
    """

    heat: Heat
    left_over: int
    idle: Idle
    pieces: int
    shares: tuple[Share, ...]
    of_each: int
    handing: Handing
    elsewhere: tuple[float, float] | None

    @property
    def whole(self) -> Trace:
        """The run that cuts no tile."""
        return self.heat.traces[0]

    @property
    def cut(self) -> Trace:
        """The run that cuts tiles."""
        return self.heat.traces[1]


def tell(traces: tuple[Trace, ...]) -> StreamK:
    """The story of two runs of one product, of which one cuts tiles along K.

    Raises TraceError where not exactly one of them does.
    """
    whole = [trace for trace in traces if not splits_tiles(trace)]
    cut = [trace for trace in traces if splits_tiles(trace)]
    if len(whole) != 1 or len(cut) != 1:
        which = "both do" if cut else "neither does"
        raise TraceError(f"this film needs a run that cuts tiles along K and one that does not; {which}")
    pair = heat((whole[0], cut[0]))
    slots, tiles = whole[0].device.slots, whole[0].problem.tiles
    left_over = tiles % slots
    return StreamK(
        heat=pair,
        left_over=left_over,
        idle=idlest(pair.traces),
        pieces=int(np.clip(slots // left_over if left_over else 2, 2, MOST_PIECES)),
        shares=shares(cut[0]),
        of_each=round(tiles * whole[0].problem.k_steps / slots),
        handing=longest_wait(cut[0]),
        elsewhere=_elsewhere(pair),
    )


def idlest(traces: tuple[Trace, ...]) -> Idle:
    """The longest time in which at least half as many SMs are idle as ever are, of the run that idles most.

    SMs that are idle over and over between tiles, for less than that, do not count. Where none ever is, it
    is no time at the end.
    """
    found = [Idle(0, 0, traces[0].makespan, traces[0].makespan)]
    for number, trace in enumerate(traces):
        times = np.unique(np.concatenate([trace.spans["issue"], trace.spans["done"]]))
        idle = idle_sms(trace, times[:-1])
        many = np.concatenate([[False], idle >= max(1, idle.max() / 2), [False]])
        begins, ends = (np.flatnonzero(np.diff(many.astype(int)) == step) for step in (1, -1))
        for begin, end in zip(begins, ends, strict=True):
            widths = np.diff(times)[begin:end]
            most = int(np.median(np.repeat(idle[begin:end], np.maximum(1, widths // 32))))
            found.append(Idle(number, most, int(times[begin]), int(times[end])))
    return max(found, key=lambda idle: idle.sms * (idle.end - idle.begin))


def shares(trace: Trace) -> tuple[Share, ...]:
    """The K-steps of the first thread blocks, in the order of the ribbon of all tiles, end to end.

    As many blocks as have whole tiles together, where that are few enough to be told apart.
    """
    spans, steps = trace.spans, trace.problem.k_steps
    place = np.empty(trace.problem.tiles, np.int64)
    place[rasterize(trace.problem)] = np.arange(trace.problem.tiles)
    begin = place[spans["tile"]] * steps + spans["k0"]
    order = np.argsort(begin, kind="stable")
    blocks = trace.device.slots // gcd(trace.problem.tiles, trace.device.slots)
    chosen, seen = [], []
    for row in order:
        cta = int(spans["cta"][row])
        if cta not in seen and len(seen) == min(blocks, MOST_SHARES):
            break
        seen += [cta] * (cta not in seen)
        length = int(spans["k1"][row] - spans["k0"][row])
        span = int(begin[row]), int(begin[row]) + length
        chosen.append(Share(int(spans["sm"][row]), int(spans["tile"][row]), *span))
    return tuple(chosen)


def longest_wait(trace: Trace) -> Handing:
    """The tile whose last thread block spends longest on others' partial sums, and the last that gave one."""
    spans = trace.spans
    owner = int(np.argmax(spans["fixup"] - spans["drain"]))
    others = np.flatnonzero(spans["tile"] == spans["tile"][owner])
    others = others[others != owner]
    if not len(others):
        others = np.array([owner])
    return Handing(int(spans["tile"][owner]), int(others[np.argmax(spans["done"][others])]), owner)


@cache
def _shipped(schedule: str) -> Trace | None:
    path = files("tilesim").joinpath(*ELSEWHERE.format(name=schedule.replace(":", "")).split("/"))
    if not path.is_file():
        return None
    with as_file(path) as file:
        return Trace.load(file)


def _elsewhere(pair: Heat) -> tuple[float, float] | None:
    if any(trace.origin != "measured" for trace in pair.traces):
        return None
    first, second = (_shipped(trace.schedule) for trace in pair.traces)
    if first is None or second is None or pair.traces[0].meta.get("gpu") != first.meta.get("gpu"):
        return None
    return first.makespan / 1000, second.makespan / 1000
