"""Calibration: the costs that make the engine play a kernel as a GPU was seen to run it.

Where each figure comes from (columns of a trace's spans; "the segment before" is in the same slot).
A mean is of the middle 90 %: a run lasts as long as its steps add up to, which a median would not tell.

launch + prologue   mean of start - done of the segment before, where that was another thread block's.
                    A trace shows only the sum: LAUNCH_NS of it is taken for the launch, the rest for the
                    prologue. A simulated trace has it in start - issue of every thread block's first.
handover            mean of start - drain of the segment before if epilogues overlap, else of
                    start - done, where both are one thread block's.
overlap             whether most segments of a thread block start before the one before them is done.
dispatch            slope of the sorted first starts of all slots: the median over pairs half a wave apart.
k_step              geometric mean of (drain - start) / (k1 - k0), taken back to an SM of one's own.
coresidency         least squares of K-steps per ns on the shares of a main loop that passed beside
                    0, 1, ... other main loops of the SM.
epilogue            mean of done - fixup; if epilogues overlap, of each slot's last segment: the others hide
                    under a main loop, and are stamped only when it has a moment for that.
fixup               mean of (fixup - ready) / foreign partials, where there are some.
jitter              from how far slots drift apart: log k_step less its mean over all slots' 1st, 2nd, ...
                    segments, summed per slot; the clock's step is taken off.

So what all SMs do together is no jitter: the first wave loads from memory and later ones from cache, and
under load the clock falls. A simulation plays those at their mean. What cannot be told apart: a slow start
of the first wave from a slow dispatch; memory that is slower for more SMs, or under another tile's
epilogue, from a slower K-step.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import exp
from typing import Any

import numpy as np

from tilesim.costs import Costs, even_shares
from tilesim.errors import TraceError
from tilesim.metrics import first_of_cta, in_turn, slot_index
from tilesim.simulation import replay
from tilesim.traces import Trace

LAUNCH_NS = 165
"""CTA turnaround on an H200: from a block's end to the next one's first instruction on its SM, measured
with blocks that only spin, 128 to 1024 threads, 1 or 2 on an SM."""

LEAST_SPREAD = 0.02
"""Standard deviation of the share of time alone on the SM, below which co-residency cannot be fitted."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Costs fitted to the traces of one kernel at one number of K-steps in one order.

    `names`: of the traces. `loads`, `warps`, `stages`: as recorded, else "", 0, 0. `unseen`: costs that
    the traces do not show, taken from elsewhere or 0.
    """

    schedule: str
    loads: str
    warps: int
    stages: int
    dtype: str
    tile: tuple[int, int, int]
    k_steps: int
    ctas_per_sm: int
    order: str
    costs: Costs
    names: tuple[str, ...]
    unseen: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """What `--costs` and the shipped calibrations hold."""
        return asdict(self)


def calibrate(traces: Sequence[Trace]) -> Costs:
    """The costs that fit `traces`, all of one kernel and tile; see the head of this module.

    Raises TraceError where there is none, or they are of different schedules, dtypes, tiles or devices.
    """
    if not traces:
        raise TraceError("there is no trace to calibrate to; give at least one")
    kinds = {(t.schedule, t.problem.dtype, t.problem.tile, t.device.ctas_per_sm) for t in traces}
    if len(kinds) > 1:
        one, other, *_ = sorted(kinds)
        raise TraceError(f"one set of costs cannot fit two kernels, {one} and {other}")
    overlap, handover = _handover(traces)
    launch = _launch(traces)
    k_step, coresidency, jitter = _main_loop(traces)
    return Costs(
        k_step=k_step,
        dispatch=round(_mean([_dispatch(trace) for trace in traces])),
        launch=min(LAUNCH_NS, launch or 0),
        prologue=max(0, (launch or 0) - LAUNCH_NS),
        handover=handover or 0,
        epilogue=_epilogue(traces, overlap),
        overlap=overlap,
        fixup=_fixup(traces),
        coresidency=coresidency,
        jitter=jitter,
        source=_source(traces),
    )


def calibrations(traces: Mapping[str, Trace]) -> list[Calibration]:
    """`traces`, by name, sorted into kernels, numbers of K-steps and orders, each of them fitted.

    A measured persistent kernel does not show its launch. It gets LAUNCH_NS, and the prologue of the
    naive kernel with the same loads, tile, warps and stages and the nearest number of K-steps, else
    its own hand-over where that has nothing overlapped, else 0.
    """
    groups: dict[tuple, dict[str, Trace]] = {}
    for name, trace in traces.items():
        groups.setdefault(_kernel(trace), {})[name] = trace
    fitted = []
    for (*about, _), group in groups.items():
        schedule, loads, warps, stages, dtype, tile, k_steps, ctas, order = about
        members = list(group.values())
        costs = calibrate(members)
        unseen = () if _launch(members) is not None else ("launch", "prologue")
        names = tuple(group)
        fitted.append(
            Calibration(
                schedule, loads, warps, stages, dtype, tile, k_steps, ctas, order, costs, names, unseen
            )
        )
    return [_with_launch(one, fitted) if one.unseen else one for one in fitted]


def compare(trace: Trace, costs: Costs | None = None, seeds: Sequence[int] = range(5)) -> tuple[int, int]:
    """(measured, simulated): ns from the first multiply to the last done, simulated the median of `seeds`.

    Without `costs` it is simulated with the default ones. Not the makespan: a measured trace cannot show
    how long before its first multiply it was launched.
    """
    return _length(trace), int(np.median([_length(replay(trace, costs, seed)) for seed in seeds]))


def _length(trace: Trace) -> int:
    return int(trace.spans["done"].max() - trace.spans["start"].min())


def _kernel(trace: Trace) -> tuple:
    """What has to be equal for two traces to share a calibration: its first fields, and overlap."""
    meta, problem = trace.meta, trace.problem
    words = str(meta.get("kernel", "")).split("-")
    loads = next((word for word in words if word in ("tma", "ptr")), "")
    pipeline = (int(meta.get("warps", 0)), int(meta.get("stages", 0)))
    size = (problem.dtype, problem.tile, problem.k_steps, trace.device.ctas_per_sm, problem.order)
    return trace.schedule, loads, *pipeline, *size, "overlap" in words


def _with_launch(one: Calibration, fitted: Sequence[Calibration]) -> Calibration:
    """`one` with a launch and a prologue from where they were seen."""
    same = [
        other
        for other in fitted
        if not other.unseen
        and (other.loads, other.warps, other.stages) == (one.loads, one.warps, one.stages)
        and (other.dtype, other.tile, other.ctas_per_sm) == (one.dtype, one.tile, one.ctas_per_sm)
    ]
    own = 0 if one.costs.overlap else one.costs.handover
    nearest = min(
        same, key=lambda other: (abs(other.k_steps - one.k_steps), other.order != one.order), default=None
    )
    prologue = nearest.costs.prologue if nearest else own
    return replace(one, costs=replace(one.costs, launch=LAUNCH_NS, prologue=prologue))


def _before(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """(rows, befores): each segment that is not its slot's first, and the one before it in the slot."""
    before, after = in_turn(trace)
    return trace.spans[after], trace.spans[before]


