"""`tilesim bench thread-indexing`: what it costs where neighbouring threads take cells far apart."""

from typing import Any

import click

from tilesim.cli.output.reports import machine, report_options, samples_option, show
from tilesim.cli.packages import load


@click.command("thread-indexing", short_help="One sum of a matrix, with neighbours 1 to a row apart.")
@samples_option("stride", 40)
@report_options
def command(samples: int, output: str | None, as_json: bool) -> None:
    """Sum a matrix of 8192x8192 in fp32, a thread a cell: the same cells, by other threads.

    Neighbouring threads take cells 1, 2, 4 ... apart, and at last a whole row, which swaps the axes.
    """
    show(load("kernels").thread_indexing(samples), _table, output, as_json)


def _table(report: dict[str, Any]) -> str:
    """A line per stride."""
    lines = [machine(report), f"{'stride':>7} {'us':>9} {'p20':>9} {'p80':>9} {'GB/s':>7} {'sum':>12}"]
    for row in report["rows"]:
        us = " ".join(f"{row[name]:9.1f}" for name in ("us", "p20", "p80"))
        lines.append(f"{row['stride']:7} {us} {row['gb_per_s']:7.0f} {row['sum']:12}")
    return "\n".join(lines)
