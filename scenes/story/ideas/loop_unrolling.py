"""What the film loop_unrolling says: a sum whose loop is unrolled, and what that won on a GPU."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tilesim.analysis.memory_system import MemorySystem
from tilesim.errors import ReportError, whole
from tilesim.ideas.loop_unrolling import (
    LINE,
    MOST_SMS,
    PARTITIONS,
    flights,
    in_flight,
    instructions,
    rate,
    rate_of_bursts,
)
from tilesim.ladder.reports import report, row
from tilesim_scenes.look.language import tr

FACTOR = 8
"""Where nobody asks for another."""
FACTORS = (2, 4, 8, 16)
"""By which the measured loops are unrolled."""
EVERY = (1, *FACTORS)
FEW, MANY = 8, 32
"""Warps on an SM: so few that loads in flight are scarce, and so many that they are not."""
EACH = 2
"""Instructions for a value: a load and an addition."""
MOST = 24
"""Instructions a value, of what a GPU can have counted."""
USUAL_LOOP = 6
"""Instructions of the loop itself, where nobody counted them."""
STOPS = 0.1
"""What doubling the factor must win to be said to pay."""
NEAR = 0.05
"""Within which share of the best a number of chains is enough."""


@dataclass(frozen=True, slots=True)
class Story:
    """`rates`: GB/s out of DRAM by (loads, warps on an SM, factor). `issued`: instructions a value by factor.

    `counted`: whether the GPU counted them. `latency_ns`, `peak`: of DRAM, GB/s. `chains`: a scheduler's
    cycles from one multiply-add of a warp to the next, by chains.
    """

    factor: int
    rates: Mapping[tuple[str, int, int], float]
    issued: Mapping[int, float]
    counted: bool
    latency_ns: float
    peak: float
    mhz: float
    sms: int
    chains: Mapping[int, float]
    gpu: str

    @property
    def loop(self) -> int:
        """Instructions of the loop itself, of a turn."""
        return max(1, round(self.issued[1] - EACH))

    @property
    def question(self) -> str:
        return tr("Does unrolling pay by the branches it saves?")

    @property
    def fewer(self) -> str:
        return tr("{factor} values share one turn of the loop", factor=self.factor)

    def instructions(self, factor: int) -> str:
        return tr("{count:.1f} instructions a value", count=self.issued[factor])

    @property
    def waiting(self) -> str:
        """What the instructions alone win."""
        share = self.issued[self.factor] / self.issued[1]
        gain = self.rates["one by one", FEW, self.factor] / self.rates["one by one", FEW, 1] - 1
        return tr("{share:.0%} of the instructions, {gain:+.0%} bandwidth", share=share, gain=gain)

    @property
    def watch(self) -> str:
        return tr("A load takes {cycles:.0f} cycles: how many are under way?", cycles=self.latency)

    @property
    def at_once(self) -> str:
        return tr("{factor} loads leave at once instead of one by one", factor=self.factor)

    @property
    def latency(self) -> float:
        """Of a load, in cycles."""
        return self.latency_ns * self.mhz / 1000

    @property
    def little(self) -> str:
        return tr("Bytes in flight, over the latency: that is the rate")

    @property
    def queueing(self) -> str:
        """Why those that are unrolled most stay below that."""
        return tr("Loads in one burst queue for memory")

    @property
    def stops(self) -> int | None:
        """The factor at which doubling it wins little, with many warps."""
        for factor in (1, *FACTORS[:-1]):
            if self.rates["together", MANY, 2 * factor] < (1 + STOPS) * self.rates["together", MANY, factor]:
                return factor
        return None

    @property
    def where_it_stops(self) -> str:
        if self.stops is None:
            return tr("With {warps} warps it still pays", warps=MANY)
        return tr("With {warps} warps it stops paying at {factor}", warps=MANY, factor=self.stops)

    @property
    def enough_chains(self) -> int:
        """The fewest chains that are about as fast as any."""
        best = min(self.chains.values())
        return min(chains for chains, cycles in self.chains.items() if cycles <= (1 + NEAR) * best)

    @property
    def arithmetic(self) -> str:
        return tr("Cycles a multiply-add: {chains} chains are enough", chains=self.enough_chains)

    @property
    def gains(self) -> tuple[float, float]:
        """By what the loop is faster unrolled, with loads one by one and together."""
        alone, together = (
            self.rates[loads, FEW, self.factor] / self.rates[loads, FEW, 1]
            for loads in ("one by one", "together")
        )
        return alone, together

    @property
    def finding(self) -> str:
        alone, together = self.gains
        if alone < 1 + NEAR < together:
            return tr("Loads in flight pay, saved branches do not")
        if together < 1 + NEAR:
            return tr("Here unrolling pays nothing")
        return tr("Loads in flight and saved branches both pay")

    @property
    def number(self) -> str:
        return f"×{self.gains[1]:.1f}"

    @property
    def aside(self) -> str:
        gain = self.rates["together", MANY, self.factor] / self.rates["together", MANY, 1]
        return tr("{few} warps ({many}: ×{gain:.1f})", few=FEW, many=MANY, gain=gain)

    def flights(self, factor: int) -> np.ndarray:
        """The loads of one warp for as many values as the film's factor, FLIGHT, in cycles."""
        return flights(self.factor, factor, self.latency)

    def curve(self, warps: int) -> list[tuple[float, float]]:
        """KB in flight on an SM, and GB/s: measured, for 1, 2, 4, 8 and 16 loads."""
        return [
            (in_flight(factor, warps, 1) / 1024, self.rates["together", warps, factor]) for factor in EVERY
        ]

    def bound(self, kb: float) -> float:
        """GB/s at most with so many KB in flight on each SM."""
        return rate(1024 * kb * self.sms, self.latency_ns, self.peak)

    def of_bursts(self, kb: float) -> float:
        """GB/s where all of them leave at once."""
        return rate_of_bursts(1024 * kb * self.sms, self.latency_ns, self.peak)


