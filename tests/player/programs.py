"""Where the tests of the player find Node and Chromium, and traces to show."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

import tilesim
from tilesim import Costs, Device, Problem, Trace, simulate

PLAYER = Path(tilesim.__file__).parent / "player"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_node = pytest.mark.skipif(not shutil.which("node"), reason="needs Node")
WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 360, "height": 740}
# Chromium's sandbox refuses to run for root.
ARGUMENTS = ["--no-sandbox"] if os.name == "posix" and os.geteuid() == 0 else []
TALK = """
from manim import *

class Talk(Scene):
    def construct(self):
        square = Square()
        self.next_section("A <b>square</b>")
        self.play(Create(square), run_time=0.6)
        self.next_section("turns")
        self.play(square.animate.rotate(0.8), run_time=0.8)
"""
"""A scene in two sections, of which slides are made."""


class Quiet(SimpleHTTPRequestHandler):
    """Gives files by the types that a browser wants, whatever this machine calls them, and says nothing."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".mjs": "text/javascript",
        ".js": "text/javascript",
        ".wasm": "application/wasm",
    }

    def log_message(self, *words: object) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a server that gives the files of a folder to this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def opening(browser: Any, *allowed: str) -> Iterator[Callable]:
    """Opens addresses, each in a context of its own; at the end no page has said or asked anything.

    It may ask for what begins with one of `allowed`. What a test expects it takes from `faults`.
    """
    contexts, faults = [], []

    def visit(address: str, viewport: dict = WIDE, **options: object) -> Any:
        contexts.append(browser.new_context(viewport=viewport, **options))
        page = contexts[-1].new_page()
        page.on("console", lambda message: message.type == "error" and faults.append(message.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("dialog", lambda dialog: (faults.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: request.url.startswith(allowed) or faults.append(request.url))
        page.goto(address)
        return page

    visit.faults = faults
    yield visit
    for context in contexts:
        context.close()
    assert faults == []


def in_node(script: str, given: object) -> object:
    """What `script` returns, with the player's functions as `player` and `given` as it is."""
    lines = [
        "const { readFileSync } = require('fs');",
        f"(0, eval)(readFileSync({json.dumps(str(PLAYER / 'player.js'))}, 'utf8'));",
        "const player = globalThis.tilesim, given = JSON.parse(readFileSync(0, 'utf8'));",
        f"console.log(JSON.stringify((() => {{ {script} }})()));",
    ]
    done = subprocess.run(
        ["node", "-e", "\n".join(lines)], input=json.dumps(given), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def data_in(page: str) -> dict:
    """The data that a page carries."""
    return json.loads(
        page.partition('<script type="application/json" id="data">')[2].partition("</script>")[0]
    )


def race(sms: int = 4) -> list[Trace]:
    problem = Problem(384, 1536, 512)
    return [simulate(schedule, problem, Device.named("h200", sms)) for schedule in ("naive", "persistent")]


def split() -> Trace:
    """A run whose tiles are in several segments, which wait for one another."""
    costs = Costs(1000, launch=200, prologue=300, tile_gap=100, epilogue=500, fixup=150)
    return simulate("stream-k", Problem(384, 384, 512), Device(4), costs)


def measured(simulated: Trace, meta: dict | None = None) -> Trace:
    """The same run as if it had been recorded, every main loop a tenth longer."""
    spans = simulated.spans.copy()
    for name in ("issue", "start", "drain", "ready", "fixup", "done"):
        spans[name] = np.rint(spans[name] * 1.1).astype(np.int64)
    return Trace(simulated.problem, simulated.device, simulated.schedule, spans, "measured", 1, meta or {})
