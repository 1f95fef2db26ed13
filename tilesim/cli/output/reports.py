"""What the commands share that measure a GPU: JSON into a file, a table or JSON on the screen."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import click

from tilesim.cli.arguments.options import FIGURES_FILE, F, json_option, output_option
from tilesim.cli.output.figures import wrote
from tilesim.storage import files

TIMES = f"{'µs':>9} {'p20':>9} {'p80':>9}"
MOVED = f"{'L2 hits':>8} {'L2 MB':>8} {'DRAM MB':>8}"
"""Heads of a table's columns."""


def report_options(command: F) -> F:
    """`-o FILE` and `--json`, passed on as `output` and `as_json`."""
    return output_option(FIGURES_FILE, "Write the figures here (.json).")(json_option(command))


def samples_option(each: str, default: int) -> Callable[[F], F]:
    """`--samples COUNT`, of each kernel, step or whatever is timed."""
    kind = click.IntRange(1, 100_000)
    return click.option("--samples", type=kind, default=default, help=f"Samples per {each}.  [{default}]")


def show(report: Mapping[str, Any], table: Callable[[Any], str], output: str | None, as_json: bool) -> None:
    """Write `report` to `output`, if there is one, and print it as JSON or as `table` has it."""
    text = json.dumps(report, indent=1)
    if output:
        files.write(output, lambda file: file.write(text.encode() + b"\n"))
        wrote(output)
    click.echo(text if as_json else table(report))


def machine(report: Mapping[str, Any]) -> str:
    """What it was measured on, in a line."""
    return ", ".join(f"{name} {value}" for name, value in report["machine"].items())


def times(row: Mapping[str, Any]) -> str:
    """The median, the 20th and the 80th percentile of a row, under TIMES."""
    return " ".join(f"{row[name]:9.2f}" for name in ("us", "p20", "p80"))


def moved(row: Mapping[str, Any]) -> str:
    """The hit rate, what is read at the L2, and out of DRAM, under MOVED; or that it was not counted."""
    if "l2_bytes" not in row:
        return f"{'not counted':>26}"
    read = (row[name] / 1e6 for name in ("l2_bytes", "dram_read_bytes"))
    return f"{row['l2_hit_rate']:8.1%} " + " ".join(f"{mb:8.0f}" for mb in read)


def product_times(report: Mapping[str, Any]) -> str:
    """What it was measured on, then a line per size and kernel."""
    rows = report["rows"]
    host = any("host_us" in row for row in rows)
    head = f"{'size':20} {'kernel':28} {TIMES} {'TFLOP/s':>8} {'MHz':>5} {'error':>8}"
    lines = [machine(report), head + f" {'with host':>10}" * host]
    for row in rows:
        size = f"{row['m']}x{row['n']}x{row['k']} {row['dtype']}"
        rest = f"{row['tflops']:8.1f} {row['sm_mhz']:5} {row['relative_error']:8.1e}"
        late = f" {row['host_us']:10.2f}" if host else ""
        lines.append(f"{size:20} {row['kernel']:28} {times(row)} {rest}{late}")
    return "\n".join(lines)
