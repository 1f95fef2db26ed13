"""`tilesim bench loop-unrolling`: what it wins to unroll a loop."""

from tilesim.cli.output.reports import Bench, Table, count_option, derived
from tilesim.cli.output.tables import NOT_COUNTED

command = Bench(
    "loop-unrolling",
    "What it wins to unroll a loop.",
    """Time a sum with 1 to 16 loads a turn of its loop, and 1 to 16 chains of multiply-adds.

    The loads go together, or each waits for the one before, which saves the same branches.
    """,
    [
        Table(
            "values {n} | warps | loads | factor | GB/s {gb_per_s:.1f} | p20 {p20:.1f} | p80 {p80:.1f}"
            " | issued",
            derived(lambda row: {"issued": row["issued"] or NOT_COUNTED}),
        ),
        Table(
            "warps | chains {factor} | cycles a multiply-add {cycles:.3f} | p20 {p20:.3f} | p80 {p80:.3f}",
            "chains",
        ),
    ],
    [count_option("launches", "Launches of each case.", 10)],
)
