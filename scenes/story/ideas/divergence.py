"""What the film divergence says: a branch and a loop that a warp's lanes take differently, as timed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tilesim.errors import ReportError, whole
from tilesim.ideas.divergence import LONGEST, WARP, Issued, alternating, branch, loop, together
from tilesim.ladder.reports import report, row
from tilesim_scenes.look.language import tr

WAYS = 4
"""Of the branch, where nobody asks for another number."""
LITTLE = 0.05
"""Share of a time below which a difference is called none."""


@dataclass(frozen=True, slots=True)
class Timed:
    """What a warp issued, and when.

    `ways`: which way each step is, -1 for what all lanes do. `masks`: bool [steps, lanes]. `spans`: begin and
    end of each step, in cycles, float64 [steps, 2], ascending. `issued`: the part in which lanes differ.
    """

    ways: tuple[int, ...]
    masks: np.ndarray
    spans: np.ndarray
    issued: Issued

    @property
    def end(self) -> float:
        return float(self.spans[-1, 1])

    @property
    def parted(self) -> float:
        """Until when lanes differ."""
        return float(self.spans[len(self.issued.masks) - 1, 1])

    @property
    def active(self) -> str:
        lanes = self.masks.shape[1]
        return tr("{active:.3g} of {lanes} lanes at work", active=self.issued.active, lanes=lanes)

    @property
    def lost(self) -> str:
        return tr("{share:.0%} of the lanes’ time is lost", share=1 - self.issued.efficiency)


@dataclass(frozen=True, slots=True)
class Story:
    """A branch in `ways` ways, one in as many as there are lanes, and a loop; each of one warp.

    `lanes`, `warps`: cycles of many warps where neighbouring lanes, or whole warps, take the ways in turn;
    `alone`: where all take one. `met`: whether all lanes went on in one cycle behind the branch. `aside`:
    what ran.
    """

    ways: int
    branch: Timed
    most: Timed
    loop: Timed
    lanes: float
    warps: float
    alone: float
    met: bool
    aside: str
    gpu: str

    @property
    def question(self) -> str:
        return tr("What if a warp’s {lanes} lanes disagree?", lanes=WARP)

    @property
    def one_instruction(self) -> str:
        return tr("A warp has one instruction at a time")

    @property
    def each_way(self) -> str:
        return tr("Each way taken is issued; the other lanes are masked")

    @property
    def behind(self) -> str:
        if self.met:
            return tr("Behind the branch all lanes go on together")
        return tr("Behind the branch lanes go on one after another")

    @property
    def side_by_side(self) -> str:
        return tr("If only the ways could run side by side")

    @property
    def one_lane(self) -> str:
        return tr("{ways} ways: one lane at a time", ways=len(self.most.ways) - 1)

    @property
    def longest(self) -> str:
        return tr("A loop runs as long as its longest lane")

    @property
    def sorted_lanes(self) -> str:
        if self.warps < (1 + LITTLE) * self.alone:
            return tr("Sort the lanes: warps that agree lose nothing")
        return tr("Sort the lanes: warps that agree lose less")

    def way(self, number: int) -> str:
        return tr("way {number}", number=number + 1)

    @property
    def finding(self) -> str:
        if self.lanes < (1 + LITTLE) * self.warps:
            return tr("Here it does not matter which lanes disagree")
        return tr("A warp takes every way its lanes take")

    @property
    def number(self) -> str:
        return f"×{self.lanes / self.warps:.1f}"


def tell(measured: Mapping[str, Any] | None = None, ways: int = WAYS) -> Story:
    """The story of a report of `tilesim bench divergence`, the shipped one by default.

    Raises ReportError where the report does not say what such a branch, or a loop, took.
    """
    measured = measured or report("divergence")
    found = row(measured, code="branch", split="lanes", warps=1, ways=ways)
    many = {
        split: _cycles(row(measured, code="branch", split=split, warps=WARP, ways=ways))
        for split in ("lanes", "warps")
    }
    return Story(
        ways,
        _branch(measured, ways),
        _branch(measured, WARP),
        _loop(measured),
        many["lanes"],
        many["warps"],
        _cycles(row(measured, code="branch", split="warps", warps=WARP, ways=1)),
        found["joined"] == 1,
        tr("{warps} warps, {ways} ways", warps=WARP, ways=ways),
        measured["machine"]["gpu"],
    )


def _branch(measured: Mapping[str, Any], ways: int) -> Timed:
    """A branch of one warp with the tail behind it, in the order in which its ways ran."""
    found = row(measured, code="branch", split="lanes", warps=1, ways=ways)
    spans = np.array(row({"rows": measured["spans"]}, ways=ways)["spans"], float)
    if spans.shape != (ways, 2):
        raise ReportError(f"the report must say begin and end of each of {ways} ways")
    order = np.argsort(spans[:, 0], kind="stable")
    issued = branch(alternating(ways), [_whole(found, "length")] * ways)
    ran = Issued(issued.instructions[order], issued.masks[order])
    joined = _cycles(found)
    steps = np.vstack([spans[order], [joined, joined + found["tail_cycles"]]])
    if steps[0, 0] < 0 or (np.diff(steps.ravel()) < 0).any() or not steps[-1, 1] > joined:
        raise ReportError("the ways of a branch must follow one another, and end before the lanes go on")
    return Timed((*order.tolist(), -1), ran.then(together(1)).masks, steps, ran)


def _loop(measured: Mapping[str, Any]) -> Timed:
    """A loop of one warp whose lanes want 1, 2, 3 ... turns, all turns of one length."""
    found = row(measured, code="loop", split="lanes", warps=1, ways=WARP)
    most = _whole(found, "turns")
    issued = loop(-(-(alternating(WARP) + 1) * most // WARP), _whole(found, "length"))
    ends = issued.ends * _cycles(found) / issued.issued
    spans = np.stack([np.append(0, ends[:-1]), ends], axis=1)
    return Timed(tuple(range(len(spans))), issued.masks, spans, issued)


def _whole(found: Mapping[str, Any], name: str) -> int:
    """A whole number of a row that is at least 1; raises ReportError for another."""
    return whole(f"{name} of a row of the report", found[name], 1, LONGEST, ReportError)


def _cycles(found: Mapping[str, Any]) -> float:
    """The cycles of a row; raises ReportError where it took none."""
    if not found["cycles"] > 0:
        raise ReportError(f"a {found['code']} in {found['ways']} ways took {found['cycles']} cycles")
    return float(found["cycles"])
