"""`tilesim bench ladder`: every step from one program per element to the fastest kernels, in one run."""

from collections.abc import Iterator
from typing import Any

import click

from tilesim.cli.arguments.options import TileShape
from tilesim.cli.output.reports import Bench, Report, Table, samples_option


def _rows(report: Report) -> Iterator[dict[str, Any]]:
    peak = report["peak_tflops"]["measured"]
    for row in report["rows"]:
        model = " (model)" if row["bytes_from"] == "model" else ""
        yield row | {"of_peak": 100 * row["tflops"] / peak, "model": model}


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
            "size | step | name | times | TFLOP/s | of peak {of_peak:.1f} % | MHz | error"
            " | DRAM MB {dram_bytes:.1f/1e6}{model}",
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
