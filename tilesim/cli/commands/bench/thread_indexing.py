"""`tilesim bench thread-indexing`: what it costs where neighbouring threads take cells far apart."""

from tilesim.cli.output.reports import Bench, Table, samples_option

command = Bench(
    "thread-indexing",
    "One sum of a matrix, with neighbours 1 to a row apart.",
    """Sum a matrix of 8192x8192 in fp32, a thread a cell: the same cells, by other threads.

    Neighbouring threads take cells 1, 2, 4 ... apart, and at last a whole row, which swaps the axes.
    """,
    [Table("stride | times | GB/s {gb_per_s:.0f} | sum")],
    [samples_option("stride", 40)],
)
