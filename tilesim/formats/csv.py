"""CSV: a header, then a row per span with every field of it; times are ns from the trace's zero.

What is read may come from anywhere: the columns of `tilesim.formats.rows` in any order, separated by commas,
semicolons or tabs. Lines above the header that begin with # may hold facts, as in

    # m=4096 n=4096 k=512 tile=128x256x64 dtype=bf16
    # device=h200 schedule="warp specialised"

where a value with blanks is quoted, and lists and objects are JSON. tilesim writes no such lines, because
spreadsheets and data frames take the first line for the header: JSON is the form that carries everything.
"""

import csv
import json
import re
from io import TextIOWrapper
from os import PathLike
from typing import Any, BinaryIO

import numpy as np

from tilesim import files
from tilesim.errors import TraceError, shown, unknown
from tilesim.formats.facts import FACTS
from tilesim.formats.rows import COLUMNS, Rows, integers
from tilesim.spans import SPAN
from tilesim.text import plural
from tilesim.traces import Trace

DELIMITERS = ",;\t"
FACT = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*")
WORD = re.compile(r"[^\s,;=\"]+")


def save(trace: Trace, path: str | PathLike[str]) -> None:
    """Write `trace`; raises TilesimError where `path` cannot be written."""

    def fill(file: BinaryIO) -> None:
        text = TextIOWrapper(file, "utf-8", newline="")
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(SPAN.names or ())
        rows.writerows(trace.spans.tolist())
        text.flush()
        text.detach()

    files.write(path, fill)


def parse(text: str) -> Rows:
    """The rows and facts in the text of a file; raises TraceError, naming the line that is at fault."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    known: dict[str, Any] = {}
    while lines and lines[0][1].lstrip().startswith("#"):
        number, line = lines.pop(0)
        known |= _facts(number, line.lstrip().lstrip("#"))
    if not lines:
        raise TraceError("it has no header; its columns must be named: tile, sm, start, end")
    (first, header), *body = lines
    delimiter = max(DELIMITERS, key=header.count)
    names = [name.strip().lower() for name in _cells([header], delimiter)[0]]
    for name in COLUMNS:
        if names.count(name) > 1:
            raise TraceError(f"line {first}: the column {name} is there {names.count(name)} times")
    cells = _cells([line for _, line in body], delimiter)
    numbers = np.array([number for number, _ in body], np.int64)
    for row in np.flatnonzero(np.array([len(row) for row in cells]) != len(names))[:1]:
        found = plural(len(cells[row]), "cell")
        raise TraceError(f"line {numbers[row]} has {found}; the header has {len(names)}")
    columns = {
        name: integers(name, column, int, lambda row: f"line {numbers[row]}")
        for name, column in zip(names, zip(*cells, strict=True) if cells else [()] * len(names), strict=True)
        if name in COLUMNS
    }
    return Rows(known, columns, numbers, "line")


def _cells(lines: list[str], delimiter: str) -> list[list[str]]:
    """Each line's cells."""
    try:
        rows = list(csv.reader(lines, delimiter=delimiter))
    except csv.Error as error:
        raise TraceError(f"this is not a table ({error})") from None
    if len(rows) != len(lines):
        raise TraceError("this is not a table: a quote is opened and never closed")
    return rows


def _facts(number: int, text: str) -> dict[str, Any]:
    """The facts in a line; none where it does not begin with one, because then it is a remark."""
    found: dict[str, Any] = {}
    at = 0
    while match := FACT.match(text, at):
        name, at = match[1].lower(), match.end()
        if name not in FACTS:
            raise TraceError(f"line {number}: {unknown('fact', name, FACTS)}")
        found[name], at = _value(number, text, at)
        at += len(text[at:]) - len(text[at:].lstrip(" ,;\t"))
    if found and text[at:].strip():
        raise TraceError(f"line {number}: {shown(text[at:].strip())} is no fact such as m=4096")
    return found


def _value(number: int, text: str, at: int) -> tuple[Any, int]:
    """(the value that begins at `at`, where it ends): JSON, a whole number, or a word."""
    try:
        if text[at : at + 1] in tuple('"[{'):
            return json.JSONDecoder().raw_decode(text, at)
        word = WORD.match(text, at)
        if word:
            return int(word[0]) if re.fullmatch(r"-?[0-9]+", word[0]) else word[0], word.end()
    except (ValueError, RecursionError):
        pass
    raise TraceError(f"line {number}: {shown(text[at:])} is no value of a fact")
