"""`tilesim bench sm-order`: which SM gets which thread block."""

from collections.abc import Iterator

from tilesim.cli.output.reports import Bench, Report, Table, count_option, derived
from tilesim.cli.output.tables import Row

SHOWN = 4
"""Beginnings that a line of the table names; --json has them all."""


def _groups(report: Report) -> Iterator[str]:
    """The groups, a line each, and what is known of them."""
    for i, groups in enumerate(report["tiers"]):
        yield f"{'then' if i else 'first'}, in turn:"
        yield from ("  " + " ".join(map(str, group)) for group in groups)
    if report["as_preset"] is not None:
        yield f"{'as' if report['as_preset'] else 'not as'} the preset {report['device']} says"
    if report["gpcs"]:
        groups = [sorted(group) for groups in report["tiers"] for group in groups]
        own = sum(gpc in groups for gpc in report["gpcs"])
        yield f"clusters join {len(report['gpcs'])} GPCs; {own} of them are such groups"


def _beginnings(row: Row) -> Row:
    first = [f"{' '.join(map(str, sms))} ({count})" for sms, count in row["first"]]
    more = f" and {len(first) - SHOWN} more" if len(first) > SHOWN else ""
    return {"begin": ", ".join(first[:SHOWN]) + more}


command = Bench(
    "sm-order",
    "Which SM gets which thread block of a launch.",
    """Find the order in which the hardware fills SMs, cold, back to back and after a full GPU.

    Shows the groups of SMs that are served in turn, and in how many launches they explain the order.
    """,
    [
        _groups,
        Table(
            "launched | blocks/SM {blocks_per_sm} | launches | alike | explained | begin with SMs {begin}",
            derived(_beginnings),
        ),
    ],
    [count_option("launches", "Launches of each kind.", 200, 2, 10_000)],
)
