"""`tilesim bench latency-hiding`: what more warps win where each of them waits."""

from typing import Any

import click

from tilesim.cli.output.reports import machine, report_options, show
from tilesim.cli.packages import load


@click.command("latency-hiding", short_help="y = a * x + y by 1 to 32 warps of an SM.")
@click.option("--repeats", type=click.IntRange(1, 1000), default=9, help="Repeats of each case.  [9]")
@report_options
def command(repeats: int, output: str | None, as_json: bool) -> None:
    """Time y = a * x + y by 1 to 32 warps of one SM, and of all SMs, each of which waits for its own loads.

    Beside it: the same by threads of the host, and a product's K-steps by one and two thread blocks an SM.
    """
    show(load("kernels").latency_hiding(repeats), _table, output, as_json)


def _table(report: dict[str, Any]) -> str:
    """A line per SMs at work and warps, then the host's threads, and the thread blocks."""
    lines = [
        machine(report),
        f"{'SMs':>4} {'warps':>5} {'cycles an element':>18} {'p20':>7} {'p80':>7} {'bytes a clock':>14}"
        f" {'wait':>7} {'p20':>7} {'p80':>7}",
    ]
    for row in report["rows"]:
        cycles = f"{row['cycles']['p50']:18.4f} {row['cycles']['p20']:7.4f} {row['cycles']['p80']:7.4f}"
        wait = " ".join(f"{row['wait'][name]:7.0f}" for name in ("p50", "p20", "p80"))
        lines.append(f"{row['sms']:4} {row['warps']:5} {cycles} {row['bytes_per_clock']:14.2f} {wait}")
    host = report["host"]
    lines.append(f"host: {host['name']}, {host['cores']} cores, a load {host['latency_ns']} ns")
    for row in host["rows"]:
        ns = " ".join(f"{row['ns'][name]:8.4f}" for name in ("p50", "p20", "p80"))
        lines.append(f"{row['threads']:4} threads {ns} ns an element, {row['gb_per_s']:.1f} GB/s")
    for row in report["blocks"]:
        what = f"{row['blocks']} thread blocks an SM, {row['stages']} stages"
        lines.append(f"{what}: a K-step takes each {row['k_step_ns']} ns, {row['k_step_cycles']} cycles")
    return "\n".join(lines)
