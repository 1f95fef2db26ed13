"""What main loops spend their time on: the terms of a K-step's time (see tilesim.model.kstep)."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tilesim.analysis.time_account import over_a_write
from tilesim.costs import Costs
from tilesim.devices.hardware import Hardware
from tilesim.errors import TilesimError
from tilesim.model.kstep import k_step_terms, loads_under
from tilesim.plans import Plan, plan_from_spans
from tilesim.schedules import plan
from tilesim.traces import Trace

TERMS = ("multiplying", "latency", "the L2", "DRAM")
"""The terms of `k_step_terms`, in its order."""


class LoopTime(NamedTuple):
    """Slot time of all main loops of a run, ns, and K-steps.

    `terms`: time of each of TERMS. `peak`: multiplying at the tensor cores' peak rate. `ends`: time beyond
    the K-steps. `written`: slowdown by writes of the previous tile. `k_steps`: where each is the largest.
    """

    terms: dict[str, float]
    peak: float
    ends: float
    written: float
    k_steps: dict[str, float]


def shares(terms: np.ndarray) -> np.ndarray:
    """What each of `terms` [terms, ...] gets of a K-step: the first its own time, the largest the rest."""
    found = _largest(terms) * (terms - terms[0])
    found[0] = terms[0]
    return found


def _largest(terms: np.ndarray) -> np.ndarray:
    return np.equal.outer(np.arange(len(terms)), terms.argmax(axis=0))


def loop_time(trace: Trace, costs: Costs) -> LoopTime:
    """A run's main-loop time by the terms of its K-steps; `costs` must name their hardware.

    For a simulated run the result adds up to its main loops. For a measured one it is what the model says, at
    the run's SM clock if known. Raises CostsError if the dtype's rate is unknown.
    """
    problem, spans = trace.gemm, trace.spans
    known = Hardware.named(costs.hardware, problem.dtype)
    multiplying = known.k_step_cycles(problem, costs.k_step)
    hardware, mhz = known, trace.meta.get("sm_mhz")
    if trace.origin == "measured" and isinstance(mhz, int | float) and 1 <= mhz <= 1e5:
        dram = known.dram_bytes_per_clock * known.clock_mhz / mhz  # which keeps its own clock
        hardware = replace(known, clock_mhz=float(mhz), dram_bytes_per_clock=dram)
    made, rows = plan_of(trace)
    loaded = loads_under(made, problem, trace.device, costs, hardware)
    seen, residents = loaded.behind(hardware.l2_bytes), trace.device.ctas_per_sm
    limits = k_step_terms(seen, problem, hardware, multiplying, costs.stages, residents)

    def of_spans(pieces: np.ndarray) -> np.ndarray:
        """float64 [terms, residents, spans] from [terms, residents, pieces]."""
        return np.stack([[loaded.mean(each)[rows] for each in term] for term in pieces])

    each = of_spans(shares(limits)) * 1000 / hardware.clock_mhz
    steps = sharing(trace) / each.sum(axis=0)
    steps *= (spans["k1"] - spans["k0"]) / steps.sum(axis=0)
    terms = (each * steps).sum(axis=1)
    peak = min(1.0, hardware.peak_cycles(problem) / multiplying)
    written = costs.epilogue_overlap_penalty * over_a_write(trace)
    scale = np.ones(len(spans))
    if trace.origin == "simulated":
        scale = (spans["drain"] - spans["start"]) / (terms.sum(axis=0) + costs.mainloop_overhead + written)
    largest = of_spans(_largest(limits))
    return LoopTime(
        dict(zip(TERMS, (terms * scale).sum(axis=1).tolist(), strict=True)),
        peak * float((terms[0] * scale).sum()),
        float(costs.mainloop_overhead * scale.sum()),
        float((written * scale).sum()),
        dict(zip(TERMS, (largest * steps).sum(axis=(1, 2)).tolist(), strict=True)),
    )


def sharing(trace: Trace) -> np.ndarray:
    """The share of each main loop's time with 0, 1, ... others on its SM: float64 [ctas_per_sm, spans]."""
    spans = trace.spans
    times = np.concatenate([spans["start"], spans["drain"]])
    in_order = np.lexsort((times, np.tile(spans["sm"], 2)))
    place = np.empty_like(in_order)
    place[in_order] = np.arange(len(in_order))
    running = np.cumsum(np.repeat([1, -1], len(spans))[in_order])
    until_next = np.diff(times[in_order], append=0)  # none is running between one SM's rows and the next SM's
    found = np.empty((trace.device.ctas_per_sm, len(spans)))
    for others, spent in enumerate(found):
        passed = np.append(0, np.cumsum(np.where(running == others + 1, until_next, 0)))
        spent[:] = passed[place[len(spans) :]] - passed[place[: len(spans)]]
    found[0, ~found.any(axis=0)] = 1.0  # a coarse clock can show a main loop of no time
    return found / found.sum(axis=0)


def plan_of(trace: Trace) -> tuple[Plan, np.ndarray]:
    """The plan of a run, and the plan row of each span: int64 [spans]. It is the schedule's plan if that
    matches the run, else the one reconstructed from the spans. Raises ProblemError for work items."""
    problem = trace.gemm
    try:
        candidates = [plan(trace.schedule, problem, trace.device)]
    except TilesimError:
        candidates = []
    spans, names = trace.spans, ("k1", "k0", "tile")
    by_tile = np.lexsort([spans[name] for name in names])
    for made in (*candidates, plan_from_spans(spans)):
        rows = np.lexsort([made.rows[name] for name in names])
        if len(rows) == len(by_tile) and all(
            np.array_equal(made.rows[name][rows], spans[name][by_tile]) for name in names
        ):
            break
    found = np.empty_like(rows)
    found[by_tile] = rows
    return made, found
