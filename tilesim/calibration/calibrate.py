"""Calibration: the costs that make the engine play a kernel as a GPU was seen to run it.

A segment's stages come from tilesim.calibration.phases, what residents of an SM do to each other from tilesim.calibration.sm_sharing,
main loops and memory from tilesim.calibration.fit, and what is left from tilesim.calibration.jitter. Each run's main loops are
counted in cycles, where they are known, and given in ns at the mean clock of all runs: under load a GPU's
clock moves by some percent from run to run and within a run, and no plan says how.

So one calibration serves all sizes of a kernel. What cannot be told apart: a slow start of the first wave
from a slow dispatch; and what all SMs do together over time, which a simulation plays at its mean.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tilesim.calibration import phases
from tilesim.calibration.finish_times import most_jitter
from tilesim.calibration.fit import expected, fit, fit_memory
from tilesim.calibration.jitter import jitter
from tilesim.calibration.main_loops import MainLoops, main_loops
from tilesim.calibration.sm_sharing import Company, among, company
from tilesim.costs import MOST_JITTER, Costs
from tilesim.default_costs import effective_schedule
from tilesim.engine.simulate import replay
from tilesim.errors import TraceError
from tilesim.kernel_costs import Calibration, Kernel
from tilesim.plans import shown_by, splits_tiles
from tilesim.traces import Trace
from tilesim.variants import Variant

LEAST_K_STEP = 0.001
"""What costs can hold: main loops that are all ramp are told no finer."""


def calibrate(traces: Sequence[Trace]) -> Costs:
    """The costs that fit `traces`, all of one kernel and tile; see the head of this module.

    Raises TraceError where there is none, or they are of different schedules, dtypes, tiles or devices.
    """
    if not traces:
        raise TraceError("there is no trace to calibrate to; give at least one")
    kinds = {
        (t.schedule.partition(":")[0], t.problem.dtype, t.problem.tile, t.device.ctas_per_sm) for t in traces
    }
    if len(kinds) > 1:
        one, other, *_ = sorted(kinds)
        raise TraceError(f"one set of costs cannot fit two kernels, {one} and {other}")
    around = _around(traces)
    (main,), (known,), memory = _taken_back([_loops(traces)], [()])
    return _with_main_loops(around, main, known, *memory)


def calibrations(traces: Mapping[str, Trace]) -> list[Calibration]:
    """`traces`, by name, sorted into kernels, each of them fitted.

    All share one memory, and those with blocks of the same resources one co-residency.

    A kernel that does not show its launch and prologue gets LAUNCH_NS, and the prologue of one that does,
    with the same loads, tile, warps and stages, else its own hand-over where nothing overlaps, else 0.
    """
    groups: dict[Kernel, dict[str, Trace]] = {}
    for name, trace in traces.items():
        groups.setdefault(_kernel(trace), {})[name] = trace
    around = [_around(list(group.values())) for group in groups.values()]
    kernels = [_loops(list(group.values())) for group in groups.values()]
    mains, known, memory = _taken_back(kernels, [kernel.resources for kernel in groups])
    fitted = []
    for (kernel, group), costs, main, others in zip(groups.items(), around, mains, known, strict=True):
        unseen = () if phases.launch(list(group.values()), False) is not None else ("launch", "prologue")
        whole = _with_main_loops(costs, main, others, *memory)
        variant = replace(kernel.variant, overlap=whole.overlap)
        fitted.append(Calibration(kernel._replace(variant=variant), whole, tuple(group), unseen))
    return [_with_launch(one, fitted) if one.unseen else one for one in fitted]


def repeated(trace: Trace, costs: Costs | None = None, seeds: Sequence[int] = range(5)) -> tuple[int, int]:
    """(measured, simulated): ns from the first multiply to the last done, simulated the median of `seeds`.

    Without `costs` it is simulated with the default ones. Not the makespan: a measured trace cannot show
    how long before its first multiply it was launched.
    """
    return _length(trace), int(np.median([_length(replay(trace, costs, seed)) for seed in seeds]))


def _length(trace: Trace) -> int:
    return int(trace.spans["done"].max() - trace.spans["start"].min())


def _kernel(trace: Trace) -> Kernel:
    """The kernel of a trace, as far as its meta says. In how many parts it writes a tile makes no other one."""
    meta, problem = trace.meta, trace.problem
    warps, stages = (value if isinstance(value := meta.get(name), int) else 0 for name in ("warps", "stages"))
    schedule = effective_schedule(trace.schedule, shown_by(trace.spans), problem)
    variant = Variant.named(str(meta.get("kernel", "")), schedule, warps, stages)
    variant = replace(variant, epilogue_subtiles=1)
    return Kernel(variant, problem.dtype, problem.tile, trace.device.ctas_per_sm)


def _alike(runs: Sequence[MainLoops]) -> Sequence[MainLoops]:
    """Those that cut no tile, if there are any: their main loops are at the same K-steps, and differ by who
    shares an SM alone."""
    return [run for run in runs if not splits_tiles(run.trace.spans, run.trace.problem)] or runs


def _with_launch(one: Calibration, fitted: Sequence[Calibration]) -> Calibration:
    """`one` with a launch and a prologue from where they were seen."""
    resources = one.kernel.resources
    same = [other for other in fitted if not other.unseen and other.kernel.resources == resources]
    own = 0 if one.costs.overlap else one.costs.handover
    prologue = same[0].costs.prologue if same else own
    return replace(one, costs=replace(one.costs, launch=phases.LAUNCH_NS, prologue=prologue))


def _around(traces: Sequence[Trace]) -> Costs:
    """The costs of `traces` but for what their main loops take."""
    overlap, handover, staging, blocking = phases.handover(traces)
    epilogue, epilogue_serialisation = phases.epilogue(traces, overlap)
    launch, prologue = phases.launch(traces, epilogue_serialisation > 0) or (0, 0)
    partial = phases.partial(traces)
    merge, fixup = phases.fixup(traces)
    return Costs(
        dispatch=round(phases.mean([phases.dispatch(trace) for trace in traces])),
        launch=launch,
        prologue=prologue,
        handover=handover,
        epilogue=epilogue,
        epilogue_serialisation=epilogue_serialisation,
        overlap=overlap,
        staging=staging,
        partial=partial if blocking and partial != epilogue else None,
        merge=merge,
        fixup=fixup,
        device=_device(traces),
        source=_source(traces),
    )


def _loops(traces: Sequence[Trace]) -> list[MainLoops]:
    """The main loops of one kernel's runs."""
    clocks = [phases.clock(trace) for trace in traces]
    clock = float(np.mean(clocks)) if all(clocks) else 0.0
    return [main_loops(trace, clock, phases.gap(trace)) for trace in traces]


