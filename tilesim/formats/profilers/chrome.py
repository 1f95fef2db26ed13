"""Chrome trace event JSON from other tools, read as slices (see `tilesim.formats.profilers.slices`).

A slice is a complete event ("ph": "X") or a pair ("B" and "E" on one thread); `ts` and `dur` are in µs.
Processes and threads are named by metadata events, or by their ids if these are strings, as in Triton's
Proton: process "matmul Core5 CTA3" is thread block 3 of the kernel matmul on SM 5, and the line number in
thread "warp 0 (line 1)" only separates slices. Format: see `tilesim.formats.perfetto`.
"""

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

from tilesim.errors import TraceError, shown
from tilesim.formats.profilers import slices
from tilesim.formats.profilers.slices import Slice
from tilesim.formats.reading import AS_IT_IS, Reading
from tilesim.formats.rows import Rows
from tilesim.storage.trace_file import FORMAT

PROTON = re.compile(r"(.+) Core([0-9]+) CTA([0-9]+)")
LINE = re.compile(r" \(line [0-9]+\)")
MAX_US = 2**63 // 1000
Event = dict[str, Any]
Track = tuple[str, str]


def is_chrome(values: object) -> bool:
    """Whether parsed JSON is in this format, as an object or a bare list of events."""
    if isinstance(values, list):
        return any(isinstance(event, dict) and "ph" in event for event in values[:1])
    return isinstance(values, dict) and "traceEvents" in values


def own(values: Any) -> Any:
    """The tilesim run in a file, JSON for `tilesim.formats.json`, or None; TraceError if it has several."""
    about = values.get("otherData") if isinstance(values, dict) else None
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        return None
    if "runs" in about:
        raise TraceError("this file holds several runs for a viewer; read each from its own file")
    return about if "spans" in about else None


def parse(values: Any, reading: Reading = AS_IT_IS) -> Rows:
    """The rows of parsed JSON with Decimal fractions; raises TraceError that names the event at fault."""
    events = values["traceEvents"] if isinstance(values, dict) else values
    if not isinstance(events, list):
        raise TraceError(f"traceEvents is {shown(events)}; it must be a list")
    for number, event in enumerate(events, 1):
        if not isinstance(event, dict):
            raise TraceError(f"event {number} is {shown(event)}; it must be an object")
    return slices.rows(_slices(events, _names(events)), reading)


def _slices(events: list[Event], names: dict[Track, str]) -> Iterator[Slice]:
    """The slices of all events; an unmatched B or E is skipped."""
    opened: dict[Track, list[tuple[int, Event]]] = {}
    for number, event in enumerate(events, 1):
        track, phase = (str(event.get("pid")), str(event.get("tid"))), event.get("ph")
        if phase == "B":
            opened.setdefault(track, []).append((number, event))
        elif phase == "X":
            begin = _us(number, event, "ts")
            yield _slice(number, event, {}, begin, begin + _us(number, event, "dur"), names)
        elif phase == "E" and opened.get(track):
            first, begun = opened[track].pop()
            yield _slice(first, begun, event, _us(first, begun, "ts"), _us(number, event, "ts"), names)


def _slice(number: int, event: Event, closing: Event, begin: Any, end: Any, names: dict[Track, str]) -> Slice:
    args: dict[str, Any] = {}
    for part in (event, closing):
        if isinstance(part.get("args"), dict):
            args |= part["args"]
    pid, tid = str(event.get("pid")), str(event.get("tid"))
    # A numeric id is not a name, so it must not be taken for an SM or a block.
    process = names.get((pid, ""), pid if isinstance(event.get("pid"), str) else "")
    thread = names.get((pid, tid), tid if isinstance(event.get("tid"), str) else "")
    proton = PROTON.fullmatch(process)
    thread = LINE.sub("", thread) if proton else thread
    return Slice(
        number,
        str(event.get("name", "")),
        f"Core{proton[2]} CTA{proton[3]}" if proton else process,
        thread,
        round(begin * 1000),
        round(end * 1000),
        args,
        "" if proton else str(event.get("cat", "")),
        proton[1] if proton else "",
        (pid, thread if proton else tid),
    )


def _us(number: int, event: Event, name: str) -> int | Decimal:
    value = event.get(name)
    if isinstance(value, bool) or not isinstance(value, int | Decimal) or not -MAX_US < value < MAX_US:
        raise TraceError(f"event {number}: {name} is {shown(value)}; it must be a number of µs")
    return value


def _names(events: Iterable[Event]) -> dict[Track, str]:
    """Names of threads by (process, thread), and of processes by (process, "")."""
    named = {}
    for event in events:
        args, what = event.get("args"), event.get("name")
        if event.get("ph") == "M" and isinstance(args, dict) and what in ("process_name", "thread_name"):
            thread = str(event.get("tid")) if what == "thread_name" else ""
            named[str(event.get("pid")), thread] = str(args.get("name"))
    return named
