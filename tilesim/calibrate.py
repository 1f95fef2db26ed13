"""Calibration: the costs that make the engine play a kernel as a GPU was seen to run it.

Where each figure comes from (columns of a trace's spans; "the segment before" is in the same slot). A mean is
of the middle 90 %: a run lasts as long as its steps add up to, which a median would not tell.

launch              LAUNCH_NS, or what the traces' launch_ns say: from a block's end to the next one's entry.
prologue            mean of start - done of the segment before, where that was another thread block's, less
                    the launch; and of start - issue of each slot's first, if the trace begins with an entry.
overlap             whether most segments of a thread block start before the one before them is done.
handover, staging   mean of start - fixup of the segment before if epilogues overlap, else of start - done,
                    where both are one thread block's. What it is shorter after a partial, is staging.
dispatch            slope of the sorted first starts of all slots: the median over pairs half a wave apart.
epilogue            mean of done - fixup; if epilogues overlap, of each slot's last segment: the others hide
                    under a main loop, and are stamped only when it has a moment for that.
partial             mean of done - drain of segments whose tile another one owns.
merge, fixup        least squares of fixup - the later of drain and the last partial's done, on partials.
k_step, ramp, contention, exposed, bandwidth, cache, coresidency, jitter
                    see tilesim.main_loops. Each run's main loops are counted in cycles, where they are known,
                    and given in ns at the mean clock of all of them: under load a GPU's clock moves by some
                    percent from run to run and within a run, and no plan says how.

So one calibration serves all sizes of a kernel. What cannot be told apart: a slow start of the first wave
from a slow dispatch; and what all SMs do together over time, which a simulation plays at its mean.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from tilesim.costs import Costs
from tilesim.errors import TraceError
from tilesim.main_loops import MainLoops, coresidency, expected, fit, fit_memory, jitter, main_loops
from tilesim.metrics import in_turn, slot_index
from tilesim.simulation import replay
from tilesim.traces import Trace

LAUNCH_NS = 168
"""CTA turnaround on an H200: from a block's end to the next one's first instruction on its SM, measured
with blocks that only spin (tilesim bench turnaround; data/turnaround)."""

LEAST_K_STEP, MOST_JITTER = 0.001, 0.99
"""What costs can hold: main loops that are all ramp, or nothing alike, are told no finer."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Costs fitted to the traces of one kernel.

    `names`: of the traces. `schedule` is without its parameters; `kernel`: "own", "planned" or "", as
    recorded, and so `loads`, `warps` and `stages`, else "", 0, 0. `unseen`: costs that the traces do not
    show, taken from elsewhere or 0.
    """

    schedule: str
    kernel: str
    loads: str
    warps: int
    stages: int
    dtype: str
    tile: tuple[int, int, int]
    ctas_per_sm: int
    costs: Costs
    names: tuple[str, ...]
    unseen: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """What `--costs` and the shipped calibrations hold."""
        return asdict(self)


ABOUT = ("schedule", "kernel", "loads", "warps", "stages", "dtype", "tile", "ctas_per_sm")
RESOURCES = 2
"""From here on ABOUT tells what a thread block shares with another on its SM."""


def calibrate(traces: Sequence[Trace]) -> Costs:
    """The costs that fit `traces`, all of one kernel and tile; see the head of this module.

    Raises TraceError where there is none, or they are of different schedules, dtypes, tiles or devices.
    """
    if not traces:
        raise TraceError("there is no trace to calibrate to; give at least one")
    kinds = {(_schedule(t), t.problem.dtype, t.problem.tile, t.device.ctas_per_sm) for t in traces}
    if len(kinds) > 1:
        one, other, *_ = sorted(kinds)
        raise TraceError(f"one set of costs cannot fit two kernels, {one} and {other}")
    around = _around(traces)
    main = _loops(traces, coresidency(traces))
    return _with_main_loops(around, main, *fit_memory([main]))


def calibrations(traces: Mapping[str, Trace]) -> list[Calibration]:
    """`traces`, by name, sorted into kernels, each of them fitted.

    All share one memory, and those with blocks of the same resources one co-residency.

    A kernel that does not show its launch and prologue gets LAUNCH_NS, and the prologue of one that does,
    with the same loads, tile, warps and stages, else its own hand-over where nothing overlaps, else 0.
    """
    groups: dict[tuple, dict[str, Trace]] = {}
    for name, trace in traces.items():
        groups.setdefault(_kernel(trace), {})[name] = trace
    around = [_around(list(group.values())) for group in groups.values()]
    residents: dict[tuple, list[Trace]] = {}
    for about, group in groups.items():
        residents.setdefault(about[RESOURCES:-1], []).extend(group.values())
    factors = {resources: coresidency(members) for resources, members in residents.items()}
    mains = [_loops(list(group.values()), factors[about[RESOURCES:-1]]) for about, group in groups.items()]
    memory = fit_memory(mains)
    fitted = []
    for (about, group), costs, main in zip(groups.items(), around, mains, strict=True):
        unseen = () if _launch(list(group.values())) is not None else ("launch", "prologue")
        whole = _with_main_loops(costs, main, *memory)
        kernel = dict(zip(ABOUT, about, strict=False))
        fitted.append(Calibration(**kernel, costs=whole, names=tuple(group), unseen=unseen))
    return [_with_launch(one, fitted) if one.unseen else one for one in fitted]


def repeated(trace: Trace, costs: Costs | None = None, seeds: Sequence[int] = range(5)) -> tuple[int, int]:
    """(measured, simulated): ns from the first multiply to the last done, simulated the median of `seeds`.

    Without `costs` it is simulated with the default ones. Not the makespan: a measured trace cannot show
    how long before its first multiply it was launched.
    """
    return _length(trace), int(np.median([_length(replay(trace, costs, seed)) for seed in seeds]))


def _length(trace: Trace) -> int:
    return int(trace.spans["done"].max() - trace.spans["start"].min())


def _schedule(trace: Trace) -> str:
    return trace.schedule.partition(":")[0]


def _kernel(trace: Trace) -> tuple:
    """What has to be equal for two traces to share a calibration: what ABOUT names, and overlap."""
    meta = trace.meta
    words = str(meta.get("kernel", "")).split("-")
    loads = next((word for word in words if word in ("tma", "ptr")), "")
    kernel = ("planned" if words[0] == "planned" else "own") if loads else ""
    pipeline = (int(meta.get("warps", 0)), int(meta.get("stages", 0)))
    size = (trace.problem.dtype, trace.problem.tile, trace.device.ctas_per_sm)
    return _schedule(trace), kernel, loads, *pipeline, *size, "overlap" in words


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
    prologue = same[0].costs.prologue if same else own
    return replace(one, costs=replace(one.costs, launch=LAUNCH_NS, prologue=prologue))


def _around(traces: Sequence[Trace]) -> Costs:
    """The costs of `traces` but for what their main loops take."""
    overlap, handover, staging, blocking = _handover(traces)
    launch, prologue = _launch(traces) or (0, 0)
    epilogue = _epilogue(traces, overlap)
    partial = _partial(traces)
    merge, fixup = _fixup(traces)
    return Costs(
        dispatch=round(_mean([_dispatch(trace) for trace in traces])),
        launch=launch,
        prologue=prologue,
        handover=handover,
        epilogue=epilogue,
        overlap=overlap,
        staging=staging,
        partial=partial if blocking and partial != epilogue else None,
        merge=merge,
        fixup=fixup,
        source=_source(traces),
    )


def _loops(traces: Sequence[Trace], factors: tuple[float, ...]) -> list[MainLoops]:
    """The main loops of one kernel's runs."""
    clocks = [_clock(trace) for trace in traces]
    clock = float(np.mean(clocks)) if all(clocks) else 0.0
    return [main_loops(trace, clock, factors, _gap(trace)) for trace in traces]


