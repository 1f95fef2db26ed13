"""`tilesim bench fusion`: a chain of functions, as one kernel each and as one kernel for all."""

from tilesim.cli.output.reports import Bench, Table, derived, samples_option
from tilesim.cli.output.tables import Row

KERNEL = "kernel | times | with host | error"


def _moved(row: Row) -> Row:
    counted = "dram_read_bytes" in row
    return {"dram_bytes": row["dram_read_bytes"] + row["dram_write_bytes"]} if counted else {}


command = Bench(
    "fusion",
    "A chain of functions, as one kernel each and as one for all.",
    """Check chains of elementwise functions, then time them: median, 20th and 80th percentile.

    As PyTorch's kernels one by one, as torch.compile's kernel and as one of tilesim's, beyond the L2, within
    it and on next to nothing; then a product with bias and relu after it or in its epilogue. Nsight Compute,
    where it is there, counts bytes.
    """,
    [
        Table(
            f"elements | functions | {KERNEL} | DRAM MB {{dram_bytes:.1f/1e6}}",
            derived(_moved),
        ),
        Table(f"product {{m}}x{{n}}x{{k}} {{dtype}} | {KERNEL}", "products"),
        lambda report: report["left_out"].values(),
    ],
    [samples_option("kernel", 50)],
)
