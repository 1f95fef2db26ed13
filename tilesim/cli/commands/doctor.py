"""`tilesim doctor`: what is installed here, and what to do about what is not."""

import json
from itertools import groupby

import click

from tilesim.cli.arguments.options import json_option
from tilesim.cli.machine import Check, checks


@click.command(short_help="Say what is installed here, and what to do about the rest.")
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Say of everything that tilesim can use whether it is here: ok, missing or old, and what to do about it.

    Exits with 0 where films can be made, else with 1. Nothing is downloaded or changed.
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
    """A check as people read it.

    >>> line(Check("films", "manim", "old", "0.19.0", "pip install 'manim>=0.22'"))
    "  old      manim         0.19.0; pip install 'manim>=0.22'"
    """
    words = "; ".join(filter(None, (check.found, check.advice)))
    return f"  {check.state:8} {check.name:13} {words}".rstrip()
