"""Observations: what calibration reads off a trace, derived once for all that estimate costs from it."""

from dataclasses import dataclass

import numpy as np

from tilesim.analysis.loop_terms import beside, plan_of
from tilesim.metrics import in_turn, slot_index
from tilesim.plans import Plan, owners
from tilesim.traces import Trace


@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """One trace, with arrays [spans] in the order of its spans and [pairs] of spans that follow one another.

    `slot`: see metrics.slot_index. `owns`: whether a span finishes its tile. `steps`: its K-steps, int64.
    `before`, `after`: see metrics.in_turn. `same_block`: whether both are one thread block's, bool [pairs].
    `under_epilogue`: whether a main loop begins under its thread block's epilogue of another tile. `sharing`:
    the share of a main loop's time with r + 1 main loops on its SM, float64 [spans, ctas_per_sm].
    `clock_mhz`: of the SMs, 0 where not known. `plan`: what was run; `segment`: each span's row in it, int64.
    """

    trace: Trace
    slot: np.ndarray
    owns: np.ndarray
    steps: np.ndarray
    before: np.ndarray
    after: np.ndarray
    same_block: np.ndarray
    under_epilogue: np.ndarray
    sharing: np.ndarray
    clock_mhz: float
    plan: Plan
    segment: np.ndarray

    @property
    def spans(self) -> np.ndarray:
        return self.trace.spans


def observe(trace: Trace) -> Observations:
    """All of it, derived from `trace`; raises ProblemError for work items, which no costs are of."""
    (made, segment), spans = plan_of(trace), trace.spans
    before, after = in_turn(trace)
    same_block = spans["cta"][before] == spans["cta"][after]
    under_epilogue = np.zeros(len(spans), bool)
    under_epilogue[after] = same_block & (spans["done"][before] > spans["start"][after])
    return Observations(
        trace=trace,
        slot=slot_index(trace),
        owns=owners(spans["tile"], spans["done"]),
        steps=(spans["k1"] - spans["k0"]).astype(np.int64),
        before=before,
        after=after,
        same_block=same_block,
        under_epilogue=under_epilogue,
        sharing=_sharing(trace),
        clock_mhz=clock_mhz(trace),
        plan=made,
        segment=segment,
    )


def clock_mhz(trace: Trace) -> float:
    """The mean clock of the SMs in MHz: cycles over time of all main loops; 0 where it is not known."""
    spans = trace.spans
    took = int((spans["drain"] - spans["start"]).sum())
    if not (spans["cycles"] > 0).all() or not took:
        return 0.0
    return 1000 * float(spans["cycles"].sum()) / took


def _sharing(trace: Trace) -> np.ndarray:
    """`sharing` of Observations. A main loop that is over in a step of the clock counts as alone."""
    share = beside(trace).T.astype(float)
    share[~share.any(axis=1), 0] = 1.0
    return share / share.sum(axis=1, keepdims=True)
