"""`tilesim bench divergence`: what it costs when lanes of a warp take different ways."""

from tilesim.cli.output.reports import Bench, Table, count_option
from tilesim.cli.output.tables import NOT_COUNTED, Row


def _active_lanes(row: Row) -> str:
    return f"{row['of_threads'] / row['issued']:.2f}" if row["issued"] else NOT_COUNTED


command = Bench(
    "divergence",
    "What it costs when lanes of a warp take different ways.",
    """Time a branch and a loop that a warp's lanes, or whole warps, take in 1 to 32 ways.

    Nsight Compute, where it is there, counts the instructions that are issued.
    """,
    [
        Table({
            "code": "{code}",
            "ways": "{ways}",
            "by": "{split}",
            "warps": "{warps}",
            "cycles": "{cycles:.0f}",
            "p20": "{p20:.0f}",
            "p80": "{p80:.0f}",
            "tail": "{tail_cycles:.0f}",
            "joined": "{joined:.0%}",
            "issued": "{issued}",
            "active lanes": _active_lanes,
        })
    ],
    [count_option("launches", "Launches of each case.", 20)],
)  # fmt: skip
