"""`tilesim bench bank-conflicts`: what five ways to sum a vector do to shared memory."""

from tilesim.cli.output.reports import Bench, Table, derived
from tilesim.cli.output.tables import Row


def _per_block(row: Row) -> Row:
    counts = {
        name: row[name] / row["thread_blocks"] for name in ("load_beats", "store_beats", "instructions")
    }
    return counts | {"at_work": row["thread_instructions"] / row["instructions"]}


command = Bench(
    "bank-conflicts",
    "What sums do to the banks of shared memory, counted.",
    """Count the beats that the loads and stores of each step of the reduction ladder take the banks.

    Nsight Compute must be there, and allowed to read the GPU's counters.
    """,
    [
        Table(
            "of a thread block {name} | load beats {load_beats:.2f} | store beats {store_beats:.2f}"
            " | instructions {instructions:.1f} | at work {at_work:.1f}/32",
            derived(_per_block),
        )
    ],
)
