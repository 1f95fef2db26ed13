"""Constants of a device from runs on it: what its memory gives and takes, as main loops were slowed by it.

The constants, and how much slower than usual each kernel multiplies, come from SciPy's nonlinear least
squares of relative errors, on logarithms. A constant that the runs hardly show stays as it was known, and so
do those with which the GPU would be impossible, the least sure first.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tilesim.calibration.main_loops import main_loops, solve
from tilesim.calibration.observations import Observations, mean, noted_launch
from tilesim.devices.files import contradiction
from tilesim.devices.hardware import Hardware
from tilesim.errors import DeviceError

SOUGHT = ("l2_latency", "dram_latency", "l2_apart_gb_per_s", "l2_merged_gb_per_s", "dram_read_gb_per_s")
"""What main loops show of a device, if anything does."""
LEAST_SURE = 0.15
"""The largest relative standard error of a constant that counts as shown."""
LEAST_ERROR = 0.003
"""Of a run's mean main loop, relative: repeats of one kernel differ by 0.1 to 0.7 %."""
MOST_FACTOR = 8.0
"""A constant is sought within this factor of what was known."""
MOST_PACE = 4.0
PACE_WEIGHT = 0.01
"""What a logarithm of a pace counts beside a run's relative error: a kernel that waits shows none."""
Kernels = Sequence[tuple[Sequence[Observations], int]]
"""The runs of each kernel, and its stages."""


def constants(kernels: Kernels, known: Mapping[str, Any], given: Sequence[str] = ()) -> dict[str, float]:
    """Facts that the runs show, by name; `known` are the others', every fact that there is a rule for, and
    `given` those to be left as they are. Raises DeviceError where SciPy is not installed."""
    found: dict[str, float] = {}
    runs = [run for group, _ in kernels for run in group]
    clocks = [run.clock_mhz for run in runs]
    if "sustained_mhz" not in given and all(clocks):
        found["sustained_mhz"] = round(min(float(np.mean(clocks)), known["max_sm_mhz"]), 1)
    noted = [cycles for run in runs if (cycles := noted_launch(run.trace) * run.clock_mhz / 1000)]
    if "launch_cycles" not in given and noted:
        found["launch_cycles"] = round(mean(noted))
    names = [name for name in SOUGHT if name not in given]
    while names:
        values, errors = _fit(kernels, {**known, **found}, names)
        fitted = {name: float(f"{value:.4g}") for name, value in zip(names, values, strict=True)}
        if max(errors) <= LEAST_SURE and not contradiction({**known, **found, **fitted}):
            return found | fitted
        names.pop(int(np.argmax(errors)))
    return found


def _fit(kernels: Kernels, known: Mapping[str, Any], names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """(values, relative standard errors) of the constants `names`, each as known where nothing shows it."""
    try:
        from scipy.optimize import least_squares  # type: ignore[import-untyped]
    except ImportError:
        raise DeviceError(
            "--device-file needs SciPy; install it with: pip install '.[calibration]'"
        ) from None
    first = kernels[0][0][0].trace.gemm.dtype
    in_cycles = all(run.clock_mhz for group, _ in kernels for run in group)
    start = Hardware.of(known, first, "device")
    groups = [main_loops(runs, start, start.clock_mhz if in_cycles else 0.0) for runs, _ in kernels]
    zero = np.log([known[name] for name in names])
    at = np.append(zero, np.zeros(len(groups)))
    low = np.append(zero - np.log(MOST_FACTOR), np.zeros(len(groups)))
    high = np.append(zero + np.log(MOST_FACTOR), np.full(len(groups), np.log(MOST_PACE)))

    def residuals(x: np.ndarray) -> np.ndarray:
        """Relative errors of the main loops of each kernel, then of each pace."""
        values, paces = np.split(x, [len(names)])
        sought = {**known, **dict(zip(names, np.exp(values), strict=True))}
        errors = []
        for (runs, stages), group, pace in zip(kernels, groups, np.exp(paces), strict=True):
            problem = runs[0].trace.gemm
            hardware = Hardware.of(sought, problem.dtype, "device")
            errors.append(solve(group, stages, hardware, hardware.k_step_ns(problem) * pace)[0])
        return np.concatenate([*errors, PACE_WEIGHT * paces])

    sizes = [sum(len(one.ns) for one in group) for group in groups]
    # A pace changes its own kernel's residuals alone.
    own_pace = np.repeat(np.eye(len(groups)), sizes, axis=0)
    own_pace = np.concatenate([own_pace, np.eye(len(groups))])
    found = least_squares(
        residuals,
        at,
        bounds=(low, high),
        method="dogbox",  # of SciPy's, the one in which a pace may stay at its bound
        jac_sparsity=np.hstack([np.ones((len(own_pace), len(names))), own_pace]),
        diff_step=1e-4,
        ftol=1e-7,
        max_nfev=60,
    )
    jacobian = found.jac.toarray()
    ends = np.cumsum([len(one.ns) for group in groups for one in group])
    means = np.array([part.sum() / len(part) ** 0.5 for part in np.split(found.fun, ends)[:-1]])
    variance = max(LEAST_ERROR**2, float((means**2).sum()) / max(1, len(means) - len(at)))
    covariance = np.linalg.inv(jacobian.T @ jacobian + 1e-12 * np.eye(len(at))) * variance
    return np.exp(found.x[: len(names)]), np.sqrt(np.diag(covariance)[: len(names)])
