"""`tilesim bench reductions`: five ways to sum a vector, beside what the memory gives."""

from typing import Any

import click

from tilesim.cli.output.reports import TIMES, machine, report_options, samples_option, show, times
from tilesim.cli.packages import load


@click.command("reductions", short_help="Five ways to sum a vector, beside a copy and torch.sum.")
@click.option(
    "--size",
    "sizes",
    type=click.IntRange(1),
    multiple=True,
    metavar="VALUES",
    help="Values of fp32 to sum; repeat it for several.  [2^20, 2^24, 2^28]",
)
@samples_option("step", 100)
@report_options
def command(sizes: tuple[int, ...], samples: int, output: str | None, as_json: bool) -> None:
    """Check each step of the reduction ladder, then time it: median, 20th and 80th percentile.

    From interleaved addressing to one wave of thread blocks, each step faster than the last by one idea.
    """
    show(load("kernels").bench_reductions(*sizes, samples=samples), _table, output, as_json)


def _table(report: dict[str, Any]) -> str:
    """What it was measured on, a line per size and step, then why each step is there."""
    head = f"{'values':>12} {'sum':12} {TIMES} {'GB/s':>8} {'of copy':>8}"
    lines = [machine(report), f"{head}  relative error"]
    for row in report["rows"]:
        error = "" if row["relative_error"] is None else f"{row['relative_error']:.1e}"
        line = (
            f"{row['n']:12} {row['name']:12} {times(row)} {row['gb_per_s']:8.1f} {row['share_of_copy']:8.1%}"
        )
        lines.append(f"{line}  {error}".rstrip())
    whys = {row["name"]: row["why"] for row in report["rows"]}
    return "\n".join([*lines, *(f"{name}: {why}" for name, why in whys.items())])
