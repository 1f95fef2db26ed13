"""`tilesim bench fusion`: a chain of functions, as one kernel each and as one kernel for all."""

from tilesim.cli.output.reports import ERROR, TIMES, TYPED_SIZE, WITH_HOST, Bench, Table, samples_option
from tilesim.cli.output.tables import Row

KERNEL = {"kernel": "{kernel}"} | TIMES | WITH_HOST | ERROR


def _dram_mb(row: Row) -> str:
    return f"{(row['dram_read_bytes'] + row['dram_write_bytes']) / 1e6:.1f}"


command = Bench(
    "fusion",
    "A chain of functions, as one kernel each and as one for all.",
    """Check chains of elementwise functions, then time them: median, 20th and 80th percentile.

    As PyTorch's kernels one by one, as torch.compile's kernel and as one of tilesim's, beyond the L2, within
    it and on next to nothing; then a product with bias and relu after it or in its epilogue. Nsight Compute,
    where it is there, counts bytes.
    """,
    [
        Table({"elements": "{elements}", "functions": "{functions}"} | KERNEL | {"DRAM MB": _dram_mb}),
        Table({"product": TYPED_SIZE["size"]} | KERNEL, "products"),
        lambda report: report["left_out"].values(),
    ],
    [samples_option("kernel", 50)],
)
