"""Perfetto's protobuf: what is written holds by Perfetto's own schema and rules, and is read as any other's.

Rules (perfetto.dev, "Synthetic track event"): a packet of an event has a timestamp and a sequence; tracks are
described by numbers of their own; slices of a track begin and end in order of time and nest; a counter's
track is described as one.
"""

from collections import defaultdict

import others
import pytest
from refusals import refused

from tilesim import Costs, Device, Problem, formats, simulate
from tilesim.errors import TraceError
from tilesim.formats import perfetto, pftrace
from tilesim.formats.pftrace import field
from tilesim.formats.reader import read

schema = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
BUSY = Costs(k_step=900, launch=165, prologue=300, tile_gap=200, epilogue=700, overlap=True, jitter=0.05)
PROBLEM = Problem(1024, 1024, 512, order="grouped:8")
RUNS = {
    "persistent": simulate("persistent", PROBLEM, Device(6), BUSY),
    "two per SM": simulate("naive", PROBLEM, Device(3, ctas_per_sm=2, busy_sms=1), BUSY),
    "split tiles": simulate("stream-k", PROBLEM, Device(5), BUSY),
}


def parsed(data):
    """The packets of a file, as Perfetto's schema has them; every field must be one that it knows."""
    trace = schema.Trace()
    trace.ParseFromString(data)
    trace.DiscardUnknownFields()
    assert trace.ByteSize() == len(data)
    return trace.packet


def nested(packets):
    """(track, name, begin, end) of every slice; raises AssertionError where a rule is broken."""
    tracks = {p.track_descriptor.uuid: p.track_descriptor for p in packets if p.HasField("track_descriptor")}
    opened, found, last = defaultdict(list), [], 0
    for packet in packets:
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        assert packet.trusted_packet_sequence_id and packet.timestamp >= last
        last = packet.timestamp
        assert event.track_uuid in tracks
        if event.type == event.TYPE_SLICE_BEGIN:
            opened[event.track_uuid].append((event.name, packet.timestamp))
        elif event.type == event.TYPE_SLICE_END:
            name, begin = opened[event.track_uuid].pop()
            found.append((event.track_uuid, name, begin, packet.timestamp))
        else:
            assert event.type == event.TYPE_COUNTER and tracks[event.track_uuid].HasField("counter")
    assert not any(opened.values())
    return found


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_slices_are_those_of_the_json(run):
    """Perfetto takes either; both must show the same times under the same names on the same lanes."""
    packets = parsed(b"".join(pftrace.document(run)))
    shown = [
        (event["tid"], event["name"], event["ts"], event["ts"] + event["dur"])
        for event in perfetto.events([run])
        if event["ph"] == "X"
    ]
    assert sorted(nested(packets)) == sorted(shown)


def test_an_sm_is_a_process_and_its_lanes_are_tracks_in_it():
    packets = parsed(b"".join(pftrace.document(RUNS["two per SM"])))
    tracks = {p.track_descriptor.uuid: p.track_descriptor for p in packets if p.HasField("track_descriptor")}
    processes = [track.process.process_name for track in tracks.values() if track.HasField("process")]
    assert processes[1:] == ["SM 0 (held by another kernel)", "SM 1", "SM 2"]
    lanes = [track for track in tracks.values() if not track.HasField("process")]
    assert all(tracks[lane.parent_uuid].HasField("process") for lane in lanes)


def test_arguments_say_what_a_slice_is_of():
    run = RUNS["split tiles"]
    packets = parsed(b"".join(pftrace.document(run)))
    said = set()
    for packet in packets:
        event = packet.track_event
        if event.type == event.TYPE_SLICE_BEGIN and event.categories[0] == "main loop":
            args = {each.name: each.int_value for each in event.debug_annotations}
            said.add((*(args[name] for name in ("cta", "tile", "k0", "k1")), packet.timestamp))
    assert said == {tuple(one) for one in run.spans[["cta", "tile", "k0", "k1", "start"]].tolist()}


@pytest.mark.parametrize("form, ending", [(perfetto, "perfetto.json"), (pftrace, "perfetto-trace")])
def test_two_runs_are_two_groups_of_processes_on_one_clock(tmp_path, form, ending):
    one, other = RUNS["persistent"], RUNS["split tiles"]
    events = list(perfetto.events([one, other]))
    named = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    assert len(named) == one.device.sms + other.device.sms + 2
    assert {name.partition(" ")[0] for name in named.values()} == {"1", "2"}
    threads = defaultdict(set)
    for event in events:
        if event["tid"]:
            threads[event["tid"]].add(event["pid"])
    assert all(len(pids) == 1 for pids in threads.values())
    ends = [e["ts"] + e["dur"] for e in events if e["ph"] == "X"]
    assert max(ends) == max(one.makespan, other.makespan)
    path = tmp_path / f"both.{ending}"
    formats.save_several([one, other], path, form.__name__.rpartition(".")[2])
    if form is pftrace:
        assert len(nested(parsed(path.read_bytes()))) == sum(e["ph"] == "X" for e in events)
    with pytest.raises(TraceError):
        read(path, {"m": 1024, "n": 1024, "k": 512, "tile": "128x256x64", "sms": 6})


def test_the_fixture_of_flashinfer_is_by_the_schema():
    packets = [p for p in parsed(others.flashinfer()) if p.track_event.type != p.track_event.TYPE_INSTANT]
    assert len(nested(sorted(packets, key=lambda packet: packet.timestamp))) == 48


BROKEN = {
    "cut off": others.flashinfer()[:-7],
    "cut in a number": others.flashinfer() + b"\x0a\xff",
    "no such way of storing": field(1, b"\x07\x01"),
    "compressed": field(1, field(50, b"\x00\x01")),
    "a track in itself": field(1, field(60, field(1, 5) + field(5, 5) + field(2, "\x01"))),
    "no slice": field(1, field(8, 5)),
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_refused_in_a_sentence(tmp_path, data):
    path = tmp_path / "a.perfetto-trace"
    path.write_bytes(data)
    with refused("", TraceError, path):
        read(path, others.FACTS | others.MAPS["flashinfer.perfetto-trace"])
