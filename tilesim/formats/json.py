"""JSON: the header of the native file and, under "spans", an object per span."""

import json
from os import PathLike
from typing import Any

from tilesim.formats import _atomic
from tilesim.formats.npz import header
from tilesim.traces import SPAN, Trace


def document(trace: Trace) -> dict[str, Any]:
    """`trace` as JSON values; times are ns from its zero."""
    names = SPAN.names or ()
    return header(trace) | {"spans": [dict(zip(names, row, strict=True)) for row in trace.spans.tolist()]}


def save(trace: Trace, path: str | PathLike[str]) -> None:
    """Write `trace`; raises TilesimError where `path` cannot be written."""
    _atomic.write(path, lambda file: file.write(json.dumps(document(trace)).encode()))
