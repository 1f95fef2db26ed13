"""Main loops of measured runs: how long they took at one clock, and what their plan says of their loads."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilesim.calibration.observations import Observations
from tilesim.calibration.phases import gap
from tilesim.model.traffic import Loads, loads


@dataclass(frozen=True, slots=True, eq=False)
class MainLoops:
    """The main loops of one run, in the order of its spans.

    `ns`: float64 [spans], at `clock_mhz`, the mean clock of its kernel's runs, which is 0 where not known.
    `loads`: what its plan loads. `full`: how many times as long a K-step takes on a full SM as alone, once
    `ns` is without SM sharing (see tilesim.calibration.sm_sharing); 1 before.
    """

    run: Observations
    ns: np.ndarray
    loads: Loads
    clock_mhz: float
    full: float = 1.0

    def l2_miss(self, cache: int) -> np.ndarray:
        """How likely each main loop waits for DRAM behind a `cache` of so many bytes: float64 [spans].

        See tilesim.model.traffic; 0 for a cache of 0, which is not known.
        """
        return self.loads.mean(self.loads.behind(cache).l2_miss)[self.run.segment]


def main_loops(runs: Sequence[Observations]) -> list[MainLoops]:
    """The main loops of one kernel's runs: counted in cycles where all know them, at the mean of their
    clocks."""
    clocks = [run.clock_mhz for run in runs]
    clock = float(np.mean(clocks)) if all(clocks) else 0.0
    return [_main_loops(run, clock) for run in runs]


def _main_loops(run: Observations, clock_mhz: float) -> MainLoops:
    spans, trace = run.spans, run.trace
    ns = np.maximum(1, spans["drain"] - spans["start"]).astype(float)
    if clock_mhz:
        ns = spans["cycles"] * 1000 / clock_mhz
    k_steps_per_ns = run.steps.sum() / ns.sum()
    seen = loads(run.plan, trace.problem, trace.device.slots, gap(run) * k_steps_per_ns)
    return MainLoops(run, ns, seen, clock_mhz)
