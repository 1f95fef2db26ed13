"""A trace as Chrome trace event JSON, checked against the format's own rules, written out here.

Rules (Trace Event Format, Google): a JSON object with traceEvents, an array; each event has name, ph, pid,
tid and ts; complete events (X) have dur; on one thread, slices nest or are disjoint; counter events (C)
carry numbers in args; metadata events (M) are process_name, process_sort_index, thread_name and
thread_sort_index with args of their own; ts and dur are microseconds; displayTimeUnit is "ms" or "ns".
"""

import json
from collections import Counter, defaultdict
from numbers import Real

import numpy as np
import pytest

from tilesim import Costs, Device, Problem, Trace, simulate, view
from tilesim.formats import save
from tilesim.orders import rasterize

BUSY = Costs(k_step=900, launch=165, prologue=300, tile_gap=200, epilogue=700, overlap=True, jitter=0.05)
PROBLEM = Problem(4096, 4096, 512, order="grouped:8")
METADATA = {
    "process_name": {"name": str},
    "thread_name": {"name": str},
    "process_sort_index": {"sort_index": int},
    "thread_sort_index": {"sort_index": int},
}


def ns(us):
    """A time in µs as whole nanoseconds; it must mean one."""
    assert abs(us * 1000 - round(us * 1000)) < 1e-6, us
    return round(us * 1000)


def check(document):
    """Raise AssertionError where `document`, parsed JSON, breaks a rule of the format."""
    assert set(document) <= {"traceEvents", "displayTimeUnit", "otherData"}
    assert document["displayTimeUnit"] in ("ms", "ns")
    assert isinstance(document["otherData"], dict)
    slices, named, sorted_by = defaultdict(list), {}, {}
    for event in document["traceEvents"]:
        assert isinstance(event["name"], str) and event["name"]
        assert isinstance(event["cat"], str)
        assert event["ph"] in ("X", "C", "M")
        for field in ("pid", "tid"):
            assert type(event[field]) is int and 0 <= event[field] < 2**31
        assert isinstance(event["ts"], Real) and not isinstance(event["ts"], bool) and event["ts"] >= 0
        assert isinstance(event["args"], dict)
        fields = {"name", "cat", "ph", "pid", "tid", "ts", "args"}
        if event["ph"] == "X":
            assert set(event) == fields | {"dur"}
            assert isinstance(event["dur"], Real) and event["dur"] > 0
            begin = ns(event["ts"])
            slices[event["pid"], event["tid"]].append((begin, begin + ns(event["dur"])))
        elif event["ph"] == "C":
            assert set(event) == fields
            assert event["args"] and all(isinstance(value, Real) for value in event["args"].values())
        else:
            assert set(event) == fields
            (key, kind), *others = METADATA[event["name"]].items()
            assert not others and set(event["args"]) == {key} and isinstance(event["args"][key], kind)
            place = event["pid"], event["tid"] if event["name"].startswith("thread") else None
            table = named if key == "name" else sorted_by
            assert place not in table, f"{place} is named twice"
            table[place] = event["args"][key]
    for place, intervals in slices.items():
        assert place in named and place in sorted_by, place
        assert (place[0], None) in named and (place[0], None) in sorted_by
        check_nesting(intervals)
    assert len({thread for _, thread in slices}) == len(slices), "two processes share a thread id"


def check_nesting(intervals):
    """Slices of one thread must nest or be disjoint."""
    open_until = []
    for begin, end in sorted(intervals, key=lambda interval: (interval[0], -interval[1])):
        while open_until and open_until[-1] <= begin:
            open_until.pop()
        assert not open_until or end <= open_until[-1], f"{begin} to {end} overlaps a slice in part"
        open_until.append(end)


def written(trace, tmp_path):
    path = tmp_path / "trace.json"
    save(trace, path, "perfetto")
    return json.loads(path.read_text("utf-8"))


@pytest.fixture(scope="module")
def h200():
    return simulate("persistent", PROBLEM, Device.named("h200"), BUSY)


@pytest.mark.parametrize("schedule", ["naive", "persistent-dynamic", "stream-k"])
def test_132_sms_keep_every_rule(schedule, tmp_path):
    device = Device.named("h200", ctas_per_sm=2)
    check(written(simulate(schedule, PROBLEM, device, BUSY), tmp_path))


def test_waits_and_fix_ups_lie_inside_epilogues(tmp_path):
    costs = Costs(k_step=900, epilogue=700, fixup=300, overlap=True)
    trace = simulate("stream-k:4", Problem(128, 512, 1024), Device(4), costs)
    document = written(trace, tmp_path)
    check(document)
    for category, first, last in (("wait", "drain", "ready"), ("fix-up", "ready", "fixup")):
        found = [
            (e["args"]["tile"], e["args"]["k0"], ns(e["ts"]), ns(e["ts"]) + ns(e["dur"]))
            for e in document["traceEvents"]
            if e["cat"] == category
        ]
        expected = [(s["tile"], s["k0"], s[first], s[last]) for s in trace.spans if s[last] > s[first]]
        assert sorted(found) == sorted(expected) != []


