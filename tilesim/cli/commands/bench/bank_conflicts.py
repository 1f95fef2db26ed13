"""`tilesim bench bank-conflicts`: what five ways to sum a vector do to shared memory."""

from collections.abc import Mapping
from typing import Any

import click

from tilesim.cli.output.reports import machine, report_options, show
from tilesim.cli.packages import load


@click.command("bank-conflicts", short_help="What sums do to the banks of shared memory, counted.")
@report_options
def command(output: str | None, as_json: bool) -> None:
    """Count the beats that the loads and stores of each step of the reduction ladder take the banks.

    Nsight Compute must be there, and allowed to read the GPU's counters.
    """
    show(load("kernels").bank_conflicts(), _table, output, as_json)


def _table(report: Mapping[str, Any]) -> str:
    """A line per step, its figures for one thread block."""
    lines = [
        machine(report),
        f"{'of a thread block':18} {'load beats':>10} {'store beats':>11} {'instructions':>12}  at work",
    ]
    for row in report["rows"]:
        names = ("load_beats", "store_beats", "instructions")
        loads, stores, instructions = (row[name] / row["thread_blocks"] for name in names)
        work = row["thread_instructions"] / row["instructions"]
        lines.append(f"{row['name']:18} {loads:10.2f} {stores:11.2f} {instructions:12.1f} {work:5.1f}/32")
    return "\n".join(lines)
