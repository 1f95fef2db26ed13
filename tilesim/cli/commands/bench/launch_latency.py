"""`tilesim bench launch-latency`: what a launch takes the host, a stream, a graph and an SM."""

from typing import Any

import click

from tilesim.cli.output.reports import machine, report_options, show
from tilesim.cli.packages import load


@click.command("launch-latency", short_help="What a launch takes the host, a stream, a graph and an SM.")
@click.option("--repeats", type=click.IntRange(1, 1000), default=9, help="Repeats of the whole sweep.  [9]")
@report_options
def command(repeats: int, output: str | None, as_json: bool) -> None:
    """Time four things that are called a launch, with kernels that do nothing or only spin.

    The caller's thread; from one kernel to the next in a stream, and in a CUDA graph; and from a thread
    block to its successor. Beside them, a product of 1024x1024x1024 with and without the host's work.
    """
    show(load("kernels").launch_latency(repeats), _table, output, as_json)


def _table(report: dict[str, Any]) -> str:
    """A line per kind of launch, then the products."""
    lines = [
        f"{machine(report)}; clock {report['sm_mhz']} MHz, global timer steps by {report['tick_ns']} ns",
        f"{'launch':14} {'of':14} {'blocks':>6} {'ns':>9} {'p20':>9} {'p80':>9} {'mean':>9} {'count':>7}"
        "  median of each repeat, ns",
    ]
    for row in report["rows"]:
        ns = " ".join(f"{row['ns'][name]:9.1f}" for name in ("p50", "p20", "p80"))
        medians = f"{min(row['medians_ns']):.1f} to {max(row['medians_ns']):.1f}"
        lines.append(
            f"{row['launch']:14} {row['what']:14} {row['blocks']:6} {ns} {row['mean_ns']:9.1f}"
            f" {row['count']:7}  {medians}"
        )
    for row in report["products"]:
        size = f"{row['m']}x{row['n']}x{row['k']} {row['dtype']}"
        held = " ".join(f"{row['call_us'][name]:.2f}" for name in ("us", "p20", "p80"))
        lines.append(
            f"{size} by {row['kernel']}: GPU {row['us']:.2f} µs, caller {held} µs, one by one"
            f" {row['host_us']:.2f} µs"
        )
    return "\n".join(lines)
