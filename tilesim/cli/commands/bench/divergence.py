"""`tilesim bench divergence`: what it costs when lanes of a warp take different ways."""

from tilesim.cli.output.reports import Bench, Table, count_option, derived
from tilesim.cli.output.tables import Row


def _active(row: Row) -> Row:
    return {"active": row["of_threads"] / row["issued"]} if row["issued"] else {}


command = Bench(
    "divergence",
    "What it costs when lanes of a warp take different ways.",
    """Time a branch and a loop that a warp's lanes, or whole warps, take in 1 to 32 ways.

    Nsight Compute, where it is there, counts the instructions that are issued.
    """,
    [
        Table(
            "code | ways | by {split} | warps | cycles {cycles:.0f} | p20 {p20:.0f} | p80 {p80:.0f}"
            " | tail {tail_cycles:.0f} | joined {joined:.0%} | issued | active lanes {active:.2f}",
            derived(_active),
        )
    ],
    [count_option("launches", "Launches of each case.", 20)],
)
