"""`tilesim bench fusion`: a chain of functions, as one kernel each and as one kernel for all."""

from typing import Any

import click

from tilesim.cli.output.reports import TIMES, machine, report_options, samples_option, show, times
from tilesim.cli.packages import load


@click.command("fusion", short_help="A chain of functions, as one kernel each and as one for all.")
@samples_option("kernel", 50)
@report_options
def command(samples: int, output: str | None, as_json: bool) -> None:
    """Check chains of elementwise functions, then time them: median, 20th and 80th percentile.

    As PyTorch's kernels one by one, as torch.compile's kernel and as one of tilesim's, beyond the L2, within
    it and on next to nothing; then a product with bias and relu after it or in its epilogue. Nsight Compute,
    where it is there, counts bytes.
    """
    show(load("kernels").fusion(samples), _table, output, as_json)


def _table(report: dict[str, Any]) -> str:
    """What it was measured on, a line per size, chain and kernel, one per product, and what is left out."""
    head = f"{TIMES} {'with host':>10} {'error':>8}"
    lines = [machine(report), f"{'elements':>10} {'functions':>9}  {'kernel':14} {head}  DRAM MB"]
    for row in report["rows"]:
        chain = f"{row['elements']:10} {row['functions']:9}  {row['kernel']:14} {_times(row)}"
        counted = "dram_read_bytes" in row
        moved = (row["dram_read_bytes"] + row["dram_write_bytes"]) / 1e6 if counted else None
        lines.append(f"{chain}  {'not counted' if moved is None else f'{moved:.1f}'}")
    lines.append(f"{'product':20}  {'kernel':14} {head}")
    for row in report["products"]:
        shape = f"{row['m']}x{row['n']}x{row['k']} {row['dtype']}"
        lines.append(f"{shape:20}  {row['kernel']:14} {_times(row)}")
    return "\n".join([*lines, *report["left_out"].values()])


def _times(row: dict[str, Any]) -> str:
    return f"{times(row)} {row['host_us']:10.2f} {row['relative_error']:8.1e}"
