"""`tilesim view`: play traces in the browser, and reload them when their files change."""

import webbrowser
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

import click

from tilesim import player
from tilesim.analysis.divergence import on_one_clock
from tilesim.cli.arguments.languages import language_option, spoken
from tilesim.cli.arguments.options import OWN, device_options, facts_from, problem_options, reading_options
from tilesim.cli.arguments.parameter_types import INPUT, Whole
from tilesim.cli.running.page_server import PageServer
from tilesim.errors import TilesimError
from tilesim.formats.reader import read_several
from tilesim.traces import Trace


@click.command(short_help="Play traces in the browser.")
@click.argument("traces", type=INPUT, nargs=-1, required=True, metavar="FILE...")
@problem_options(OWN)
@device_options(OWN)
@reading_options
@language_option
@click.option("--port", type=Whole(0, 65535), default=0, help="Port of the local server.  [a free one]")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
def command(traces: tuple[str, ...], port: int, lang: str | None, no_browser: bool, **options: Any) -> None:
    """Play 1 to 4 traces of the same product on one clock, in a page that only this machine can open.

    FILE is a trace in any format that `convert` reads; use the options for facts that it does not contain.
    The page reloads when a file changes. A simulated and a measured run both start with their first multiply,
    and the page shows how far apart they are. Long runs are shown window by window. Press Ctrl-C to stop; to
    keep the page, use `tilesim export FILE -o FILE.html`.
    """
    if len(traces) > player.MOST_TRACES:
        raise click.UsageError(
            f"the player shows up to {player.MOST_TRACES} traces; {len(traces)} were given"
        )
    facts, words = facts_from(options), spoken(lang)
    player.page(_read(traces, facts), **words)  # report errors in a file before serving anything
    with PageServer(partial(_page, _kept(traces, facts), words), traces, port) as server:
        click.echo(f"{server.address} plays {', '.join(traces)}; press Ctrl-C to stop", err=True)
        if not no_browser and not webbrowser.open(server.address):
            click.echo(f"note: no browser could be started; open {server.address} in a browser", err=True)
        server.serve_forever(poll_interval=0.1)


def _page(
    kept: Callable[[str], list[Trace]], words: Mapping[str, Any], version: str, at: int | None = None
) -> str:
    """The page for some files, or for the error in one of them; it reloads when they change."""
    try:
        return player.page(kept(version), version=version, at=at, **words)
    except TilesimError as error:
        return player.error_page(str(error), version)


def _kept(files: tuple[str, ...], facts: Mapping[str, Any]) -> Callable[[str], list[Trace]]:
    """The traces of a version of the files, read only once, because a long run is shown in many windows."""
    return lru_cache(maxsize=1)(lambda version: _read(files, facts))


def _read(files: tuple[str, ...], facts: Mapping[str, Any]) -> list[Trace]:
    """The traces; if they have both origins, as a recorder sees them, or their clocks would not agree."""
    return on_one_clock(read_several(files, facts))
