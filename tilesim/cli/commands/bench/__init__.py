"""`tilesim bench`: kernel times on this machine's GPU, cuBLAS beside them, and what the GPU itself takes."""

import sys
from dataclasses import replace
from typing import Any

import click

from tilesim.cli import Group
from tilesim.cli.arguments import options as shared
from tilesim.cli.arguments.parameter_types import SCHEDULE, TILE_SHAPE
from tilesim.cli.benches import BENCHES
from tilesim.cli.output.reports import machine, product_times, show
from tilesim.cli.packages import load
from tilesim.errors import unknown

TABLE_DRIVEN = "table:"
"""Before a schedule's name: that schedule's plan, executed by the table-driven kernel."""


@click.group(
    cls=Group,
    package=sys.modules[__name__],
    commands=BENCHES,
    invoke_without_command=True,
    short_help="Time the kernels, or launches, on this machine's GPU.",
)
@shared.work_options(names=shared.PROBLEM_NAMES)
@shared.sizes_option("M, N and K; repeat it for several.", TILE_SHAPE)
@click.option(
    "--kernel",
    "kernels",
    multiple=True,
    metavar="NAME",
    help="Time only this, such as table:stream-k; repeat it for several.",
)
@shared.kernel_options
@shared.ctas_option
@shared.samples_option("kernel")
@click.option("--host", is_flag=True, help="Also launch one by one, with the host's work.")
@shared.report_options
@click.pass_context
def command(
    ctx: click.Context,
    sizes: tuple[tuple[int, int, int], ...],
    kernels: tuple[str, ...],
    output: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Check each kernel's result, then time it: median, 20th and 80th percentile of many graph replays.

    A subcommand measures the GPU instead. What moves in it is counted where Nsight Compute (ncu) is there.
    """
    if ctx.invoked_subcommand is not None:
        return
    problem = shared.problem_from(options)
    with shared.usage():
        problems = [replace(problem, m=m, n=n, k=k) for m, n, k in sizes] or [problem]
    measure = load("kernels")
    for name in kernels:  # before any GPU is asked for
        if name.startswith(TABLE_DRIVEN):
            SCHEDULE.convert(name.removeprefix(TABLE_DRIVEN), None, None)
        elif name not in measure.NAMES:
            raise click.UsageError(unknown("kernel", name, [*measure.NAMES, TABLE_DRIVEN + "SCHEDULE"]))
    chosen = {"kernels": kernels} if kernels else {}
    names = ("warps", "stages", "ctas_per_sm", "samples", "seed", "host")
    report = measure.bench(*problems, **chosen, **{name: options[name] for name in names})
    show(report, lambda report: "\n".join([machine(report), *product_times(report)]), output, as_json)
