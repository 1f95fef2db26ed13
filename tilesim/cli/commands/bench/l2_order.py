"""`tilesim bench l2-order`: what it wins, and costs, that tiles come in another order."""

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


@click.command("l2-order", short_help="One kernel, tiles row by row, in groups, and along a Hilbert curve.")
@samples_option("order", 50)
@report_options
def command(samples: int, output: str | None, as_json: bool) -> None:
    """Time 8192x8192x8192 and 8192x8192x512 in bf16, tiles in three orders.

    Nsight Compute, where it is there, counts what the SMs read at the L2, and what that takes from DRAM.
    """
    show(load("kernels").l2_order(samples), _table, output, as_json)


def _table(report: dict[str, Any]) -> str:
    """A line per size and order."""
    lines = [
        machine(report),
        f"{'size':15} {'order':10} {TIMES} {MOVED}",
    ]
    for row in report["rows"]:
        size = f"{row['m']}x{row['n']}x{row['k']}"
        lines.append(f"{size:15} {row['order']:10} {times(row)} {moved(row)}")
    return "\n".join(lines)
