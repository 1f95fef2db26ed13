"""`tilesim bench bank-conflicts`: what five ways to sum a vector do to shared memory."""

from collections.abc import Mapping
from typing import Any

import click

from tilesim.cli.packages import load
from tilesim.cli.reports import machine, report_options, show


@click.command("bank-conflicts", short_help="What sums do to the banks of shared memory, counted.")
@report_options
def command(output: str | None, as_json: bool) -> None:
    """Count the loads from shared memory of each step of the reduction ladder, and their beats.

    Nsight Compute must be there, and allowed to read the GPU's counters.
    """
    show(load("kernels").bank_conflicts(), _table, output, as_json)


def _table(report: Mapping[str, Any]) -> str:
    """A line per step, its figures for one thread block."""
    lines = [
        machine(report),
        f"{'of a thread block':18} {'loads':>8} {'beats':>8} {'conflicts':>9} {'store beats':>11}"
        f" {'instructions':>12} {'threads at work':>15}",
    ]
    for row in report["rows"]:
        names = ("load_instructions", "load_beats", "load_conflicts", "store_beats", "instructions")
        loads, beats, conflicts, stores, instructions = (row[name] / row["thread_blocks"] for name in names)
        work = row["thread_instructions"] / row["instructions"]
        lines.append(
            f"{row['name']:18} {loads:8.1f} {beats:8.1f} {conflicts:9.1f} {stores:11.1f}"
            f" {instructions:12.1f} {work:12.1f}/32"
        )
    return "\n".join(lines)