def tell(measured: Mapping[str, Any] | None = None, factor: int = FACTOR) -> Story:
    """The story of a report of `tilesim bench loop-unrolling`, the shipped one by default.

    DRAM's latency and bandwidth are the measured ones of the H200, on another GPU what its own sums imply:
    one load at a time of one warp, and the highest rate.

    Raises ReportError where the report lacks a row, or a figure of it cannot be.
    """
    measured = measured or report("loop_unrolling")
    sums, sms = measured["rows"], whole("sms of the report", measured["sms"], 1, MOST_SMS, ReportError)
    big, small = max(one["n"] for one in sums), min(one["n"] for one in sums)
    asked = [("together", 1)] + [
        (loads, warps) for loads in ("one by one", "together") for warps in (FEW, MANY)
    ]
    rates = {
        (loads, warps, one): _above(row(measured, loads=loads, warps=warps, factor=one, n=big), "gb_per_s")
        for loads, warps in asked
        for one in EVERY
    }
    first = row(measured, loads="together", warps=1, factor=1, n=big)
    latency, peak = _memory(
        measured["machine"]["gpu"], sms * LINE / rates["together", 1, 1], max(rates.values())
    )
    counts = {one: _counted(row(measured, loads="together", warps=1, factor=one, n=small)) for one in EVERY}
    counted = all(EACH < count <= MOST for count in counts.values())
    usual = {one: instructions(one, EACH, USUAL_LOOP) for one in EVERY}
    chains = {
        one: _above(row({"rows": measured["chains"]}, warps=PARTITIONS, factor=one), "cycles")
        for one in EVERY
    }
    return Story(
        factor, rates, counts if counted else usual, counted, latency, peak, _above(first, "sm_mhz"), sms,
        chains, measured["machine"]["gpu"],
    )  # fmt: skip


def _memory(gpu: str, latency_ns: float, peak: float) -> tuple[float, float]:
    """DRAM's latency in ns and GB/s, of the GPU whose memory was measured, or else what is given."""
    memory = report("memory")
    if memory["machine"]["gpu"] != gpu:
        return latency_ns, peak
    found = MemorySystem.of(memory)
    return found.dram_latency.ns, found.read_gb_per_s["DRAM"]


def _counted(found: Mapping[str, Any]) -> float:
    """Instructions a value that the warps of a row issued, a warp's load being of 4 bytes a lane."""
    return float(LINE / 4 * found["issued"] / _above(found, "n"))


def _above(found: Mapping[str, Any], name: str) -> float:
    """A figure of a row; raises ReportError where it is not above 0."""
    if not found[name] > 0:
        raise ReportError(f"{name} of a row of the report is {found[name]}; it must be above 0")
    return float(found[name])
