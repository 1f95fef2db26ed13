"""A film of a trace: `tilesim export` in a process of its own, as tilesim itself never imports Manim."""

import os
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from tilesim.errors import TilesimError
from tilesim.storage import scratch

SHORT = {"seconds": 10, "size": "720p"}
"""Of a film in a notebook, where nobody asks for another."""


@dataclass(frozen=True, slots=True)
class InlineFilm:
    """A film that a notebook shows and keeps: `data` is its MP4."""

    data: bytes = field(repr=False)

    def _repr_html_(self) -> str:
        """A video that needs no file."""
        source = f"data:video/mp4;base64,{b64encode(self.data).decode()}"
        return f'<video controls muted playsinline style="width:100%;max-width:960px" src="{source}"></video>'


class Saved(Protocol):
    """A Trace, as far as it is looked at here."""

    def save(self, path: str | PathLike[str]) -> None: ...


def export(trace: Saved, path: str | PathLike[str], options: Mapping[str, Any]) -> Path:
    """Write a film of `trace` to `path`, and return that; see `Trace.film`."""
    options = dict(options)
    # The film that shows any trace, as `tilesim export FILE` does.
    scene = str(options.pop("scene", None) or "trace")
    with scratch.folder() as folder:
        shown = folder / "trace.npz"
        trace.save(shown)
        words = [scene, "--trace", str(shown), "-o", os.fspath(path), *_words(options)]
        # What this process can import, that one can.
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        command = [sys.executable, "-m", "tilesim", "export", *words]
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment, check=False
        )
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
        raise TilesimError(
            said[-1].removeprefix("error: ") if said else f"the film failed with exit code {done.returncode}"
        )
    return Path(path)


def inline(trace: Saved, options: Mapping[str, Any]) -> InlineFilm:
    """A film of `trace` for a notebook, short unless `options` say otherwise."""
    with scratch.folder() as folder:
        return InlineFilm(export(trace, folder / "film.mp4", {**SHORT, **options}).read_bytes())


def _words(options: Mapping[str, Any]) -> Iterator[str]:
    """Options as the command line has them.

    >>> list(_words({"size": "720p", "from_": 2.5, "finding": True, "jobs": None}))
    ['--size', '720p', '--from', '2.5', '--finding']
    """
    for name, value in options.items():
        option = f"--{name.rstrip('_').replace('_', '-')}"
        if value is True:
            yield option
        elif value is not None and value is not False:
            yield from (option, str(value))
