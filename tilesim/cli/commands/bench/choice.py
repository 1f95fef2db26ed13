"""`tilesim bench choice`: the time of every kernel for many shapes, by which `choose` is judged and fitted."""

from math import exp, log
from os import cpu_count
from statistics import fmean
from typing import Any

import click

from tilesim.cli.packages import load
from tilesim.cli.progress import progress
from tilesim.cli.reports import machine, report_options, show


@click.command("choice", short_help="Time every kernel for many shapes, to judge what is chosen.")
@click.option(
    "--budget",
    type=click.IntRange(1, 10**6),
    default=3600,
    help="Seconds after which no other shape is begun.  [3600]",
)
@click.option("--processes", type=click.IntRange(1, 256), help="That compile kernels.  [one a core]")
@report_options
def command(budget: int, processes: int | None, output: str | None, as_json: bool) -> None:
    """Time all candidates of `tilesim choose` and cuBLAS, for 47 shapes in bf16 and fp8, layouts nn and nt."""
    measure = load("kernels", "tuning.exhaustive")
    products = measure.products()
    with progress("bench choice", len(products)) as done:
        report = measure.exhaustive(products, budget, processes or cpu_count() or 1, done)
    show(report, _table, output, as_json)


def _table(report: dict[str, Any]) -> str:
    """The fastest kernel of each product beside cuBLAS, and the geometric mean."""
    lines = [machine(report), f"{'product':32} {'fastest':60} {'µs':>10} {'cuBLAS':>10} {'ratio':>6}"]
    ratios = []
    for row in report["rows"]:
        if not row["us"]:
            continue
        number, us = min(row["us"], key=lambda each: each[1])
        ratios.append(row["cublas_us"] / us)
        name = f"{row['m']}x{row['n']}x{row['k']} {row['dtype']} {row['layout']}"
        kernel = " ".join(map(str, report["kernels"][number]))[:60]
        lines.append(f"{name:32} {kernel:60} {us:10.2f} {row['cublas_us']:10.2f} {ratios[-1]:6.3f}")
    if ratios:
        lines.append(f"the fastest against cuBLAS, geometric mean: {exp(fmean(map(log, ratios))):.3f}")
    for what in ("wrong", "failed"):
        if report[what]:
            lines.append(f"{what}: {len(report[what])}, first {report[what][0]}")
    if "stopped" in report:
        lines.append(f"stopped early: {report['stopped']}")
    return "\n".join(lines)
