"""CSV: facts in lines that begin with #, a header, then a row per span with every field of it.

Times are ns from the trace's zero. What is read may come from anywhere: the columns of `tilesim.formats.rows`
in any order, separated by commas, semicolons or tabs, below lines that may hold facts, as in `# m=4096
schedule="warp specialised"`, where lists and objects are JSON. What tilesim writes has them all.
"""

import csv
import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from tilesim.errors import TraceError, shown, unknown
from tilesim.formats import check_table
from tilesim.formats.reading import AS_IT_IS, FACTS, Reading
from tilesim.formats.rows import COLUMNS, Rows, integers
from tilesim.spans.columns import SPAN
from tilesim.storage.files import decoder
from tilesim.text import plural
from tilesim.traces import Trace

DELIMITERS = ",;\t"
FACT = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*")
WORD = re.compile(r"[^\s,;=\"]+")
ITEM = "item"
"""The column that holds names, of work items."""
CHUNK = 2**12
"""Rows that are text at a time: a cell's is larger than its number."""


def document(trace: Trace) -> Iterator[bytes]:
    yield "".join(f"# {' '.join(line)}\n" for line in _described(trace)).encode()
    yield f"{','.join(SPAN.names or ())}\n".encode()
    template = ",".join(["%d"] * len(SPAN.names or ())) + "\n"
    for begin in range(0, len(trace.spans), CHUNK):
        yield "".join([template % row for row in trace.spans[begin : begin + CHUNK].tolist()]).encode()


def _described(trace: Trace) -> Iterator[list[str]]:
    problem, device = trace.problem, trace.device
    yield [_fact(name, value) for name, value in problem.as_json().items()]
    named = [_fact("device", device.name)] if device.name else []
    if entry := device.own_entry:
        yield [_fact("device_file", dict(entry))]
    counts = [_fact(name, getattr(device, name)) for name in ("sms", "ctas_per_sm", "busy_sms")]
    yield [*named, *counts, _fact("sm_order", device.sm_order)]
    yield [_fact(name, getattr(trace, name)) for name in ("schedule", "origin", "tick_ns")]
    yield [_fact("meta", dict(trace.meta))]


def _fact(name: str, value: object) -> str:
    return f"{name}={json.dumps(value)}"


def parse(text: str, reading: Reading = AS_IT_IS) -> Rows:
    """The rows and facts in the text of a file; raises TraceError, naming the line that is at fault."""
    check_table(text, DELIMITERS)
    lines = text.splitlines()
    numbers = np.array([number for number, line in enumerate(lines, 1) if line.strip()], np.int64)
    known: dict[str, Any] = {}
    head = 0
    while head < len(numbers) and lines[numbers[head] - 1].lstrip().startswith("#"):
        number = int(numbers[head])
        known |= _facts(number, lines[number - 1].lstrip().lstrip("#"))
        head += 1
    if head == len(numbers):
        raise TraceError("it has no header; its columns must be named: tile, sm, start, end")
    first, numbers = int(numbers[head]), numbers[head + 1 :]
    delimiter = max(DELIMITERS, key=lines[first - 1].count)
    called = _cells(lines[first - 1 : first], delimiter)[0]
    names = reading.renamed(called)
    for name in (*COLUMNS, ITEM):
        if names.count(name) > 1:
            raise TraceError(f"line {first}: the column {name} is there {names.count(name)} times")
    parts = [
        _columns(lines, numbers[begin : begin + CHUNK], names, delimiter)
        for begin in range(0, max(1, len(numbers)), CHUNK)
    ]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    items = tuple(columns.pop(ITEM).tolist()) if ITEM in columns else ()
    known |= {"items": True} if items and "tile" not in columns else {}
    return Rows(known, columns, numbers, "line", items, tuple(called))


def _columns(
    lines: list[str], numbers: np.ndarray, names: list[str], delimiter: str
) -> dict[str, np.ndarray]:
    """The columns that count of some lines, by name."""
    cells = _cells([lines[number - 1] for number in numbers.tolist()], delimiter)
    for row in np.flatnonzero(np.array([len(row) for row in cells]) != len(names)):
        count = plural(len(cells[row]), "cell")
        raise TraceError(f"line {numbers[row]} has {count}; the header has {len(names)}")
    given = dict(zip(names, zip(*cells, strict=True) if cells else [()] * len(names), strict=True))
    found = {
        name: integers(name, column, int, lambda row: f"line {numbers[row]}")
        for name, column in given.items()
        if name in COLUMNS
    }
    return found | ({ITEM: np.array([text.strip() for text in given[ITEM]], object)} if ITEM in given else {})


def _cells(lines: list[str], delimiter: str) -> list[list[str]]:
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
        while text[at : at + 1] in tuple(" ,;\t"):
            at += 1
    if found and at < len(text):
        raise TraceError(f"line {number}: {shown(text[at : at + 99].strip())} is no fact such as m=4096")
    return found


def _value(number: int, text: str, at: int) -> tuple[Any, int]:
    """(the value that begins at `at`, where it ends): JSON, a whole number, or a word."""
    try:
        if text[at : at + 1] in tuple('"[{'):
            return decoder().raw_decode(text, at)
        word = WORD.match(text, at)
        if word:
            return int(word[0]) if re.fullmatch(r"-?[0-9]+", word[0]) else word[0], word.end()
    except (ValueError, RecursionError):
        pass
    raise TraceError(f"line {number}: {shown(text[at : at + 99])} is no value of a fact")
