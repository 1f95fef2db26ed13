"""`tilesim convert`: convert traces between formats."""

from typing import Any

import click

from tilesim.analysis.divergence import on_one_clock
from tilesim.cli.arguments.options import OutputFile, facts_from, file_options, usage
from tilesim.cli.arguments.parameter_types import INPUT
from tilesim.cli.output.figures import wrote
from tilesim.formats import OF_SEVERAL, format_of, save, save_several
from tilesim.formats.reader import read_several
from tilesim.storage import files

FORMATS = {"perfetto": "perfetto", "perfetto-trace": "pftrace", "csv": "csv", "json": "json"}


@click.command(short_help="Convert traces between formats.")
@click.argument("traces", type=INPUT, metavar="IN...", nargs=-1, required=True)
@click.argument("output", metavar="OUT", type=OutputFile())
@click.option(
    "--to",
    type=click.Choice(tuple(FORMATS)),
    help="Format of OUT, if its extension is not .npz, .csv, .json, .perfetto.json, or .perfetto-trace.",
)
@file_options
@click.option("--schedule", metavar="NAME", help="The kernel's schedule.  [from IN, or its file name]")
def command(traces: tuple[str, ...], output: str, to: str | None, **options: Any) -> None:
    """Convert the trace IN to OUT: to .npz, or for use in ui.perfetto.dev, a spreadsheet, or a script.

    IN can have any of these formats, written by any program, or be JSON from IKET. A row of CSV or JSON needs
    tile, sm, start, and end; a Chrome or Perfetto trace needs slices that name their tile on tracks that name
    their SM. Use the options for facts that IN does not contain. Several INs become groups of processes on
    one clock, in a file for ui.perfetto.dev; there, a simulated and a measured run both start with their
    first multiply.
    """
    with usage():
        files.check_outputs([output], traces)
    if to and output.lower().endswith(".npz"):
        raise click.UsageError(f"{output} would look like a native trace; end OUT in .csv or leave out --to")
    if not (form := to or format_of(output)):
        raise click.UsageError(
            f"{output} has no extension of a known format; choose one with --to {', --to '.join(FORMATS)}"
        )
    form = FORMATS.get(form, form)
    if len(traces) > 1 and form not in OF_SEVERAL:
        raise click.UsageError(
            f"{len(traces)} traces need a Perfetto file; end OUT in .perfetto-trace or .perfetto.json"
        )
    loaded = on_one_clock(read_several(traces, facts_from(options, "schedule")))
    if len(loaded) > 1:
        save_several(loaded, output, form)
    else:
        save(loaded[0], output, form)
    wrote(output)
