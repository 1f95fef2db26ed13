"""`tilesim bench launch-latency`: what a launch takes the host, a stream, a graph and an SM."""

from tilesim.cli.output.reports import CLOCKS, MEDIANS, Bench, Table, count_option, derived, median_range

command = Bench(
    "launch-latency",
    "What a launch takes the host, a stream, a graph and an SM.",
    """Time four things that are called a launch, with kernels that do nothing or only spin.

    The caller's thread; from one kernel to the next in a stream, and in a CUDA graph; and from a thread
    block to its successor. Beside them, a product of 1024x1024x1024 with and without the host's work.
    """,
    [
        CLOCKS,
        Table(
            f"launch | of {{what}} | blocks | ns {{ns[*]:.1f}} | mean {{mean_ns:.1f}} | count | {MEDIANS}",
            derived(median_range),
        ),
        Table(
            "typed size | by {kernel} | GPU, µs {us:.2f} | caller, µs {call_us[us]:.2f}"
            " | p20 {call_us[p20]:.2f} | p80 {call_us[p80]:.2f} | one by one, µs {host_us:.2f}",
            "products",
        ),
    ],
    [count_option("repeats", "Repeats of the whole sweep.", 9)],
)
