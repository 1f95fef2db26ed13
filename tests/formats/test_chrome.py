"""Chrome traces that others wrote: which slices are tiles, on which SM, and what is left alone."""

import json

import pytest
from refusals import refused

from tilesim import Costs, Device, Problem, simulate
from tilesim.errors import TraceError
from tilesim.formats import perfetto
from tilesim.formats.reader import read

FACTS = {"m": 256, "n": 128, "k": 128, "tile": "128x128x64", "sms": 8}
PLACES = ["tile", "sm", "start", "drain", "done"]


def named(name, kind="process", pid=1, tid=0):
    return {"ph": "M", "name": f"{kind}_name", "pid": pid, "tid": tid, "args": {"name": name}}


def piece(name, ts, dur, pid=1, tid=0, **more):
    return {"ph": "X", "name": name, "ts": ts, "dur": dur, "pid": pid, "tid": tid, **more}


def read_events(tmp_path, events, text=None, **facts):
    path = tmp_path / "own.json"
    path.write_text(text or json.dumps({"traceEvents": events}))
    return read(path, FACTS | facts)


def rows(trace):
    return trace.spans[PLACES].tolist()


TWO = [named("SM 3", pid=1), named("SM 5", pid=2), piece("tile 0", 10, 5, 1), piece("tile 1", 11, 5.5, 2)]
SEEN = [(0, 3, 0, 5000, 5000), (1, 5, 1000, 6500, 6500)]
WAYS = {
    "processes": TWO,
    "threads": [
        named("GPU"),
        named("sm_3", "thread", 1, 7),
        named("SM #005", "thread", 1, 8),
        piece("tile_0", 10, 5, 1, 7),
        piece("Tile #1 [main]", 11, 5.5, 1, 8),
    ],
    "args": [
        piece("mma", 10, 5, args={"tile": 0, "sm": 3}), piece("mma", 11, 5.5, args={"tile": 1, "smid": 5}),
    ],
    "names after slices": TWO[::-1],
    "pairs": [
        *TWO[:2],
        {"ph": "B", "name": "tile 0", "ts": 10, "pid": 1, "tid": 0},
        {"ph": "B", "name": "tile 1", "ts": 11, "pid": 2, "tid": 0},
        {"ph": "E", "ts": 15, "pid": 1, "tid": 0},
        {"ph": "E", "ts": 16.5, "pid": 2, "tid": 0},
        {"ph": "E", "ts": 17, "pid": 2, "tid": 0},
    ],
    "a thread counts over its process": [
        *TWO[:2], named("SM 3", "thread", 9, 1), named("SM 0", pid=9), piece("tile 0", 10, 5, 9, 1), TWO[3],
    ],
    "others are left alone": [
        *TWO,
        piece("load", 10, 1),
        piece("launch", 9, 1, args={"tile": 0}),
        piece("tile 0 prologue", 10, 1),
        {"ph": "C", "name": "tile 7", "ts": 0, "pid": 1},
        {"ph": "i", "name": "tile 7", "ts": 0},
        {"name": "tile 7"},
    ],
}  # fmt: skip


@pytest.mark.parametrize("events", WAYS.values(), ids=WAYS)
def test_ways_to_say_tile_and_sm(tmp_path, events):
    trace = read_events(tmp_path, events)
    assert rows(trace) == SEEN
    assert (trace.origin, trace.schedule) == ("measured", "own")


def test_a_bare_list_of_events(tmp_path):
    assert rows(read_events(tmp_path, [], json.dumps(TWO))) == SEEN


@pytest.mark.parametrize("epilogue", [(13, 4), (13, 2)])
def test_an_epilogue_beside_the_main_loop_or_inside(tmp_path, epilogue):
    """The main loop of tile 0 is stamped from 10 to 15."""
    for cut in (piece("tile 0 epilogue", *epilogue), piece("epilogue", *epilogue, args={"tile": 0}),
                piece("tile 0", *epilogue, cat="epilogue")):  # fmt: skip
        trace = read_events(tmp_path, [*TWO, cut, piece("epilogue", 20, 50)])
        assert rows(trace)[0] == (0, 3, 0, 3000, 1000 * max(5, sum(epilogue) - 10))


