"""Explain a run: where the time of an average slot went, and what bounds its K-steps."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tilesim.analysis.loop_terms import loop_time
from tilesim.analysis.time_account import LOOPS, account
from tilesim.costs import Costs, badge
from tilesim.errors import CostsError, TilesimError
from tilesim.kernel_costs.default import closest_schedule, default_costs
from tilesim.metrics import in_turn, launch_end, slot_index
from tilesim.plans import plan_from_spans
from tilesim.schedules import SCHEDULES
from tilesim.text import base_name
from tilesim.traces import Trace

PEAK, BELOW = "tensor cores at peak rate", "below peak rate"
TERM_PARTS = {
    "multiplying": BELOW,
    "the L2": "waiting for the L2",
    "DRAM": "waiting for DRAM",
    "latency": "latency not hidden",
}
"""The part for each term of a K-step; multiplying contributes what exceeds PEAK."""
UNDIVIDED, BEYOND = "main loops", "beyond the model"
PARTS = (
    "launch", "first load", PEAK, *TERM_PARTS.values(), UNDIVIDED, "slowed by a write", BEYOND, "hand-over",
    "write", "waiting for partials", "fix-up", "tail", "idle",
)  # fmt: skip
"""Where a slot's time can go (see docs/explain.md). BEYOND may be negative."""
BOUNDS = {
    "launches": ("launch", "first load", "hand-over"),
    "the tensor cores": (PEAK,),
    "the kernel's main loop": (BELOW,),
    "the L2": (TERM_PARTS["the L2"],),
    "DRAM": (TERM_PARTS["DRAM"],),
    "latency": (TERM_PARTS["latency"],),
    "main loops": (UNDIVIDED,),
    "writes": ("write", "slowed by a write"),
    "partials": ("waiting for partials", "fix-up"),
    "idle slots": ("tail", "idle"),
}
"""What can bound a run: the entry whose parts take the most time."""


class Explanation(NamedTuple):
    """The result of `explain`.

    `parts`: ns of an average slot for each of PARTS, which add up to the makespan. `bound`: the largest of
    BOUNDS. `k_steps`: the fraction of K-steps in which each term is the largest, empty if main loops could
    not be divided; `unknown` then says why.
    """

    parts: dict[str, int]
    bound: str
    k_steps: dict[str, float]
    unknown: str = ""

    @property
    def makespan(self) -> int:
        """ns of the run, and of each slot."""
        return sum(self.parts.values())

    @property
    def percent(self) -> dict[str, float]:
        """Each part as a percentage of the makespan, in steps of 0.1, adding up to 100."""
        tenths = apportioned(list(self.parts.values()), 1000)
        return {part: each / 10 for part, each in zip(self.parts, tenths, strict=True)}

    def as_json(self) -> dict[str, Any]:
        percent = self.percent
        return {
            "makespan_ns": self.makespan,
            "bound": self.bound,
            "parts": {part: {"ns": ns, "percent": percent[part]} for part, ns in self.parts.items()},
            "k_steps": self.k_steps,
            "unknown": self.unknown,
        }


def explain(trace: Trace) -> Explanation:
    """Where the time of an average slot of a run went, simulated or measured. A measured run is divided as
    the model predicts; the rest of its main loops is a part of its own."""
    sums = account(trace)
    took, k_steps, unknown = dict.fromkeys(PARTS, 0) | _pauses(trace, sums), {}, ""
    loops = sum(sums[part] for part in LOOPS)
    try:
        found = loop_time(trace, costs_behind(trace))
    except TilesimError as error:
        took[UNDIVIDED], unknown = loops, str(error)
    else:
        parts = {TERM_PARTS[term]: int(ns) for term, ns in found.terms.items()}
        parts[PEAK] = min(int(found.peak), parts[BELOW])
        parts[BELOW] -= parts[PEAK]
        parts[TERM_PARTS["latency"]] += int(found.ends)
        parts["slowed by a write"] = int(found.written)
        rest = BEYOND if trace.origin == "measured" else max(parts, key=lambda part: parts[part])
        took |= parts
        took[rest] += loops - sum(parts.values())
        whole = sum(found.k_steps.values())
        k_steps = {term: steps / whole for term, steps in found.k_steps.items()}
    bound = max(BOUNDS, key=lambda name: sum(took[part] for part in BOUNDS[name]))
    shares = apportioned(list(took.values()), trace.makespan)
    return Explanation(dict(zip(PARTS, shares, strict=True)), bound, k_steps, unknown)


def costs_behind(trace: Trace) -> Costs:
    """The costs that divide a run's K-steps: a simulation's own, or the shipped ones for a recording.

    Raises CostsError if they are unknown or do not say what a K-step waits for, and what planning raises.
    """
    problem, device = trace.gemm, trace.device
    if trace.origin == "measured":
        if not device.name:
            raise CostsError("the trace does not name its device; add it with tilesim convert --device NAME")
        schedule, kernel = trace.schedule, trace.kernel
        if base_name(schedule) not in SCHEDULES:
            schedule, kernel = closest_schedule(plan_from_spans(trace.spans), problem), ""
        costs = default_costs(schedule, problem, device, kernel)
        return replace(costs, stages=trace.config.stages or costs.stages)
    values = trace.meta.get("costs", {})
    if not isinstance(values, Mapping) or badge(values, device) == "unknown costs":
        raise CostsError("the trace does not contain the costs that it was simulated with")
    costs = Costs.from_mapping(values)
    if not costs.hardware:
        raise CostsError(f"{badge(costs, device)} give the time of a K-step, but not what it waits for")
    return costs


def apportioned(values: Sequence[int], whole: int) -> list[int]:
    """`values` as integer shares of `whole` that add up to it, by largest remainder."""
    total = sum(values)
    found, rests = zip(*(divmod(value * whole, total) for value in values), strict=True)
    up = sorted(range(len(rests)), key=lambda i: -rests[i])[: whole - sum(found)]
    return [each + (i in up) for i, each in enumerate(found)]


def _pauses(trace: Trace, sums: Mapping[str, int]) -> dict[str, int]:
    """ns of all slots outside main loops, by part, of a run's `account`. Unused slots are idle, not tail."""
    spans = trace.spans
    first = np.setdiff1d(np.arange(len(spans)), in_turn(trace)[1])
    issued = int(spans["issue"][first].sum())
    launched = int(launch_end(trace)[first].sum())
    unused = (trace.device.slots - len(np.unique(slot_index(trace)))) * trace.makespan
    return {
        "launch": sums["launch"] + launched - issued,
        "first load": sums["first load"] + sums["begin"] - launched,
        "hand-over": sums["hand over"],
        "write": sums["write"] + sums["last write"],
        "waiting for partials": sums["wait"],
        "fix-up": sums["fix up"],
        "tail": sums["tail"] - unused,
        "idle": sums["gap"] + issued + unused,
    }
