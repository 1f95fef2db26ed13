"""`tilesim simulate`: simulate a schedule and print its metrics."""

import json
from typing import Any

import click

import tilesim
from tilesim.cli.arguments import options as shared
from tilesim.cli.output.figures import table
from tilesim.formats import gantt
from tilesim.storage import files


@click.command(short_help="Simulate a schedule and print its metrics.")
@shared.run_options
@shared.costs_options
@shared.output_option(shared.TRACE_FILE, shared.TRACE_HELP)
@click.option("--gantt", "lanes", is_flag=True, help="Draw what each SM does over time, as text.")
@shared.count_option("width", "Columns of --gantt.", 100, 20, 10_000)
@shared.json_option
def command(
    schedule: str, seed: int, output: str | None, lanes: bool, width: int, as_json: bool, **options: Any
) -> None:
    """Run SCHEDULE on a simulated GPU, and print its metrics.

    SCHEDULE is a name from `tilesim list`, such as persistent or split-k:2, or your own function
    (problem, device) -> Plan, such as mine.py:snake.

    --gantt draws a line for each slot, which is room for one thread block on an SM, and counts the SMs
    without work. A hand-over is the time between two tiles of a thread block.
    """
    if lanes and as_json:
        raise click.UsageError("--gantt and --json cannot be combined; give one of them")
    with shared.usage():
        files.check_outputs((output,), (options["costs"],))
    problem, device = shared.problem_from(options), shared.device_from(options)
    costs = shared.costs_from(options, schedule, problem, device)
    with shared.usage():
        trace = tilesim.simulate(schedule, problem, device, costs, seed)
    if output:
        shared.save_trace(trace, output)
    if as_json:
        click.echo(json.dumps(trace.summary()))
    else:
        click.echo(gantt.draw(trace, width) if lanes else table(trace))
