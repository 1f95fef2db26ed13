"""What each term of the model is worth: `python tests/benchmarks/ablation.py` writes ablation.json.

Each is taken away by itself. Without a term of a K-step, kernels are calibrated again; without a kernel's
time all others stay. Errors are of recorded runs that nothing was fitted to, in SM cycles.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path

import numpy as np

import tilesim
from tilesim import Costs, Trace
from tilesim.analysis.compare import compare
from tilesim.calibration.calibrate import calibrations
from tilesim.devices.hardware import Hardware
from tilesim.engine.simulate import replay
from tilesim.kernel_costs.calibration import Calibration
from tilesim.kernel_costs.default import nearest
from tilesim.model import kstep
from tilesim.plans import splits_tiles

DATA = Path(tilesim.__file__).parent / "data"
RESULTS = Path(__file__).with_name("ablation.json")
Changed = Mapping[str, object]

OF_A_K_STEP: Mapping[str, Callable[[Hardware], Changed]] = {
    "the latency of DRAM": lambda gpu: {"dram_latency": gpu.l2_latency},
    "the L2": lambda gpu: {"l2_bytes_per_clock": inf, "l2_merged_bytes_per_clock": inf},
    "merged loads of the L2": lambda gpu: {"l2_merged_bytes_per_clock": gpu.l2_bytes_per_clock},
    "what merged loads take of it": lambda gpu: {"l2_merged_bytes_per_clock": inf},
    "DRAM": lambda gpu: {"dram_bytes_per_clock": inf},
}
OF_A_KERNEL: Mapping[str, Changed] = {
    "waiting for loads": {"stages": 0},
    "`k_step`, where a kernel multiplies slowly": {"k_step": 0.0},
    "`ramp`": {"ramp": 0},
    "`contention`": {"contention": 0},
    "`dispatch`": {"dispatch": 0},
    "`handover`": {"handover": 0},
    "`epilogue_serialisation`": {"epilogue_serialisation": 0},
    "`partial`": {"partial": None},
    "`merge` and `fixup`": {"merge": 0, "fixup": 0},
    "`jitter`": {"jitter": 0.0},
}


def errors(runs: Sequence[Trace], fitted: Sequence[Calibration], changed: Changed) -> np.ndarray:
    """Of runs and of their mean main loops, in cycles: float64 [runs, 2]."""
    found = []
    for run in runs:
        words = run.schedule, run.problem, run.device, str(run.meta["kernel"])
        costs = nearest(fitted, *words) or Costs.ideal()
        one = compare(replay(run, replace(costs, **changed)), run)
        mhz = [each / of for each, of in zip(_values(one.run_cycles), _values(one.run), strict=True)]
        simulated, measured = (loop * each for loop, each in zip(_values(one.main_loop), mhz, strict=True))
        found.append((one.run_cycles.error, simulated / measured - 1))
    return np.abs(np.array(found))


def _values(pair) -> tuple[float, float]:
    return pair.simulated, pair.measured


def row(name: str, off: np.ndarray, split: np.ndarray) -> dict[str, object]:
    of_runs, of_loops = off.T
    kinds = {"all": of_runs, "whole": of_runs[~split], "split": of_runs[split], "main_loops": of_loops}
    return {"without": name} | {
        f"{kind}_{figure}": round(100 * float(function(values)), 2)
        for kind, values in kinds.items()
        for figure, function in (("mean", np.mean), ("median", np.median), ("most", np.max))
    }


def main() -> None:
    fit_to = {path.name: Trace.load(path) for path in sorted((DATA / "traces").glob("*.npz"))}
    runs = [Trace.load(path) for path in sorted((DATA / "held_out").glob("*.npz"))]
    split = np.array([splits_tiles(run.spans, run.problem) for run in runs])
    named, sharpness = Hardware.named, kstep.SHARPNESS
    fitted = calibrations(fit_to)
    rows = [row("nothing", errors(runs, fitted, {}), split)]
    for name, changed in OF_A_K_STEP.items():
        Hardware.named = lambda *words, change=changed: replace(named(*words), **change(named(*words)))
        rows.append(row(name, errors(runs, calibrations(fit_to), {}), split))
    Hardware.named, kstep.SHARPNESS = named, 500
    rows.append(
        row(
            "rounding off, so that the largest term counts alone",
            errors(runs, calibrations(fit_to), {}),
            split,
        )
    )
    kstep.SHARPNESS = sharpness
    rows += [row(name, errors(runs, fitted, changed), split) for name, changed in OF_A_KERNEL.items()]
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
