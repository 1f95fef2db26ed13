"""`tilesim bench ladder`: every step from one program per element to the fastest kernels, in one run."""

from collections.abc import Iterator
from typing import Any

import click

from tilesim.cli.arguments.options import TileShape
from tilesim.cli.output.reports import ERROR, SIZE, TIMES, Bench, Report, Table, samples_option
from tilesim.cli.output.tables import Row


def _rows(report: Report) -> Iterator[dict[str, Any]]:
    for row in report["rows"]:
        yield row | {"of_peak": 100 * row["tflops"] / report["peak_tflops"]["measured"]}


def _dram_mb(row: Row) -> str:
    return f"{row['dram_bytes'] / 1e6:.1f}" + " (model)" * (row["bytes_from"] == "model")


command = Bench(
    "ladder",
    "Every step from one program per element to the fastest kernels.",
    """Check each step's result, then time all of them in turns, cuBLAS beside them.

    What they move is counted by Nsight Compute where it is there and may read the GPU's counters.
    """,
    [
        "a large torch.mm: {peak_tflops[measured]} TFLOP/s;"
        " a large copy: {bandwidth_gb_per_s[measured]} GB/s",
        Table(
            SIZE
            | {"step": "{step}", "name": "{name}"}
            | TIMES
            | {"TFLOP/s": "{tflops:.1f}", "of peak": "{of_peak:.1f} %", "MHz": "{sm_mhz}"}
            | ERROR
            | {"DRAM MB": _dram_mb},
            _rows,
        ),
        lambda report: [f"left out: {what}: {why}" for what, why in report["left_out"].items()],
    ],
    [
        click.Option(
            ["--size", "sizes"], type=TileShape(), multiple=True, help="M, N and K; repeat it for several."
        ),
        click.Option(
            ["--dtype"], type=click.Choice(["bf16", "fp16"]), default="bf16", help="Of A, B and C.  [bf16]"
        ),
        samples_option("kernel", 50),
    ],
)