def _clock(trace: Trace) -> float:
    """The mean clock of the SMs in MHz, 0 where the trace does not tell."""
    spans = trace.spans
    if not (spans["cycles"] > 0).all():
        return 0.0
    return 1000 * float(spans["cycles"].sum()) / float((spans["drain"] - spans["start"]).sum())


def _with_main_loops(around: Costs, main: Sequence[MainLoops], bandwidth: float, cache: int) -> Costs:
    found = fit(main, bandwidth, cache)
    expectations = [expected(one, found, bandwidth, cache) for one in main]
    return replace(
        around,
        k_step=max(LEAST_K_STEP, round(found.k_step, 3)),
        ramp=round(found.ramp),
        contention=round(found.contention),
        exposed=round(found.exposed, 4),
        bandwidth=bandwidth,
        cache=cache,
        coresidency=main[0].factors,
        jitter=min(MOST_JITTER, round(jitter(main, expectations), 5)),
        clock_mhz=round(main[0].clock_mhz, 1),
    )


def _gap(trace: Trace) -> float:
    """ns from a drain to the next start in the slot, 0 where none follows."""
    before, after = in_turn(trace)
    return _mean(trace.spans["start"][after] - trace.spans["drain"][before])


def _owners(trace: Trace) -> np.ndarray:
    """Whether each span finishes its tile, rather than hand in a partial of it: bool, shape [spans].

    Of a tile in several segments it is the one that waits for the others: the last to be done.
    """
    spans = trace.spans
    order = np.lexsort((spans["done"], spans["tile"]))
    last = np.append(np.diff(spans["tile"][order]) != 0, True)
    owners = np.empty(len(spans), bool)
    owners[order] = last
    return owners


