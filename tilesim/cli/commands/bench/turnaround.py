"""`tilesim bench turnaround`: from a thread block's end to its successor's first instruction."""

from tilesim.cli.output.reports import CLOCKS, MEDIANS, Bench, Table, count_option, derived, median_range

command = Bench(
    "turnaround",
    "From a thread block's end to its successor's begin, on one SM.",
    """Time how long a thread block's place on an SM stays empty before the next one runs there.

    The blocks only spin. They differ in threads, shared memory, and in whether all end at once.
    """,
    [
        CLOCKS,
        "launch {launch_ns} ns, of blocks as matrix products have them",
        Table(
            "threads | KB {shared_kb} | on SM {residents} | spin | cycles {cycles[p50]} | ns {ns[*]:.1f}"
            f" | min {{ns[min]:.1f}} | gaps | {MEDIANS}",
            derived(median_range),
        ),
    ],
    [count_option("repeats", "Repeats of the whole sweep.", 5)],
)