def test_blocks_and_k_steps_are_taken_from_args_that_all_have(tmp_path):
    def cut(tile, k, ts, **args):
        return piece(f"tile {tile}", ts, 1, args={"sm": 0, "k0": k, "k1": k + 1, "cta": 4, **args})

    events = [cut(0, 0, 1, cycles=7), cut(0, 1, 2, cycles=8), cut(1, 0, 3, cycles=9), cut(1, 1, 4)]
    spans = read_events(tmp_path, events).spans
    expected = [(0, 0, 1, 4), (0, 1, 2, 4), (1, 0, 1, 4), (1, 1, 2, 4)]
    assert spans[["tile", "k0", "k1", "cta"]].tolist() == expected
    assert (spans["cycles"] == 0).all()


def test_nanoseconds_since_1970_are_kept(tmp_path):
    text = json.dumps({"traceEvents": TWO}).replace('"ts": 1', '"ts": 179520417317977')
    text = text.replace('"dur": 5,', '"dur": 5.001,')
    assert rows(read_events(tmp_path, [], text))[0][4] == 5001
    shifted = text.replace('"ts": 1795204173179771', '"ts": 1795204173179771.003')
    assert rows(read_events(tmp_path, [], shifted))[1][2] == 1003


def test_the_slices_that_tilesim_writes_can_be_read_as_any_others(tmp_path):
    costs = Costs(k_step=300, launch=165, prologue=300, epilogue=700)
    trace = simulate("naive", Problem(1024, 1024, 512), Device(4), costs)
    document = json.loads(b"".join(perfetto.document(trace)))
    facts = {"m": 1024, "n": 1024, "k": 512, "tile": "128x256x64", "sms": 4}
    again = read_events(tmp_path, document["traceEvents"], **facts)
    shift = trace.spans["start"].min()
    for name in ("tile", "sm", "cta", "k0", "k1", "slot"):
        assert again.spans[name].tolist() == trace.spans[name].tolist()
    for name in ("start", "drain", "done"):
        assert again.spans[name].tolist() == (trace.spans[name] - shift).tolist()


BAD = {
    "no list": (5, "traceEvents is 5; it must be a list"),
    "no tile": ([piece("gemm", 0, 1)], "none of its 1 slices says its tile, by a name such as 'tile 17'"),
    "a place is no number": ([*TWO[:2], piece("tile 2,3", 0, 1)], "none of its 1 slices says its tile"),
    "no SM": ([named("GPU"), piece("tile 0", 0, 1)], "event 2 ('tile 0') does not say its SM"),
    "SM beyond": ([*TWO[:3], piece("tile 1", 0, 1, args={"sm": 8})], "event 4: sm is 8; it must be from 0"),
    "tile twice": ([*TWO, piece("tile 1", 90, 1)], "event 5: tile 1 was computed before"),
    "tile missing": (TWO[:3], "tile 1 is never computed"),
    "no time": ([*TWO, {"ph": "X", "name": "tile 1", "pid": 1}], "event 5: ts is None; it must be"),
    "no length": ([*TWO, piece("x", 3, "long")], "event 5: dur is 'long'; it must be a number"),
    "huge": ([*TWO, piece("x", 10**19, 1)], "event 5: ts is 10000000000000000000; it must be a number"),
    "negative": ([*TWO[:3], piece("tile 1", 11, -5, 2)], "event 4: tile 1 has its drain at 6000 ns, before"),
    "no event": ([*TWO, 7], "event 5 is 7; it must be an object"),
    "epilogue alone": ([*TWO, piece("tile 1 epilogue", 0, 1)], "event 5 is an epilogue of tile 1 on SM 3"),
    "epilogue first": ([*TWO, piece("tile 0 epilogue", 1, 1)], "event 3: tile 0 has its drain at 1000 ns"),
}


@pytest.mark.parametrize("events, words", BAD.values(), ids=BAD)
def test_events_that_make_no_sense(tmp_path, events, words):
    with refused(words, TraceError, tmp_path / "own.json"):
        read_events(tmp_path, events)
