"""Read a trace from whatever file holds one: npz, JSON, Chrome/Perfetto JSON or CSV, told by its content."""

import codecs
import gzip
import json as json_text
import zlib
from collections.abc import Mapping
from decimal import Decimal
from os import PathLike
from pathlib import Path
from typing import Any

from tilesim.errors import TilesimError, TraceError
from tilesim.formats import chrome, csv, json, npz
from tilesim.formats.rows import Rows, make
from tilesim.traces import Trace

GZIP, ZIP = b"\x1f\x8b", b"PK"
ENCODINGS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def read(path: str | PathLike[str], given: Mapping[str, Any] | None = None) -> Trace:
    """The trace in `path`; `given` are facts (see `tilesim.formats.facts`) that count over the file's own.

    An .npz is complete and takes none. Other files may be compressed by gzip. Raises TraceError, in a
    sentence that starts with the path, where the file cannot be read or makes no trace.
    """
    given = given or {}
    data = b"" if str(path).lower().endswith(".npz") else _content(path)
    if str(path).lower().endswith(".npz") or data.startswith(ZIP):
        if given:
            raise TraceError(f"{path}: a trace in .npz says everything; leave out {' and '.join(given)}")
        return npz.load(path)
    try:
        return make(_rows(_text(data)), given, Path(path).name.partition(".")[0] or "kernel")
    except TilesimError as error:
        raise TraceError(f"{path}: {error}") from None
    except RecursionError:
        raise TraceError(f"{path}: this is nested too deeply for a trace") from None


def _content(path: str | PathLike[str]) -> bytes:
    try:
        data = Path(path).read_bytes()
        return gzip.decompress(data) if data.startswith(GZIP) else data
    except FileNotFoundError:
        raise TraceError(f"{path}: there is no such file") from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise TraceError(f"{path}: this is not a complete gzip file") from None
    except (OSError, ValueError) as error:
        raise TraceError(f"{path}: {getattr(error, 'strerror', None) or error}") from None


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


def _rows(text: str) -> Rows:
    if text.lstrip()[0] not in "{[":
        return csv.parse(text)
    values = _json(text)
    if not chrome.is_chrome(values):
        return json.parse(values)
    # A double is too short for µs since 1970 with their nanoseconds.
    own = chrome.own(values)
    return json.parse(own) if own else chrome.parse(_json(text, parse_float=Decimal))


def _json(text: str, **options: Any) -> Any:
    try:
        return json_text.loads(text, parse_constant=_no_number, **options)
    except json_text.JSONDecodeError as error:
        raise TraceError(f"this is not JSON: {error.msg} in line {error.lineno}") from None
    except (ValueError, ArithmeticError) as error:
        raise TraceError(f"this is not JSON that can be read: {error}") from None


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number")
