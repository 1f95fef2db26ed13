"""`tilesim doctor`: what is installed, and how to fix what is not."""

import json
from itertools import groupby

import click

from tilesim.cli.arguments.options import json_option
from tilesim.cli.machine import Check, checks


@click.command(short_help="Check what is installed, and how to fix the rest.")
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Check whether everything that tilesim can use is ok, missing, or too old, and say how to fix it.

    The exit code is 0 if films can be made, and 1 otherwise. Nothing is downloaded or changed.
    """
    found = list(checks())
    wanting = [check.name for check in found if check.needed and check.state != "ok"]
    if as_json:
        listed = [check._asdict() for check in found]
        click.echo(json.dumps({"films": not wanting, "checks": listed}, ensure_ascii=False))
    else:
        for use, group in groupby(found, lambda check: check.use):
            click.echo(use)
            for check in group:
                click.echo(line(check))
        verdict = f"cannot be made: see {', '.join(wanting)}" if wanting else "can be made"
        click.echo(f"films {verdict}")
    ctx.exit(1 if wanting else 0)


def line(check: Check) -> str:
    """A check as a line of text.

    >>> line(Check("films", "manim", "old", "0.19.0", "pip install 'manim>=0.22'"))
    "  old      manim         0.19.0; pip install 'manim>=0.22'"
    """
    words = "; ".join(filter(None, (check.found, check.advice)))
    return f"  {check.state:8} {check.name:13} {words}".rstrip()
