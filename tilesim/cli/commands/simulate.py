"""`tilesim simulate`: play a schedule and print its figures."""

import json
from typing import Any

import click

import tilesim
from tilesim.cli.arguments.options import (
    TRACE_FILE,
    TRACE_HELP,
    costs_from,
    costs_options,
    device_from,
    device_options,
    json_option,
    output_option,
    problem_from,
    problem_options,
    save_trace,
    schedule_argument,
    usage,
)
from tilesim.cli.output.figures import table
from tilesim.formats import gantt
from tilesim.storage import files


@click.command(short_help="Play a schedule and print its figures.")
@schedule_argument
@problem_options()
@device_options()
@costs_options
@output_option(TRACE_FILE, TRACE_HELP)
@click.option("--gantt", "lanes", is_flag=True, help="Draw when each SM does what, as text.")
@click.option("--width", type=click.IntRange(20, 10_000), default=100, help="Columns of --gantt.  [100]")
@json_option
def command(
    schedule: str, seed: int, output: str | None, lanes: bool, width: int, as_json: bool, **options: Any
) -> None:
    """Play SCHEDULE on a simulated GPU and print its figures.

    SCHEDULE is a name of `tilesim list`, such as persistent or split-k:2, or a function
    (problem, device) -> Plan of your own: mine.py:snake.

    --gantt draws a line for each place that an SM has for a thread block, and counts SMs without work. A
    hand-over is the time in a thread block between two of its tiles.
    """
    if lanes and as_json:
        raise click.UsageError("--gantt draws and --json does not; give one of them")
    with usage():
        files.check_outputs((output,), (options["costs"],))
    problem, device = problem_from(options), device_from(options)
    costs = costs_from(options, schedule, problem, device)
    with usage():
        trace = tilesim.simulate(schedule, problem, device, costs, seed)
    if output:
        save_trace(trace, output)
    if as_json:
        click.echo(json.dumps(trace.summary()))
    else:
        click.echo(gantt.draw(trace, width) if lanes else table(trace))
