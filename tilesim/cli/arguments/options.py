"""The options that several commands share, and how they become a Problem, a Device and Costs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import click

from tilesim import formats
from tilesim.cli.arguments.parameter_types import (
    COSTS,
    DEVICES,
    DTYPES,
    ORDER,
    SCHEDULE,
    TILE_SHAPE,
    OutputFile,
    Whole,
    usage,
)
from tilesim.cli.output.figures import wrote
from tilesim.costs import Costs
from tilesim.devices.device import Device
from tilesim.devices.presets import presets
from tilesim.errors import ProblemError
from tilesim.formats.reading import Reading, pairs
from tilesim.kernel_costs.default import read_costs
from tilesim.problems import DTYPE_BYTES, Problem
from tilesim.traces import Trace

F = TypeVar("F", bound=Callable[..., Any])

OWN = "from the file"
PROBLEM = Problem(4096, 4096, 512)
DEVICE = "h200"
MAX_TILES = 2**22
"""The most tiles that the command line accepts; with more, lists and films would never finish."""

PROBLEM_NAMES = ("m", "n", "k", "tile", "order", "dtype")
DEVICE_NAMES = ("device", "sms", "ctas_per_sm", "busy_sms")


def _group(*options: Callable[[F], F]) -> Callable[[F], F]:
    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


Row = tuple[str, str, Any, str, object]
"""An option as it is listed: name, metavar, type, help, and the default that help shows."""


def listed(rows: Iterable[Row], own: str = "", **more: Any) -> Callable[[F], F]:
    """The options of `rows`. Help shows the default of each, or `own` in its place."""
    options = []
    for name, metavar, kind, help, usual in rows:
        shown = f"  [{own or usual}]" if own or usual else ""
        options.append(click.option(f"--{name}", type=kind, metavar=metavar, help=help + shown, **more))
    return _group(*options)


ORDERING = "Rasterization order; grouped:8 goes through 8 rows of tiles at a time, column by column."
TILE = "x".join(map(str, PROBLEM.tile))
WORK: tuple[Row, ...] = (
    ("m", "SIZE", int, "Rows of A and C.", PROBLEM.m),
    ("n", "SIZE", int, "Columns of B and C.", PROBLEM.n),
    ("k", "SIZE", int, "Columns of A, rows of B.", PROBLEM.k),
    ("tile", "MxNxK", TILE_SHAPE, "Output tile of a thread block, and the size of a K-step.", TILE),
    ("order", "NAME", ORDER, ORDERING, PROBLEM.order),
    ("dtype", "NAME", DTYPES, f"Data type of A and B: {', '.join(DTYPE_BYTES)}.", PROBLEM.dtype),
    ("device", "NAME", DEVICES, "Name of a GPU from `tilesim list`, or a device file.", DEVICE),
    ("sms", "COUNT", int, "Number of SMs of that GPU.", ""),
    ("ctas-per-sm", "COUNT", int, "Thread blocks that an SM holds at once.", "1"),
    ("busy-sms", "COUNT", int, "SMs that another kernel holds.", "0"),
)


def work_options(own: str = "", names: Sequence[str] = (*PROBLEM_NAMES, *DEVICE_NAMES)) -> Callable[[F], F]:
    """The options of a Problem and a Device, or some of them by name; see `listed`."""
    return listed([row for row in WORK if row[0].replace("-", "_") in names], own)


reading_options = _group(
    click.option(
        "--map",
        multiple=True,
        metavar="NAME=COLUMN",
        help="What the file calls a column, an argument, or a slice: start=t0, cta=block, main=mma.  "
        "[repeatable]",
    ),
    click.option(
        "--tile-from",
        metavar="cta|order|FILE",
        help="How to assign tiles to blocks if the file does not: cta (block b computes the b-th tile), "
        "order (as in a persistent kernel), or a table with columns cta and tile.",
    ),
    click.option("--items", is_flag=True, help="Not a matrix product: each row or slice is an item of work."),
)
file_options = _group(work_options(OWN), reading_options)
SEED = "Seed of the random variation of K-steps, 0 or more.  [0]"
costs_options = _group(
    click.option(
        "--costs",
        type=COSTS,
        metavar="NAME|FILE",
        help="ideal, a GPU's name such as h200, or a JSON file from `tilesim calibrate`.  [the GPU's own]",
    ),
    click.option("--seed", type=int, default=0, metavar="NUMBER", help=SEED),
)


def count_option(
    name: str, about: str, default: int, least: int = 1, most: int | None = 1000, **more: Any
) -> Callable[[F], F]:
    kind = Whole(least, most)
    return click.option(f"--{name}", type=kind, default=default, help=f"{about}  [{default}]", **more)


def samples_option(each: str, default: int = 100) -> Callable[[F], F]:
    return count_option("samples", f"Samples per {each}.", default, most=100_000)


def sizes_option(about: str, kind: click.ParamType, **more: Any) -> Callable[[F], F]:
    """`--size`, which may be repeated, passed on as `sizes`."""
    return click.option("--size", "sizes", type=kind, multiple=True, help=about, **more)


seed_option = count_option("seed", "Seed of the random operands.", 0, 0, 2**63 - 1)
kernel_options = _group(
    click.option("--warps", type=Whole(1, 32), help="Warps per thread block.  [4 or 8, as fits the tile]"),
    click.option("--stages", type=Whole(1, 32), help="Pipeline stages.  [as many as fit, up to 6]"),
    seed_option,
)
ctas_option = count_option("ctas-per-sm", "Thread blocks per SM that the schedule plans for.", 1, most=64)
run_options = _group(click.argument("schedule", type=SCHEDULE), work_options())
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


TRACE_FILE = OutputFile(
    *(".npz", ".csv", ".json", ".perfetto", ".perfetto-trace", ".pftrace"),
    rule="a trace is written as .npz, .csv, .json, .perfetto.json or .perfetto-trace",
)
TRACE_HELP = "Write the trace to this file (.npz, .csv, .json, .perfetto.json, .perfetto-trace)."
COSTS_FILE = OutputFile(".json", rule="costs are written as .json")
PAGE_FILE = OutputFile(".html", rule="a page is written as .html")
PICTURE_FILE = OutputFile(".png", rule="a picture is written as .png")
TABLE_FILE = OutputFile(".csv", ".parquet", rule="a table is written as .csv or .parquet")
FIGURES_FILE = OutputFile(".json", rule="figures are written as .json")


def output_option(kind: OutputFile, help: str, *names: str) -> Callable[[F], F]:
    return click.option(*(names or ("-o", "--output")), type=kind, metavar="FILE", help=help)


figures_option = output_option(FIGURES_FILE, "Write the figures to this file (.json).")
report_options = _group(figures_option, json_option)


def save_trace(trace: Trace, output: str) -> None:
    formats.save(trace, output, formats.format_of(output) or "npz")
    wrote(output)


def given(options: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: options[name] for name in names if options.get(name) is not None}


def reading_from(options: Mapping[str, Any]) -> dict[str, Any]:
    """The `reading_options`, in the form that `tilesim.formats.reader.read` takes."""
    with usage():
        names = pairs(options["map"])
        Reading.of({"map": names})
    said = {"map": names, "tile_from": options["tile_from"], "items": options["items"]}
    return {name: value for name, value in said.items() if value}


def facts_from(options: Mapping[str, Any], *more: str) -> dict[str, Any]:
    """The facts about a file in the problem, device, and reading options and in `more`, for `read`."""
    problem_from(options), device_from(options)  # a value out of range for every trace is wrong usage
    return given(options, (*PROBLEM_NAMES, *DEVICE_NAMES, *more)) | reading_from(options)


def problem_from(options: Mapping[str, Any]) -> Problem:
    """The Problem that `work_options` describe; what was not given comes from PROBLEM."""
    with usage():
        problem = replace(PROBLEM, **given(options, PROBLEM_NAMES))
        check_tiles(problem)
        return problem


def check_tiles(problem: Problem) -> None:
    """Raise ProblemError if a problem has more tiles than the command line accepts."""
    if problem.tiles > MAX_TILES:
        raise ProblemError(
            f"{problem.m}x{problem.n} in tiles of {problem.tile_m}x{problem.tile_n} has "
            f"{problem.tiles} tiles; the command line accepts at most {MAX_TILES}"
        )


def device_from(options: Mapping[str, Any]) -> Device:
    """The Device that `work_options` describe; --sms is of that device, or of the default one."""
    with usage():
        device = Device.chosen(given(options, DEVICE_NAMES), Device.named(DEVICE))
    there = presets()[device.name]["sms"] if device.name and options["sms"] else device.sms
    if device.sms > there:
        click.echo(
            f"note: {device.title} has {there} SMs, so a run on {device.sms} is that of a larger GPU;"
            " leave out --sms to simulate this one",
            err=True,
        )
    return device


def costs_from(options: Mapping[str, Any], schedule: str, problem: Problem, device: Device) -> Costs | None:
    """The Costs that --costs names or that its file contains; None without --costs: the device's own."""
    path = options["costs"]
    return None if path is None else read_costs(path, schedule, problem, device)
