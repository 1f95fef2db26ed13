"""Observations: what calibration reads off a trace, derived once, and the phases of a segment that it shows.

Columns are those of a trace's spans; "the segment before" is in the same slot. A mean is of the middle 90 %.

launch              from a block's end to the next one's first instruction: the device's, what a recorder
                    noted, or TURNAROUND_NS.
prologue            mean of start - done of the segment before, where that was another thread block's, less
                    the launch, or of start - done of what its SM was writing still, where residents write in
                    turn; and of start - issue of each slot's first, if the trace begins with an entry.
overlap             whether most segments of a thread block start before the one before them is done.
tile_gap            mean of start - fixup of the segment before if epilogues overlap, else of start - done,
                    where both are one thread block's, and the first has finished its tile.
epilogue            mean of done - fixup of segments that did not begin under another epilogue of their SM; if
                    epilogues overlap with main loops, of each slot's last.
epilogue_           of those that did, the lower quartile of done - done of the one under which they began;
serialisation       0 where they take no longer.
partial             mean of done - drain of segments whose tile another one owns.
merge, fixup        least squares of fixup - the later of drain and the last partial's done, on partials.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tilesim.analysis.loop_terms import plan_of, sharing
from tilesim.costs import MAX_NS
from tilesim.metrics import TURNAROUND_NS, in_turn
from tilesim.plans import Plan, owners
from tilesim.traces import Trace


class Observations(NamedTuple):
    """One trace, with arrays [spans] in the order of its spans and [pairs] of spans that follow one another.

    `owns`: whether a span finishes its tile. `steps`: its K-steps, int64.
    `before`, `after`: see metrics.in_turn. `same_block`: whether both are one thread block's, bool [pairs].
    `under_epilogue`: whether a main loop begins under its thread block's epilogue of another tile. `sharing`:
    the share of a main loop's time with r + 1 main loops on its SM, float64 [ctas_per_sm, spans].
    `clock_mhz`: of the SMs in main loops, 0 where not known. `plan`: what was run; `segment`: each span's row
    in it, int64.
    """

    trace: Trace
    owns: np.ndarray
    steps: np.ndarray
    before: np.ndarray
    after: np.ndarray
    same_block: np.ndarray
    under_epilogue: np.ndarray
    sharing: np.ndarray
    clock_mhz: float
    plan: Plan
    segment: np.ndarray

    @property
    def spans(self) -> np.ndarray:
        return self.trace.spans


def observe(trace: Trace) -> Observations:
    """All of it, derived from `trace`; raises ProblemError for work items, which no costs are of."""
    (made, segment), spans = plan_of(trace), trace.spans
    before, after = in_turn(trace)
    same_block = spans["cta"][before] == spans["cta"][after]
    under_epilogue = np.zeros(len(spans), bool)
    under_epilogue[after] = same_block & (spans["done"][before] > spans["start"][after])
    took = int((spans["drain"] - spans["start"]).sum())
    counted = bool((spans["cycles"] > 0).all() and took)
    return Observations(
        trace=trace,
        owns=owners(spans["tile"], spans["done"]),
        steps=(spans["k1"] - spans["k0"]).astype(np.int64),
        before=before,
        after=after,
        same_block=same_block,
        under_epilogue=under_epilogue,
        sharing=sharing(trace),
        clock_mhz=1000 * float(spans["cycles"].sum()) / took if counted else 0.0,
        plan=made,
        segment=segment,
    )


def launch(runs: Sequence[Observations], in_turn: bool, known: int = 0) -> tuple[int, int] | None:
    """(launch, prologue) in ns; None where no run shows them. `in_turn`: whether residents write in turn.
    `known`: the launch of their device, 0 for none."""
    turns, prologues = [], []
    noted = [ns for run in runs if (ns := noted_launch(run.trace))]
    for run in runs:
        spans, before, after = run.spans, run.before[~run.same_block], run.after[~run.same_block]
        ends = spans["done"][before]
        turns.append((ends, _sm_written(run, before) if in_turn else ends, spans["start"][after]))
        firsts = spans[np.setdiff1d(np.arange(len(spans)), run.after)]
        if run.trace.origin == "simulated":
            turns.append((firsts["issue"], firsts["issue"], firsts["start"]))
        elif "prologue_ns" in run.trace.meta:
            prologues.append(firsts["start"] - firsts["issue"])
    end, written, start = (np.concatenate(each) for each in zip(*turns, strict=True))
    if not end.size and not sum(map(len, prologues)):
        return None
    launch = known or round(mean(noted)) or TURNAROUND_NS
    if end.size:
        launch = min(launch, max(0, round(mean(start - end))))
    loading = start - np.maximum(end + launch, written)
    return launch, max(0, round(mean(np.concatenate([loading, *prologues]))))


def _sm_written(run: Observations, rows: np.ndarray) -> np.ndarray:
    """When the SMs of `rows` have written what they write when these are done: int64 ns, shape of `rows`."""
    spans = run.spans
    # Offsets that grow with the SM keep SMs apart.
    offset = spans["sm"].astype(np.int64) * (int(spans["done"].max()) + 1)
    # Partials, and tiles that had some added, take no turns.
    tiles = np.flatnonzero(run.owns & (spans["fixup"] == spans["ready"]))
    tiles = tiles[np.argsort((offset + spans["fixup"])[tiles], kind="stable")]
    begun = np.append(-1, (offset + spans["fixup"])[tiles])
    written = np.append(-1, np.maximum.accumulate((offset + spans["done"])[tiles]))
    end = (offset + spans["done"])[rows]
    return np.maximum(end, written[np.searchsorted(begun, end, "right") - 1]) - offset[rows]


def noted_launch(trace: Trace) -> float:
    """The median launch that a recorder noted, ns; 0 where there is none."""
    noted = trace.meta.get("launch_ns")
    median = noted.get("p50") if isinstance(noted, Mapping) else None
    return median if isinstance(median, int | float) and 0 <= median < MAX_NS else 0


def tile_gap(runs: Sequence[Observations]) -> tuple[bool, int, bool]:
    """(overlap, tile_gap, blocking): the last says that a block stores a partial, then goes on."""
    pairs = []
    for run in runs:
        before, after = run.before[run.same_block], run.after[run.same_block]
        pairs.append((run.spans[before], run.spans[after]["start"], run.owns[before]))
    rows, start, owns = (np.concatenate(columns) for columns in zip(*pairs, strict=True))
    late = start < rows["done"]
    blocking = bool(owns.all()) or float(np.mean(late[~owns])) <= 0.5
    usual = owns if blocking and owns.any() else np.ones(len(rows), bool)
    if not len(rows):
        return False, 0, True
    overlap = bool(np.mean(late[usual]) > 0.5)
    return overlap, max(0, round(mean((start - rows["fixup" if overlap else "done"])[usual]))), blocking


def epilogue(runs: Sequence[Observations], overlap: bool) -> tuple[int, int]:
    """(epilogue, epilogue_serialisation) in ns, of segments that finish their tile."""
    each = []
    for run in runs:
        spans, rows = run.spans, np.flatnonzero(run.owns)
        rows = rows[np.lexsort((spans["fixup"][rows], spans["sm"][rows]))]
        begin, end, stamped = spans["fixup"][rows], spans["done"][rows], np.ones(len(rows), bool)
        if overlap:
            stamped = ~np.isin(rows, run.before)
        met = (np.diff(spans["sm"][rows]) == 0) & (np.diff(spans["slot"][rows]) != 0)
        in_turn = begin == spans["ready"][rows]
        met &= (end[:-1] > begin[1:]) & in_turn[:-1] & in_turn[1:]
        under = np.append(False, met)
        took, behind = end - begin, np.diff(end)[met & stamped[1:]]
        each.append((took[stamped & ~under], took[stamped & under], behind))
    took, delayed, behind = (np.concatenate(columns) for columns in zip(*each, strict=True))
    usual = mean(took if len(took) else delayed)
    if mean(delayed) <= 1.05 * usual:  # so they do not write in turn
        return round(usual), 0
    return round(usual), max(0, round(float(np.quantile(behind, 0.25))))


def partial(runs: Sequence[Observations]) -> int | None:
    """ns from the end of the main loop to done, of segments that hand in a partial; None without any."""
    each = [(run.spans["done"] - run.spans["drain"])[~run.owns] for run in runs]
    seen = np.concatenate(each)
    return round(mean(seen)) if seen.size else None


def fixup(runs: Sequence[Observations]) -> tuple[int, int]:
    """(merge, fixup) in ns, 0 where no tile is split; how long a flag takes to be seen is in the first."""
    each = []
    for run in runs:
        spans, owns, tiles = run.spans, run.owns, run.trace.problem.tiles
        partials = np.bincount(spans["tile"], minlength=tiles) - 1
        arrived = np.zeros(tiles, np.int64)
        np.maximum.at(arrived, spans["tile"][~owns], spans["done"][~owns])
        rows = owns & (partials[spans["tile"]] > 0)
        began = np.maximum(spans["drain"], arrived[spans["tile"]])
        each.append((partials[spans["tile"]][rows], np.maximum(0, spans["fixup"] - began)[rows]))
    partials, ns = (np.concatenate(columns) for columns in zip(*each, strict=True))
    if len(np.unique(partials)) < 2:
        return 0, round(mean(ns / np.maximum(1, partials)))
    slope, once = np.polyfit(partials, ns, 1)
    if slope < 0:
        return round(mean(ns)), 0
    return (round(once), round(slope)) if once >= 0 else (0, round(mean(ns / partials)))


def mean(values: Sequence[float] | np.ndarray) -> float:
    """The mean without the least and the greatest 5 %, 0 of nothing."""
    ordered = np.sort(np.asarray(values, float))
    cut = len(ordered) // 20
    return float(ordered[cut : len(ordered) - cut].mean()) if len(ordered) else 0.0