def _launch(traces: Sequence[Trace]) -> int | None:
    """Launch and prologue together, ns; None where no trace shows them."""
    gaps = []
    for trace in traces:
        rows, before = _before(trace)
        other = rows["cta"] != before["cta"]
        gaps.append((rows["start"] - before["done"])[other])
        if trace.origin == "simulated":
            first = first_of_cta(trace)
            gaps.append((trace.spans["start"] - trace.spans["issue"])[first])
    seen = np.concatenate(gaps)
    return max(0, round(_mean(seen))) if seen.size else None


def _handover(traces: Sequence[Trace]) -> tuple[bool, int | None]:
    """(overlap, ns from the issue to the start of a thread block's later segments, None if it has none)."""
    pairs = [_before(trace) for trace in traces]
    same = [rows["cta"] == before["cta"] for rows, before in pairs]
    starts = np.concatenate([rows["start"][s] for (rows, _), s in zip(pairs, same, strict=True)])
    drains = np.concatenate([before["drain"][s] for (_, before), s in zip(pairs, same, strict=True)])
    dones = np.concatenate([before["done"][s] for (_, before), s in zip(pairs, same, strict=True)])
    if not starts.size:
        return False, None
    overlap = bool(np.mean(starts < dones) > 0.5)
    return overlap, max(0, round(_mean(starts - (drains if overlap else dones))))


def _epilogue(traces: Sequence[Trace], overlap: bool) -> int:
    """ns from fixup to done."""
    each = []
    for trace in traces:
        rows = np.arange(len(trace.spans))
        if overlap:
            by_slot = np.lexsort((trace.spans["start"], slot_index(trace)))[::-1]
            rows = by_slot[np.unique(slot_index(trace)[by_slot], return_index=True)[1]]
        each.append((trace.spans["done"] - trace.spans["fixup"])[rows])
    return round(_mean(np.concatenate(each)))


def _dispatch(trace: Trace) -> float:
    """ns from one first start to the next, over the slots in the order in which they start."""
    first = np.unique(slot_index(trace), return_index=True)[1]
    starts = np.sort(trace.spans["start"][first])
    if len(starts) < 2:
        return 0.0
    half = len(starts) // 2
    return float(np.median(starts[half:] - starts[: len(starts) - half])) / half


