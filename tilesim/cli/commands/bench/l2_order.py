"""`tilesim bench l2-order`: what it wins, and costs, that tiles come in another order."""

from tilesim.cli.output.reports import Bench, Table, samples_option

command = Bench(
    "l2-order",
    "One kernel, tiles row by row, in groups, and along a Hilbert curve.",
    """Time 8192x8192x8192 and 8192x8192x512 in bf16, tiles in three orders.

    Nsight Compute, where it is there, counts what the SMs read at the L2, and what that takes from DRAM.
    """,
    [Table("size | order | times | traffic")],
    [samples_option("order", 50)],
)
