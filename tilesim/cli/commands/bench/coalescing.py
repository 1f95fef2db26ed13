"""`tilesim bench coalescing`: what it costs to load down columns."""

from typing import Any

from tilesim.cli.output.reports import Bench, Report, Table, samples_option

SECTOR_BYTES = 32
MEASURED = ("p20", "p80", "bound", "limit_tflops", "dram_bytes", "sectors_per_request", "spilled_bytes")
"""What is not known of the article's kernel."""


def _rows(report: Report) -> list[dict[str, Any]]:
    """The article's row above those that were measured."""
    article, rows = report["article"], report["rows"]
    first = {"kernel": "the", "dtype": "article", "us": 1000 * article["ms"], "tflops": article["tflops"]}
    spilled = [
        {"spilled_bytes": SECTOR_BYTES * row["spill_sectors"]} if "spill_sectors" in row else {}
        for row in rows
    ]
    return [dict.fromkeys(MEASURED) | first, *map(dict.__or__, rows, spilled)]


command = Bench(
    "coalescing",
    "What it costs to load down columns, in fp32.",
    """Rerun an article's experiment: 8192x6144x4096 in fp32 and tf32, tiles of 64.

    One kernel loads down columns, the other along rows. Nsight Compute, where it is there, counts what a load
    touches.
    """,
    [
        Table(
            "kernel {kernel} {dtype} | ms {us:.3f/1000} | p20 {p20:.3f/1000} | p80 {p80:.3f/1000}"
            " | TFLOP/s {tflops:.2f} | bound | limit {limit_tflops:.1f} | DRAM MB {dram_bytes:.1f/1e6}"
            " | sectors a load {sectors_per_request} | spilled GB {spilled_bytes:.2f/1e9}",
            _rows,
        )
    ],
    [samples_option("kernel", 20)],
)
