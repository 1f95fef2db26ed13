"""`tilesim bench split-k-and-friends`: what each schedule makes of a last wave that is nearly empty."""

from tilesim.cli.output.reports import Bench, product_times, samples_option

command = Bench(
    "split-k-and-friends",
    "Schedules where the last wave is nearly empty.",
    "Time the plans of nine schedules, executed by one kernel, on 165, 133, 297 and 512 tiles in bf16.",
    [product_times],
    [samples_option("plan", 100)],
)
