"""`tilesim bench turnaround`: from a thread block's end to its successor's first instruction."""

from typing import Any

import click

from tilesim.cli.output.reports import machine, report_options, show
from tilesim.cli.packages import load


@click.command("turnaround", short_help="From a thread block's end to its successor's begin, on one SM.")
@click.option("--repeats", type=click.IntRange(1, 1000), default=5, help="Repeats of the whole sweep.  [5]")
@report_options
def command(repeats: int, output: str | None, as_json: bool) -> None:
    """Time how long a thread block's place on an SM stays empty before the next one runs there.

    The blocks only spin. They differ in threads, shared memory, and in whether all end at once.
    """
    show(load("kernels").turnaround(repeats), _table, output, as_json)


def _table(report: dict[str, Any]) -> str:
    """The launch cost, then a line per threads, shared memory and spin."""
    tick = f"clock {report['sm_mhz']} MHz, global timer steps by {report['tick_ns']} ns"
    lines = [
        f"{machine(report)}; {tick}",
        f"launch {report['launch_ns']} ns, of blocks as matrix products have them",
        f"{'threads':>7} {'KB':>4} {'on SM':>5} {'spin':9} {'cycles':>7} {'ns':>6} {'p20':>6} {'p80':>6}"
        f" {'min':>6} {'gaps':>7}  median of each repeat, ns",
    ]
    for row in report["rows"]:
        ns = " ".join(f"{row['ns'][name]:6.1f}" for name in ("p50", "p20", "p80", "min"))
        medians = f"{min(row['medians_ns']):.1f} to {max(row['medians_ns']):.1f}"
        lines.append(
            f"{row['threads']:7} {row['shared_kb']:4} {row['residents']:5} {row['spin']:9}"
            f" {row['cycles']['p50']:7} {ns} {row['gaps']:7}  {medians}"
        )
    return "\n".join(lines)
