"""Read a trace from an .npz, CSV, JSON, IKET's JSON, Chrome trace JSON or Perfetto's protobuf, by content.

A file may come from anybody. How much is read and inflated is bounded, see `tilesim.formats`; nothing
in it is executed; and what is wrong with it is one sentence.
"""

import codecs
import gzip
import zlib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any

from tilesim.errors import TilesimError, TraceError
from tilesim.formats import MOST_TEXT, check_json, csv, json
from tilesim.formats.profilers import chrome, iket, track_events
from tilesim.formats.reading import AS_IT_IS, NAMES, WAYS, Reading
from tilesim.formats.rows import Rows, make
from tilesim.storage import files
from tilesim.traces import Trace

GZIP, ZIP = b"\x1f\x8b", b"PK"
ENCODINGS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def read(path: str | PathLike[str], given: Mapping[str, Any] | None = None) -> Trace:
    """The trace in `path`; `given` are facts that count over the file's own, and how it is read: see
    `tilesim.formats.reading`. An .npz is complete and takes none; others may be compressed by gzip.

    Raises TraceError, in a sentence that starts with the path, where the file makes no trace.
    """
    given = given or {}
    native = str(path).lower().endswith(".npz")
    data = b"" if native else _content(path)
    if native or data.startswith(ZIP):
        if given:
            raise TraceError(f"{path}: a trace in .npz says everything; leave out {' and '.join(given)}")
        return Trace.load(path, BytesIO(data) if data else None)
    try:
        reading = Reading.of(given)
        facts = {name: value for name, value in given.items() if name not in NAMES}
        return make(_rows(data, reading), facts, _label(path), _tiles(reading.tile_from))
    except TilesimError as error:
        raise TraceError(f"{path}: {error}") from None
    except RecursionError:
        raise TraceError(f"{path}: this is nested too deeply for a trace") from None


def read_several(paths: Sequence[str | PathLike[str]], given: Mapping[str, Any] | None = None) -> list[Trace]:
    """The traces in `paths`; beside files of others, an .npz needs nothing that is `given`."""
    whole = [str(path).lower().endswith(".npz") for path in paths]
    return [
        read(path, {} if own and not all(whole) else given) for path, own in zip(paths, whole, strict=True)
    ]


def _label(path: str | PathLike[str]) -> str:
    stem = Path(path).name.partition(".")[0]
    return "".join(character for character in stem if character.isprintable()) or "kernel"


def _content(path: str | PathLike[str]) -> bytes:
    data = files.read_bytes(path, MOST_TEXT, TraceError)
    if not data.startswith(GZIP):
        return data
    try:
        with gzip.open(BytesIO(data)) as inflated:
            data = files.at_most(inflated.read, MOST_TEXT + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise TraceError(f"{path}: this is not a complete gzip file") from None
    if len(data) > MOST_TEXT:
        raise TraceError(f"{path}: this inflates to more than the {files.size(MOST_TEXT)} that are read")
    return data


def _text(data: bytes) -> str:
    """UTF-8, or UTF-16 where the file begins by saying so: Windows writes what is piped to a file as that."""
    encoding = next((name for mark, name in ENCODINGS.items() if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise TraceError(f"this is neither a trace in .npz nor text (see byte {error.start})") from None
    if not text.strip():
        raise TraceError("the file is empty")
    return text


def _rows(data: bytes, reading: Reading) -> Rows:
    if track_events.is_trace(data):
        own = track_events.own(data)
        return json.parse(_values(_text(own)), reading) if own else track_events.parse(data, reading)
    text = _text(data)
    if text.lstrip()[0] not in "{[":
        return csv.parse(text, reading)
    values = _values(text)
    if iket.is_iket(values):
        return iket.parse(values, reading)
    if not chrome.is_chrome(values):
        return json.parse(values, reading)
    embedded = chrome.own(values)
    if embedded:
        return json.parse(embedded, reading)
    # A double is too short for µs since 1970 with their nanoseconds.
    return chrome.parse(files.parse(text, TraceError, parse_float=Decimal), reading)


def _values(text: str) -> Any:
    check_json(text)
    return files.parse(text, TraceError)


def _tiles(source: str) -> str | Mapping[str, Any]:
    """What `reading.tiles_of_rows` takes: a way by its name, or the columns of the table in a file."""
    if source in ("", *WAYS):
        return source
    try:
        return _rows(_content(source), AS_IT_IS).columns
    except TilesimError as error:
        raise TraceError(f"no tiles from {source}: {str(error).removeprefix(f'{source}: ')}") from None
