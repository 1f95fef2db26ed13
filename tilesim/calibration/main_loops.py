"""Main loops of measured runs: how long they took at one clock, and the costs that explain it.

A main loop takes its K-steps' time, `mainloop_overhead`, and `epilogue_overlap_penalty` under an epilogue of
its thread block. On a known device its hardware says what K-steps take (see tilesim.model.kstep), else all
take the same. The costs come from least squares of relative errors, with each run counting alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tilesim.calibration.observations import Observations, gap
from tilesim.devices.hardware import Hardware
from tilesim.model.kstep import k_step_terms
from tilesim.model.traffic import Loads, Traffic, loads


@dataclass(frozen=True, slots=True, eq=False)
class MainLoops:
    """The main loops of one run of a kernel that loads ahead by so many `stages`. `ns`: float64 [spans], at
    `clock_mhz`, 0 where not known. `hardware`, `loaded`, `seen`: of the device on which they were measured,
    and what its plan loads there; None without."""

    run: Observations
    ns: np.ndarray
    clock_mhz: float
    stages: int = 0
    hardware: Hardware | None = None
    loaded: Loads | None = None
    seen: Traffic | None = None

    def k_steps(self, k_step: float) -> np.ndarray | None:
        """ns that the hardware takes for all K-steps of each, of `k_step` ns or else the kernel's own:
        float64 [spans]. None where no hardware is known."""
        run, problem = self.run, self.run.trace.gemm
        if self.hardware is None or self.loaded is None or self.seen is None:
            return None
        residents = run.trace.device.ctas_per_sm
        multiplying = self.hardware.k_step_cycles(problem, k_step)
        terms = k_step_terms(self.seen, problem, self.hardware, multiplying, self.stages, residents)
        each = np.stack([self.loaded.mean(of) for of in terms.max(axis=0)])[:, run.segment]
        return run.steps / (run.sharing.T / each).sum(axis=0) * 1000 / self.hardware.clock_mhz


class MainLoopCosts(NamedTuple):
    k_step: float
    mainloop_overhead: float
    epilogue_overlap_penalty: float


def main_loops(runs: Sequence[Observations], device: str, stages: int) -> list[MainLoops]:
    """The main loops of one kernel's runs, measured on the preset `device` or, where that is "", on none.
    They are counted in cycles where all runs know them, at the device's clock or else their mean."""
    clocks = [run.clock_mhz for run in runs]
    if not device:
        clock = float(np.mean(clocks)) if all(clocks) else 0.0
        return [MainLoops(run, _ns(run, clock), clock) for run in runs]
    return loops_on(Hardware.named(device, runs[0].trace.gemm.dtype), runs, all(clocks), stages)


def loops_on(
    hardware: Hardware, runs: Sequence[Observations], in_cycles: bool, stages: int
) -> list[MainLoops]:
    """The main loops of one kernel's runs on such hardware, told by the SMs' clock where `in_cycles`."""
    found = []
    for run in runs:
        ns = _ns(run, hardware.clock_mhz if in_cycles else 0.0)
        between = gap(run) * run.steps.sum() / ns.sum()
        loaded = loads(run.plan, run.trace.gemm, run.trace.device.slots, between)
        seen = loaded.behind(hardware.l2_bytes)
        found.append(MainLoops(run, ns, hardware.clock_mhz, stages, hardware, loaded, seen))
    return found


def _ns(run: Observations, clock_mhz: float) -> np.ndarray:
    if clock_mhz:
        return np.maximum(1, run.spans["cycles"]) * 1000 / clock_mhz
    return np.maximum(1, run.spans["drain"] - run.spans["start"]).astype(float)


def solve(kernel: Sequence[MainLoops], k_step: float = 0.0) -> tuple[np.ndarray, MainLoopCosts]:
    """(relative errors, costs) of main loops whose K-steps multiply for `k_step` ns, or as the hardware does.
    The errors are float64 [spans of all runs], of each run as many times smaller as it has more of them."""
    columns, took = [], []
    for one in kernel:
        weight = len(one.ns) ** 0.5 / one.ns.sum()
        known = one.k_steps(k_step)
        terms = one.run.steps, np.ones(len(one.ns)), one.run.under_epilogue
        columns.append(weight * np.column_stack(terms))
        took.append(weight * (one.ns if known is None else one.ns - known))
    left, right = np.concatenate(columns), np.concatenate(took)
    # One length of main loop cannot tell its overhead from its K-steps.
    sought = kernel[0].hardware is None
    lengths = len(np.unique(np.concatenate([one.run.steps for one in kernel])))
    use = [sought, lengths > 1 or not sought, bool(left[:, 2].any())]
    found = least_squares(left, right, use)
    return left @ found - right, MainLoopCosts(*found.tolist())


def least_squares(left: np.ndarray, right: np.ndarray, use: list[bool]) -> np.ndarray:
    """What solves left · found = right best, of the columns to `use`, the others 0: float64 [columns].
    Nothing comes out negative: what would is left out, the most negative first. Where the first would not be
    positive, it alone is sought.

    >>> left = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> least_squares(left, np.array([2.0, 3.0]), [True, True]).round(6).tolist()
    [2.0, 1.0]
    >>> least_squares(left, np.array([3.0, 2.0]), [True, True]).round(6).tolist()
    [2.5, 0.0]
    """
    use = list(use)
    while any(use):
        found = np.zeros(left.shape[1])
        found[use] = np.linalg.lstsq(left[:, use], right, rcond=None)[0]
        if use[0] and found[0] <= 0 and any(use[1:]):
            use[1:] = [False] * (len(use) - 1)
        elif found[1:].min() < 0:
            use[1 + int(np.argmin(found[1:]))] = False
        else:
            return found
    return np.zeros(left.shape[1])
