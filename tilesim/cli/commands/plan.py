"""`tilesim plan`: what each thread block will do, in order."""

import json
from typing import Any

import click

import tilesim
from tilesim.cli.options import (
    device_from,
    device_options,
    json_option,
    problem_from,
    problem_options,
    schedule_argument,
    usage,
)
from tilesim.plans import Plan
from tilesim.problems import Problem
from tilesim.provenance import provenance
from tilesim.text import plural

BLOCKS = 16
"""Thread blocks listed, and tiles of each, unless --all is given."""


@click.command(short_help="Show which thread block computes which tiles.")
@schedule_argument
@problem_options()
@device_options()
@click.option("--all", "whole", is_flag=True, help="List every thread block and tile.")
@json_option
def command(schedule: str, whole: bool, as_json: bool, **options: Any) -> None:
    """Show which thread block computes which tiles under SCHEDULE, in order. No time passes here.

    SCHEDULE is a name of `tilesim list`, such as persistent or split-k:2, or a function
    (problem, device) -> Plan of your own: mine.py:snake.
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
    for cta in range(min(plan.ctas, limit)):
        rows = plan.segments[plan.offsets[cta] : plan.offsets[cta + 1]]
        click.echo(f"{cta:12}  {_tiles(rows, problem, limit) or _nothing(plan)}")
    if plan.ctas > limit:
        click.echo(f"         ...  {plan.ctas - limit} more; --all lists them")
    if len(plan.shared):
        click.echo(f"{'shared queue':12}  {_tiles(plan.shared, problem, limit)}")


def _nothing(plan: Plan) -> str:
    return "from the shared queue" if len(plan.shared) else "none"


def _tiles(rows: Any, problem: Problem, limit: int) -> str:
    """Tile ids, with their K-steps where they are not all of the tile's."""
    words = []
    for _, tile, k0, k1 in rows[:limit].tolist():
        part = "" if (k0, k1) == (0, problem.k_steps) else f"[{k0}:{k1}]"
        words.append(f"{tile}{part}")
    return " ".join(words) + (f" ... ({len(rows)} in all)" if len(rows) > limit else "")


def _row(row: Any) -> dict[str, int]:
    return dict(zip(("cta", "tile", "k0", "k1"), row.tolist(), strict=True))
