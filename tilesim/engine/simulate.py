"""simulate: the whole way from a schedule's name, or from another run, to a Trace, in one call."""

from dataclasses import asdict

from tilesim.costs import Costs
from tilesim.devices.device import Device
from tilesim.engine import run
from tilesim.errors import CostsError, whole
from tilesim.kernel_costs.default import default_costs, like
from tilesim.plans import Plan, shown_by
from tilesim.problems import Problem, check_product
from tilesim.schedules import SCHEDULES, Function, label, plan
from tilesim.traces import Trace


def simulate(
    schedule: str | Function, problem: Problem, device: Device, costs: Costs | None = None, seed: int = 0
) -> Trace:
    """Plan `problem` with `schedule` on `device`, play the plan, and return its Trace.

    `schedule` is a name, such as "split-k:2", or a function (problem, device) -> Plan; a trace calls that by
    its name. `costs=None` takes the calibrated costs of the device's GPU, or the H200's overheads where none
    are shipped for it; a device without a name is so many SMs of an H200; a schedule that is not tilesim's
    takes those of the one that its plan is like. `Costs.ideal()` shows the schedule alone. The same arguments
    give the same trace, to the byte.

    Raises ScheduleError, PlanError or CostsError.
    """
    seed = whole("the seed", seed, 0, 2**63 - 1, CostsError)
    made, name = plan(schedule, problem, device), label(schedule)
    if costs is None:
        costs = default_costs(name if isinstance(schedule, str) else like(made, problem), problem, device)
    return _play(made, name, problem, device, costs, seed)


def replay(trace: Trace, costs: Costs | None = None, seed: int = 0) -> Trace:
    """The run of `trace` as a simulation: of its schedule, or of its blocks' segments as they were.

    The latter where the schedule's name is none that is registered, as of a kernel that others wrote. Then
    `costs=None` takes those of the schedule that its plan is like; else those of the schedule and of the
    kernel that the trace names. Raises what `simulate` raises.
    """
    check_product(trace.problem)
    if trace.schedule.partition(":")[0] in SCHEDULES:
        if costs is None:
            kernel = str(trace.meta.get("kernel", ""))
            costs = default_costs(trace.schedule, trace.problem, trace.device, kernel)
        return simulate(trace.schedule, trace.problem, trace.device, costs, seed)
    seed = whole("the seed", seed, 0, 2**63 - 1, CostsError)
    made = shown_by(trace.spans)
    made.check(trace.problem, trace.device.slots)
    if costs is None:
        costs = default_costs(like(made, trace.problem), trace.problem, trace.device)
    return _play(made, trace.schedule, trace.problem, trace.device, costs, seed)


def _play(made: Plan, schedule: str, problem: Problem, device: Device, costs: Costs, seed: int) -> Trace:
    spans = run.run(made, problem, device, costs, seed)
    return Trace(
        problem, device, schedule, spans, meta={"launches": made.ctas, "costs": asdict(costs), "seed": seed}
    )
