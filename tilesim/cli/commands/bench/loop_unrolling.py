"""`tilesim bench loop-unrolling`: what it wins to unroll a loop."""

from typing import Any

import click

from tilesim.cli.output.reports import machine, report_options, show
from tilesim.cli.packages import load


@click.command("loop-unrolling", short_help="What it wins to unroll a loop.")
@click.option("--launches", type=click.IntRange(1, 1000), default=10, help="Launches of each case.  [10]")
@report_options
def command(launches: int, output: str | None, as_json: bool) -> None:
    """Time a sum with 1 to 16 loads a turn of its loop, and 1 to 16 chains of multiply-adds.

    The loads go together, or each waits for the one before, which saves the same branches.
    """
    show(load("kernels").loop_unrolling(launches), _table, output, as_json)


def _table(report: dict[str, Any]) -> str:
    """A line per size, warps, loads and factor; then one per warps and factor of chains."""
    lines = [
        machine(report),
        f"{'values':>10} {'warps':>5} {'loads':10} {'factor':>6} {'GB/s':>8} {'p20':>8} {'p80':>8}"
        f" {'issued':>9}",
    ]
    for row in report["rows"]:
        rate = " ".join(f"{row[name]:8.1f}" for name in ("gb_per_s", "p20", "p80"))
        issued = row["issued"] or "-"
        lines.append(f"{row['n']:10} {row['warps']:5} {row['loads']:10} {row['factor']:6} {rate} {issued:>9}")
    lines.append(f"{'warps':>5} {'chains':>6} {'cycles a multiply-add':>21} {'p20':>8} {'p80':>8}")
    for row in report["chains"]:
        spread = " ".join(f"{row[name]:8.3f}" for name in ("p20", "p80"))
        lines.append(f"{row['warps']:5} {row['factor']:6} {row['cycles']:21.3f} {spread}")
    return "\n".join(lines)
