"""`tilesim plan`: the tiles of each thread block, in order."""

import json
from typing import Any

import click

import tilesim
from tilesim.cli.arguments.options import device_from, json_option, problem_from, run_options, usage
from tilesim.plans import MORE, plan_lines
from tilesim.text import plural
from tilesim.traces import provenance

BLOCKS = 16
"""The number of thread blocks listed, and of tiles for each, unless --all is given."""


@click.command(short_help="Show which thread block computes which tiles.")
@run_options
@click.option("--all", "whole", is_flag=True, help="List every thread block and tile.")
@json_option
def command(schedule: str, whole: bool, as_json: bool, **options: Any) -> None:
    """Show which thread block computes which tiles under SCHEDULE, in order. A plan contains no times.

    SCHEDULE is a name from `tilesim list`, such as persistent or split-k:2, or your own function
    (problem, device) -> Plan, such as mine.py:snake.
    """
    problem, device = problem_from(options), device_from(options)
    with usage():
        plan = tilesim.plan(schedule, problem, device)
    if as_json:
        lists = {name: [_row(row) for row in getattr(plan, name)] for name in ("segments", "shared")}
        figures = {"tiles": problem.tiles, "slots": device.slots, "launches": plan.ctas}
        click.echo(json.dumps(provenance(schedule, problem, device) | figures | lists))
        return
    click.echo(
        f"{schedule} on {device.title}: {plural(problem.tiles, 'tile')} of "
        f"{plural(problem.k_steps, 'K-step')}, {plural(plan.ctas, 'thread block')}, "
        f"{min(plan.ctas, device.slots)} at once"
    )
    click.echo("thread block  tiles")
    limit = max(plan.ctas, problem.tiles) if whole else BLOCKS
    for block, tiles in plan_lines(plan, problem, limit):
        click.echo(f"{block:>12}  {tiles}{'; --all lists them' * (block == MORE)}")


def _row(row: Any) -> dict[str, int]:
    return dict(zip(("cta", "tile", "k0", "k1"), row.tolist(), strict=True))
