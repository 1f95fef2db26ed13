"""`tilesim bench ladder`: every step from one program per element to the fastest kernels, in one run."""

from typing import Any

import click

from tilesim.cli.arguments.options import TileShape
from tilesim.cli.output.reports import machine, report_options, samples_option, show
from tilesim.cli.packages import load


@click.command("ladder", short_help="Every step from one program per element to the fastest kernels.")
@click.option("--size", "sizes", type=TileShape(), multiple=True, help="M, N and K; repeat it for several.")
@click.option("--dtype", type=click.Choice(["bf16", "fp16"]), default="bf16", help="Of A, B and C.  [bf16]")
@samples_option("kernel", 50)
@report_options
def command(
    sizes: tuple[tuple[int, int, int], ...], dtype: str, samples: int, output: str | None, as_json: bool
) -> None:
    """Check each step's result, then time all of them in turns, cuBLAS beside them.

    What they move is counted by Nsight Compute where it is there and may read the GPU's counters.
    """
    show(load("kernels").ladder(*sizes, dtype=dtype, samples=samples), _table, output, as_json)


def _table(report: dict[str, Any]) -> str:
    """The peaks, then a line per size and step."""
    peak, bandwidth = report["peak_tflops"], report["bandwidth_gb_per_s"]
    lines = [
        machine(report),
        f"a large torch.mm: {peak['measured']} TFLOP/s; a large copy: {bandwidth['measured']} GB/s",
        f"{'size':15} {'step':>4} {'name':12} {'µs':>10} {'p20':>10} {'p80':>10} {'TFLOP/s':>8}"
        f" {'of peak':>8} {'MHz':>5} {'error':>8} {'DRAM MB':>9}",
    ]
    for row in report["rows"]:
        size = f"{row['m']}x{row['n']}x{row['k']}"
        times = " ".join(f"{row[name]:10.2f}" for name in ("us", "p20", "p80"))
        share = f"{100 * row['tflops'] / peak['measured']:6.1f} %"
        dram = f"{row['dram_bytes'] / 1e6:9.1f}" + " (model)" * (row["bytes_from"] == "model")
        lines.append(
            f"{size:15} {row['step'] or '':>4} {row['name']:12} {times} {row['tflops']:8.1f} {share}"
            f" {row['sm_mhz']:5} {row['relative_error']:8.1e} {dram}"
        )
    lines += [f"left out: {what}: {why}" for what, why in report["left_out"].items()]
    return "\n".join(lines)
