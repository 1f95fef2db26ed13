"""Main loops of measured runs: how long they took at one clock, and the costs that explain it.

A main loop takes its K-steps' time, `ramp`, and `contention` under an epilogue of its thread block. Where the
runs were measured on a known device, its hardware says what K-steps take (see tilesim.model.kstep), given how
long other main loops ran on their SM; a kernel that multiplies more slowly than the tensor cores could has a
`k_step` of its own. On no known device all K-steps take the same. The costs come from least squares of
relative errors, with each run counting alike.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tilesim.calibration.observations import Observations
from tilesim.calibration.phases import gap
from tilesim.devices.hardware import Hardware
from tilesim.model.kstep import k_step_cycles
from tilesim.model.traffic import Loads, Traffic, loads

LEAST_PACE = 1.1
"""A kernel whose K-steps take less than this, over what tensor cores take, multiplies at their rate."""

MOST_PACE, PACES = 4.0, 18
"""The largest that is sought, and in how many steps of the golden section."""


@dataclass(frozen=True, slots=True, eq=False)
class MainLoops:
    """The main loops of one run, in the order of its spans.

    `ns`: float64 [spans], at `clock_mhz`, which is 0 where not known. `hardware`: of the device on which they
    were measured; `loaded` and `seen`: what its plan loads there. None without.
    """

    run: Observations
    ns: np.ndarray
    clock_mhz: float
    hardware: Hardware | None = None
    loaded: Loads | None = None
    seen: Traffic | None = None

    def k_steps(self, k_step: float, stages: int) -> np.ndarray:
        """ns of all K-steps of each main loop, beside those that were on its SM: float64 [spans]."""
        run, problem = self.run, self.run.trace.problem
        if self.hardware is None or self.loaded is None or self.seen is None:
            return run.steps * k_step
        residents = run.trace.device.ctas_per_sm
        cycles = k_step_cycles(self.seen, problem, self.hardware, k_step, stages, residents)
        each = np.stack([self.loaded.mean(of) for of in cycles])[:, run.segment]
        return run.steps / (run.sharing.T / each).sum(axis=0) * 1000 / self.hardware.clock_mhz


@dataclass(frozen=True, slots=True)
class MainLoopCosts:
    """Fields of Costs."""

    k_step: float
    ramp: float
    contention: float
    stages: int

    def ns(self, one: MainLoops) -> np.ndarray:
        """What each main loop of a run should take: float64 [spans]."""
        return one.k_steps(self.k_step, self.stages) + self.ramp + self.contention * one.run.under_epilogue


def main_loops(runs: Sequence[Observations], device: str) -> list[MainLoops]:
    """The main loops of one kernel's runs, measured on the preset `device` or, where that is "", on none.

    They are counted in cycles where all runs know them, and given at the clock of the device, or else at the
    mean of theirs: under load a GPU's clock moves by some percent, and no plan says how.
    """
    clocks = [run.clock_mhz for run in runs]
    if not device:
        clock = float(np.mean(clocks)) if all(clocks) else 0.0
        return [MainLoops(run, _ns(run, clock), clock) for run in runs]
    return loops_on(Hardware.named(device, runs[0].trace.problem.dtype), runs, all(clocks))


def loops_on(hardware: Hardware, runs: Sequence[Observations], in_cycles: bool) -> list[MainLoops]:
    """The main loops of one kernel's runs on such hardware, told by the SMs' clock where `in_cycles`."""
    return [_on(hardware, run, in_cycles) for run in runs]


def _on(hardware: Hardware, run: Observations, in_cycles: bool) -> MainLoops:
    ns = _ns(run, hardware.clock_mhz if in_cycles else 0.0)
    between = gap(run) * run.steps.sum() / ns.sum()
    loaded = loads(run.plan, run.trace.problem, run.trace.device.slots, between)
    return MainLoops(run, ns, hardware.clock_mhz, hardware, loaded, loaded.behind(hardware.l2_bytes))


def _ns(run: Observations, clock_mhz: float) -> np.ndarray:
    if clock_mhz:
        return np.maximum(1, run.spans["cycles"]) * 1000 / clock_mhz
    return np.maximum(1, run.spans["drain"] - run.spans["start"]).astype(float)


def fit(kernel: Sequence[MainLoops], stages: int) -> MainLoopCosts:
    """The costs of one kernel's main loops, which load ahead by so many stages."""
    hardware = kernel[0].hardware
    if hardware is None:
        return solve(kernel, None, stages)[1]
    peak = hardware.peak_ns(kernel[0].run.trace.problem)

    def error(pace: float) -> float:
        return float((solve(kernel, peak * pace, stages)[0] ** 2).sum())

    pace = _least(error, 1.0, MOST_PACE, PACES)
    return solve(kernel, peak * pace if pace >= LEAST_PACE else 0.0, stages)[1]


def _least(function: Callable[[float], float], low: float, high: float, steps: int) -> float:
    """Where `function` is least between `low` and `high`: by the golden section."""
    share = (5**0.5 - 1) / 2
    inner = [high - share * (high - low), low + share * (high - low)]
    values = [function(x) for x in inner]
    for _ in range(steps):
        if values[0] <= values[1]:
            high, inner, values = inner[1], [0.0, inner[0]], [0.0, values[0]]
            inner[0] = high - share * (high - low)
            values[0] = function(inner[0])
        else:
            low, inner, values = inner[0], [inner[1], 0.0], [values[1], 0.0]
            inner[1] = low + share * (high - low)
            values[1] = function(inner[1])
    return inner[0] if values[0] <= values[1] else inner[1]


def solve(kernel: Sequence[MainLoops], k_step: float | None, stages: int) -> tuple[np.ndarray, MainLoopCosts]:
    """(relative errors, costs) of main loops with `k_step`, sought with the rest where it is None.

    The errors are float64 [spans of all runs], of each run as many times smaller as it has more of them.
    """
    columns, took = [], []
    for one in kernel:
        weight = len(one.ns) ** 0.5 / one.ns.sum()
        k_steps = one.k_steps(1.0 if k_step is None else k_step, stages)
        columns.append(weight * np.column_stack([k_steps, np.ones(len(one.ns)), one.run.under_epilogue]))
        took.append(weight * (one.ns if k_step is None else one.ns - k_steps))
    left, right = np.concatenate(columns), np.concatenate(took)
    # One length of main loop cannot tell its ramp from its K-steps.
    lengths = len(np.unique(np.concatenate([one.run.steps for one in kernel])))
    sought = k_step is None
    found = least_squares(left, right, [sought, lengths > 1 or not sought, bool(left[:, 2].any())])
    first, ramp, contention = found.tolist()
    return left @ found - right, MainLoopCosts(first if k_step is None else k_step, ramp, contention, stages)


def least_squares(left: np.ndarray, right: np.ndarray, use: list[bool]) -> np.ndarray:
    """What solves left · found = right best, of the columns to `use`, the others 0: float64 [columns].

    Nothing comes out negative: what would is left out, the most negative first. The first, if it is used, is
    what the others are added to and must be positive: where it would not, it alone is sought.

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
