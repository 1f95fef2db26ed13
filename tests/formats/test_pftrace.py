"""Perfetto's protobuf: what is written holds by Perfetto's own schema and rules, and is read as any other's.

Rules (perfetto.dev, "Synthetic track event"): a packet of an event has a timestamp and a sequence; tracks are
described by numbers of their own; slices of a track begin and end in order of time and nest; a counter's
track is described as one.
"""

from collections import defaultdict

import others
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from tilesim import Costs, Device, Problem, formats, simulate
from tilesim.errors import TraceError
from tilesim.formats import perfetto, pftrace
from tilesim.formats.pftrace import field, fields, signed, varint
from tilesim.formats.profilers import track_events
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
    "cut off": (others.flashinfer()[:-7], "a field is cut off"),
    "cut in a number": (others.flashinfer() + b"\x0a\xff", "a number is cut off"),
    "no such way of storing": (field(1, b"\x07\x01"), "a field is stored in the unknown way 7"),
    "a number of 11 bytes": (field(1, b"\x08" + b"\xff" * 10 + b"\x01"), "a number is cut off"),
    "compressed": (field(1, field(50, b"\x00\x01")), "packet 1 is compressed"),
    "a track in itself": (
        field(1, field(60, field(1, 5) + field(5, 5) + field(2, "\x01"))), "no slice is called 'gemm'",
    ),
    "no slice": (field(1, field(8, 5)), "no slice is called 'gemm'"),
}  # fmt: skip


@pytest.mark.parametrize("data, words", BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_refused_in_a_sentence(tmp_path, data, words):
    path = tmp_path / "a.perfetto-trace"
    path.write_bytes(data)
    with refused(words, TraceError, path):
        read(path, others.FACTS | others.MAPS["flashinfer.perfetto-trace"])


NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.sampled_from([127, 128, 2**14, 2**63 - 1, -(2**63)])


@given(NUMBERS, st.integers(0, 2**64 - 1), st.text(), st.binary(min_size=8, max_size=8))
def test_fields_are_stored_as_protobuf_stores_them(number, natural, words, raw):
    parts = field(3, natural), field(4, number), field(6, words)
    for part, value in zip(
        parts, ({"uint_value": natural}, {"int_value": number}, {"string_value": words}), strict=True
    ):
        assert part == schema.DebugAnnotation(**value).SerializeToString()
    data = b"".join(parts)
    found = dict(fields(data + b"\x79" + raw + b"\x7d" + raw[:4]))
    assert (found[3], signed(found[4]), pftrace.text(found[6])) == (natural, number, words)
    assert [found[15]] == [int.from_bytes(raw[:4], "little")]
    assert (15, int.from_bytes(raw, "little")) in fields(b"\x79" + raw)
    # Of ten bytes the last may say more than 64 bits; what is of another kind counts as nothing.
    assert list(fields(b"\x08" + varint(number | -(2**63))[:9] + b"\x7f")) == [(1, number % 2**63 + 2**63)]
    assert (signed(raw), pftrace.text(natural), pftrace.message(natural)) == (0, "", b"")
    for end in range(1, len(data)):
        try:
            list(fields(data[:end]))
        except TraceError:
            continue
        assert end in (len(parts[0]), len(parts[0] + parts[1]))


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_tracks_and_counters_are_described_as_in_the_json(run):
    packets = parsed(b"".join(pftrace.document(run)))
    said, counts, shown = defaultdict(dict), [], []
    for event in perfetto.events([run]):
        if event["ph"] == "M":
            said[event["pid"], event["tid"]] |= event["args"]
        elif event["ph"] == "C":
            counts.append((event["ts"], event["args"]["SMs"]))
    tracks = [p.track_descriptor for p in packets if p.HasField("track_descriptor")]
    number = {t.uuid: t.process.pid for t in tracks if t.HasField("process")}
    for t in tracks:
        if t.HasField("process"):
            assert t.child_ordering == t.EXPLICIT
            shown.append((t.process.pid, 0, t.process.process_name, t.process.legacy_sort_index))
        elif not t.HasField("counter"):
            shown.append((number[t.parent_uuid], t.uuid, t.name, t.sibling_order_rank))
    assert sorted(shown) == sorted((*place, *args.values()) for place, args in said.items())
    (counter,) = (t for t in tracks if t.HasField("counter"))
    assert (counter.name, number[counter.parent_uuid]) == ("busy SMs", run.device.sms + 1)
    events = [(p.timestamp, p.track_event) for p in packets if p.HasField("track_event")]
    assert [(time, e.counter_value) for time, e in events if e.track_uuid == counter.uuid] == counts
    assert packets[0].sequence_flags == packets[0].SEQ_INCREMENTAL_STATE_CLEARED


def test_names_and_places_are_found_wherever_perfetto_allows_them(monkeypatch):
    """Interned by each sequence for itself, in a track or those above it, or as what a sequence is set to."""
    trace = schema.Trace()

    def event(time, kind, track, sequence=1, **more):
        about = {"track_uuid": track} if track else {}
        trace.packet.add(
            timestamp=time, trusted_packet_sequence_id=sequence, track_event={"type": kind, **about, **more}
        )

    for sequence, name, key in ((1, "tile 0", "cta"), (2, "tile 1", "k0")):
        names = {
            "event_names": [{"iid": 7, "name": name}],
            "debug_annotation_names": [{"iid": 7, "name": key}],
        }
        defaults = {"track_event_defaults": {"track_uuid": 10 + sequence}}
        trace.packet.add(
            trusted_packet_sequence_id=sequence, interned_data=names, trace_packet_defaults=defaults
        )
    for track in (
        {"uuid": 11, "process": {"pid": 1, "process_name": "SM 3"}},
        {"uuid": 12, "static_name": "sm 2", "parent_uuid": 14},
        {"uuid": 13, "thread": {"pid": 1, "tid": 9, "thread_name": "Block 5"}, "parent_uuid": 14},
        {"uuid": 14, "parent_uuid": 15},
        {"uuid": 15, "name": "SM 1", "parent_uuid": 15},
    ):
        trace.packet.add(track_descriptor=track)
    event(10, 1, 0, name_iid=7, debug_annotations=[{"name_iid": 7, "int_value": 4}])
    trace.packet.add(timestamp=12, trusted_packet_sequence_id=1, track_event={"name": "of no type"})
    event(20, 2, 0)
    event(11, 1, 0, 2, name_iid=7, debug_annotations=[{"name": "cta", "uint_value": 6}])
    event(21, 2, 0, 2)
    event(12, 1, 13, name="gemm", categories=["tile 2"])
    event(22, 2, 13)
    event(23, 2, 13)  # of nothing
    data = trace.SerializeToString()
    monkeypatch.setattr(track_events, "MOST_PACKETS", len(trace.packet))
    columns = track_events.parse(data).columns
    assert {name: values.tolist() for name, values in columns.items()} == {
        "tile": [0, 1, 2], "sm": [3, 2, 1], "cta": [4, 6, 5], "start": [10, 11, 12], "drain": [20, 21, 22],
        "end": [20, 21, 22],
    }  # fmt: skip
    monkeypatch.setattr(track_events, "MOST_PACKETS", len(trace.packet) - 1)
    with refused("packets; at most that many are read", TraceError):
        track_events.parse(data)
    event(30, 1, 16, name="tile 3", debug_annotations=[{"name": "unit", "string_value": "a"}])
    event(31, 2, 16)
    monkeypatch.undo()
    with refused("--map sm='unit' from its args", TraceError):
        track_events.parse(trace.SerializeToString())
