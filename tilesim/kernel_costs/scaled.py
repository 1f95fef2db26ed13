"""Scaling: the costs of a kernel that was measured, as those of another tile, dtype or GPU."""

from dataclasses import replace
from typing import Any

from tilesim.costs import MOST_JITTER, Costs
from tilesim.devices.hardware import Hardware
from tilesim.devices.presets import in_words, presets
from tilesim.kernel_costs.calibration import Calibration
from tilesim.problems import DTYPE_BYTES, Problem

BY_BYTES = ("epilogue", "epilogue_serialisation", "epilogue_overlap_penalty")
"""Costs of writing C: proportional to the bytes of its tile."""
BY_AREA = ("partial", "merge", "fixup")
"""Costs of accumulators, which are fp32 whatever the dtype: proportional to the elements of a tile."""


SCALED = "; scaled from "
"""What stands in the source of costs before the tiles that they were measured with, if those are others."""


def extrapolated(costs: Costs) -> str:
    """What costs were measured with instead: other tiles or another dtype, or another GPU; "" if neither."""
    tiles = costs.source.partition(SCALED)[2].partition(";")[0]
    return tiles or ("another GPU" if costs.scaled_to else "")


def for_problem(one: Calibration, problem: Problem, peak_tflops: dict[str, float]) -> Costs:
    """The costs of `one` for the tile and dtype of `problem`; `peak_tflops` by dtype, of the same GPU.

    A K-step that is given is proportional to its multiplications over the peak rate of the dtype. Writing C
    goes by the bytes of its tile, partials by its elements. The jitter is such that a tile's stays.
    """
    (m, n, k), dtype, costs = one.kernel.config.tile, one.kernel.dtype, one.costs
    if ((m, n, k), dtype) == (problem.tile, problem.dtype):
        return costs
    rate = peak_tflops[dtype] / peak_tflops[problem.dtype] if dtype != problem.dtype else 1.0
    area = problem.tile_m * problem.tile_n / (m * n)
    size = area * DTYPE_BYTES[problem.dtype] / DTYPE_BYTES[dtype]
    return replace(
        costs,
        k_step=costs.k_step * rate * problem.tile_m * problem.tile_n * problem.tile_k / (m * n * k),
        jitter=min(costs.jitter * (k / problem.tile_k) ** 0.5, MOST_JITTER),
        source=f"{costs.source}{SCALED}{dtype} tiles of {m}x{n}x{k}",
        **_times(costs, BY_BYTES, size),
        **_times(costs, BY_AREA, area),
    )


def for_device(costs: Costs, problem: Problem, name: str) -> Costs:
    """`costs`, measured on another GPU for this tile and dtype, as overheads on the preset `name`.

    K-steps are what its hardware takes, as much slower than tensor cores as before. Writing goes by the
    datasheet's memory bandwidth per SM; latencies stay. Raises CostsError where no rate of the dtype is
    known.
    """
    own, new = (Hardware.named(each, problem.dtype) for each in (costs.device, name))
    preset, measured_on = presets()[name], presets()[costs.device]
    per_sm, other = (each["memory_gb_per_s"] / each["sms"] for each in (preset, measured_on))
    words = f"{measured_on['short']} overheads on {in_words(name)}, K-steps as its hardware takes them"
    return replace(
        costs,
        k_step=costs.k_step * new.peak_ns(problem) / own.peak_ns(problem),
        launch=new.launch_ns,
        clock_mhz=new.clock_mhz,
        scaled_to=name,
        source=f"{words}; {costs.source}",
        **_times(costs, (*BY_BYTES, *BY_AREA), other / per_sm),
    )


def _times(costs: Costs, names: tuple[str, ...], factor: float) -> dict[str, Any]:
    """Those of the costs `names` that are given, times `factor`, in ns."""
    return {name: round(ns * factor) for name in names if (ns := getattr(costs, name)) is not None}
