"""Sweep: simulate combinations of schedules, devices and problems, one row of a table each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from math import prod
from os import PathLike
from typing import Any, NamedTuple

from tilesim.costs import badge
from tilesim.devices.device import Device
from tilesim.engine.simulate import simulate
from tilesim.errors import SweepError, TilesimError
from tilesim.kernel_costs.default import read_costs
from tilesim.metrics import launches
from tilesim.parallel import in_order
from tilesim.problems import Problem

MAX_COMBINATIONS = 100_000

DEVICE_AXES = ("device", "sms", "ctas_per_sm")
PROBLEM_AXES = ("m", "n", "k", "tile", "order", "dtype")
SIZES = ("m", "n", "k")


class Combination(NamedTuple):
    schedule: str
    problem: Problem
    device: Device


class Row(NamedTuple):
    """A combination and its figures; they are None, with an `error`, if it cannot be simulated.

    `device` is a preset's name or "", `tile` reads "128x256x64", `tflops` is 2·m·n·k over the makespan, and
    `costs` is the badge of `tilesim.costs.badge`.
    """

    schedule: str
    device: str
    sms: int
    ctas_per_sm: int
    m: int
    n: int
    k: int
    tile: str
    order: str
    dtype: str
    tiles: int
    k_steps: int
    launches: int | None = None
    waves: int | None = None
    makespan_ns: int | None = None
    utilization: float | None = None
    busy_share: float | None = None
    tflops: float | None = None
    costs: str = ""
    error: str = ""


def combinations(axes: Mapping[str, Sequence[Any]], device: Device) -> list[Combination]:
    """Every distinct combination of the values on `axes`; the last axis, in the order of Row, varies fastest.

    The schedule and the three sizes are required; the rest defaults to Problem and `device`. "m" on axis n,
    and "m" or "n" on axis k, means the same size. Raises ProblemError or DeviceError for a value out of
    range, and SweepError for an empty axis or too many combinations.
    """
    for name, values in axes.items():
        if not values:
            raise SweepError(f"the sweep has no value for {name}; it needs at least one")
    count = prod(map(len, axes.values()))
    if count > MAX_COMBINATIONS:
        raise SweepError(f"the sweep has {count} combinations; at most {MAX_COMBINATIONS} are allowed")
    devices = [Device.chosen(values, device) for values in _points(axes, DEVICE_AXES)]
    problems = []
    for given in _points(axes, PROBLEM_AXES):
        for name in SIZES:
            given[name] = given.get(given[name], given[name])
        problems.append(Problem(**given))
    every = product(axes["schedule"], dict.fromkeys(devices), dict.fromkeys(problems))
    return [Combination(schedule, problem, on) for schedule, on, problem in every]


def sweep(
    every: Sequence[Combination],
    costs: str | PathLike[str] | None = None,
    seed: int = 0,
    jobs: int = 1,
    progress: Callable[[int], object] = lambda more: None,
    prepare: Callable[[], object] = int,
) -> list[Row]:
    """The rows of all combinations, in order, computed by `jobs` processes.

    `costs`: a name or a file, see `read_costs`; None means each combination's default. `progress` is called
    with the number of rows just finished. Each process first calls `prepare`, which may register schedules.
    Raises TilesimError if a process dies.
    """
    return in_order(partial(row, costs=costs, seed=seed), every, jobs, progress, prepare)


def row(one: Combination, costs: str | PathLike[str] | None = None, seed: int = 0) -> Row:
    schedule, problem, device = one
    try:
        known = None if costs is None else read_costs(costs, schedule, problem, device)
        trace = simulate(schedule, problem, device, known, seed)
    except TilesimError as error:
        return blank(one)._replace(error=str(error))
    return blank(one)._replace(
        launches=launches(trace),
        waves=trace.waves,
        makespan_ns=trace.makespan,
        utilization=trace.utilization,
        busy_share=trace.busy_share,
        tflops=problem.flops / trace.makespan / 1000,
        costs=badge(trace.meta["costs"], device),
    )


def blank(one: Combination) -> Row:
    """The row of a combination without results."""
    schedule, problem, device = one
    of_device, sizes = (device.name, device.sms, device.ctas_per_sm), (problem.m, problem.n, problem.k)
    tile, counts = "x".join(map(str, problem.tile)), (problem.tiles, problem.k_steps)
    return Row(schedule, *of_device, *sizes, tile, problem.order, problem.dtype, *counts)


def _points(axes: Mapping[str, Sequence[Any]], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Every combination of the values on the axes that are present."""
    there = [name for name in names if name in axes]
    for values in product(*(axes[name] for name in there)):
        yield dict(zip(there, values, strict=True))
