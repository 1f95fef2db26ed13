"""A film of a trace, as `tilesim export` makes it of a file that holds the trace."""

import os
import threading
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from tilesim.cli.exports import ExportRequest, asked_for, make, planned
from tilesim.cli.jobs import workers_of
from tilesim.parallel import cores
from tilesim.storage import scratch
from tilesim.storage.files import check_outputs
from tilesim.traces import Trace

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


def export(trace: Trace, path: str | PathLike[str], options: Mapping[str, Any]) -> Path:
    """Write a film of `trace` to `path`, and return that; see `Trace.film`."""
    # The film that shows any trace, as `tilesim export FILE` does.
    asked = {"scene": "run", **asked_for(options), "trace": [trace], "output": os.fspath(path)}
    # A process with threads, such as a notebook's, must not be forked: it draws alone.
    jobs = asked.pop("jobs", None) or (cores() if threading.active_count() == 1 else 1)
    with workers_of(asked.pop("cluster", None)) as workers:
        request = ExportRequest.of(asked)
        check_outputs(request.outputs)
        make(planned(request), jobs, workers=workers)
    return Path(path)


def inline(trace: Trace, options: Mapping[str, Any]) -> InlineFilm:
    """A film of `trace` for a notebook, short unless `options` say otherwise."""
    with scratch.folder() as folder:
        return InlineFilm(export(trace, folder / "film.mp4", {**SHORT, **options}).read_bytes())
