"""`tilesim bench pipelining`: what it wins to load K-steps ahead."""

from tilesim.cli.output.reports import TIMES, Bench, Table, samples_option

K_STEP = {"K-step ns": "{k_step_ns:.1f}", "cycles": "{k_step_cycles:.1f}"}

command = Bench(
    "pipelining",
    "What it wins to load K-steps ahead.",
    "Time 2048x2048x2048 in bf16 by one kernel with 1, 2, 3 and 4 stages, and record its K-steps.",
    [Table({"stages": "{stages}"} | TIMES | {"TFLOP/s": "{tflops:.1f}"} | K_STEP)],
    [samples_option("kernel", 100)],
)
