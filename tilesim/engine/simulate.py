"""From a schedule's name, or from another run, to a Trace, in one call."""

from dataclasses import asdict

from tilesim.costs import Costs
from tilesim.devices.device import Device
from tilesim.engine import run
from tilesim.errors import CostsError, whole
from tilesim.kernel_costs.default import closest_schedule, default_costs
from tilesim.plans import Plan, plan_from_spans
from tilesim.problems import Problem
from tilesim.schedules import SCHEDULES, Function, label, plan
from tilesim.text import base_name
from tilesim.traces import Trace


def simulate(
    schedule: str | Function, problem: Problem, device: Device, costs: Costs | None = None, seed: int = 0
) -> Trace:
    """Plan `problem` with `schedule` on `device`, play the plan, and return its Trace.

    `schedule` is a name, such as "split-k:2", or a function (problem, device) -> Plan, whose name the trace
    takes. `costs=None` means the calibrated costs of the device's GPU, or the H200's scaled to it; a schedule
    that is not built in takes those of the one its plan resembles. The same arguments give the same trace,
    byte for byte. Raises ScheduleError, PlanError, CostsError, or ProblemError for work items.
    """
    made, name = plan(schedule, problem, device), label(schedule)
    if costs is None:
        known = name if isinstance(schedule, str) else closest_schedule(made, problem)
        costs = default_costs(known, problem, device, made=made)
    return _play(made, name, problem, device, costs, seed)


def replay(trace: Trace, costs: Costs | None = None, seed: int = 0) -> Trace:
    """Simulate the run of `trace`: its schedule or, if that is not registered, its blocks' segments as
    recorded, with the costs of what it names or resembles unless they are given. Raises as `simulate`."""
    problem, device = trace.gemm, trace.device
    if base_name(trace.schedule) in SCHEDULES:
        if costs is None:
            costs = default_costs(trace.schedule, problem, device, trace.kernel)
        return simulate(trace.schedule, problem, device, costs, seed)
    made = plan_from_spans(trace.spans)
    made.check(problem, device.slots)
    if costs is None:
        costs = default_costs(closest_schedule(made, problem), problem, device, made=made)
    return _play(made, trace.schedule, problem, device, costs, seed)


def _play(made: Plan, schedule: str, problem: Problem, device: Device, costs: Costs, seed: int) -> Trace:
    seed = whole("the seed", seed, 0, 2**63 - 1, CostsError)
    spans = run.run(made, problem, device, costs, seed)
    return Trace(
        problem, device, schedule, spans, meta={"launches": made.ctas, "costs": asdict(costs), "seed": seed}
    )
