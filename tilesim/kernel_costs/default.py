"""Which costs stand for a kernel on a device: shipped calibrations, another GPU's overheads, or a file's."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from math import log
from os import PathLike
from pathlib import Path

import numpy as np

from tilesim.costs import Costs
from tilesim.devices import gpus
from tilesim.devices.device import Device
from tilesim.devices.facts import REFERENCE
from tilesim.devices.presets import in_words, presets, registered
from tilesim.errors import CostsError, unknown
from tilesim.kernel_config import SPLITTING, TABLE, KernelConfig
from tilesim.kernel_costs.calibration import Calibration, calibrations, for_device, for_problem
from tilesim.plans import Plan, splits_tiles
from tilesim.problems import Problem
from tilesim.schedules import SCHEDULES, plan
from tilesim.storage.files import read_json
from tilesim.text import base_name, plural

IDEAL = "ideal"
"""The name of `Costs.ideal()`, beside those of the presets."""
QUEUED = ("persistent-dynamic", "cluster-launch-control")
"""Schedules whose thread blocks take tiles from a queue, in a loop of its own in the table-driven kernel."""
HARDWARE = "cluster-launch-control"
"""The schedule that the hardware has to know, and the feature that it needs."""
STANDS_IN = {
    "naive": (),
    "split-k": ("stream-k", "naive", "persistent"),
    "stream-k-hybrid": ("stream-k", "persistent"),
    "cluster-launch-control": ("persistent-dynamic", "persistent"),
}
"""Whose calibration stands in for a schedule that has none, the best first; for all others, persistent's."""


def default_costs(
    schedule: str, problem: Problem, device: Device, kernel: str = "", made: Plan | None = None,
    preset: str = "",
) -> Costs:  # fmt: skip
    """The costs that `simulate` uses when it is given none: those of `device`'s GPU, or of another `preset`.

    A device without a name is so many SMs of an H200. `kernel`: as recorded, such as "table-tma-overlap"; ""
    is the schedule's dedicated one with TMA and overlap, or else the table-driven one. `made`: its plan. The
    nearest of the shipped calibrations counts; where none fit, the H200's overheads, as `for_device` scales
    them. Raises CostsError where the datasheet has no rate of the problem's dtype, or the device lacks what
    the schedule or the kernel needs.
    """
    name = preset or device.name or REFERENCE
    on = device.name or name
    if base_name(schedule) == HARDWARE and HARDWARE not in features(on):
        others = " or ".join(other for other in presets() if HARDWARE in features(other))
        raise CostsError(
            f"{in_words(on)} has no cluster launch control, which {schedule} needs; "
            f"choose {others or 'another schedule'}, or give costs"
        )
    if KernelConfig.named(kernel, "", (1, 1, 1)).loads == "tma" and "tma" not in features(on):
        raise CostsError(f"{in_words(on)} has no TMA, which the kernel {kernel} needs")
    run = schedule, problem, replace(device, name=name), kernel, made
    costs = nearest(shipped(name), *run)
    if costs is None:
        borrowed = nearest(_shipped(REFERENCE), *run)
        if borrowed is None:
            raise CostsError(f"no calibration of the H200 fits {schedule} in {problem.dtype}; give costs")
        costs = for_device(borrowed, problem, name)
    if preset or device.name:
        return costs
    return replace(costs, source=f"{costs.source}; for {plural(device.sms, 'SM')} of {in_words(name)}")


def features(name: str) -> set[str]:
    """What a preset has of tilesim.devices.facts.FEATURES."""
    return set(presets()[name].get("features", ()))


def loads_ahead(name: str) -> bool:
    """Whether the next tile's loads can fly on a device while a thread block writes the one before."""
    return bool({"tma", "async-copy"} & features(name))


def shipped(device: str) -> tuple[Calibration, ...]:
    """The calibrations shipped for a preset, or in the file of a device; () where there are none.

    Those of the H200 are made by:
    tilesim calibrate tilesim/data/traces/h200-*.npz -o tilesim/data/costs/h200.json
    """
    return calibrations(device) if device in registered() else _shipped(device)


@cache
def _shipped(device: str) -> tuple[Calibration, ...]:
    path = files("tilesim").joinpath(f"data/costs/{device}.json")
    entries = json.loads(path.read_text("utf-8")) if path.is_file() else []
    return tuple(Calibration.from_mapping(entry) for entry in entries)


def read_costs(
    source: str | PathLike[str], schedule: str, problem: Problem, device: Device, kernel: str = ""
) -> Costs:
    """Costs by name ("ideal", "h200", "NVIDIA H200") or from a JSON file, for a run on `device`.

    A file holds one object of costs, or the list that `tilesim calibrate` writes. A file that is called as a
    GPU is written ./h200. Raises CostsError, naming the file, where it holds no such costs.
    """
    if isinstance(source, str):
        if source.lower() == IDEAL:
            return Costs.ideal()
        if gpu := gpus.named(source):
            return default_costs(schedule, problem, device, kernel, preset=gpu.preset)
        if not {"/", "\\", "."} & set(source) and not Path(source).exists():
            raise CostsError(unknown("file or set of costs", source, (IDEAL, *presets())))
    return read_json(source, CostsError, lambda values: costs_for(values, schedule, problem, device, kernel))