def test_epilogues_longer_than_a_main_loop_keep_every_rule(tmp_path):
    costs = Costs(k_step=100, epilogue=2500, overlap=True)
    trace = simulate("persistent", Problem(1024, 1024, 512), Device(4, ctas_per_sm=2), costs)
    document = written(trace, tmp_path)
    check(document)
    lanes = [e for e in document["traceEvents"] if e["ph"] == "M" and e["pid"] == 2 and e["tid"]]
    names = {e["tid"]: e["args"]["name"] for e in lanes if e["name"] == "thread_name"}
    index = {e["tid"]: e["args"]["sort_index"] for e in lanes if e["name"] == "thread_sort_index"}
    parts = ["main loop", "epilogue", *(f"epilogue {number}" for number in range(2, len(names) // 2))]
    expected = [f"slot {slot} {part}" for slot in range(2) for part in parts]
    assert [names[tid] for tid in sorted(index, key=index.get)] == expected
    assert list(index.values()) == list(range(len(expected))) and len(parts) > 2
    assert count(document, "epilogue") == len(trace.spans)


def count(document, category):
    return sum(event["ph"] == "X" and event["cat"] == category for event in document["traceEvents"])


def test_a_process_per_sm_in_order_with_two_threads_per_slot(h200, tmp_path):
    events = written(h200, tmp_path)["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    index = {e["pid"]: e["args"]["sort_index"] for e in events if e["name"] == "process_sort_index"}
    assert 0 not in names
    by_index = sorted(names, key=index.get)
    assert names[by_index[0]] == "NVIDIA H200, persistent, simulated"
    assert [names[pid] for pid in by_index[1:]] == [f"SM {sm}" for sm in range(132)]
    threads = Counter(e["pid"] for e in events if e["name"] == "thread_name")
    assert threads == {pid: 2 for pid in by_index[1:]}


def test_every_span_is_there_to_the_nanosecond(h200, tmp_path):
    events = written(h200, tmp_path)["traceEvents"]
    rank = np.argsort(rasterize(PROBLEM))
    for category, first, last in (("main loop", "start", "drain"), ("epilogue", "drain", "done")):
        found = {
            (e["name"], e["pid"] - 1, ns(e["ts"]), ns(e["ts"]) + ns(e["dur"]), *e["args"].values())
            for e in events
            if e["cat"] == category
        }
        expected = {
            (
                f"tile {s['tile']}", s["sm"], s[first], s[last],
                s["tile"], s["tile"] // 16, s["tile"] % 16, row // 132, rank[s["tile"]], s["cta"], s["k0"],
                s["k1"], s["cycles"],
            )
            for row, s in enumerate(h200.spans)
        }  # fmt: skip
        assert found == expected
    args = next(e["args"] for e in events if e["cat"] == "main loop")
    assert list(args) == ["tile", "pid_m", "pid_n", "wave", "order", "cta", "k0", "k1", "cycles"]


def test_launches_and_hand_overs_are_slices_of_the_main_loop_thread(h200, tmp_path):
    events = written(h200, tmp_path)["traceEvents"]
    found = Counter(e["name"] for e in events if e["cat"] == "launch")
    assert found == {"launch": 132, "hand-over": 512 - 132}
    assert {ns(e["dur"]) for e in events if e["name"] == "launch"} == {465}
    assert {ns(e["dur"]) for e in events if e["name"] == "hand-over"} == {200}


def test_the_counter_says_what_the_view_says(h200, tmp_path):
    events = written(h200, tmp_path)["traceEvents"]
    steps = [(ns(e["ts"]), e["args"]["SMs"]) for e in events if e["ph"] == "C"]
    assert [time for time, _ in steps] == sorted({time for time, _ in steps})
    assert steps[-1] == (h200.makespan, 0)
    assert max(busy for _, busy in steps) == 132
    for time, busy in steps:
        assert busy == view.busy_sms(h200, time)
    for time in range(0, h200.makespan, 997):
        assert view.busy_sms(h200, time) == [busy for begin, busy in steps if begin <= time][-1]


def test_sms_of_another_kernel_are_said_to_be(tmp_path):
    document = written(simulate("naive", Problem(512, 512, 64), Device(4, busy_sms=1)), tmp_path)
    check(document)
    names = [e["args"]["name"] for e in document["traceEvents"] if e["name"] == "process_name"]
    assert "SM 0 (held by another kernel)" in names


def test_a_measured_trace_whose_done_comes_after_the_next_start(tmp_path):
    """Such as overlapped epilogues: the issue is then no later than the start, but before the drain."""
    spans = simulate("persistent", Problem(256, 512, 64), Device(1), BUSY).spans.copy()
    spans["issue"] = 0
    trace = Trace(Problem(256, 512, 64), Device(1), "persistent", spans, "measured", 32)
    document = written(trace, tmp_path)
    check(document)
    assert count(document, "main loop") == 4
