"""What would make a run faster: the same product with another order, schedule or kernel.

Alternatives are simulated one change at a time, as far as costs ship for them. The number of SMs stays fixed.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from tilesim.analysis.explain import costs_behind
from tilesim.costs import Costs
from tilesim.devices.device import Device
from tilesim.devices.facts import REFERENCE
from tilesim.devices.presets import presets
from tilesim.engine.simulate import replay, simulate
from tilesim.errors import TilesimError
from tilesim.kernel_config import TABLE
from tilesim.kernel_costs.calibration import MAX_STAGES, Calibration, extrapolated, for_device
from tilesim.kernel_costs.default import QUEUED, nearest, schedules_that_fit, shipped
from tilesim.problems import Problem
from tilesim.schedules import SCHEDULES
from tilesim.text import base_name, plural
from tilesim.traces import Trace

ORDERS = ("row-major", "column-major", "grouped:4", "grouped:8", "grouped:16", "morton", "hilbert")
MOST_STAGES = 8
"""More stages would not help: these already cover the latency of every shipped device."""
SPLITS = {"split-k": ("split-k:2", "split-k:4")}
"""Parameters tried for a schedule that requires one."""


class Alternative(NamedTuple):
    """One change: `what` is order, schedule, stages or kernel, and `to` its new value. `makespan`: simulated,
    ns. `gain`: the fraction of the time saved. `extrapolated`: what its costs were measured with, if not with
    this tile, dtype and GPU."""

    what: str
    to: str
    makespan: int
    gain: float
    extrapolated: str = ""


class Alternatives(NamedTuple):
    """The simulated `makespan` of the run as it is, in ns, and what was tried, fastest first.
    `without_costs`: what no costs ship for. `extrapolated`: of the run as it is."""

    makespan: int
    ranked: tuple[Alternative, ...]
    without_costs: tuple[str, ...]
    extrapolated: str = ""

    @property
    def advice(self) -> tuple[Alternative, ...]:
        """Alternatives whose costs are as good as those of the run as it is."""
        return tuple(each for each in self.ranked if each.extrapolated in ("", self.extrapolated))

    def as_json(self) -> dict[str, Any]:
        ranked = [
            {"what": what, "to": to, "makespan_ns": ns, "gain": gain, "extrapolated": source}
            for what, to, ns, gain, source in self.ranked
        ]
        return {
            "simulated_ns": self.makespan,
            "extrapolated": self.extrapolated,
            "alternatives": ranked,
            "without_costs": list(self.without_costs),
        }


def alternatives(trace: Trace) -> Alternatives:
    """Simulate a run with each change, using the shipped costs. Raises TilesimError if the run's costs are
    not those of a GPU, because no similar costs ship."""
    costs_behind(trace)
    seed = trace.meta.get("seed", 0) if trace.origin == "simulated" else 0
    baseline = replay(trace, seed=seed)
    costs = Costs.from_mapping(baseline.meta["costs"])
    entries = shipped(trace.device.name) or shipped(REFERENCE)
    found = []
    for what, to, asked in _candidates(trace, costs, entries):
        try:
            run = simulate(*asked, seed)
        except TilesimError:  # such as more slices than K-steps
            continue
        gain = 1 - run.makespan / baseline.makespan
        source = extrapolated(Costs.from_mapping(run.meta["costs"]))
        found.append(Alternative(what, to, run.makespan, gain, source))
    ranked = sorted(found, key=lambda each: each.makespan)
    lacking = tuple(_without_costs(trace, entries))
    return Alternatives(baseline.makespan, tuple(ranked), lacking, extrapolated(costs))


def _candidates(
    trace: Trace, costs: Costs, entries: tuple[Calibration, ...]
) -> Iterator[tuple[str, str, tuple[str, Problem, Device, Costs | None]]]:
    """(what, to, what `simulate` takes) of each to try; for a schedule not registered, only schedules."""
    schedule, problem, device = trace.schedule, trace.gemm, trace.device
    for name in filter(SCHEDULES.built_in, SCHEDULES):
        for to in SPLITS.get(name, (name,)):
            if to != schedule and _that_run(entries, name):
                yield "schedule", to, (to, problem, device, None)
    if base_name(schedule) not in SCHEDULES:
        return
    for order in ORDERS:
        if order != problem.order:
            yield "order", order, (schedule, replace(problem, order=order), device, costs)
    for stages in range(2, min(MOST_STAGES, _room_for_stages(problem, device)) + 1):
        if costs.stages not in (0, stages):
            yield "stages", str(stages), (schedule, problem, device, replace(costs, stages=stages))
    for entry in _kernels(trace, entries):
        other = replace(problem, tile=entry.kernel.config.tile)
        on = replace(
            device, ctas_per_sm=entry.kernel.ctas_per_sm, sm_order=tuple(dict.fromkeys(device.sm_order))
        )
        its = nearest((entry,), schedule, other, on)
        if its is None or entry.kernel.config.stages > _room_for_stages(other, on):
            continue
        if device.name and not shipped(device.name):
            its = for_device(its, other, device.name)
        if (other, on, replace(its, source="")) != (problem, device, replace(costs, source="")):
            yield "kernel", _words(entry), (schedule, other, on, its)


def _that_run(entries: tuple[Calibration, ...], schedule: str) -> list[Calibration]:
    """The kernels for a schedule without parameters: its own, and those that run any plan without a queue."""
    names = (schedule,) if schedule in QUEUED else (schedule, "")
    return [entry for entry in entries if entry.kernel.config.schedule in names]


def _kernels(trace: Trace, entries: tuple[Calibration, ...]) -> list[Calibration]:
    """The kernels for a run's schedule."""
    return _that_run(entries, schedules_that_fit(trace.schedule, trace.gemm, trace.device)[0])


def _room_for_stages(problem: Problem, device: Device) -> int:
    """How many stages fit into an SM's shared memory with all its thread blocks, at most MAX_STAGES."""
    room = presets()[device.name or REFERENCE].get("shared_kib_per_sm", 2**20)
    return min(MAX_STAGES, room * 1024 // (problem.k_step_bytes * device.ctas_per_sm))


def _words(entry: Calibration) -> str:
    config, residents = entry.kernel.config, entry.kernel.ctas_per_sm
    tile = "x".join(map(str, config.tile))
    words = f"{tile}, {plural(config.stages, 'stage')}, {plural(config.warps, 'warp')}"
    driven = ", table-driven" * (config.kernel == TABLE)
    apart = config.schedule.startswith("persistent") and not config.overlap
    return words + f", {residents} per SM" * (residents > 1) + ", no overlap" * apart + driven


def _without_costs(trace: Trace, entries: tuple[Calibration, ...]) -> Iterator[str]:
    yield from (name for name in SCHEDULES if SCHEDULES.built_in(name) and not _that_run(entries, name))
    if base_name(trace.schedule) not in SCHEDULES:
        return
    kernels = [entry.kernel for entry in _kernels(trace, entries)]
    tiles = sorted({"x".join(map(str, kernel.config.tile)) for kernel in kernels}, reverse=True)
    if tiles:
        yield f"tiles other than {', '.join(tiles)}"
