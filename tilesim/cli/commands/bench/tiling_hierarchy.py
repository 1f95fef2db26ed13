"""`tilesim bench tiling-hierarchy`: the tensor cores' rate by the columns of a wgmma."""

from tilesim.cli.output.reports import Bench, Table, count_option

command = Bench(
    "tiling-hierarchy",
    "The tensor cores' rate by the columns of a wgmma.",
    """Time wgmma m64nN on operands in shared memory, N from 8 to 256, on a Hopper GPU.

    A narrow one reads more bytes for each multiplication than shared memory sends.
    """,
    [Table("dtype | N {tile[1]} | MACs a clock {macs_per_clock[*]:.1f} | MHz {sm_mhz[p50]:.0f}")],
    [count_option("repeats", "Repeats of all cases.", 5)],
)
