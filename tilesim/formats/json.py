"""JSON: the header of the native file and, under "spans", an object per span.

What is read may say less: see `tilesim.formats.rows`. The facts of `tilesim.formats.reading` may be sorted
into "problem" and "device"; a device's "name" is the fact `device`. A list alone is spans without facts.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import numpy as np

from tilesim.errors import TraceError, shown
from tilesim.formats.reading import AS_IT_IS, DEVICE, FACTS, PROBLEM, Reading
from tilesim.formats.rows import COLUMNS, Rows, integers
from tilesim.spans.columns import FIELDS
from tilesim.storage.decode import decode, one_of
from tilesim.storage.trace_file import FORMAT, VERSION
from tilesim.traces import Trace, header

SPAN_TEXT = "{" + ", ".join(f'"{name}": %d' for name in FIELDS) + "}"
CHUNK = 2**12
"""Segments that are made text at a time."""
OfProblem = dict[Annotated[str, one_of(PROBLEM)], Any]
OfDevice = dict[Annotated[str, one_of(("name", *DEVICE))], Any]


def document(trace: Trace, **more: Any) -> Iterator[bytes]:
    """`trace` as JSON, piece by piece; times are ns from its zero. `more` are values beside the header's."""
    yield json.dumps(header(trace) | more)[:-1].encode() + b', "spans": ['
    for begin in range(0, len(trace.spans), CHUNK):
        rows = trace.spans[begin : begin + CHUNK].tolist()
        text = ", ".join([SPAN_TEXT % row for row in rows])
        yield (", " * (begin > 0) + text).encode()
    yield b"]}"


def parse(values: object, reading: Reading = AS_IT_IS) -> Rows:
    """The rows and facts of parsed JSON; raises TraceError, naming the row, where they make no sense."""
    if isinstance(values, list):
        values = {"spans": values}
    if not isinstance(values, Mapping) or not isinstance(values.get("spans"), list):
        raise TraceError('there is no trace in it: neither a list "spans" nor one of "traceEvents"')
    spans = values["spans"]
    for row, span in enumerate(spans):
        if not isinstance(span, dict):
            raise TraceError(f"row {row + 1} of spans is {shown(span)}; it must be an object")
    called = list(dict.fromkeys(name for span in spans for name in span))
    theirs = dict(zip(reading.renamed(called), called, strict=True))
    columns = {
        name: integers(
            name, [span.get(theirs[name]) for span in spans], lambda row: f"row {row + 1} of spans"
        )
        for name in COLUMNS
        if name in theirs
    }
    known = facts(values)
    items = tuple(str(span.get(theirs["item"])) for span in spans) if "item" in theirs else ()
    known |= {"items": True} if items and "tile" not in columns else {}
    return Rows(known, columns, np.arange(1, len(spans) + 1), "row", items, tuple(called))


def facts(values: Mapping[str, Any]) -> dict[str, Any]:
    """The facts among parsed JSON, whether sorted into problem and device or not."""
    if values.get("format") == FORMAT and values.get("version") != VERSION:
        version = shown(values.get("version"))
        raise TraceError(f"the file has format version {version}; this tilesim reads version {VERSION}")
    found = {name: values[name] for name in FACTS if name in values}
    device = found.pop("device", {})
    found |= decode(OfProblem, values.get("problem", {}), "problem", TraceError)
    found |= {"name": device} if isinstance(device, str) else decode(OfDevice, device, "device", TraceError)
    return found | ({"device": found.pop("name")} if "name" in found else {})
