"""Perfetto's protobuf traces: track events, read as slices (see `tilesim.formats.profilers.slices`).

A packet describes a track, or begins or ends a slice on one; names and argument names are inline, or interned
per packet sequence. A track's parent, such as the process "SM_005" of FlashInfer's profiler, counts as its
process, its own name, such as "blk3_g0", as its thread. Compressed packets are rejected. Timestamps are ns.
Format: perfetto.dev/docs/reference/trace-packet-proto and synthetic-track-event, as of Perfetto 59.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from tilesim.errors import TraceError
from tilesim.formats.pftrace import fields, message, signed, text
from tilesim.formats.profilers import slices
from tilesim.formats.profilers.slices import Slice
from tilesim.formats.reading import AS_IT_IS, Reading
from tilesim.formats.rows import Rows

PACKET = 1
TIMESTAMP, SEQUENCE, TRACK_EVENT, INTERNED = 8, 10, 11, 12
COMPRESSED, DEFAULTS, DESCRIPTOR = 50, 59, 60
BUNDLE, METADATA, NAME, JSON_VALUE, OWN = 5, 2, 1, 5, b"tilesim"
FIRST_PACKETS = 3
"""Among which a run of tilesim's own is."""
EVENT_TYPE, EVENT_TRACK, EVENT_NAME, EVENT_NAME_ID, EVENT_CATEGORY, ANNOTATION = 9, 11, 23, 10, 22, 4
SLICE_BEGIN, SLICE_END = 1, 2
MOST_PACKETS = 2**22
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
Event = tuple[int, int, bytes, int]
"""Timestamp, number in the file, message, sequence."""


@dataclass(slots=True)
class _Track:
    """A track descriptor: its own name, its process's and thread's names, and its parent."""

    name: str = ""
    process: str = ""
    thread: str = ""
    parent: int = 0


@dataclass(slots=True)
class _Packets:
    """The contents of all packets; `names` and `keys` by sequence and id, `default` tracks by sequence."""

    tracks: dict[int, _Track] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    names: dict[tuple[int, int], str] = field(default_factory=dict)
    keys: dict[tuple[int, int], str] = field(default_factory=dict)
    default: dict[int, int] = field(default_factory=dict)


def is_trace(data: bytes) -> bool:
    """Whether bytes are such a trace: a packet first, then bytes that no text contains."""
    return data.startswith(b"\n") and CONTROL.search(data[:4096]) is not None


def own(data: bytes) -> bytes:
    """The tilesim run in a file's metadata, as JSON for `tilesim.formats.json`; empty where there is none."""
    for tag, value in islice(fields(data), FIRST_PACKETS):
        bundle = dict(fields(message(value))).get(BUNDLE) if tag == PACKET else None
        said = dict(fields(message(dict(fields(message(bundle))).get(METADATA)))) if bundle else {}
        if said.get(NAME) == OWN:
            return message(said.get(JSON_VALUE))
    return b""


def parse(data: bytes, reading: Reading = AS_IT_IS) -> Rows:
    """The rows of a trace's bytes; raises TraceError that names the packet at fault."""
    packets = _Packets()
    for number, (tag, value) in enumerate(fields(data), 1):
        if number > MOST_PACKETS:
            raise TraceError(f"the trace has more than {MOST_PACKETS} packets; at most that many are read")
        if tag == PACKET:
            _read(packets, number, message(value))
    return slices.rows(_slices(packets), reading, "packet")


def _read(packets: _Packets, number: int, data: bytes) -> None:
    found = dict(fields(data))
    if COMPRESSED in found:
        raise TraceError(
            f"packet {number} is compressed, which is not supported; write the trace without compression"
        )
    sequence = signed(found.get(SEQUENCE))
    if DESCRIPTOR in found:
        _describe(packets, message(found[DESCRIPTOR]))
    if DEFAULTS in found:
        for tag, value in fields(message(found[DEFAULTS])):
            if tag == 11:
                packets.default[sequence] = signed(dict(fields(message(value))).get(11))
    if INTERNED in found:
        for tag, value in fields(message(found[INTERNED])):
            if tag in (2, 3):
                entry = dict(fields(message(value)))
                (packets.names if tag == 2 else packets.keys)[sequence, signed(entry.get(1))] = text(
                    entry.get(2)
                )
    if TRACK_EVENT in found:
        packets.events.append((signed(found.get(TIMESTAMP)), number, message(found[TRACK_EVENT]), sequence))


def _describe(packets: _Packets, data: bytes) -> None:
    found = dict(fields(data))
    process, thread = (dict(fields(message(found.get(tag)))) for tag in (3, 4))
    name, parent = found.get(2, found.get(10)), signed(found.get(5))
    track = _Track(text(name), text(process.get(6)), text(thread.get(5)), parent)
    packets.tracks[signed(found.get(1))] = track


def _slices(packets: _Packets) -> Iterator[Slice]:
    """The slices of all tracks; an unmatched begin or end is skipped."""
    opened: dict[int, list[tuple[int, int, str, str, dict[str, Any]]]] = defaultdict(list)
    for time, number, data, sequence in sorted(packets.events, key=lambda event: event[:2]):
        said = list(fields(data))
        found = dict(said)
        kind = signed(found.get(EVENT_TYPE))
        uuid = signed(found.get(EVENT_TRACK, packets.default.get(sequence)))
        if kind == SLICE_BEGIN:
            interned = packets.names.get((sequence, signed(found.get(EVENT_NAME_ID))), "")
            name = text(found[EVENT_NAME]) if EVENT_NAME in found else interned
            args: dict[str, Any] = {}
            for value in (value for tag, value in said if tag == ANNOTATION):
                _annotate(args, packets, sequence, message(value))
            opened[uuid].append((time, number, name, text(found.get(EVENT_CATEGORY)), args))
        elif kind == SLICE_END and opened[uuid]:
            begin, first, name, category, args = opened[uuid].pop()
            yield Slice(first, name, *_places(packets, uuid), begin, time, args, category, "", uuid)


def _annotate(args: dict[str, Any], packets: _Packets, sequence: int, data: bytes) -> None:
    """Add an annotation to `args` if it is a number or a text."""
    found = dict(fields(data))
    interned = packets.keys.get((sequence, signed(found.get(1))), "")
    key, number = text(found[10]) if 10 in found else interned, found.get(3, found.get(4))
    if key and number is not None:
        args[key] = signed(number)
    elif key and 6 in found:
        args[key] = text(found[6])


def _places(packets: _Packets, uuid: int) -> tuple[str, str]:
    """(name of the track's process, name of the track)."""
    track = packets.tracks.get(uuid, _Track())
    thread, process = track.name or track.thread, track.process
    seen = {uuid}
    while track.parent and track.parent not in seen:
        seen.add(track.parent)
        track = packets.tracks.get(track.parent, _Track())
        process = process or track.process or track.name
    return process, thread
