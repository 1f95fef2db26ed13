"""`tilesim bench busy-sms`: kernel times while another kernel holds some of the SMs."""

from collections.abc import Iterator
from typing import Any

import click

from tilesim.cli.arguments.options import check_tiles, usage
from tilesim.cli.arguments.parameter_types import TileShape
from tilesim.cli.output.reports import Bench, Report, Table, samples_option
from tilesim.problems import Problem


def _problems(ctx: Any, option: Any, sizes: tuple[tuple[int, int, int], ...]) -> tuple[Problem, ...]:
    with usage():
        problems = tuple(Problem(m, n, k, order="grouped:8") for m, n, k in sizes)
        for problem in problems:
            check_tiles(problem)
    return problems


def _rows(report: Report) -> Iterator[dict[str, Any]]:
    """Each row with `over_free`: its time over that of the same kernel with no SM held, None without one."""
    alike = ("m", "n", "k", "kernel")
    free = {tuple(row[name] for name in alike): row["us"] for row in report["rows"] if not row["busy_sms"]}
    for row in report["rows"]:
        us = free.get(tuple(row[name] for name in alike))
        yield row | {"over_free": us and row["us"] / us}


command = Bench(
    "busy-sms",
    "Kernel times while another kernel holds some of the SMs.",
    """Time naive, persistent and dynamic persistent kernels beside a kernel that spins on some SMs.

    A fourth is persistent and told how many SMs are free, so that it launches no thread block too many.
    """,
    [
        Table(
            "product {m}x{n}x{k} | kernel | SMs held {busy_sms} | blocks | times | times {over_free:.2f}",
            _rows,
        )
    ],
    [
        click.Option(
            ["--size", "sizes"],
            type=TileShape(),
            multiple=True,
            callback=_problems,
            help="M, N and K; repeat it for several.  [4224x4096x4096]",
        ),
        click.Option(
            ["--busy-sms", "counts"],
            type=click.IntRange(0),
            multiple=True,
            metavar="COUNT",
            help="SMs to hold; repeat it for several.  [0, 1, 4, 10, 20, 40, 66]",
        ),
        samples_option("kernel", 50),
    ],
)
