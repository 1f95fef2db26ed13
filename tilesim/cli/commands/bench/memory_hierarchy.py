"""`tilesim bench memory-hierarchy`: how many bytes a product asks for, and from where they come."""

from typing import Any

import click

from tilesim.cli.output.reports import (
    MOVED,
    TIMES,
    machine,
    moved,
    report_options,
    samples_option,
    show,
    times,
)
from tilesim.cli.packages import load


@click.command("memory-hierarchy", short_help="Bytes that a product asks for, and from where they come.")
@samples_option("size", 50)
@report_options
def command(samples: int, output: str | None, as_json: bool) -> None:
    """Time cubes of 2048, 4096 and 8192 in bf16, one thread block a tile.

    Nsight Compute, where it is there, counts what the SMs read at the L2, and what that takes from DRAM.
    """
    show(load("kernels").memory_hierarchy(samples), _table, output, as_json)


def _table(report: dict[str, Any]) -> str:
    """A line per size."""
    lines = [
        machine(report),
        f"{'size':15} {TIMES} {'asked MB':>9} {MOVED}",
    ]
    for row in report["rows"]:
        size = f"{row['m']}x{row['n']}x{row['k']}"
        lines.append(f"{size:15} {times(row)} {row['asked_bytes'] / 1e6:9.0f} {moved(row)}")
    return "\n".join(lines)
