"""`tilesim view`: play traces in the browser, and reload them when their files change."""

import os
import re
import webbrowser
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import click

from tilesim import player
from tilesim.analysis.divergence import on_one_clock
from tilesim.cli.arguments.film_targets import language_option, spoken
from tilesim.cli.arguments.options import facts_from, file_options
from tilesim.cli.arguments.parameter_types import INPUT, Whole
from tilesim.errors import TilesimError
from tilesim.formats.reader import read_several
from tilesim.traces import Trace


@click.command(short_help="Play traces in the browser.")
@click.argument("traces", type=INPUT, nargs=-1, required=True, metavar="FILE...")
@file_options
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
    facts, words = facts_from(options), spoken(lang)
    player.page(_read(traces, facts), **words)  # report errors in a file before serving anything
    with PageServer(traces, facts, words, port) as server:
        click.echo(f"{server.address} plays {', '.join(traces)}; press Ctrl-C to stop", err=True)
        if not no_browser and not webbrowser.open(server.address):
            click.echo(f"note: no browser could be started; open {server.address} in a browser", err=True)
        server.serve_forever(poll_interval=0.1)


def _read(files: tuple[str, ...], facts: Mapping[str, Any]) -> list[Trace]:
    """The traces; if they have both origins, as a recorder sees them, or their clocks would not agree."""
    return on_one_clock(read_several(files, facts))


LOOPBACK = "127.0.0.1"


class PageServer(ThreadingHTTPServer):
    """Answers / with the page of the files, and /version with what these are like now. /?at=NS opens it at an
    instant in ns. A request that names another host is refused: a page elsewhere could have led the browser
    here. Raises TilesimError where the port cannot be had."""

    daemon_threads = True

    def __init__(
        self, files: tuple[str, ...], facts: Mapping[str, Any], words: Mapping[str, Any], port: int = 0
    ) -> None:
        self.files, self.words = files, words
        # A long run has many windows, and one version is read only once.
        self.traces = lru_cache(maxsize=1)(lambda version: _read(files, facts))
        try:
            super().__init__((LOOPBACK, port), Answer)
        except OSError as error:
            reason = error.strerror or str(error)
            raise TilesimError(
                f"cannot listen on port {port}: {reason}; leave out --port to get a free one"
            ) from None

    @property
    def address(self) -> str:
        return f"http://{LOOPBACK}:{self.server_port}/"

    def version(self) -> str:
        """Another text whenever one of the files is another."""
        return sha256(repr([_stamp(file) for file in self.files]).encode()).hexdigest()[:16]

    def page(self, at: int | None) -> str:
        version = self.version()
        try:
            return player.page(self.traces(version), version=version, at=at, **self.words)
        except TilesimError as error:
            return player.error_page(str(error), version)


class Answer(BaseHTTPRequestHandler):
    server: PageServer

    def do_GET(self) -> None:
        own = {f"{host}:{self.server.server_port}" for host in (LOOPBACK, "localhost")}
        if self.headers.get("Host") not in own:
            self._send(403, "text/plain", "this server answers its own machine alone\n")
        elif self.path == "/version":
            self._send(200, "text/plain", self.server.version())
        elif found := re.fullmatch(r"/(?:\?at=([0-9]{1,18}))?", self.path):
            self._send(200, "text/html", self.server.page(int(found[1]) if found[1] else None))
        else:
            self._send(404, "text/plain", f"there is nothing but {self.server.address}\n")

    def _send(self, status: int, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        for name, value in {
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: what is asked for is no news."""


def _stamp(file: str) -> tuple[int, int, int] | None:
    """What changes with a file; None where there is none, as while it is being replaced."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
