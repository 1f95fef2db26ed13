"""Warp specialization: a producer warp loads, consumer warps multiply, and two consumer groups can alternate.

Both share a circular buffer of `stages` K-steps. For K-step g of a thread block, in the order of its tiles,

    load[g]     = max(empty[g - stages], load[g - 1] + interval)
    full[g]     = load[g] + latency
    multiply[g] = max(full[g], empty[g - 1], end of the group's previous write)
    empty[g]    = multiply[g] + k_step

Without a producer, no warp loads during a write. With two groups, one multiplies while the other writes.
Sources: M. Bauer, H. Cook, B. Khailany, CudaDMA (2011); CUTLASS 3,
sm90_gemm_tma_warpspecialized_{cooperative,pingpong}.
"""

from typing import NamedTuple

import numpy as np

STEP = np.dtype([(name, np.int64) for name in ("tile", "load", "full", "multiply", "empty")])
WRITE = np.dtype([(name, np.int64) for name in ("tile", "group", "start", "end")])


class Times(NamedTuple):
    """The times of a thread block's work, in whole ns.

    `latency`: from the request of a K-step's operands to their arrival; `interval`: between requests, at
    least. `k_step`: multiplying one; `write`: writing a tile, and `contention`: what it adds to a main loop.
    """

    latency: int
    k_step: int
    write: int
    interval: int = 0
    contention: int = 0


class Phase(NamedTuple):
    """ "load", "wait", "multiply" or "write" for a tile, from `start` to `end` in ns."""

    kind: str
    start: int
    end: int
    tile: int


class Timeline(NamedTuple):
    """When one thread block loads, multiplies and writes, in ns since its first request. `steps`: STEP
    [K-steps], in flight from `load` to `full`, multiplied from `multiply` to `empty`; `writes`: WRITE
    [tiles]."""

    steps: np.ndarray
    writes: np.ndarray

    @property
    def makespan(self) -> int:
        """ns until the last tile is written."""
        return int(self.writes["end"].max())

    def pauses(self) -> list[Phase]:
        """When the tensor cores are idle between two multiplications; `tile` is that of the first."""
        steps = self.steps
        times = steps["empty"][:-1], steps["multiply"][1:], steps["tile"][:-1]
        each = zip(*(column.tolist() for column in times), strict=True)
        return [Phase("wait", empty, multiply, tile) for empty, multiply, tile in each if multiply > empty]

    def loads(self) -> list[Phase]:
        """The producer's lane: when loads are in flight; between, it waits for an empty stage."""
        found: list[Phase] = []
        for tile, load, full in self.steps[["tile", "load", "full"]].tolist():
            if found and load <= found[-1].end:
                found[-1] = found[-1]._replace(end=max(found[-1].end, full))
            else:
                found.append(Phase("load", load, full, tile))
        return found

    def consumers(self, group: int = 0) -> list[Phase]:
        """A group's lane: multiply and write, tile after tile."""
        found = []
        for tile, _, start, end in self.writes[self.writes["group"] == group].tolist():
            first = int(self.steps["multiply"][self.steps["tile"] == tile][0])
            found += [Phase("multiply", first, start, tile), Phase("write", start, end, tile)]
        return found


def timeline(
    times: Times, tiles: int, k_steps: int, stages: int, groups: int = 1, producer: bool = True
) -> Timeline:
    """When a thread block loads, multiplies and writes `tiles` tiles of `k_steps` K-steps each; `groups` of
    consumers take tiles in turn. Without a `producer`, the only group also loads."""
    steps, writes = np.zeros(tiles * k_steps, STEP), np.zeros(tiles, WRITE)
    written = [0] * groups
    empty: list[int] = []
    load = -times.interval
    for tile in range(tiles):
        group = tile % groups
        # Every tile but the first is multiplied while the other group writes the previous one.
        longer = times.contention if groups > 1 and tile else 0
        for k in range(k_steps):
            g = tile * k_steps + k
            load = max(load + times.interval, empty[g - stages] if g >= stages else 0)
            if not producer:
                load = max(load, written[0])
            full = load + times.latency
            multiply = max(full, empty[-1] if empty else 0, written[group])
            slower = longer * (k + 1) // k_steps - longer * k // k_steps
            empty.append(multiply + times.k_step + slower)
            steps[g] = (tile, load, full, multiply, empty[-1])
        written[group] = empty[-1] + times.write
        writes[tile] = (tile, group, empty[-1], written[group])
    return Timeline(steps, writes)
