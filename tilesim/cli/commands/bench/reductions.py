"""`tilesim bench reductions`: five ways to sum a vector, beside what the memory gives."""

import click

from tilesim.cli.output.reports import Bench, Report, Table, samples_option


def _whys(report: Report) -> list[str]:
    whys = {row["name"]: row["why"] for row in report["rows"]}
    return ["", *(f"{name}: {why}" for name, why in whys.items())]


command = Bench(
    "reductions",
    "Five ways to sum a vector, beside a copy and torch.sum.",
    """Check each step of the reduction ladder, then time it: median, 20th and 80th percentile.

    From interleaved addressing to one wave of thread blocks, each step faster than the last by one idea.
    """,
    [
        Table(
            "values {n} | sum {name} | times | GB/s {gb_per_s:.1f} | of copy {share_of_copy:.1%}"
            " | relative error {relative_error:.1e}"
        ),
        _whys,
    ],
    [
        click.Option(
            ["--size", "sizes"],
            type=click.IntRange(1),
            multiple=True,
            metavar="VALUES",
            help="Values of fp32 to sum; repeat it for several.  [2^20, 2^24, 2^28]",
        ),
        samples_option("step", 100),
    ],
)
