"""`tilesim bench execution-model`: what an SM holds at once, and where its warps are."""

from typing import Any

import click

from tilesim.cli.output.reports import machine, report_options, show
from tilesim.cli.packages import load


@click.command(
    "execution-model", short_help="How many thread blocks an SM holds at once, and of which kernels."
)
@click.option("--launches", type=click.IntRange(2, 10_000), default=21, help="Launches of the warps.  [21]")
@report_options
def command(launches: int, output: str | None, as_json: bool) -> None:
    """Count the residents of an SM by stamps and by the driver, over threads, registers and shared memory.

    Says what compiled products need, and follows the warps of one block through their program.
    """
    show(load("kernels").execution_model(launches), _table, output, as_json)


def _table(report: dict[str, Any]) -> str:
    """A line per kernel, what the sweep found, then the warps."""
    lines = [
        machine(report),
        f"{'kernel':22} {'threads':>7} {'registers':>9} {'shared':>7} {'driver':>6} {'seen':>4}",
    ]
    for row in report["kernels"]:
        name = f"{row['name']} {'x'.join(map(str, row['tile']))}"
        lines.append(_resources(name, row))
    rows = report["rows"]
    agree = sum(row["driver"] == row["seen"] for row in rows)
    lines.append(f"of {len(rows)} kernels that spin, {agree} with as many residents as the driver says")
    lines += [_resources("spin", row) for row in rows if row["driver"] != row["seen"]]
    apart = report["walk"]["apart"]
    lines.append(
        f"warps of a block are {apart['median']} cycles apart ({apart['p20']} to {apart['p80']}) at its end"
    )
    lines.append("cycles alone, and beside warps 1, 2 ...: " + " ".join(map(str, report["beside"])))
    return "\n".join(lines)


def _resources(name: str, row: dict[str, Any]) -> str:
    return (
        f"{name:22} {row['threads']:7} {row['registers']:9} {row['shared_bytes']:7} {row['driver']:6}"
        f" {row['seen']:4}"
    )
