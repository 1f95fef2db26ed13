"""`tilesim convert`: a trace in another format."""

import os
from importlib import import_module

import click

from tilesim.cli._options import OutputFile
from tilesim.traces import Trace

FORMATS = ("perfetto", "csv", "json")


@click.command(short_help="Write a trace as Perfetto JSON, CSV or JSON.")
@click.argument("trace", metavar="IN")
@click.argument("output", metavar="OUT", type=OutputFile())
@click.option(
    "--to",
    type=click.Choice(FORMATS),
    help="Format of OUT. Its ending tells where it is .csv or .perfetto.json; .json is ambiguous.",
)
def command(trace: str, output: str, to: str | None) -> None:
    """Write the trace file IN as OUT: for ui.perfetto.dev, for a spreadsheet, or as plain JSON."""
    if os.path.exists(trace) and os.path.exists(output) and os.path.samefile(trace, output):
        raise click.UsageError(f"{output} is the trace itself; give OUT another name")
    if output.lower().endswith(".npz"):
        raise click.UsageError(f"{output} would pass for a trace; end OUT in .csv or .json")
    form = to or _guess(output)
    import_module(f"tilesim.formats.{form}").save(Trace.load(trace), output)


def _guess(output: str) -> str:
    """The format that a file's name tells; .json alone could be either of two."""
    for ending, form in {".csv": "csv", ".perfetto.json": "perfetto", ".perfetto": "perfetto"}.items():
        if output.lower().endswith(ending):
            return form
    raise click.UsageError(
        f"{output} does not tell its format; choose one with --to {', --to '.join(FORMATS)}"
    )
