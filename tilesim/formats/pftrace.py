"""Perfetto's own protobuf, .perfetto-trace: what `tilesim.formats.perfetto` shows of runs, in half the bytes.

A packet describes a track or holds an event of one, in order of time; lanes are tracks in their SM's process.
One run is in the file's metadata once more, as plain JSON. Times are ns from the trace's zero. Format:
perfetto.dev/docs/reference/synthetic-track-event, as of Perfetto 59. Fields of a message are written and read
one by one, each a tag, its number and how it is stored, then a varint, 8 or 4 bytes, or a length and as many
bytes (protobuf.dev/programming-guides/encoding).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tilesim.errors import TraceError
from tilesim.formats.json import document as json_document
from tilesim.formats.perfetto import Event, events
from tilesim.traces import Trace
from tilesim.version import __version__

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
Value = int | bytes
PACKET, TIMESTAMP, SEQUENCE, TRACK_EVENT, SEQUENCE_FLAGS, DESCRIPTOR = 1, 8, 10, 11, 13, 60
BUNDLE, METADATA, NAME, JSON_VALUE = 5, 2, 1, 5
OWN = "tilesim"
"""What the metadata is called that holds the run."""
SLICE_BEGIN, SLICE_END, COUNTER = 1, 2, 4
EXPLICIT, STATE_CLEARED = 3, 1
PROCESS = 2**32
"""Tracks of processes are numbered from here, and their counters from twice it; lanes by their threads."""


def document(*traces: Trace) -> Iterator[bytes]:
    named: dict[tuple[int, int], dict[str, Any]] = {}
    counted: dict[int, str] = {}
    times: list[int] = []
    packets: list[bytes] = []
    for event in events(traces):
        if event["ph"] == "M":
            named.setdefault((event["pid"], event["tid"]), {}).update(event["args"])
            continue
        if event["ph"] == "C":
            counted[event["pid"]] = event["name"]
        for time, packet in _packets(event):
            times.append(time)
            packets.append(packet)
    # The first packet says that nothing came before it.
    yield _packet(field(SEQUENCE_FLAGS, STATE_CLEARED))
    if len(traces) == 1:
        whole = b"".join(json_document(traces[0], writer=f"tilesim {__version__}"))
        yield _packet(field(BUNDLE, field(METADATA, field(NAME, OWN) + field(JSON_VALUE, whole))))
    for (pid, tid), said in named.items():
        name, order = said["name"], said["sort_index"]
        process = field(3, field(1, pid) + field(3, order) + field(6, name)) + field(11, EXPLICIT)
        lane = field(5, PROCESS + pid) + field(2, name) + field(12, order)
        yield _packet(field(DESCRIPTOR, field(1, tid or PROCESS + pid) + (lane if tid else process)))
    for pid, name in counted.items():
        counter = field(1, 2 * PROCESS + pid) + field(5, PROCESS + pid) + field(2, name) + field(8, b"")
        yield _packet(field(DESCRIPTOR, counter))
    # Ends and begins of an instant stay in their order.
    for row in np.argsort(times, kind="stable").tolist():
        yield packets[row]


def _packets(event: Event) -> Iterator[tuple[int, bytes]]:
    """(time, packet): a slice's begin and end, or a counter's value."""
    begin = event["ts"]
    if event["ph"] == "C":
        value = next(iter(event["args"].values()))
        track = 2 * PROCESS + event["pid"]
        yield begin, _at(begin, field(9, COUNTER) + field(11, track) + field(30, value))
        return
    track, end = event["tid"], begin + event["dur"]
    args = b"".join(field(4, field(10, name) + field(4, value)) for name, value in event["args"].items())
    about = field(22, event["cat"]) + field(23, event["name"])
    yield begin, _at(begin, field(9, SLICE_BEGIN) + field(11, track) + about + args)
    yield end, _at(end, field(9, SLICE_END) + field(11, track))


def _at(time: int, event: bytes) -> bytes:
    return _packet(field(TIMESTAMP, time) + field(TRACK_EVENT, event))


def _packet(content: bytes) -> bytes:
    return field(PACKET, content + field(SEQUENCE, 1))


def varint(number: int) -> bytes:
    """A whole number, seven bits a byte, the lowest first; a negative one as 64 bits."""
    number &= 2**64 - 1
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)


def field(number: int, value: int | str | bytes) -> bytes:
    """A field of a message: a number, a text, or a message that is encoded already."""
    if isinstance(value, int):
        return varint(number << 3 | VARINT) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | BYTES) + varint(len(data)) + data


def fields(data: bytes) -> Iterator[tuple[int, Value]]:
    """(number, value) of each field of a message; raises TraceError where it is cut off or none."""
    at, end = 0, len(data)
    while at < end:
        tag, at = _varint(data, at)
        number, kind = tag >> 3, tag & 7
        value: Value
        if kind == VARINT:
            value, at = _varint(data, at)
        elif kind == BYTES:
            length, at = _varint(data, at)
            value, at = data[at : at + length], at + length
        elif kind in (FIXED64, FIXED32):
            length = 8 if kind == FIXED64 else 4
            value, at = int.from_bytes(data[at : at + length], "little"), at + length
        else:
            raise TraceError(
                f"this is no complete Perfetto trace: a field is stored in the unknown way {kind}"
            )
        if at > end:
            raise TraceError("this is no complete Perfetto trace: a field is cut off")
        yield number, value


def signed(value: Value | None) -> int:
    """A number of 64 bits with its sign; 0 for what is no number."""
    if not isinstance(value, int):
        return 0
    return value - 2**64 if value >= 2**63 else value


def text(value: Value | None) -> str:
    """Bytes as a text; "" for what is none."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def message(value: Value | None) -> bytes:
    """The bytes of a message inside another; none for what is a number."""
    return value if isinstance(value, bytes) else b""


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """(the number that begins at `at`, where it ends)."""
    # Most numbers are of one byte.
    if at < len(data) and data[at] < 0x80:
        return data[at], at + 1
    number = shift = 0
    for place in range(at, min(at + 10, len(data))):
        byte = data[place]
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number & 2**64 - 1, place + 1
        shift += 7
    raise TraceError("this is no complete Perfetto trace: a number is cut off")
