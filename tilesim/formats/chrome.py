"""Chrome/Perfetto trace event JSON as others write it: slices that name a tile, on tracks that name an SM.

A slice is a complete event ("ph": "X") or a pair ("B" and "E" on one thread). It counts where

- its args hold `tile`, a number, or its name does: "tile 17", "tile_17", "tile #17";
- its args hold `sm` or `smid`, or the name of its thread, or else of its process, does: "SM 5", "sm_5".

Other slices are left alone, and so are those called launch, prologue, hand-over, wait or fix-up by their name
or category.
A slice called epilogue belongs to the other slice of its tile on its SM, beside it or inside it: from its
begin on, the tile is written. cta, k0, k1 and cycles are taken from args that hold them in every slice.

`ts` and `dur` are µs. tilesim's own files carry their spans under otherData, where `own` finds them.
Format: "Trace Event Format", Google, docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from tilesim.errors import TraceError, shown
from tilesim.formats.rows import Rows, integers
from tilesim.storage.trace_file import FORMAT

TILE = re.compile(r"(?<![a-z])tile[ _#:=]*([0-9]{1,18})\b(?!\s*[,x.]\s*[0-9])", re.IGNORECASE)
SM = re.compile(r"(?<![a-z])sm[ _#:=]*([0-9]{1,18})\b", re.IGNORECASE)
EPILOGUE = re.compile(r"\bepilogue\b", re.IGNORECASE)
NO_SEGMENT = re.compile(r"\b(launch|prologue|hand-?over|wait|fix-?up)\b", re.IGNORECASE)
FROM_ARGS = ("cta", "k0", "k1", "cycles")
MAX_US = 2**63 // 1000


@dataclass(frozen=True, slots=True)
class Slice:
    """The event of that number, its times in ns, and the track that it is on."""

    number: int
    name: str
    args: Mapping[str, Any]
    track: tuple[str, str]
    begin: int
    end: int


def is_chrome(values: object) -> bool:
    """Whether parsed JSON is of this format, as an object or as a bare list of events."""
    if isinstance(values, list):
        return any(isinstance(event, dict) and "ph" in event for event in values[:1])
    return isinstance(values, dict) and "traceEvents" in values


def own(values: Any) -> Any:
    """What a file that tilesim wrote holds beside its slices: JSON for `tilesim.formats.json`; else None."""
    about = values.get("otherData") if isinstance(values, dict) else None
    return about if isinstance(about, dict) and about.get("format") == FORMAT and "spans" in about else None


def parse(values: Any) -> Rows:
    """The rows of parsed JSON whose fractions are Decimal; raises TraceError, naming the event at fault."""
    events = values["traceEvents"] if isinstance(values, dict) else values
    if not isinstance(events, list):
        raise TraceError(f"traceEvents is {shown(events)}; it must be a list")
    for number, event in enumerate(events, 1):
        if not isinstance(event, dict):
            raise TraceError(f"event {number} is {shown(event)}; it must be an object")
    slices = list(_slices(events))
    tiles = [(each, tile) for each in slices if (tile := _tile(each)) is not None]
    if not tiles:
        raise TraceError(
            f"none of its {len(slices)} slices says its tile, by a name such as 'tile 17' or by tile in args"
        )
    return _rows(tiles, _tracks(events))


def _rows(tiles: list[tuple[Slice, int]], tracks: Mapping[tuple[str, str], str]) -> Rows:
    segments: list[Slice] = []
    columns: dict[str, list[Any]] = {name: [] for name in ("tile", "sm", "start", "drain", "end")}
    epilogues = []
    owner: dict[tuple[int, int, object], int] = {}
    for each, tile in tiles:
        if NO_SEGMENT.search(each.name):
            continue
        sm = _sm(each, tracks)
        if EPILOGUE.search(each.name):
            epilogues.append((each, tile, sm))
            continue
        owner.setdefault((tile, sm, str(each.args.get("k0"))), len(segments))
        segments.append(each)
        for name, value in zip(columns, (tile, sm, each.begin, each.end, each.end), strict=True):
            columns[name].append(value)
    for each, tile, sm in epilogues:
        row = owner.get((tile, sm, str(each.args.get("k0"))))
        if row is None:
            raise TraceError(
                f"event {each.number} is an epilogue of tile {tile} on SM {sm}, and has no other slice"
            )
        columns["drain"][row] = each.begin
        columns["end"][row] = max(columns["end"][row], each.end)
    for name in FROM_ARGS:
        if all(type(each.args.get(name)) is int for each in segments):
            columns[name] = [each.args[name] for each in segments]
    lines = np.array([each.number for each in segments], np.int64)
    arrays = {
        name: integers(name, column, int, lambda row: f"event {lines[row]}")
        for name, column in columns.items()
    }
    return Rows({}, arrays, lines, "event")


def _slices(events: list[dict[str, Any]]) -> Iterator[Slice]:
    """The slices of all events; a B that is never closed, and an E that closes nothing, are left out."""
    opened: dict[tuple[str, str], list[tuple[int, dict[str, Any]]]] = {}
    for number, event in enumerate(events, 1):
        track, phase = (str(event.get("pid")), str(event.get("tid"))), event.get("ph")
        if phase == "B":
            opened.setdefault(track, []).append((number, event))
        elif phase == "X":
            begin = _us(number, event, "ts")
            yield _slice(number, event, {}, track, begin, begin + _us(number, event, "dur"))
        elif phase == "E" and opened.get(track):
            first, begun = opened[track].pop()
            yield _slice(first, begun, event, track, _us(first, begun, "ts"), _us(number, event, "ts"))


def _slice(
    number: int, event: dict[str, Any], closing: dict[str, Any], track: tuple[str, str], begin: Any, end: Any
) -> Slice:
    args: dict[str, Any] = {}
    for part in (event, closing):
        if isinstance(part.get("args"), dict):
            args |= part["args"]
    name = f"{event.get('name', '')} {event.get('cat', '')}"
    return Slice(number, name, args, track, round(begin * 1000), round(end * 1000))


def _us(number: int, event: dict[str, Any], name: str) -> int | Decimal:
    value = event.get(name)
    if isinstance(value, bool) or not isinstance(value, int | Decimal) or not -MAX_US < value < MAX_US:
        raise TraceError(f"event {number}: {name} is {shown(value)}; it must be a number of µs")
    return value


def _tracks(events: Iterable[dict[str, Any]]) -> dict[tuple[str, str], str]:
    """What threads are called, by process and thread, and processes, by process and ""."""
    named = {}
    for event in events:
        args = event.get("args")
        if event.get("ph") == "M" and isinstance(args, dict):
            if event.get("name") == "process_name":
                named[str(event.get("pid")), ""] = str(args.get("name"))
            elif event.get("name") == "thread_name":
                named[str(event.get("pid")), str(event.get("tid"))] = str(args.get("name"))
    return named


def _tile(each: Slice) -> int | None:
    if type(each.args.get("tile")) is int:
        return each.args["tile"]
    match = TILE.search(each.name)
    return int(match[1]) if match else None


def _sm(each: Slice, tracks: Mapping[tuple[str, str], str]) -> int:
    for name in ("sm", "smid"):
        if type(each.args.get(name)) is int:
            return each.args[name]
    for track in (each.track, (each.track[0], "")):
        match = SM.search(tracks.get(track, ""))
        if match:
            return int(match[1])
    raise TraceError(
        f"event {each.number} ({shown(each.name.strip())}) does not say its SM, by the name of its thread or "
        "process, such as 'SM 5', or by sm in its args"
    )
