"""`tilesim bench coalescing`: what it costs to load down columns."""

from typing import Any

import click

from tilesim.cli.output.reports import machine, report_options, samples_option, show
from tilesim.cli.packages import load


@click.command("coalescing", short_help="What it costs to load down columns, in fp32.")
@samples_option("kernel", 20)
@report_options
def command(samples: int, output: str | None, as_json: bool) -> None:
    """Rerun an article's experiment: 8192x6144x4096 in fp32 and tf32, tiles of 64.

    One kernel loads down columns, the other along rows. Nsight Compute, where it is there, counts what a load
    touches.
    """
    show(load("kernels").coalescing(samples), _table, output, as_json)


def _table(report: dict[str, Any]) -> str:
    """The article's figures, then a line per dtype and kernel."""
    article = report["article"]
    lines = [
        machine(report),
        f"{'':18} {'ms':>9} {'p20':>9} {'p80':>9} {'TFLOP/s':>8} {'bound':>8} {'limit':>7} {'DRAM MB':>9}"
        f" {'sectors a load':>15} {'spilled GB':>11}",
        f"{'the article':18} {article['ms']:9.2f} {'':9} {'':9} {article['tflops']:8.2f}",
    ]
    for row in report["rows"]:
        ms = " ".join(f"{row[name] / 1000:9.3f}" for name in ("us", "p20", "p80"))
        touched = row.get("sectors_per_request", "not counted")
        spilled = f"{32 * row['spill_sectors'] / 1e9:11.2f}" if "spill_sectors" in row else "not counted"
        lines.append(
            f"{row['kernel'] + ' ' + row['dtype']:18} {ms} {row['tflops']:8.2f} {row['bound']:>8}"
            f" {row['limit_tflops']:7.1f} {row['dram_bytes'] / 1e6:9.1f} {touched:>15} {spilled}"
        )
    return "\n".join(lines)
