"""`tilesim bench`: kernel times on this machine's GPU, cuBLAS beside them."""

import json
from dataclasses import replace
from typing import Any

import click

from tilesim.cli._options import (
    FIGURES_FILE,
    TileShape,
    json_option,
    kernel_options,
    output_option,
    problem_from,
    problem_options,
    usage,
)
from tilesim.cli._rooms import room
from tilesim.formats import _atomic


@click.command(short_help="Time the kernels on this machine's GPU.")
@problem_options()
@click.option("--size", "sizes", type=TileShape(), multiple=True, help="M, N and K; repeat it for several.")
@click.option(
    "--kernel", "kernels", multiple=True, metavar="NAME", help="Time only this; repeat it for several."
)
@kernel_options
@click.option("--samples", type=click.IntRange(1, 100_000), default=100, help="Samples per kernel.  [100]")
@output_option(FIGURES_FILE, "Write the figures here (.json).")
@json_option
def command(
    sizes: tuple[tuple[int, int, int], ...],
    kernels: tuple[str, ...],
    output: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Check each kernel's result, then time it: median, 20th and 80th percentile of many graph replays."""
    problem = problem_from(options)
    with usage():
        problems = [replace(problem, m=m, n=n, k=k) for m, n, k in sizes] or [problem]
    chosen = {"kernels": kernels} if kernels else {}
    names = ("warps", "stages", "samples", "seed")
    report = room("kernels").bench(*problems, **chosen, **{name: options[name] for name in names})
    text = json.dumps(report, indent=1)
    if output:
        _atomic.write(output, lambda file: file.write(text.encode() + b"\n"))
    click.echo(text if as_json else _table(report))


def _table(report: dict[str, Any]) -> str:
    """What it was measured on, then a line per size and kernel."""
    machine = ", ".join(f"{name} {value}" for name, value in report["machine"].items())
    lines = [machine, f"{'size':20} {'kernel':26} {'µs':>9} {'p20':>9} {'p80':>9} {'TFLOP/s':>8}"]
    for row in report["rows"]:
        size = f"{row['m']}x{row['n']}x{row['k']} {row['dtype']}"
        times = " ".join(f"{row[name]:9.2f}" for name in ("us", "p20", "p80"))
        lines.append(f"{size:20} {row['kernel']:26} {times} {row['tflops']:8.1f}")
    return "\n".join(lines)
