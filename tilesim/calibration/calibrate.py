"""Calibration: the costs that make the engine play a kernel as a GPU was seen to run it.

Each trace is observed once (tilesim.calibration.observations), at the clock of its device: a GPU's moves by
some percent. From these tables come a segment's phases and what main loops take beyond the K-steps
that hardware takes (main_loops).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tilesim.calibration import observations
from tilesim.calibration.main_loops import main_loops, solve
from tilesim.calibration.observations import Observations, observe
from tilesim.costs import Costs
from tilesim.devices.hardware import Hardware
from tilesim.engine.simulate import replay
from tilesim.errors import TraceError
from tilesim.kernel_config import TABLE
from tilesim.kernel_costs.calibration import CalibratedKernel, Calibration
from tilesim.kernel_costs.default import QUEUED, effective_schedule
from tilesim.metrics import TURNAROUND_NS, run
from tilesim.plans import plan_from_spans
from tilesim.sm_cycles import at_clock
from tilesim.text import base_name, plural
from tilesim.traces import Trace

JITTER = 0.05
"""Relative standard deviation of a K-step that every kernel gets: on an H200, tiles of most kernels vary by
0.04 to 0.07 of a K-step times the square root of their K-steps, and a value for each predicts runs no better.
"""


def calibrate(traces: Sequence[Trace]) -> Costs:
    """The costs that fit `traces`; TraceError where there is none, or they are not of one kernel and tile."""
    if not traces:
        raise TraceError("there is no trace to calibrate to; give at least one")
    kinds = {(base_name(t.schedule), t.gemm.dtype, t.gemm.tile, t.device.ctas_per_sm) for t in traces}
    if len(kinds) > 1:
        one, other, *_ = sorted(kinds)
        raise TraceError(f"one set of costs cannot fit two kernels, {one} and {other}")
    return _kernel_costs([observe(_counted(trace)) for trace in traces])


def calibrations(traces: Mapping[str, Trace]) -> list[Calibration]:
    """`traces`, by name, sorted into kernels, each of them fitted; a kernel's hardware is that of its traces.

    A kernel that does not show its launch and prologue gets TURNAROUND_NS, and the prologue of one that does,
    with the same resources, else its own hand-over where nothing overlaps. Raises TraceError for two devices.
    """
    one_device(traces)
    fitted = []
    counted = {name: _counted(trace) for name, trace in traces.items()}
    for kernel, group in by_kernel(counted).items():
        runs = list(group.values())
        costs = _kernel_costs(runs)
        unseen = () if observations.launch(runs, in_turn=False) else ("launch", "prologue")
        config = replace(kernel.config, overlap=costs.overlap)
        fitted.append(Calibration(kernel._replace(config=config), costs, tuple(group), unseen))
    return [_with_launch(one, fitted) if one.unseen else one for one in fitted]


def by_kernel(traces: Mapping[str, Trace]) -> dict[CalibratedKernel, dict[str, Observations]]:
    """`traces` by kernel, as far as their meta says, and name. A table-driven kernel is one, whatever its
    plan; for queues it has another loop. In how many parts a kernel writes a tile is no matter."""
    groups: dict[CalibratedKernel, dict[str, Observations]] = {}
    for name, trace in traces.items():
        problem = trace.gemm
        schedule = effective_schedule(trace.schedule, plan_from_spans(trace.spans), problem)
        if trace.config.kernel == TABLE and schedule not in QUEUED:
            schedule = ""
        config = replace(trace.config, schedule=schedule, order="row-major", epilogue_subtiles=1)
        kernel = CalibratedKernel(config, problem.dtype, trace.device.ctas_per_sm)
        groups.setdefault(kernel, {})[name] = observe(trace)
    return groups


def one_device(traces: Mapping[str, Trace]) -> None:
    """Raise TraceError, naming two of `traces`, where they are not all of one GPU."""
    seen: dict[str, str] = {}
    for name, trace in traces.items():
        seen.setdefault(f"{trace.gpu or 'a GPU'} with {plural(trace.device.sms, 'SM')}", name)
    if len(seen) > 1:
        (first, one), (second, other), *_ = seen.items()
        raise TraceError(f"{one} is of {first} and {other} of {second}; fit the runs of one GPU at a time")


def repeated(trace: Trace, costs: Costs | None = None, seeds: Sequence[int] = range(5)) -> tuple[int, int]:
    """(measured, simulated): ns from the first multiply to the last done, simulated the median of `seeds`."""
    return run(trace), int(np.median([run(replay(trace, costs, seed)) for seed in seeds]))


def _counted(trace: Trace) -> Trace:
    """`trace` at the clock of its device, as its SMs counted; as it is where none is known."""
    device, _ = _measured_on([trace])
    return at_clock(trace, Hardware.named(device, trace.gemm.dtype).clock_mhz) if device else trace


def _measured_on(traces: Sequence[Trace]) -> tuple[str, int]:
    """(the preset whose hardware says what K-steps of `traces` take, "" if not all were measured on one; the
    stages of their kernel, 0 where not known)."""
    found = {trace.config.stages for trace in traces}
    stages = found.pop() if len(found) == 1 else 0
    names = {trace.device.name if trace.origin == "measured" else "" for trace in traces}
    return names.pop() if len(names) == 1 and stages else "", stages


def _with_launch(one: Calibration, fitted: Sequence[Calibration]) -> Calibration:
    resources = one.kernel.resources
    same = [other for other in fitted if not other.unseen and other.kernel.resources == resources]
    own = 0 if one.costs.overlap else one.costs.tile_gap
    prologue = same[0].costs.prologue if same else own
    return replace(one, costs=replace(one.costs, launch=TURNAROUND_NS, prologue=prologue))


def _kernel_costs(runs: Sequence[Observations]) -> Costs:
    traces, clocks = [run.trace for run in runs], [run.clock_mhz for run in runs]
    device, stages = _measured_on(traces)
    hardware = Hardware.named(device, traces[0].gemm.dtype) if device else None
    clock = hardware.clock_mhz if hardware else float(np.mean(clocks))
    counted = clock if all(clocks) else 0.0
    loops = main_loops(runs, hardware, counted)
    _, (k_step, mainloop_overhead, epilogue_overlap_penalty) = solve(loops, stages, hardware)
    overlap, tile_gap, blocking = observations.tile_gap(runs)
    epilogue, epilogue_serialisation = observations.epilogue(runs, overlap)
    turnaround = hardware.launch_ns if hardware else 0
    launch, prologue = observations.launch(runs, epilogue_serialisation > 0, turnaround) or (0, 0)
    partial = observations.partial(runs)
    merge, fixup = observations.fixup(runs)
    return Costs(
        k_step=0.0 if hardware else max(0.001, round(k_step, 3)),  # also where all is overhead
        mainloop_overhead=round(mainloop_overhead),
        launch=launch,
        prologue=prologue,
        tile_gap=tile_gap,
        epilogue=epilogue,
        epilogue_serialisation=epilogue_serialisation,
        overlap=overlap,
        epilogue_overlap_penalty=round(epilogue_overlap_penalty),
        partial=partial if blocking and partial != epilogue else None,
        merge=merge,
        fixup=fixup,
        jitter=JITTER,
        stages=stages,
        clock_mhz=round(clock if hardware else counted, 1),
        device=device,
        source=_source(traces),
    )


def _source(traces: Sequence[Trace]) -> str:
    first = traces[0]
    kernel = first.kernel or first.schedule
    sizes = ", ".join(sorted({f"{t.gemm.m}x{t.gemm.n}x{t.gemm.k}" for t in traces}))
    if first.origin == "simulated":
        return f"calibrated to simulated runs of {kernel} at {sizes}"
    gpu, date = first.gpu or first.device.title, first.meta.get("date", "")
    return f"calibrated to {kernel} at {sizes}, measured on {gpu} {date}".rstrip()
