"""`tilesim record`: run a kernel on this machine's GPU, and record when and where each tile ran."""

import json
from typing import Any

import click

from tilesim.cli.arguments import options as shared
from tilesim.cli.arguments.parameter_types import SCHEDULE
from tilesim.cli.output.figures import table
from tilesim.cli.packages import load
from tilesim.cli.suites import record_suite


@click.command(short_help="Record a trace on this machine's GPU.")
@click.argument("schedule", type=SCHEDULE, required=False)
@click.option(
    "--suite", is_flag=True, help="Record all runs that `calibrate --device-file` needs; -o names a folder."
)
@click.option(
    "--kernel",
    type=click.Choice(["dedicated", "table"]),
    default="dedicated",
    help="The kernel dedicated to the schedule (naive or persistent), or the table-driven one, which runs any"
    " schedule.  [dedicated]",
)
@shared.work_options(names=shared.PROBLEM_NAMES)
@shared.kernel_options
@click.option(
    "--loads",
    type=click.Choice(["tma", "ptr"]),
    default="tma",
    help="Load tiles with TMA or through pointers.  [tma]",
)
@click.option(
    "--overlap/--no-overlap",
    default=True,
    help="Load a block's next tile while it writes the previous one.  [yes]",
)
@shared.ctas_option
@shared.count_option("busy-sms", "SMs that another kernel holds during the run.", 0, 0, None, metavar="COUNT")
@shared.count_option("repeats", "Number of runs, of which the most typical is kept.", 21, most=10_000)
@click.option("-o", "--output", type=click.Path(), metavar="FILE", required=True, help=shared.TRACE_HELP)
@shared.json_option
@click.pass_context
def command(
    ctx: click.Context, schedule: str | None, suite: bool, output: str, as_json: bool, **options: Any
) -> None:
    """Run SCHEDULE on this machine's GPU, and write its most typical run as a trace.

    Naive and persistent have dedicated kernels. With --kernel table, any schedule runs, also a function
    (problem, device) -> Plan of your own: mine.py:snake.

    With --suite and no SCHEDULE, a fixed set of runs is recorded, sized to the GPU. Each is written to the
    folder as soon as it is done, and runs that are already there are kept, so an interrupted command
    continues where it stopped.
    """
    if suite:
        said = click.core.ParameterSource.COMMANDLINE
        own = [one for one in options if one != "repeats" and ctx.get_parameter_source(one) is said]
        if schedule or own or as_json:
            what = "a schedule" if schedule else f"--{(own or ['json'])[0].replace('_', '-')}"
            raise click.UsageError(f"--suite records a fixed set of runs; leave out {what}")
        record_suite(output, options["repeats"])
        return
    if schedule is None:
        raise click.UsageError("give a schedule, or --suite")
    output = shared.TRACE_FILE.convert(output, None, ctx)
    problem = shared.problem_from(options)
    names = ("kernel", "loads", "overlap", "warps", "stages", "ctas_per_sm", "busy_sms", "repeats", "seed")
    trace = load("kernels").record(schedule, problem, **{name: options[name] for name in names})
    shared.save_trace(trace, output)
    click.echo(json.dumps(trace.summary()) if as_json else table(trace))