def _taken_back(
    kernels: Sequence[Sequence[MainLoops]], kinds: Sequence[tuple]
) -> tuple[list[list[MainLoops]], list[Company], tuple[float, int]]:
    """(kernels, company, memory): main loops as if alone, by kernel; what residents do to each other, shared
    by kernels of one kind; bandwidth and cache, shared by all.

    What a main loop that is alone waits for depends on the cache, and what the cache is on main loops taken
    back: so it goes round once.
    """
    taken, known = _among(kernels, kinds, 0)
    bandwidth, cache = fit_memory(taken)
    if cache:
        taken, known = _among(kernels, kinds, cache)
    return taken, known, (bandwidth, cache)


def _among(
    kernels: Sequence[Sequence[MainLoops]], kinds: Sequence[tuple], cache: int
) -> tuple[list[list[MainLoops]], list[Company]]:
    """(kernels, company) of the above, behind a `cache`; 0 if it is not known."""
    alike: dict[tuple, list[MainLoops]] = {}
    for kernel, kind in zip(kernels, kinds, strict=True):
        alike.setdefault(kind, []).extend(kernel)
    found = {kind: company(_alike(runs), cache) for kind, runs in alike.items()}
    known = [found[kind] for kind in kinds]
    taken = [[among(run, one, cache) for run in kernel] for kernel, one in zip(kernels, known, strict=True)]
    return taken, known


def _with_main_loops(
    around: Costs, main: Sequence[MainLoops], known: Company, bandwidth: float, cache: int
) -> Costs:
    found = fit(main, bandwidth, cache)
    expectations = [expected(one, found, bandwidth, cache) for one in main]
    costs = replace(
        around,
        k_step=max(LEAST_K_STEP, round(found.k_step, 3)),
        ramp=round(found.ramp),
        contention=round(found.contention),
        exposed_dram=round(found.exposed_dram, 4),
        unshared_l2=round(found.unshared_l2, 4),
        bandwidth=bandwidth,
        cache=cache,
        coresidency=known.coresidency,
        unloaded_latency=known.unloaded_latency,
        sole_exposed_dram=known.sole_exposed_dram,
        jitter=min(MOST_JITTER, jitter(main, expectations)),
        clock_mhz=round(main[0].clock_mhz, 1),
    )
    least = min(costs.jitter, most_jitter([(one.trace, one.made) for one in main], costs))
    return replace(costs, jitter=round(least, 5))


def _device(traces: Sequence[Trace]) -> str:
    """The preset on which all `traces` were measured, "" where there is none."""
    names = {trace.device.name if trace.origin == "measured" else "" for trace in traces}
    return names.pop() if len(names) == 1 else ""


def _source(traces: Sequence[Trace]) -> str:
    """Where the costs come from, for tables and films."""
    first = traces[0]
    kernel = first.meta.get("kernel", first.schedule)
    sizes = ", ".join(sorted({f"{t.problem.m}x{t.problem.n}x{t.problem.k}" for t in traces}))
    if first.origin == "simulated":
        return f"calibrated to simulated runs of {kernel} at {sizes}"
    gpu, date = first.meta.get("gpu", first.device.title), first.meta.get("date", "")
    return f"calibrated to {kernel} at {sizes}, measured on {gpu} {date}".rstrip()
