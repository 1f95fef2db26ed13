"""`tilesim bench divergence`: what it costs when lanes of a warp take different ways."""

from typing import Any

import click

from tilesim.cli.output.reports import machine, report_options, show
from tilesim.cli.packages import load


@click.command("divergence", short_help="What it costs when lanes of a warp take different ways.")
@click.option("--launches", type=click.IntRange(1, 1000), default=20, help="Launches of each case.  [20]")
@report_options
def command(launches: int, output: str | None, as_json: bool) -> None:
    """Time a branch and a loop that a warp's lanes, or whole warps, take in 1 to 32 ways.

    Nsight Compute, where it is there, counts the instructions that are issued.
    """
    show(load("kernels").divergence(launches), _table, output, as_json)


def _table(report: dict[str, Any]) -> str:
    """A line per code, ways, split and warps."""
    lines = [
        machine(report),
        f"{'code':6} {'ways':>4} {'by':5} {'warps':>5} {'cycles':>9} {'p20':>9} {'p80':>9} {'tail':>7}"
        f" {'joined':>6} {'issued':>9} {'active lanes':>12}",
    ]
    for row in report["rows"]:
        cycles = " ".join(f"{row[name]:9.0f}" for name in ("cycles", "p20", "p80"))
        active = f"{row['of_threads'] / row['issued']:12.2f}" if row["issued"] else f"{'not counted':>12}"
        lines.append(
            f"{row['code']:6} {row['ways']:4} {row['split']:5} {row['warps']:5} {cycles}"
            f" {row['tail_cycles']:7.0f} {row['joined']:6.0%} {row['issued']:9} {active}"
        )
    return "\n".join(lines)
