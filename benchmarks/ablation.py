"""What each term of the model is worth: `python benchmarks/ablation.py` writes ablation.json.

Each is taken away by itself. Without a term of a K-step or of first loads, kernels are calibrated again;
without a kernel's time all others stay. Errors are of recorded runs that nothing was fitted to, in SM cycles.
Jitter is held against what it is for: how much later the last slot ends than they do in the mean.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from types import ModuleType

import numpy as np

import tilesim
from tilesim import Costs, Trace
from tilesim.analysis.compare import compare
from tilesim.calibration.calibrate import calibrations
from tilesim.devices import hardware
from tilesim.devices.hardware import Hardware
from tilesim.engine import run as engine
from tilesim.engine.simulate import replay
from tilesim.kernel_costs.calibration import Calibration
from tilesim.kernel_costs.default import nearest
from tilesim.metrics import last_done
from tilesim.plans import splits_tiles
from tilesim.sm_cycles import sm_mhz

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
OF_ALL_KERNELS: Mapping[str, tuple[ModuleType, str, object]] = {
    "what tensor cores lose between K-steps": (hardware, "TENSOR_SHARE", 1.0),
    "waiting in turn for first loads": (
        engine,
        "lateness",
        lambda _, device, *__: np.zeros(device.slots, int),
    ),
}
OF_A_KERNEL: Mapping[str, Changed] = {
    "waiting for loads": {"stages": 0},
    "`launch`": {"launch": 0},
    "`prologue`": {"prologue": 0},
    "`mainloop_overhead`": {"mainloop_overhead": 0},
    "`epilogue_overlap_penalty`": {"epilogue_overlap_penalty": 0},
    "`tile_gap`": {"tile_gap": 0},
    "`epilogue`": {"epilogue": 0},
    "`overlap`": {"overlap": False},
    "`epilogue_serialisation`": {"epilogue_serialisation": 0},
    "`partial`": {"partial": None},
    "`merge`": {"merge": 0},
    "`fixup`": {"fixup": 0},
    "`jitter`": {"jitter": 0.0},
}


def errors(runs: Sequence[Trace], fitted: Sequence[Calibration], changed: Changed) -> np.ndarray:
    """Of runs and of their mean main loops, in cycles, and of the spread of their ends: float64 [runs, 3].

    The last as a share of the run.
    """
    found = []
    for run in runs:
        words = run.schedule, run.problem, run.device, run.kernel
        costs = nearest(fitted, *words) or Costs.ideal()
        simulated = replay(run, replace(costs, **changed))
        one = compare(simulated, run)
        loops = [one.main_loop.simulated * sm_mhz(simulated), one.main_loop.measured * sm_mhz(run)]
        spreads = [finish_spread(trace) / trace.makespan for trace in (simulated, run)]
        found.append((one.run_cycles.error, loops[0] / loops[1] - 1, spreads[0] - spreads[1]))
    return np.abs(np.array(found))


def finish_spread(trace: Trace) -> float:
    """How much later the last of the slots that had work finished than they did in the mean, ns."""
    last = last_done(trace)
    return float(last.max() - last[last > 0].mean())


def row(name: str, off: np.ndarray, split: np.ndarray) -> dict[str, object]:
    of_runs, of_loops, of_ends = off.T
    kinds = {
        "all": of_runs, "whole": of_runs[~split], "split": of_runs[split], "main_loops": of_loops,
        "ends": of_ends,
    }  # fmt: skip
    return {"without": name} | {
        f"{kind}_{figure}": round(100 * float(function(values)), 2)
        for kind, values in kinds.items()
        for figure, function in (("mean", np.mean), ("median", np.median), ("most", np.max))
    }


def main() -> None:
    fit_to = {path.name: Trace.load(path) for path in sorted((DATA / "traces").glob("*.npz"))}
    runs = [Trace.load(path) for path in sorted((DATA / "held_out").glob("*.npz"))]
    split = np.array([splits_tiles(run.spans, run.problem) for run in runs])
    named = Hardware.named
    fitted = calibrations(fit_to)
    rows = [row("nothing", errors(runs, fitted, {}), split)]
    for name, changed in OF_A_K_STEP.items():
        Hardware.named = lambda *words, change=changed: replace(named(*words), **change(named(*words)))
        rows.append(row(name, errors(runs, calibrations(fit_to), {}), split))
    Hardware.named = named
    for name, (module, attribute, other) in OF_ALL_KERNELS.items():
        usual = getattr(module, attribute)
        setattr(module, attribute, other)
        rows.append(row(name, errors(runs, calibrations(fit_to), {}), split))
        setattr(module, attribute, usual)
    rows += [row(name, errors(runs, fitted, changed), split) for name, changed in OF_A_KERNEL.items()]
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
