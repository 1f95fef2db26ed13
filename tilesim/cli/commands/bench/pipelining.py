"""`tilesim bench pipelining`: what it wins to load K-steps ahead."""

from tilesim.cli.output.reports import Bench, Table, samples_option

command = Bench(
    "pipelining",
    "What it wins to load K-steps ahead.",
    "Time 2048x2048x2048 in bf16 by one kernel with 1, 2, 3 and 4 stages, and record its K-steps.",
    [Table("stages | times | TFLOP/s | K-step ns {k_step_ns:.1f} | cycles {k_step_cycles:.1f}")],
    [samples_option("kernel", 100)],
)
