"""`tilesim bench pipelining`: what it wins to load K-steps ahead."""

from typing import Any

import click

from tilesim.cli.output.reports import TIMES, machine, report_options, samples_option, show, times
from tilesim.cli.packages import load


@click.command("pipelining", short_help="What it wins to load K-steps ahead.")
@samples_option("kernel", 100)
@report_options
def command(samples: int, output: str | None, as_json: bool) -> None:
    """Time 2048x2048x2048 in bf16 by one kernel with 1, 2, 3 and 4 stages, and record its K-steps."""
    show(load("kernels").pipelining(samples), _table, output, as_json)


def _table(report: dict[str, Any]) -> str:
    """A line per number of stages."""
    lines = [
        machine(report),
        f"{'stages':>6} {TIMES} {'TFLOP/s':>8} {'K-step ns':>10} {'cycles':>8}",
    ]
    for row in report["rows"]:
        step = f"{row['k_step_ns']:10.1f} {row['k_step_cycles']:8.1f}"
        lines.append(f"{row['stages']:6} {times(row)} {row['tflops']:8.1f} {step}")
    return "\n".join(lines)
