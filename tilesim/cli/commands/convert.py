"""`tilesim convert`: a trace from or into another format."""

from typing import Any

import click

from tilesim.cli.figures import wrote
from tilesim.cli.options import (
    DEVICE_NAMES,
    PROBLEM_NAMES,
    OutputFile,
    device_from,
    device_options,
    given,
    problem_from,
    problem_options,
    usage,
)
from tilesim.cli.parameter_types import INPUT
from tilesim.formats import format_of, save
from tilesim.formats.reader import read
from tilesim.storage import files

FORMATS = ("perfetto", "csv", "json")
OWN = "what IN says"


@click.command(short_help="Read a trace of any format, and write it as another.")
@click.argument("trace", type=INPUT, metavar="IN")
@click.argument("output", metavar="OUT", type=OutputFile())
@click.option(
    "--to",
    type=click.Choice(FORMATS),
    help="Format of OUT, where its ending does not tell: .npz, .csv, .json or .perfetto.json.",
)
@problem_options(OWN)
@device_options(OWN)
@click.option("--schedule", metavar="NAME", help="What to call the kernel.  [what IN says, or its name]")
def command(trace: str, output: str, to: str | None, **options: Any) -> None:
    """Write the trace in IN as OUT: as .npz, or for ui.perfetto.dev, a spreadsheet or a script.

    IN is any of these, whoever wrote it: a row of CSV or JSON needs tile, sm, start and end, and a
    Chrome/Perfetto trace slices that name their tile on tracks that name their SM. What IN does not say of
    the problem and the device, the options do.
    """
    with usage():
        files.check_outputs([output], [trace])
    if to and output.lower().endswith(".npz"):
        raise click.UsageError(
            f"{output} would pass for a trace; end OUT in .csv or .json, or leave out --to"
        )
    if not (form := to or format_of(output)):
        raise click.UsageError(
            f"{output} does not tell its format; choose one with --to {', --to '.join(FORMATS)}"
        )
    problem_from(options), device_from(options)  # what is out of range for any trace is wrong usage
    loaded = read(trace, given(options, (*PROBLEM_NAMES, *DEVICE_NAMES, "schedule")))
    save(loaded, output, form)
    wrote(output)
