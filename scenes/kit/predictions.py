"""Predictions: what the simulator says of runs that were recorded, and what it adds up."""

from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from tilesim import Trace
from tilesim.analysis.loop_terms import TERMS, plan_of
from tilesim.costs import Costs
from tilesim.devices.hardware import Hardware
from tilesim.engine.simulate import replay
from tilesim.metrics import run
from tilesim.model.kstep import k_step_terms, loads_under
from tilesim.sm_cycles import run_cycles
from tilesim_scenes.film.traces import shipped


class Prediction(NamedTuple):
    """The `file` of a recorded run, its time and the predicted one, ns, both from the first multiply on.

    `cycles`: the error of the prediction in SM cycles, as a share. `mhz`: the SMs' mean clock. `fitted`:
    whether it is among the runs that costs were fitted to.
    """

    file: str
    measured: float
    predicted: float
    cycles: float
    mhz: float
    fitted: bool

    @property
    def error(self) -> float:
        """As a share of the measured time."""
        return self.predicted / self.measured - 1


@cache
def held_out() -> tuple[Prediction, ...]:
    """All runs that no cost was fitted to, replayed anew."""
    found = []
    folder = files("tilesim").joinpath("data", "held_out")
    for name in sorted(file.name for file in folder.iterdir() if file.name.endswith(".npz")):
        measured = shipped(f"held_out/{name}")
        simulated = replay(measured)
        fitted = files("tilesim").joinpath("data", "traces", name).is_file()
        cycles = run_cycles(simulated) / run_cycles(measured) - 1
        mhz = measured.meta["sm_mhz"]
        found.append(Prediction(name, run(measured), run(simulated), cycles, mhz, fitted))
    return tuple(found)


def step_terms(trace: Trace, costs: Costs) -> dict[str, float]:
    """ns of each of TERMS in the median step of a run: see tilesim.model.kstep."""
    problem, hardware = trace.gemm, Hardware.named(costs.hardware, trace.gemm.dtype)
    loaded = loads_under(plan_of(trace)[0], problem, trace.device, costs, hardware)
    multiplying = hardware.k_step_cycles(problem, costs.k_step)
    seen, residents = loaded.behind(hardware.l2_bytes), trace.device.ctas_per_sm
    terms = k_step_terms(seen, problem, hardware, multiplying, costs.stages, residents)
    medians = (float(np.median(term)) * 1000 / hardware.clock_mhz for term in terms)
    return dict(zip(TERMS, medians, strict=True))
