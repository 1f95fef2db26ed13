"""`tilesim record`: run a kernel on this machine's GPU and keep when and where each tile ran."""

import json
from typing import Any

import click

from tilesim.cli.figures import table
from tilesim.cli.options import (
    TRACE_FILE,
    TRACE_HELP,
    ctas_option,
    json_option,
    kernel_options,
    output_option,
    problem_from,
    problem_options,
    save_trace,
    schedule_argument,
)
from tilesim.cli.packages import load


@click.command(short_help="Measure a trace on this machine's GPU.")
@schedule_argument
@click.option(
    "--kernel",
    type=click.Choice(["own", "planned"]),
    default="own",
    help="The schedule's own, of naive and persistent, or the one that runs any plan.  [own]",
)
@problem_options()
@kernel_options
@click.option(
    "--loads",
    type=click.Choice(["tma", "ptr"]),
    default="tma",
    help="Load tiles by TMA or through pointers.  [tma]",
)
@click.option(
    "--overlap/--no-overlap",
    default=True,
    help="Load a block's next tile while it writes the one before.  [yes]",
)
@ctas_option
@click.option("--repeats", type=click.IntRange(1, 10_000), default=21, help="Runs to choose from.  [21]")
@output_option(TRACE_FILE, TRACE_HELP, required=True)
@json_option
def command(schedule: str, output: str, as_json: bool, **options: Any) -> None:
    """Run SCHEDULE on this machine's GPU, and write its most typical run as a trace.

    Naive and persistent have kernels of their own. With --kernel planned, any schedule runs, also a function
    (problem, device) -> Plan of your own: mine.py:snake.
    """
    problem = problem_from(options)
    names = ("kernel", "loads", "overlap", "warps", "stages", "ctas_per_sm", "repeats", "seed")
    trace = load("kernels").record(schedule, problem, **{name: options[name] for name in names})
    save_trace(trace, output)
    click.echo(json.dumps(trace.summary()) if as_json else table(trace))
