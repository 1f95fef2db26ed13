"""Page server: a page on this machine alone, made anew when the files that it shows change."""

import re
from collections.abc import Callable, Sequence
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tilesim.errors import TilesimError

LOOPBACK = "127.0.0.1"


class PageServer(ThreadingHTTPServer):
    """Answers / with what `make(version, at)` gives, and /version with what its files are like now.

    `at` is that of /?at=NS, an instant that the page is to hold, ns; None without it.

    `port` 0 takes any that is free. A request that names another host is refused: a page elsewhere could have
    led the browser here. Raises TilesimError where the port cannot be had.
    """

    daemon_threads = True

    def __init__(self, make: Callable[[str, int | None], str], files: Sequence[str], port: int = 0) -> None:
        self.make, self.files = make, [Path(file) for file in files]
        self.kept: tuple[str, int | None, str] = ("", None, "")
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
        """The page of the files as they are now."""
        version = self.version()
        if self.kept[:2] != (version, at):
            self.kept = version, at, self.make(version, at)
        return self.kept[2]


class Answer(BaseHTTPRequestHandler):
    """Answers one request, and logs none."""

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


def _stamp(file: Path) -> tuple[int, int, int] | None:
    """What changes with a file; None where there is none, as while it is being replaced."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
