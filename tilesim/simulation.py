"""simulate: the whole way from a schedule's name to a Trace, in one call."""

from dataclasses import asdict

from tilesim import engine
from tilesim.costs import Costs, default_costs
from tilesim.devices import Device
from tilesim.errors import CostsError, whole
from tilesim.problems import Problem
from tilesim.schedules import plan
from tilesim.traces import Trace


def simulate(
    schedule: str, problem: Problem, device: Device, costs: Costs | None = None, seed: int = 0
) -> Trace:
    """Plan `problem` with `schedule` on `device`, play the plan, and return its Trace.

    `costs=None` takes a named device's calibrated costs, or its datasheet peak where none are shipped,
    and `Costs.ideal()` for a device made by hand. The same arguments give the same trace, to the byte.

    Raises ScheduleError, PlanError or CostsError.
    """
    whole("the seed", seed, 0, 2**63 - 1, CostsError)
    made = plan(schedule, problem, device)
    costs = default_costs(schedule, problem, device) if costs is None else costs
    spans = engine.run(made, problem, device, costs, seed)
    return Trace(
        problem, device, schedule, spans, meta={"launches": made.ctas, "costs": asdict(costs), "seed": seed}
    )
