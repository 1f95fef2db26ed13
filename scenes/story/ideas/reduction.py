"""What the film reduction says: two trees and their beats, what comes after, and what all of that took."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tilesim.devices.device import Device
from tilesim.errors import ReportError
from tilesim.ideas.reduction import (
    ADDED,
    THREADS,
    TREES,
    WARP,
    Access,
    Level,
    accesses,
    check_threads,
    queues,
    steps,
    tree_wavefronts,
    wave,
)
from tilesim.ideas.reduction import blocks as blocks_of
from tilesim.ideas.reduction import turns as turns_of
from tilesim.ladder.reports import report, row
from tilesim_scenes.look.language import tr

VALUES = (3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3)
"""What the first tree adds: digits of pi."""
AS_FAST = 0.97
"""Share of a copy's bandwidth from which on a sum is called as fast as the copy."""
COPY = "copy"
STEPS = ("interleaved", "sequential", "unrolled", "shuffles", "multi-block")


@dataclass(frozen=True, slots=True)
class Story:
    """Trees of blocks of `threads`; `us`, `gb_per_s` and `share` (of a copy's bandwidth) of each sum of n
    values.

    `counted`: whether a GPU's counters say what the model says. `sms`: of the device that holds one wave.
    """

    threads: int
    n: int
    us: Mapping[str, float]
    gb_per_s: Mapping[str, float]
    share: Mapping[str, float]
    gpu: str
    sms: int
    counted: bool

    @property
    def warps(self) -> int:
        return self.threads // WARP

    @property
    def trees(self) -> dict[str, tuple[Level, ...]]:
        return {name: tree(self.threads) for name, tree in TREES.items()}

    @property
    def beats(self) -> dict[str, int]:
        """Beats of the banks for one operand of each tree."""
        return {name: tree_wavefronts(levels) for name, levels in self.trees.items()}

    @property
    def slowest(self) -> int:
        """The first access of the interleaved tree that takes longest: its number."""
        each = [one.wavefronts for one in accesses(self.trees["interleaved"])]
        return each.index(max(each))

    @property
    def badge(self) -> tuple[str, str]:
        """What the model says of the banks is counted where a GPU's counters say the same."""
        if self.counted:
            return tr("counted on {gpu}", gpu=self.gpu), "counted"
        return tr("model"), "model"

    @property
    def question(self) -> str:
        return tr("Summing is a tree: how should the lanes climb it?")

    @property
    def neighbours(self) -> str:
        return tr("Neighbours first: lanes meet at the same banks")

    @property
    def queue(self) -> str:
        """What the slowest access looks like."""
        at = queues(self.access.words)
        lanes, banks = int(at.max()), int(np.count_nonzero(at))
        if banks == 1:
            return tr("{lanes} lanes queue at one bank", lanes=lanes)
        return tr("{lanes} lanes queue at each of {banks} banks", lanes=lanes, banks=banks)

    @property
    def access(self) -> Access:
        return accesses(self.trees["interleaved"])[self.slowest]

    @property
    def halves(self) -> str:
        if max(one.wavefronts for one in accesses(self.trees["sequential"])) == 1:
            return tr("Halves first: every lane has a bank to itself")
        return tr("Halves first: lanes meet at fewer banks")

    @property
    def once(self) -> str:
        return tr("Unrolled: {added} values a lane, then one tree", added=ADDED)

    @property
    def exchanged(self) -> str:
        return tr("Shuffles: lanes exchange sums in registers")

    @property
    def shared(self) -> int:
        """Words that shuffles leave in shared memory: a sum of each warp, where there are several."""
        return self.warps if self.warps > 1 else 0

    @property
    def barriers(self) -> str:
        work = steps(self.threads)
        few, many = work["shuffles"].barriers, work["sequential"].barriers
        return tr("{few} barriers instead of {many}", few=few, many=many)

    @property
    def blocks(self) -> int:
        """Thread blocks of the kernels in which each takes its values once."""
        return blocks_of(self.n, ADDED * self.threads)

    @property
    def resident(self) -> int:
        """Thread blocks that the GPU holds at once."""
        return min(wave(self.sms, self.threads), self.blocks)

    @property
    def turns(self) -> int:
        return turns_of(self.n, self.sms, ADDED * self.threads, self.threads)

    @property
    def one_wave(self) -> str:
        return tr("Multi-block: {blocks:,} blocks stride over all", blocks=self.resident)

    @property
    def fastest(self) -> str:
        return min(STEPS, key=lambda name: self.us[name])

    @property
    def limit(self) -> str:
        """Where the steps end up."""
        reached = [name for name in STEPS if self.share[name] >= AS_FAST]
        if not reached:
            return tr("None of them is as fast as a copy")
        return tr("From {name} on, memory is the limit", name=self.name(reached[0]))

    @property
    def finding(self) -> str:
        best = self.fastest
        if best == "interleaved":
            return tr("The first tree stays the fastest")
        if self.share[best] >= AS_FAST:
            return tr("A sum becomes as fast as a copy")
        return tr("A sum comes near a copy")

    @property
    def number(self) -> str:
        return f"×{self.us['interleaved'] / self.us[self.fastest]:.1f}"

    @property
    def aside(self) -> str:
        """How many values, and what the banks alone were worth."""
        won = 1 - self.us["sequential"] / self.us["interleaved"]
        if self.threads != THREADS or won <= 0:
            return tr("{n} values", n=count(self.n))
        return tr(
            "{n} values; {slow}→{fast} beats win {won:.0%}",
            n=count(self.n), slow=self.beats["interleaved"], fast=self.beats["sequential"], won=won,
        )  # fmt: skip

    def name(self, step: str) -> str:
        names = {
            "interleaved": tr("interleaved"),
            "sequential": tr("sequential"),
            "unrolled": tr("unrolled"),
            "shuffles": tr("shuffles"),
            "multi-block": tr("multi-block"),
            COPY: tr("copy"),
        }
        return names[step]


def tell(measured: Mapping[str, Any] | None = None, threads: int = THREADS) -> Story:
    """The story of a report of `tilesim bench reductions`, the shipped one by default: of its longest vector.

    Raises TilesimError where `threads` do not climb a tree, or the report lacks a step or has one that took
    no time.
    """
    check_threads(threads)
    measured = measured or report("reductions")
    n = max(one["n"] for one in measured["rows"])
    rows = {name: row(measured, name=name, n=n) for name in (*STEPS, COPY)}
    for name, one in rows.items():
        if not min(one["us"], one["gb_per_s"]) > 0:
            raise ReportError(f"the report says that {name} took {one['us']} µs at {one['gb_per_s']} GB/s")
    return Story(
        threads,
        n,
        {name: one["us"] for name, one in rows.items()},
        {name: one["gb_per_s"] for name, one in rows.items()},
        {name: one["share_of_copy"] for name, one in rows.items()},
        measured["machine"]["gpu"],
        Device.named("h200").sms,
        threads == THREADS and counted(),
    )


def count(n: int) -> str:
    """A number, as a power of two where it is one.

    >>> count(2**28), count(1000000)
    ('2²⁸', '1,000,000')
    """
    if n & (n - 1):
        return f"{n:,}"
    return "2" + str(n.bit_length() - 1).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def counted() -> bool:
    """Whether a GPU counts the beats of the kernels that ship as the model has them, to the last one."""
    rows = {one["name"]: one for one in report("bank_conflicts")["rows"]}
    return all(
        rows[name]["load_wavefronts"] == work.load_wavefronts * rows[name]["thread_blocks"]
        for name, work in steps().items()
    )
