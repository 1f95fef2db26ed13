"""`tilesim bench execution-model`: what an SM holds at once, and where its warps are."""

from collections.abc import Iterator
from typing import Any

from tilesim.cli.output.reports import Bench, Report, Table, count_option


def _rows(report: Report) -> Iterator[dict[str, Any]]:
    """Compiled products, then those kernels that spin of which not as many were seen as the driver says."""
    for row in report["kernels"]:
        yield row | {"name": f"{row['name']} {'x'.join(map(str, row['tile']))}"}
    yield from ({"name": "spin"} | row for row in report["rows"] if row["driver"] != row["seen"])


def _sweep(report: Report) -> list[str]:
    agree = sum(row["driver"] == row["seen"] for row in report["rows"])
    return [
        f"of {len(report['rows'])} kernels that spin, {agree} with as many residents as the driver says",
        "cycles alone, and beside warps 1, 2 ...: " + " ".join(map(str, report["beside"])),
    ]


command = Bench(
    "execution-model",
    "How many thread blocks an SM holds at once, and of which kernels.",
    """Count the residents of an SM by stamps and by the driver, over threads, registers and shared memory.

    Says what compiled products need, and follows the warps of one block through their program.
    """,
    [
        _sweep,
        "warps of a block are {walk[apart][median]} cycles apart"
        " ({walk[apart][p20]} to {walk[apart][p80]}) at its end",
        Table(
            "kernel {name} | threads | registers | shared {shared_bytes} | driver | seen",
            _rows,
        ),
    ],
    [count_option("launches", "Launches of the warps.", 21, 2, 10_000)],
)
