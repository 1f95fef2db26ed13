"""simulate: the whole way from a schedule's name, or from another run, to a Trace, in one call."""

from dataclasses import asdict
from math import exp

from tilesim import engine
from tilesim.calibrations import default_costs
from tilesim.costs import WHOLE, Costs
from tilesim.devices import Device
from tilesim.errors import CostsError, whole
from tilesim.plans import Plan, shown_by
from tilesim.problems import DTYPE_BYTES, Problem
from tilesim.schedules import SCHEDULES, plan
from tilesim.traces import LONGEST_NS, Trace


def simulate(
    schedule: str, problem: Problem, device: Device, costs: Costs | None = None, seed: int = 0
) -> Trace:
    """Plan `problem` with `schedule` on `device`, play the plan, and return its Trace.

    `costs=None` takes a named device's calibrated costs, or its datasheet peak where none are shipped,
    and `Costs.ideal()` for a device made by hand. The same arguments give the same trace, to the byte.

    Raises ScheduleError, PlanError or CostsError.
    """
    seed = whole("the seed", seed, 0, 2**63 - 1, CostsError)
    made = plan(schedule, problem, device)
    costs = default_costs(schedule, problem, device) if costs is None else costs
    return _play(made, schedule, problem, device, costs, seed)


def replay(trace: Trace, costs: Costs | None = None, seed: int = 0) -> Trace:
    """The run of `trace` as a simulation: of its schedule, or of its blocks' segments as they were.

    The latter where the schedule's name is none that is registered, as of a kernel that others wrote. Then
    `costs=None` takes those of naive where every thread block has one segment, else those of persistent;
    else those of the schedule and of the kernel that the trace names. Raises what `simulate` raises.
    """
    if trace.schedule.partition(":")[0] in SCHEDULES:
        if costs is None:
            kernel = str(trace.meta.get("kernel", ""))
            costs = default_costs(trace.schedule, trace.problem, trace.device, kernel)
        return simulate(trace.schedule, trace.problem, trace.device, costs, seed)
    seed = whole("the seed", seed, 0, 2**63 - 1, CostsError)
    made = shown_by(trace.spans)
    made.check(trace.problem, trace.device.slots)
    if costs is None:
        like = "naive" if made.ctas == len(made.segments) else "persistent"
        costs = default_costs(like, trace.problem, trace.device)
    return _play(made, trace.schedule, trace.problem, trace.device, costs, seed)


def _play(made: Plan, schedule: str, problem: Problem, device: Device, costs: Costs, seed: int) -> Trace:
    _check_length(made, problem, device, costs)
    spans = engine.run(made, problem, device, costs, seed)
    return Trace(
        problem, device, schedule, spans, meta={"launches": made.ctas, "costs": asdict(costs), "seed": seed}
    )


def _check_length(made: Plan, problem: Problem, device: Device, costs: Costs) -> None:
    """Raise CostsError where the slot-time of the plan, run in one slot at its slowest, is beyond int64."""
    segments = len(made.segments) + len(made.shared)
    fixed = sum(getattr(costs, name) or 0 for name in WHOLE if name != "cache")
    k_steps = float(problem.tiles * problem.k_steps)
    # Of a tile's noise, nothing beyond 8 standard deviations is ever drawn.
    slowest = _slowest_k_step(problem, device, costs) * max(costs.coresidency) * exp(8 * costs.jitter)
    longest, limit = fixed * (segments + made.ctas) + k_steps * slowest, LONGEST_NS / device.slots
    if longest > limit:
        raise CostsError(f"with these costs the run could last {longest:.3g} ns; at most {limit:.3g} fit")


def _slowest_k_step(problem: Problem, device: Device, costs: Costs) -> float:
    """ns of a K-step whose operands all come from DRAM, as those of all other slots."""
    if not costs.bandwidth:
        return costs.k_step
    size = (problem.tile_m + problem.tile_n) * problem.tile_k * DTYPE_BYTES[problem.dtype] * device.slots
    # A slot may begin a second piece of a main loop while the first one's time lasts: see tilesim.traffic.
    return (costs.k_step + 2 * size / costs.bandwidth / min(costs.coresidency)) * (1 + costs.exposed)
