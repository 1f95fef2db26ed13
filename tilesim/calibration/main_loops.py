"""Main loops of measured runs: how long they took at one clock, and the costs that explain it.

A main loop takes its K-steps' time, `mainloop_overhead`, and `epilogue_overlap_penalty` under an epilogue of
its thread block. On a known device its hardware says what K-steps take (see tilesim.model.kstep), else all
take the same. The costs come from least squares of relative errors, with each run counting alike.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tilesim.calibration.observations import Observations, mean
from tilesim.devices.hardware import Hardware
from tilesim.model.kstep import k_step_terms
from tilesim.model.traffic import Loads, Traffic, loads


class MainLoops(NamedTuple):
    """The main loops of one run. `ns`: float64 [spans]. `loaded`, `seen`: what its plan loads on the hardware
    on which it was measured; None without."""

    run: Observations
    ns: np.ndarray
    loaded: Loads | None = None
    seen: Traffic | None = None


def main_loops(runs: Sequence[Observations], hardware: Hardware | None, clock_mhz: float) -> list[MainLoops]:
    """The main loops of runs on that `hardware`, told in cycles of `clock_mhz`; by the timer if that is 0."""
    found = []
    for run in runs:
        spans = run.spans
        if clock_mhz:
            ns = np.maximum(1, spans["cycles"]) * 1000 / clock_mhz
        else:
            ns = np.maximum(1, spans["drain"] - spans["start"]).astype(float)
        if hardware is None:
            found.append(MainLoops(run, ns))
            continue
        pause = mean(spans["start"][run.after] - spans["drain"][run.before]) * run.steps.sum() / ns.sum()
        loaded = loads(run.plan, run.trace.gemm, run.trace.device.slots, pause)
        found.append(MainLoops(run, ns, loaded, loaded.behind(hardware.l2_bytes)))
    return found


def solve(
    kernel: Sequence[MainLoops], stages: int, hardware: Hardware | None, k_step: float = 0.0
) -> tuple[np.ndarray, list[float]]:
    """(relative errors, [k_step, mainloop_overhead, epilogue_overlap_penalty]) of the main loops of a kernel
    with so many `stages`, whose K-steps multiply for `k_step` ns, or as the hardware does. The errors are
    float64 [spans of all runs], of each run as many times smaller as it has more of them."""
    columns, took = [], []
    for one in kernel:
        weight = len(one.ns) ** 0.5 / one.ns.sum()
        terms = one.run.steps, np.ones(len(one.ns)), one.run.under_epilogue
        columns.append(weight * np.column_stack(terms))
        took.append(weight * (one.ns - _k_steps(one, stages, hardware, k_step)))
    left, right = np.concatenate(columns), np.concatenate(took)
    # One length of main loop cannot tell its overhead from its K-steps.
    sought = hardware is None
    lengths = len(np.unique(np.concatenate([one.run.steps for one in kernel])))
    use = [sought, lengths > 1 or not sought, bool(left[:, 2].any())]
    found = _least_squares(left, right, use)
    return left @ found - right, found.tolist()


def _k_steps(one: MainLoops, stages: int, hardware: Hardware | None, k_step: float) -> np.ndarray | float:
    """ns that hardware takes for all K-steps of each main loop: float64 [spans]; 0 where none is known."""
    if hardware is None or one.loaded is None or one.seen is None:
        return 0.0
    run, problem = one.run, one.run.trace.gemm
    multiplying = hardware.k_step_cycles(problem, k_step)
    terms = k_step_terms(one.seen, problem, hardware, multiplying, stages, len(run.sharing))
    each = np.stack([one.loaded.mean(of) for of in terms.max(axis=0)])[:, run.segment]
    return run.steps / (run.sharing / each).sum(axis=0) * 1000 / hardware.clock_mhz


def _least_squares(left: np.ndarray, right: np.ndarray, use: list[bool]) -> np.ndarray:
    """What solves left · found = right best, of the columns to `use`, the others 0: float64 [columns].
    Nothing comes out negative: what would is left out, the most negative first. Where the first would not be
    positive, it alone is sought."""
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
