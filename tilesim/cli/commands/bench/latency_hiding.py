"""`tilesim bench latency-hiding`: what more warps win where each of them waits."""

from tilesim.cli.output.reports import Bench, Table, count_option

command = Bench(
    "latency-hiding",
    "y = a * x + y by 1 to 32 warps of an SM.",
    """Time y = a * x + y by 1 to 32 warps of one SM, and of all SMs, each of which waits for its own loads.

    Beside it: the same by threads of the host, and a product's K-steps by one and two thread blocks an SM.
    """,
    [
        Table(
            "SMs {sms} | warps | cycles an element {cycles[*]:.4f} | bytes a clock {bytes_per_clock:.2f}"
            " | wait {wait[*]:.0f}"
        ),
        "\nhost: {host[name]}, {host[cores]} cores, a load {host[latency_ns]} ns",
        Table(
            "threads | ns an element {ns[*]:.4f} | GB/s {gb_per_s:.1f}",
            lambda report: report["host"]["rows"],
        ),
        Table(
            "thread blocks an SM {blocks} | stages | a K-step takes each, ns {k_step_ns}"
            " | cycles {k_step_cycles}",
            "blocks",
        ),
    ],
    [count_option("repeats", "Repeats of each case.", 9)],
)
