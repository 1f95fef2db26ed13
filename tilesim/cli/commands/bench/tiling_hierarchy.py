"""`tilesim bench tiling-hierarchy`: the tensor cores' rate by the columns of a wgmma."""

from typing import Any

import click

from tilesim.cli.output.reports import machine, report_options, show
from tilesim.cli.packages import load


@click.command("tiling-hierarchy", short_help="The tensor cores' rate by the columns of a wgmma.")
@click.option("--repeats", type=click.IntRange(1, 1000), default=5, help="Repeats of all cases.  [5]")
@report_options
def command(repeats: int, output: str | None, as_json: bool) -> None:
    """Time wgmma m64nN on operands in shared memory, N from 8 to 256, on a Hopper GPU.

    A narrow one reads more bytes for each multiplication than shared memory sends.
    """
    show(load("kernels").tiling_hierarchy(repeats), _table, output, as_json)


def _table(report: dict[str, Any]) -> str:
    """A line per dtype and N."""
    lines = [machine(report), f"{'dtype':5} {'N':>4} {'MACs a clock':>13} {'p20':>8} {'p80':>8} {'MHz':>5}"]
    for row in report["rows"]:
        macs = row["macs_per_clock"]
        rates = f"{macs['p50']:13.1f} {macs['p20']:8.1f} {macs['p80']:8.1f}"
        lines.append(f"{row['dtype']:5} {row['tile'][1]:4} {rates} {row['sm_mhz']['p50']:5.0f}")
    return "\n".join(lines)
