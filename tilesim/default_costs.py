"""Which costs stand for a kernel on a device: shipped calibrations, a file's, or the datasheet's peak."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from math import log
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from tilesim.costs import MOST_JITTER, Costs, even_shares
from tilesim.devices import Device, presets
from tilesim.errors import CostsError
from tilesim.plans import Plan
from tilesim.problems import DTYPE_BYTES, Problem
from tilesim.schedules import plan


def default_costs(schedule: str, problem: Problem, device: Device, kernel: str = "") -> Costs:
    """What `simulate` uses when it is given no costs.

    For a named device: calibrated costs where some are shipped, else its datasheet peak. For a device
    made by hand: `Costs.ideal()`. `kernel`: as recorded, such as "planned-tma-overlap"; "" is the schedule's
    own with TMA and overlap, or the planned one where it has none of its own.
    """
    if not device.name:
        return Costs.ideal()
    return _nearest(shipped(device.name), schedule, problem, device, kernel) or _from_peak(problem, device)


@cache
def shipped(device: str) -> tuple[Mapping[str, Any], ...]:
    """The calibrations shipped for a device, each as `calibrate.Calibration.as_json`.

    Made by: tilesim calibrate tilesim/data/traces/h200-*.npz -o tilesim/data/costs/h200.json
    """
    path = files("tilesim").joinpath(f"data/costs/{device}.json")
    return tuple(json.loads(path.read_text("utf-8"))) if path.is_file() else ()


def read_costs(
    path: str | PathLike[str], schedule: str, problem: Problem, device: Device, kernel: str = ""
) -> Costs:
    """Costs from a JSON file: one object of costs, or the list that `tilesim calibrate` writes.

    Of a list the nearest entry is taken and scaled as the shipped ones are. Raises CostsError, naming the
    file, where it cannot be read or does not hold such costs.
    """
    try:
        values = json.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        raise CostsError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise CostsError(f"{path}: this is not a JSON file") from None
    try:
        return costs_for(values, schedule, problem, device, kernel)
    except CostsError as error:
        raise CostsError(f"{path}: {error}") from None


def costs_for(values: object, schedule: str, problem: Problem, device: Device, kernel: str = "") -> Costs:
    """Costs from parsed JSON: an object of costs, or a list of calibrations to take the nearest of.

    Raises CostsError where it is neither, or where no calibration is for this schedule and dtype.
    """
    if isinstance(values, Mapping):
        return Costs.from_mapping(values)
    if not isinstance(values, list) or not all(_is_calibration(entry) for entry in values):
        raise CostsError(f"it must hold an object of costs or a list of objects with {', '.join(KEYS)}")
    costs = _nearest(values, schedule, problem, device, kernel)
    if costs is None:
        kinds = sorted({f"{entry['schedule']} in {entry['dtype']}" for entry in values})
        raise CostsError(
            f"no calibration fits {schedule} in {problem.dtype}; there are {', '.join(kinds) or 'none'}"
        )
    return costs


KEYS = {"schedule": str, "dtype": str, "tile": list, "ctas_per_sm": int, "costs": dict}
"""What a calibration says at least."""


def splits_tiles(rows: np.ndarray, problem: Problem) -> bool:
    """Whether the segments of a plan, or of a run, of `problem` cut tiles along K."""
    return len(rows) > problem.tiles


def effective_schedule(schedule: str, made: Plan, problem: Problem) -> str:
    """The name of `schedule`, or of what its plan comes to: naive or split-k, of whole tiles or parts, where
    each thread block has one segment, and persistent where they have several and no tile is cut."""
    name = schedule.partition(":")[0]
    if name not in SPLITTING:
        return name
    if np.diff(made.offsets).max() == 1:
        return "split-k" if splits_tiles(made.rows, problem) else "naive"
    return name if splits_tiles(made.rows, problem) else "persistent"


def _is_calibration(entry: object) -> bool:
    if not isinstance(entry, Mapping):
        return False
    if not all(isinstance(entry.get(key), kind) for key, kind in KEYS.items()):
        return False
    sizes = [*entry["tile"], entry["ctas_per_sm"]]
    known = entry["dtype"] in DTYPE_BYTES and len(sizes) == 4
    return known and all(isinstance(size, int) and size > 0 for size in sizes)


SPLITTING = ("split-k", "stream-k", "stream-k-hybrid")
"""Schedules that can cut tiles; what else they can come to has kernels of its own."""

STANDS_IN = {
    "split-k": ("stream-k", "naive", "persistent"),
    "stream-k-hybrid": ("stream-k", "persistent"),
    "cluster-launch-control": ("persistent-dynamic", "persistent"),
}
"""Whose calibration a schedule takes where it has none, the best first; any other takes persistent's."""