def _main_loop(traces: Sequence[Trace]) -> tuple[float, tuple[float, ...], float]:
    """(k_step, coresidency, jitter)."""
    spans = np.concatenate([trace.spans for trace in traces])
    steps, length = spans["k1"] - spans["k0"], np.maximum(1, spans["drain"] - spans["start"])
    beside = np.concatenate([_shares(trace) for trace in traces])
    seen = np.flatnonzero(beside.any(axis=0))
    coresidency = list(even_shares(beside.shape[1]))
    if beside[:, 0].std() > LEAST_SPREAD:
        speed = np.linalg.lstsq(beside[:, seen], steps / length, rcond=None)[0]
        for r, slower in zip(seen.tolist(), (speed[0] / speed).tolist(), strict=True):
            coresidency[r] = max(1.0, slower)
    alone = np.log(length * (beside / np.array(coresidency)).sum(axis=1) / steps)
    # Both stamps are off by up to a step of the clock: each adds a variance of tick² / 12.
    tick = max(trace.tick_ns if trace.origin == "measured" else 1 for trace in traces)
    stamps = tick**2 / 6 / float(np.mean(length)) ** 2
    ends = np.cumsum([len(trace.spans) for trace in traces])[:-1]
    drifts = [_drift(trace, own) for trace, own in zip(traces, np.split(alone, ends), strict=True)]
    jitter = max(0.0, float(np.concatenate(drifts).mean()) - stamps) ** 0.5
    return round(exp(_mean(alone)), 3), tuple(round(f, 4) for f in coresidency), round(jitter, 5)


def _drift(trace: Trace, log_k_step: np.ndarray) -> np.ndarray:
    """Estimates of the variance of log k_step, one per slot: float64, shape [slots in use].

    If tiles vary independently, n of them in a slot add up to n times the variance of one.
    """
    place = slot_index(trace)
    by_slot = np.lexsort((trace.spans["start"], place))
    slots, first, counts = np.unique(place[by_slot], return_index=True, return_counts=True)
    rank = np.arange(len(place)) - np.repeat(first, counts)
    apart = log_k_step[by_slot]
    members = np.bincount(rank)
    apart -= (np.bincount(rank, apart) / members)[rank]
    # A mean over few slots takes a part of the variance with it.
    free = np.add.reduceat((1 - 1 / members)[rank], first)
    drift = np.add.reduceat(apart, first) ** 2
    return np.divide(drift, free, out=np.zeros(len(slots)), where=free > 0)


def _shares(trace: Trace) -> np.ndarray:
    """The share of each main loop with r + 1 main loops on its SM: float64, shape [spans, ctas_per_sm]."""
    spans, most = trace.spans, trace.device.ctas_per_sm
    shares = np.zeros((len(spans), most))
    if most == 1:
        shares[:] = 1.0
        return shares
    for sm in np.unique(spans["sm"]):
        rows = np.flatnonzero(spans["sm"] == sm)
        start, drain = spans["start"][rows], spans["drain"][rows]
        times, at = np.unique(np.concatenate([start, drain]), return_inverse=True)
        began, ended = at[: len(rows)], at[len(rows) :]
        running = np.cumsum(
            np.bincount(began, minlength=len(times)) - np.bincount(ended, minlength=len(times))
        )
        for r in range(most):
            passed = np.append(0, np.cumsum(np.where(running[:-1] == r + 1, np.diff(times), 0)))
            shares[rows, r] = passed[ended] - passed[began]
    return shares / np.maximum(1, shares.sum(axis=1, keepdims=True))


def _fixup(traces: Sequence[Trace]) -> int:
    """ns per foreign partial, 0 where no tile is cut."""
    each = [np.empty(0)]
    for trace in traces:
        spans = trace.spans
        partials = np.bincount(spans["tile"], minlength=trace.problem.tiles)[spans["tile"]] - 1
        added = spans["fixup"] > spans["ready"]
        each.append((spans["fixup"] - spans["ready"])[added] / np.maximum(1, partials[added]))
    return round(_mean(np.concatenate(each)))


def _source(traces: Sequence[Trace]) -> str:
    """Where the costs come from, for tables and films."""
    first = traces[0]
    kernel = first.meta.get("kernel", first.schedule)
    sizes = ", ".join(sorted({f"{t.problem.m}x{t.problem.n}x{t.problem.k}" for t in traces}))
    if first.origin == "simulated":
        return f"calibrated to simulated runs of {kernel} at {sizes}"
    gpu, date = first.meta.get("gpu", first.device.title), first.meta.get("date", "")
    return f"calibrated to {kernel} at {sizes}, measured on {gpu} {date}".rstrip()


def _mean(values: Sequence[float] | np.ndarray) -> float:
    """The mean without the least and the greatest 5 %, 0 of nothing."""
    ordered = np.sort(np.asarray(values, float))
    cut = len(ordered) // 20
    return float(ordered[cut : len(ordered) - cut].mean()) if len(ordered) else 0.0
