"""`tilesim bench split-k-and-friends`: what each schedule makes of a last wave that is nearly empty."""

import click

from tilesim.cli.output.reports import product_times, report_options, samples_option, show
from tilesim.cli.packages import load


@click.command("split-k-and-friends", short_help="Schedules where the last wave is nearly empty.")
@samples_option("plan", 100)
@report_options
def command(samples: int, output: str | None, as_json: bool) -> None:
    """Time the plans of nine schedules, executed by one kernel, on 165, 133, 297 and 512 tiles in bf16."""
    show(load("kernels").split_k_and_friends(samples), product_times, output, as_json)
