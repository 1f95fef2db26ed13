"""`tilesim bench bank-conflicts`: what five ways to sum a vector do to shared memory."""

from tilesim.cli.output.reports import Bench, Table
from tilesim.cli.output.tables import Row


def _per_block(name: str, form: str, row: Row) -> str:
    return format(row[name] / row["thread_blocks"], form)


command = Bench(
    "bank-conflicts",
    "What sums do to the banks of shared memory, counted.",
    """Count the beats that the loads and stores of each step of the reduction ladder take the banks.

    Nsight Compute must be there, and allowed to read the GPU's counters.
    """,
    [
        Table({
            "of a thread block": "{name}",
            "load beats": lambda row: _per_block("load_beats", ".2f", row),
            "store beats": lambda row: _per_block("store_beats", ".2f", row),
            "instructions": lambda row: _per_block("instructions", ".1f", row),
            "at work": lambda row: f"{row['thread_instructions'] / row['instructions']:.1f}/32",
        })
    ],
)  # fmt: skip
