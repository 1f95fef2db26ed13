"""Main loops of measured runs, with what the plan says of their loads and the trace of their company. Part of
calibration."""

from dataclasses import dataclass

import numpy as np

from tilesim.calibration.residents import shares
from tilesim.metrics import in_turn
from tilesim.model.traffic import Loads, loads
from tilesim.plans import Plan, shown_by
from tilesim.schedules import SCHEDULES, plan
from tilesim.traces import Trace


@dataclass(frozen=True, slots=True, eq=False)
class MainLoops:
    """The main loops of one run, arrays [segments] in the order of its spans.

    `ns`: at the mean clock of its kernel's runs, `clock_mhz`, which is 0 where not known. `steps`: K-steps.
    `under`: whether another tile's epilogue runs under it. `beside`, `idle`: see tilesim.calibration.residents. `made`:
    the run's plan, `of`: each span's segment in it. `loads`: what it loads. `full`: how many times as long a
    K-step takes on a full SM, once `ns` is taken back to one alone (see tilesim.calibration.sm_sharing).
    """

    trace: Trace
    ns: np.ndarray
    steps: np.ndarray
    under: np.ndarray
    beside: np.ndarray
    idle: np.ndarray
    made: Plan
    of: np.ndarray
    loads: Loads
    clock_mhz: float
    full: float = 1.0

    def cold(self, cache: int) -> np.ndarray:
        """How likely each main loop waits for DRAM, see tilesim.model.traffic; 0 for a cache of 0, not known."""
        if not cache:
            return np.zeros(len(self.ns))
        return self.loads.mean(self.loads.behind(cache).cold)[self.of]


def main_loops(trace: Trace, clock_mhz: float, gap_ns: float) -> MainLoops:
    """The main loops of `trace`; `gap_ns` is what passes in a slot between two of them."""
    spans = trace.spans
    steps = (spans["k1"] - spans["k0"]).astype(np.int64)
    ns = np.maximum(1, spans["drain"] - spans["start"]).astype(float)
    if clock_mhz:
        ns = spans["cycles"] * 1000 / clock_mhz
    before, after = in_turn(trace)
    under = np.zeros(len(spans), bool)
    under[after] = (spans["cta"][before] == spans["cta"][after]) & (
        spans["done"][before] > spans["start"][after]
    )
    made = _made(trace)
    rows = made.rows
    of = np.empty(len(spans), np.int64)
    of[np.lexsort((spans["k0"], spans["tile"]))] = np.lexsort((rows["k0"], rows["tile"]))
    seen = loads(made, trace.problem, trace.device.slots, gap_ns * steps.sum() / ns.sum())
    return MainLoops(trace, ns, steps, under, *shares(trace), made, of, seen, clock_mhz)


def _made(trace: Trace) -> Plan:
    """The plan of a run: its schedule's, or what the spans show where that cuts tiles in other places."""
    if trace.schedule.partition(":")[0] in SCHEDULES:
        made = plan(trace.schedule, trace.problem, trace.device)
        planned, ran = (
            np.sort(rows["tile"].astype(np.int64) * trace.problem.k_steps + rows["k0"])
            for rows in (made.rows, trace.spans)
        )
        if np.array_equal(planned, ran):
            return made
    return shown_by(trace.spans)
