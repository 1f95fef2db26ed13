"""`tilesim convert`: a trace from or into another format."""

from typing import Any

import click

from tilesim.analysis.divergence import on_one_clock
from tilesim.cli.arguments.options import (
    OWN,
    OutputFile,
    device_options,
    facts_from,
    problem_options,
    reading_options,
    usage,
)
from tilesim.cli.arguments.parameter_types import INPUT
from tilesim.cli.output.figures import wrote
from tilesim.formats import OF_SEVERAL, format_of, save, save_several
from tilesim.formats.reader import read_several
from tilesim.storage import files

FORMATS = {"perfetto": "perfetto", "perfetto-trace": "pftrace", "csv": "csv", "json": "json"}
"""What --to may say, and the module that writes it."""


@click.command(short_help="Read a trace of any format, and write it as another.")
@click.argument("traces", type=INPUT, metavar="IN...", nargs=-1, required=True)
@click.argument("output", metavar="OUT", type=OutputFile())
@click.option(
    "--to",
    type=click.Choice(tuple(FORMATS)),
    help="Format of OUT, where its ending does not tell: .npz, .csv, .json, .perfetto.json, .perfetto-trace.",
)
@problem_options(OWN)
@device_options(OWN)
@reading_options
@click.option("--schedule", metavar="NAME", help="What to call the kernel.  [what IN says, or its name]")
def command(traces: tuple[str, ...], output: str, to: str | None, **options: Any) -> None:
    """Write the trace in IN as OUT: as .npz, or for ui.perfetto.dev, a spreadsheet or a script.

    IN is any of these, whoever wrote it, or JSON of IKET: a row of CSV or JSON needs tile, sm, start and end,
    and a Chrome or Perfetto trace slices that name their tile on tracks that name their SM. What IN does not
    say, the options do. Several INs become groups of processes on one clock, in a file for ui.perfetto.dev; a
    simulated and a measured run both begin with their first multiply there.
    """
    with usage():
        files.check_outputs([output], traces)
    if to and output.lower().endswith(".npz"):
        raise click.UsageError(
            f"{output} would pass for a trace; end OUT in .csv or .json, or leave out --to"
        )
    if not (form := to or format_of(output)):
        raise click.UsageError(
            f"{output} does not tell its format; choose one with --to {', --to '.join(FORMATS)}"
        )
    form = FORMATS.get(form, form)
    if len(traces) > 1 and form not in OF_SEVERAL:
        raise click.UsageError(
            f"{len(traces)} traces need a file for Perfetto; end OUT in .perfetto-trace or .perfetto.json"
        )
    loaded = on_one_clock(read_several(traces, facts_from(options, "schedule")))
    if len(loaded) > 1:
        save_several(loaded, output, form)
    else:
        save(loaded[0], output, form)
    wrote(output)