def costs_for(values: object, schedule: str, problem: Problem, device: Device, kernel: str = "") -> Costs:
    """Costs from parsed JSON: an object of costs, or a list of calibrations to take the nearest of;
    CostsError where it is neither, or none is for this schedule and dtype."""
    if values == {}:
        raise CostsError("it names no cost, such as k_step; `tilesim calibrate` writes a complete file")
    if isinstance(values, Mapping):
        if "max_sm_mhz" in values:
            raise CostsError("it is a device file, for --device; `tilesim calibrate -o` writes costs")
        return Costs.from_mapping(values)
    if not isinstance(values, list):
        raise CostsError("it must hold an object of costs, or a list of calibrations")
    entries = [Calibration.from_mapping(entry) for entry in values]
    costs = nearest(entries, schedule, problem, device, kernel)
    if costs is None:
        kinds = sorted({f"{entry.kernel.config.schedule} in {entry.kernel.dtype}" for entry in entries})
        raise CostsError(
            f"no calibration fits {schedule} in {problem.dtype}; there are {', '.join(kinds) or 'none'}"
        )
    return costs


def effective_schedule(schedule: str, made: Plan, problem: Problem) -> str:
    """The name of `schedule` without parameters; of one that can split tiles, the schedule that its plan
    equals: naive or split-k where each thread block has one segment, persistent where no tile is split."""
    name = base_name(schedule)
    if name not in SPLITTING:
        return name
    if np.diff(made.offsets).max() == 1:
        return "split-k" if splits_tiles(made.rows, problem) else "naive"
    return name if splits_tiles(made.rows, problem) else "persistent"


def closest_schedule(made: Plan, problem: Problem) -> str:
    """The schedule of tilesim whose kernel would run such a plan: naive, stream-k or a persistent one."""
    if len(made.shared):
        return "persistent-dynamic"
    name = effective_schedule("stream-k", made, problem)
    return "stream-k" if name == "split-k" else name


def nearest(
    entries: Sequence[Calibration], schedule: str, problem: Problem, device: Device, kernel: str = "",
    made: Plan | None = None,
) -> Costs | None:  # fmt: skip
    """The costs of the nearest calibration for a run on `device`, scaled to its tile, dtype and CTAs per SM;
    None where none is for such a schedule, or a dtype whose relative rate is known.

    Nearest is by, in this order: the schedule, or none, "", where the table-driven kernel is wanted, which
    runs any; the dtype; TMA or pointer loads; the tile's shape; CTAs per SM; an overlapped epilogue;
    dedicated or table-driven. For more CTAs per SM than were calibrated, f(r) without a device is r. On a
    device whose loads are not asynchronous, nothing overlaps.
    """
    name = base_name(schedule)
    wanted = KernelConfig(TABLE if name in SPLITTING else name, name, problem.tile, overlap=True)
    if kernel:  # What it does not say is as of the best kernel of its name.
        given = KernelConfig.named(kernel, name, problem.tile)
        wanted = replace(given, loads=given.loads or "tma", kernel=given.kernel or name)
    schedules = schedules_that_fit(schedule, problem, device, made)
    any_plan = wanted.kernel == TABLE and schedules[0] not in QUEUED

    def distance(entry: Calibration) -> tuple[float, ...]:
        config = entry.kernel.config
        m, n, k = config.tile
        return (
            schedules.index(config.schedule) if config.schedule else 0 if any_plan else len(schedules),
            entry.kernel.dtype != problem.dtype,
            config.loads not in ("", wanted.loads),
            abs(log(m * n / (problem.tile_m * problem.tile_n))) + abs(log(k / problem.tile_k)),
            abs(entry.kernel.ctas_per_sm - device.ctas_per_sm),
            config.overlap != wanted.overlap,
            config.kernel != "" and (config.kernel == TABLE) != (wanted.kernel == TABLE),
        )

    def rates(entry: Calibration) -> dict[str, float]:
        home = entry.costs.device or device.name
        return presets()[home]["peak_tflops"] if home else {}

    fitting = [
        entry
        for entry in entries
        if entry.kernel.config.schedule in ("", *schedules)
        and (entry.kernel.dtype == problem.dtype or {entry.kernel.dtype, problem.dtype} <= set(rates(entry)))
    ]
    if not fitting:
        return None
    found = min(fitting, key=distance)
    costs = for_problem(found, problem, rates(found))
    if device.name and not loads_ahead(device.name):
        costs = replace(costs, overlap=False)
    if not costs.hardware and device.ctas_per_sm > found.kernel.ctas_per_sm:
        shares = tuple(float(r) for r in range(1, device.ctas_per_sm + 1))  # main loops share their SM's rate
        costs = replace(costs, coresidency=shares)
    return costs


def schedules_that_fit(
    schedule: str, problem: Problem, device: Device, made: Plan | None = None
) -> tuple[str, ...]:
    """Whose calibrations fit, the best first: of what its plan equals, its own, of those that stand in for
    it; of a schedule that is not tilesim's, those of the one that its plan is like."""
    name = base_name(schedule)
    first = name
    if name in SCHEDULES and not SCHEDULES.built_in(name):
        first = name = closest_schedule(made or plan(schedule, problem, device), problem)
    elif name in SPLITTING:
        first = effective_schedule(name, made or plan(schedule, problem, device), problem)
    return tuple(dict.fromkeys((first, name, *STANDS_IN.get(name, ("persistent",)))))
