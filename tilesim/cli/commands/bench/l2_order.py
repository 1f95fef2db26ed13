"""`tilesim bench l2-order`: what it wins, and costs, that tiles come in another order."""

from typing import Any

import click

from tilesim.cli.output.reports import machine, report_options, show
from tilesim.cli.packages import load


@click.command("l2-order", short_help="One kernel, tiles row by row, in groups, and along a Hilbert curve.")
@click.option("--samples", type=click.IntRange(1, 100_000), default=50, help="Samples per order.  [50]")
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
        f"{'size':15} {'order':10} {'µs':>9} {'p20':>9} {'p80':>9} "
        f"{'L2 hits':>8} {'L2 MB':>8} {'DRAM MB':>8}",
    ]
    for row in report["rows"]:
        size = f"{row['m']}x{row['n']}x{row['k']}"
        times = " ".join(f"{row[name]:9.2f}" for name in ("us", "p20", "p80"))
        lines.append(f"{size:15} {row['order']:10} {times} {moved(row)}")
    return "\n".join(lines)


def moved(row: dict[str, Any]) -> str:
    """The hit rate, what is read at the L2, and out of DRAM; or that it was not counted."""
    if "l2_bytes" not in row:
        return f"{'not counted':>26}"
    read = (row[name] / 1e6 for name in ("l2_bytes", "dram_read_bytes"))
    return f"{row['l2_hit_rate']:8.1%} " + " ".join(f"{mb:8.0f}" for mb in read)
