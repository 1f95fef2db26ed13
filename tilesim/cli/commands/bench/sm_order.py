"""`tilesim bench sm-order`: which SM gets which thread block."""

from typing import Any

import click

from tilesim.cli.output.reports import machine, report_options, show
from tilesim.cli.packages import load

SHOWN = 4
"""Beginnings that a line of the table names; --json has them all."""


@click.command("sm-order", short_help="Which SM gets which thread block of a launch.")
@click.option("--launches", type=click.IntRange(2, 10_000), default=200, help="Launches of each kind.  [200]")
@report_options
def command(launches: int, output: str | None, as_json: bool) -> None:
    """Find the order in which the hardware fills SMs, cold, back to back and after a full GPU.

    Shows the groups of SMs that are served in turn, and in how many launches they explain the order.
    """
    show(load("kernels").sm_order(launches), _table, output, as_json)


def _table(report: dict[str, Any]) -> str:
    """The groups, a line each, what is known of them, then a line per kind of launch."""
    lines = [machine(report)]
    for i, groups in enumerate(report["tiers"]):
        lines.append(f"{'then' if i else 'first'}, in turn:")
        lines += ["  " + " ".join(map(str, group)) for group in groups]
    if report["as_preset"] is not None:
        lines.append(f"{'as' if report['as_preset'] else 'not as'} the preset {report['device']} says")
    if report["gpcs"]:
        groups = [sorted(group) for groups in report["tiers"] for group in groups]
        own = sum(gpc in groups for gpc in report["gpcs"])
        lines.append(f"clusters join {len(report['gpcs'])} GPCs; {own} of them are such groups")
    lines.append(
        f"{'launched':17} {'blocks/SM':>9} {'launches':>8} {'alike':>6} {'explained':>9}  begin with SMs"
    )
    for row in report["rows"]:
        first = [f"{' '.join(map(str, sms))} ({count})" for sms, count in row["first"]]
        more = f" and {len(first) - SHOWN} more" if len(first) > SHOWN else ""
        lines.append(
            f"{row['launched']:17} {row['blocks_per_sm']:9} {row['launches']:8} {row['alike']:6}"
            f" {row['explained']:9}  {', '.join(first[:SHOWN])}{more}"
        )
    return "\n".join(lines)