def _launch(traces: Sequence[Trace]) -> tuple[int, int] | None:
    """(launch, prologue) in ns; None where no trace shows them."""
    sums, prologues = [], []
    told = [trace.meta["launch_ns"]["p50"] for trace in traces if "launch_ns" in trace.meta]
    for trace in traces:
        spans, (before, after) = trace.spans, in_turn(trace)
        other = spans["cta"][after] != spans["cta"][before]
        sums.append((spans["start"][after] - spans["done"][before])[other])
        firsts = np.setdiff1d(np.arange(len(spans)), after)
        waits = (spans["start"] - spans["issue"])[firsts]
        if trace.origin == "simulated":
            sums.append(waits)
        elif "prologue_ns" in trace.meta:
            prologues.append(waits)
    together = np.concatenate(sums)
    if not together.size and not prologues:
        return None
    launch = round(_mean(told)) if told else LAUNCH_NS
    if together.size:
        launch = min(launch, max(0, round(_mean(together))))
    return launch, max(0, round(_mean(np.concatenate([together - launch, *prologues]))))


def _handover(traces: Sequence[Trace]) -> tuple[bool, int, int, bool]:
    """(overlap, handover, staging, whether partials are stored before their thread block goes on)."""
    pairs = []
    for trace in traces:
        before, after = in_turn(trace)
        same = trace.spans["cta"][after] == trace.spans["cta"][before]
        before, after = before[same], after[same]
        pairs.append((trace.spans[before], trace.spans[after]["start"], _owners(trace)[before]))
    rows, start, owns = (np.concatenate(columns) for columns in zip(*pairs, strict=True))
    late = start < rows["done"]
    blocking = bool((~owns).any()) and float(np.mean(late[~owns])) <= 0.5
    usual = owns if blocking and owns.any() else np.ones(len(rows), bool)
    if not len(rows):
        return False, 0, 0, False
    overlap = bool(np.mean(late[usual]) > 0.5)
    handover = max(0, round(_mean((start - rows["fixup" if overlap else "done"])[usual])))
    after_partial = max(0, round(_mean((start - rows["done"])[~owns]))) if blocking else handover
    if not overlap or after_partial >= handover:
        return overlap, handover, 0, blocking
    return overlap, after_partial, handover - after_partial, blocking


def _epilogue(traces: Sequence[Trace], overlap: bool) -> int:
    """ns from fixup to done of segments that finish their tile."""
    each = []
    for trace in traces:
        rows = np.flatnonzero(_owners(trace))
        if overlap:
            rows = np.setdiff1d(rows, in_turn(trace)[0])
        each.append((trace.spans["done"] - trace.spans["fixup"])[rows])
    return round(_mean(np.concatenate(each)))


def _partial(traces: Sequence[Trace]) -> int | None:
    """ns from drain to done of segments that hand in a partial, None where there is none."""
    each = [(trace.spans["done"] - trace.spans["drain"])[~_owners(trace)] for trace in traces]
    seen = np.concatenate(each)
    return round(_mean(seen)) if seen.size else None


def _dispatch(trace: Trace) -> float:
    """ns from one first start to the next, over the slots in the order in which they start."""
    first = np.unique(slot_index(trace), return_index=True)[1]
    starts = np.sort(trace.spans["start"][first])
    if len(starts) < 2:
        return 0.0
    half = len(starts) // 2
    return float(np.median(starts[half:] - starts[: len(starts) - half])) / half


def _fixup(traces: Sequence[Trace]) -> tuple[int, int]:
    """(merge, fixup) in ns, 0 where no tile is cut; how long a flag takes to be seen is in the first."""
    counts, took = [np.empty(0)], [np.empty(0)]
    for trace in traces:
        spans, owns = trace.spans, _owners(trace)
        partials = np.bincount(spans["tile"], minlength=trace.problem.tiles) - 1
        arrived = np.zeros(trace.problem.tiles, np.int64)
        np.maximum.at(arrived, spans["tile"][~owns], spans["done"][~owns])
        rows = owns & (partials[spans["tile"]] > 0)
        began = np.maximum(spans["drain"], arrived[spans["tile"]])
        counts.append(partials[spans["tile"]][rows])
        took.append((spans["fixup"] - began)[rows])
    partials, ns = np.concatenate(counts), np.maximum(0, np.concatenate(took))
    if len(np.unique(partials)) < 2:
        return 0, round(_mean(ns / np.maximum(1, partials)))
    each, once = np.polyfit(partials, ns, 1)
    if each < 0:
        return round(_mean(ns)), 0
    return (round(once), round(each)) if once >= 0 else (0, round(_mean(ns / partials)))


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
