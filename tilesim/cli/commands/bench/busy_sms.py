"""`tilesim bench busy-sms`: kernel times while another kernel holds some of the SMs."""

from typing import Any

import click

from tilesim.cli.arguments.options import check_tiles, usage
from tilesim.cli.arguments.parameter_types import TileShape
from tilesim.cli.output.reports import TIMES, machine, report_options, samples_option, show, times
from tilesim.cli.packages import load
from tilesim.problems import Problem


@click.command("busy-sms", short_help="Kernel times while another kernel holds some of the SMs.")
@click.option(
    "--size",
    "sizes",
    type=TileShape(),
    multiple=True,
    help="M, N and K; repeat it for several.  [4224x4096x4096]",
)
@click.option(
    "--busy-sms",
    "counts",
    type=click.IntRange(0),
    multiple=True,
    metavar="COUNT",
    help="SMs to hold; repeat it for several.  [0, 1, 4, 10, 20, 40, 66]",
)
@samples_option("kernel", 50)
@report_options
def command(
    sizes: tuple[tuple[int, int, int], ...],
    counts: tuple[int, ...],
    samples: int,
    output: str | None,
    as_json: bool,
) -> None:
    """Time naive, persistent and dynamic persistent kernels beside a kernel that spins on some SMs.

    A fourth is persistent and told how many SMs are free, so that it launches no thread block too many.
    """
    with usage():
        problems = [Problem(m, n, k, order="grouped:8") for m, n, k in sizes]
        for problem in problems:
            check_tiles(problem)
    chosen = {"counts": counts} if counts else {}
    show(load("kernels").busy_sms(*problems, samples=samples, **chosen), _table, output, as_json)


def _table(report: dict[str, Any]) -> str:
    """A line per product, kernel and number of SMs held; `times` is over the same kernel with none held."""
    free = {_key(row): row["us"] for row in report["rows"] if not row["busy_sms"]}
    lines = [
        machine(report),
        f"{'product':16} {'kernel':20} {'SMs held':>8} {'blocks':>7} {TIMES} {'times':>6}",
    ]
    for row in report["rows"]:
        size = f"{row['m']}x{row['n']}x{row['k']}"
        over = f"{row['us'] / free[_key(row)]:6.2f}" if _key(row) in free else f"{'':6}"
        lines.append(
            f"{size:16} {row['kernel']:20} {row['busy_sms']:8} {row['blocks']:7} {times(row)} {over}"
        )
    return "\n".join(lines)


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("m", "n", "k", "kernel"))
