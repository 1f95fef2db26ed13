"""`tilesim bench memory-hierarchy`: how many bytes a product asks for, and from where they come."""

from tilesim.cli.output.reports import Bench, Table, samples_option

command = Bench(
    "memory-hierarchy",
    "Bytes that a product asks for, and from where they come.",
    """Time cubes of 2048, 4096 and 8192 in bf16, one thread block a tile.

    Nsight Compute, where it is there, counts what the SMs read at the L2, and what that takes from DRAM.
    """,
    [Table("size | times | asked MB {asked_bytes:.0f/1e6} | traffic")],
    [samples_option("size", 50)],
)
