"""What the commands share that measure a GPU: JSON into a file, a table or JSON on the screen."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import click

from tilesim.cli.arguments.options import FIGURES_FILE, F, json_option, output_option
from tilesim.cli.output.figures import wrote
from tilesim.storage import files


def report_options(command: F) -> F:
    """`-o FILE` and `--json`, passed on as `output` and `as_json`."""
    return output_option(FIGURES_FILE, "Write the figures here (.json).")(json_option(command))


def show(report: Mapping[str, Any], table: Callable[[Any], str], output: str | None, as_json: bool) -> None:
    """Write `report` to `output`, if there is one, and print it as JSON or as `table` has it."""
    text = json.dumps(report, indent=1)
    if output:
        files.write(output, lambda file: file.write(text.encode() + b"\n"))
        wrote(output)
    click.echo(text if as_json else table(report))


def machine(report: Mapping[str, Any]) -> str:
    """What it was measured on, in a line."""
    return ", ".join(f"{name} {value}" for name, value in report["machine"].items())
