"""Perfetto's own protobuf, .perfetto-trace: what `tilesim.formats.perfetto` shows of runs, in half the bytes.

A packet describes a track or holds an event of one, in order of time; lanes are tracks in their SM's process.
One run is in the file's metadata once more, as plain JSON. Times are ns from the trace's zero. Format:
perfetto.dev/docs/reference/synthetic-track-event, as of Perfetto 59.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tilesim.formats.json import document as json_document
from tilesim.formats.perfetto import Event, events
from tilesim.formats.protobuf import field
from tilesim.traces import Trace
from tilesim.version import __version__

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
        yield _packet(field(DESCRIPTOR, _lane(pid, tid, said) if tid else _process(pid, said)))
    for pid, name in counted.items():
        counter = field(1, 2 * PROCESS + pid) + field(5, PROCESS + pid) + field(2, name) + field(8, b"")
        yield _packet(field(DESCRIPTOR, counter))
    # Ends and begins of an instant stay in their order.
    for row in np.argsort(times, kind="stable").tolist():
        yield packets[row]


def _process(pid: int, said: dict[str, Any]) -> bytes:
    process = field(1, pid) + field(3, said["sort_index"]) + field(6, said["name"])
    return field(1, PROCESS + pid) + field(3, process) + field(11, EXPLICIT)


def _lane(pid: int, tid: int, said: dict[str, Any]) -> bytes:
    return field(1, tid) + field(5, PROCESS + pid) + field(2, said["name"]) + field(12, said["sort_index"])


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
