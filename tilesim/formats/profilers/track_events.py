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
from tilesim.formats import pftrace
from tilesim.formats.pftrace import Value, fields, message, signed, text
from tilesim.formats.profilers import slices
from tilesim.formats.profilers.slices import Slice
from tilesim.formats.reading import AS_IT_IS, Reading
from tilesim.formats.rows import Rows

INTERNED, COMPRESSED, DEFAULTS = 12, 50, 59
EVENT_NAMES, ARGUMENT_NAMES = 2, 3
FIRST_PACKETS = 3
"""Among which a run of tilesim's own is."""
EVENT_TYPE, EVENT_TRACK, EVENT_NAME, EVENT_NAME_ID, EVENT_CATEGORY, ANNOTATION = 9, 11, 23, 10, 22, 4
MOST_PACKETS = 2**22
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
NO_TRACK = ("", "", "", 0)


@dataclass(slots=True)
class _Packets:
    """The contents of all packets. `tracks`: (name, its process's name, its thread's, number of the parent)
    by number. `events`: (timestamp, number in the file, message, sequence). `interned`: names by their kind,
    sequence and number. `default`: tracks by sequence."""

    tracks: dict[int, tuple[str, str, str, int]] = field(default_factory=dict)
    events: list[tuple[int, int, bytes, int]] = field(default_factory=list)
    interned: dict[tuple[int, int, int], str] = field(default_factory=dict)
    default: dict[int, int] = field(default_factory=dict)


def _parts(value: Value) -> dict[int, Value]:
    """The fields of a message inside another, of repeated ones the last."""
    return dict(fields(message(value)))


def is_trace(data: bytes) -> bool:
    """Whether bytes are such a trace: a packet first, then bytes that no text contains."""
    return data.startswith(b"\n") and CONTROL.search(data[:4096]) is not None


def own(data: bytes) -> bytes:
    """The tilesim run in a file's metadata, as JSON for `tilesim.formats.json`; empty where there is none."""
    for tag, value in islice(fields(data), FIRST_PACKETS):
        bundle = _parts(value).get(pftrace.BUNDLE, b"") if tag == pftrace.PACKET else b""
        said = _parts(_parts(bundle).get(pftrace.METADATA, b""))
        if said.get(pftrace.NAME) == pftrace.OWN.encode():
            return message(said.get(pftrace.JSON_VALUE, b""))
    return b""


def parse(data: bytes, reading: Reading = AS_IT_IS) -> Rows:
    """The rows of a trace's bytes; raises TraceError that names the packet at fault."""
    packets = _Packets()
    for number, (tag, value) in enumerate(fields(data), 1):
        if number > MOST_PACKETS:
            raise TraceError(f"the trace has more than {MOST_PACKETS} packets; at most that many are read")
        if tag == pftrace.PACKET:
            _read(packets, number, message(value))
    return slices.rows(_slices(packets), reading, "packet")


def _read(packets: _Packets, number: int, data: bytes) -> None:
    found = dict(fields(data))
    if COMPRESSED in found:
        raise TraceError(
            f"packet {number} is compressed, which is not supported; write the trace without compression"
        )
    sequence = signed(found.get(pftrace.SEQUENCE, 0))
    if pftrace.DESCRIPTOR in found:
        said = _parts(found[pftrace.DESCRIPTOR])
        process, thread = _parts(said.get(3, b"")).get(6, b""), _parts(said.get(4, b"")).get(5, b"")
        name, parent = said.get(2, said.get(10, b"")), signed(said.get(5, 0))
        packets.tracks[signed(said.get(1, 0))] = text(name), text(process), text(thread), parent
    default = _parts(found.get(DEFAULTS, b"")).get(11)
    if default is not None:
        packets.default[sequence] = signed(_parts(default).get(11, 0))
    for tag, value in fields(message(found.get(INTERNED, b""))):
        if tag in (EVENT_NAMES, ARGUMENT_NAMES):
            entry = _parts(value)
            packets.interned[tag, sequence, signed(entry.get(1, 0))] = text(entry.get(2, b""))
    if pftrace.TRACK_EVENT in found:
        time = signed(found.get(pftrace.TIMESTAMP, 0))
        packets.events.append((time, number, message(found[pftrace.TRACK_EVENT]), sequence))


def _slices(packets: _Packets) -> Iterator[Slice]:
    """The slices of all tracks; an unmatched begin or end is skipped."""
    opened: dict[int, list[tuple[int, int, str, str, dict[str, Any]]]] = defaultdict(list)
    for time, number, data, sequence in sorted(packets.events, key=lambda event: event[:2]):
        said = list(fields(data))
        found = dict(said)
        kind = signed(found.get(EVENT_TYPE, 0))
        uuid = signed(found.get(EVENT_TRACK, packets.default.get(sequence, 0)))
        if kind == pftrace.SLICE_BEGIN:
            interned = packets.interned.get((EVENT_NAMES, sequence, signed(found.get(EVENT_NAME_ID, 0))), "")
            name = text(found[EVENT_NAME]) if EVENT_NAME in found else interned
            args: dict[str, Any] = {}
            for value in (value for tag, value in said if tag == ANNOTATION):
                _annotate(args, packets, sequence, _parts(value))
            opened[uuid].append((time, number, name, text(found.get(EVENT_CATEGORY, b"")), args))
        elif kind == pftrace.SLICE_END and opened[uuid]:
            begin, first, name, category, args = opened[uuid].pop()
            yield Slice(first, name, *_places(packets, uuid), begin, time, args, category, "", uuid)


def _annotate(args: dict[str, Any], packets: _Packets, sequence: int, said: dict[int, Value]) -> None:
    """Add an annotation to `args` if it is a number or a text."""
    interned = packets.interned.get((ARGUMENT_NAMES, sequence, signed(said.get(1, 0))), "")
    key, number = text(said[10]) if 10 in said else interned, said.get(3, said.get(4))
    if key and number is not None:
        args[key] = signed(number)
    elif key and 6 in said:
        args[key] = text(said[6])


def _places(packets: _Packets, uuid: int) -> tuple[str, str]:
    """(name of the track's process, name of the track)."""
    name, process, thread, parent = packets.tracks.get(uuid, NO_TRACK)
    seen = {0, uuid}
    while parent not in seen:
        seen.add(parent)
        its_name, its_process, _, parent = packets.tracks.get(parent, NO_TRACK)
        process = process or its_process or its_name
    return process, name or thread