def _nearest(
    entries: Sequence[Mapping[str, Any]], schedule: str, problem: Problem, device: Device, kernel: str = ""
) -> Costs | None:
    """The nearest calibration, scaled to this tile, dtype and number of CTAs per SM; None without any.

    Nearest is by, in this order: the schedule's plan, see `effective_schedule`, or who stands in for it; the dtype; TMA
    loads or those of `kernel`; the tile's shape; CTAs per SM; an overlapped epilogue, or what `kernel` says;
    own or planned.

    A K-step is scaled by its volume and the datasheet's rates of the dtypes; an epilogue, and what it costs
    others, by the bytes of its tile; partials, fp32 whatever the dtype, by its area; jitter so that a tile's
    stays. Launch, ramp and hand-overs are latencies, alike for all tiles. For more CTAs per SM than were
    calibrated, f(r) is another calibration's of that tile, else r: they share the SM's rate.
    """
    name = schedule.partition(":")[0]
    family = (name, *STANDS_IN.get(name, () if name == "naive" else ("persistent",)))
    if name in SPLITTING:
        family = tuple(
            dict.fromkeys((effective_schedule(name, plan(schedule, problem, device), problem), *family))
        )
    area = problem.tile_m * problem.tile_n
    words = kernel.split("-") if kernel else ["tma", "overlap"]
    loads = "ptr" if "ptr" in words else "tma"
    made = ("planned" if "planned" in words else "own") if kernel else "planned" if name in SPLITTING else ""

    def distance(entry: Mapping[str, Any]) -> tuple[float, ...]:
        m, n, k = entry["tile"]
        return (
            family.index(entry["schedule"]),
            entry["dtype"] != problem.dtype,
            entry.get("loads", loads) != loads,
            abs(log(m * n / area)) + abs(log(k / problem.tile_k)),
            abs(entry["ctas_per_sm"] - device.ctas_per_sm),
            entry["costs"].get("overlap", False) != ("overlap" in words),
            entry.get("kernel", made) != (made or "own"),
        )

    rates = presets()[device.name]["peak_tflops"] if device.name else {}
    fitting = [
        entry
        for entry in entries
        if entry["schedule"] in family
        and (entry["dtype"] == problem.dtype or {entry["dtype"], problem.dtype} <= set(rates))
    ]
    if not fitting:
        return None
    nearest = min(fitting, key=distance)
    costs = Costs.from_mapping(nearest["costs"])
    (m, n, k), dtype = nearest["tile"], nearest["dtype"]
    scaled = []
    if (m, n, k) != problem.tile or dtype != problem.dtype:
        rate = rates[dtype] / rates[problem.dtype] if dtype != problem.dtype else 1.0
        size = DTYPE_BYTES[problem.dtype] / DTYPE_BYTES[dtype]
        costs = replace(
            costs,
            k_step=costs.k_step * rate * area * problem.tile_k / (m * n * k),
            epilogue=round(costs.epilogue * size * area / (m * n)),
            epilogue_serialisation=round(costs.epilogue_serialisation * size * area / (m * n)),
            staging=round(costs.staging * size * area / (m * n)),
            contention=round(costs.contention * size * area / (m * n)),
            partial=None if costs.partial is None else round(costs.partial * area / (m * n)),
            merge=round(costs.merge * area / (m * n)),
            fixup=round(costs.fixup * area / (m * n)),
            jitter=min(costs.jitter * (k / problem.tile_k) ** 0.5, MOST_JITTER),
        )
        scaled.append(f"{dtype} tiles of {m}x{n}x{k}")
    if device.ctas_per_sm > len(costs.coresidency):
        costs = replace(costs, coresidency=_coresidency(entries, nearest, device.ctas_per_sm))
        scaled.append(f"{nearest['ctas_per_sm']} per SM")
    source = f"{costs.source}; scaled from {', '.join(scaled)}" if scaled else costs.source
    return replace(costs, source=source)


def _coresidency(
    entries: Sequence[Mapping[str, Any]], like: Mapping[str, Any], ctas_per_sm: int
) -> tuple[float, ...]:
    """f(1) to f(ctas_per_sm): a calibration's of the same tile with so many residents, else f(r) = r."""
    known = [
        entry
        for entry in entries
        if all(entry[key] == like[key] for key in ("dtype", "tile")) and entry["ctas_per_sm"] >= ctas_per_sm
    ]
    if not known:
        return even_shares(ctas_per_sm)
    best = min(known, key=lambda entry: (entry["schedule"] != like["schedule"], entry["ctas_per_sm"]))
    return Costs.from_mapping(best["costs"]).coresidency


def _from_peak(problem: Problem, device: Device) -> Costs:
    """A K-step at the datasheet's dense peak, shared by all SMs; co-resident CTAs share their SM's rate."""
    preset = presets()[device.name]
    if problem.dtype not in preset["peak_tflops"]:
        rates = ", ".join(preset["peak_tflops"])
        raise CostsError(
            f"the {preset['title']}'s datasheet has no {problem.dtype} rate; "
            f"give costs, or choose from {rates}"
        )
    flops_per_ns_and_sm = preset["peak_tflops"][problem.dtype] * 1e3 / preset["sms"]
    return Costs(
        k_step=2 * problem.tile_m * problem.tile_n * problem.tile_k / flops_per_ns_and_sm,
        coresidency=even_shares(device.ctas_per_sm),
        source=f"datasheet peak of the {preset['title']}",
    )
