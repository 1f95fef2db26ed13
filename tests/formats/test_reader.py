"""A trace read from any format: what was written comes back, and whatever else is one sentence."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from strategies import printable, traces

from tilesim import Device, Problem, Trace, simulate
from tilesim.errors import TraceError
from tilesim.formats import csv, save
from tilesim.formats import json as json_format
from tilesim.formats.reader import read, read_several
from tilesim.spans.columns import MOST_CYCLES

OWN = """\
# m=256 n=256 k=128 tile=128x128x64 dtype=fp16
# sms=2 gpu="NVIDIA L40S" schedule="warp specialised"
tile,sm,start,end
0,0,1000,2000
1,1,1010,2100
2,0,2200,3000
3,1,2300,3100
"""
FOUR = {"m": 256, "n": 256, "k": 128, "tile": "128x128x64", "sms": 2}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("reader")


def same(one, other):
    assert (one.problem, one.device, one.schedule) == (other.problem, other.device, other.schedule)
    assert (one.origin, one.tick_ns) == (other.origin, other.tick_ns)
    assert one.meta == json.loads(json.dumps(dict(other.meta)))
    assert one.spans.tolist() == other.spans.tolist()


@st.composite
def runs(draw):
    """Simulated traces and measured ones, whose notes may hold anything."""
    trace = draw(traces())
    if draw(st.booleans()):
        return trace
    meta = draw(st.dictionaries(printable(), st.none() | st.floats(0, 9) | printable()))
    meta.pop("launches", None)
    spans = np.array(trace.spans)
    spans["cycles"] = draw(st.integers(0, MOST_CYCLES))
    return Trace(
        trace.problem, trace.device, draw(printable()), spans, "measured", draw(st.integers(1, 256)), meta
    )


@given(runs())
def test_what_tilesim_writes_it_reads(folder, trace):
    trace.save(folder / "once.npz")
    for form in ("csv", "json", "perfetto", "pftrace", "npz"):
        save(trace, folder / "a", form)
        read(folder / "a").save(folder / "again.npz")
        assert (folder / "again.npz").read_bytes() == (folder / "once.npz").read_bytes()


@pytest.mark.parametrize("form", [csv, json_format])
def test_long_files_are_written_and_read_piece_by_piece(tmp_path, monkeypatch, form):
    monkeypatch.setattr(form, "CHUNK", 3)
    trace = simulate("stream-k", Problem(1024, 1024, 512), Device(5))
    save(trace, tmp_path / "a", form.__name__.rpartition(".")[2])
    same(read(tmp_path / "a"), trace)


def write(tmp_path, content, name="own-kernel.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_a_small_csv_is_a_trace(tmp_path):
    trace = read(write(tmp_path, OWN))
    assert trace.problem == Problem(256, 256, 128, (128, 128, 64), "fp16")
    assert trace.device == Device(2, name="rtx4090")
    assert (trace.schedule, trace.origin, trace.tick_ns) == ("warp specialised", "measured", 10)
    assert trace.meta == {"gpu": "NVIDIA L40S", "derived": ["cta"]}
    assert trace.spans[["tile", "sm", "cta", "slot", "k0", "k1"]].tolist() == [
        (0, 0, 0, 0, 0, 2), (1, 1, 1, 0, 0, 2), (2, 0, 2, 0, 0, 2), (3, 1, 3, 0, 0, 2),
    ]  # fmt: skip
    assert trace.spans[["issue", "start", "drain", "done"]].tolist() == [
        (0, 0, 1000, 1000), (0, 10, 1100, 1100), (1000, 1200, 2000, 2000), (1100, 1300, 2100, 2100),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: text.encode("utf-16"),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.rstrip().replace("\n", "\n\n").encode(),
        lambda text: text.replace(",", ";").encode(),
        lambda text: text.replace(",", " , ").encode(),
        lambda text: text.replace("tile,sm,start,end", '"Tile","SM","Start","End"').encode(),
        lambda text: text.replace("start,end", "start,done").encode(),
        lambda text: text.replace("# m=256 n=256", "# one run of many\n#m = 256, N=256,").encode(),
        lambda text: gzip.compress(text.encode()),
    ],
)
def test_the_same_in_another_hand(tmp_path, change):
    same(read(write(tmp_path, change(OWN))), read(write(tmp_path, OWN)))


def test_the_same_as_json(tmp_path):
    rows = [dict(zip(("tile", "sm", "start", "end"), map(int, line.split(",")), strict=True))
            for line in OWN.splitlines()[3:]]  # fmt: skip
    problem = {"m": 256, "n": 256, "k": 128, "tile": [128, 128, 64], "dtype": "fp16"}
    about = {"schedule": "warp specialised", "meta": {"gpu": "NVIDIA L40S"}, "spans": rows}
    expected = read(write(tmp_path, OWN))
    for document in (
        about | {"problem": problem, "device": {"sms": 2}},
        about | problem | {"sms": 2, "remark": "mine"},
        about | {"problem": problem | {"tile": "128x128x64"}, "device": {"name": "", "sms": 2}},
        about | problem | {"device": "", "sms": 2, "version": 2},
    ):
        same(read(write(tmp_path, json.dumps(document), "a.json")), expected)
    given = FOUR | {"dtype": "fp16", "gpu": "NVIDIA L40S", "schedule": "warp specialised"}
    same(read(write(tmp_path, json.dumps(rows), "a.json"), given), expected)


def test_what_is_given_counts_over_the_file(tmp_path):
    given = {"device": "h200", "schedule": "mine", "k": 64, "order": "column-major"}
    trace = read(write(tmp_path, OWN), given)
    assert trace.device == Device.named("h200")
    assert (trace.schedule, trace.problem.k, trace.problem.order) == ("mine", 64, "column-major")
    assert read(write(tmp_path, OWN), {"ctas_per_sm": 3}).device == Device(2, 3, name="rtx4090")
    alone = OWN.replace('sms=2 gpu="NVIDIA L40S"', 'gpu="NVIDIA H200"')
    assert read(write(tmp_path, alone)).device == Device.named("h200")


def test_a_kernel_without_a_name_is_called_as_its_file(tmp_path):
    text = OWN.replace(' schedule="warp specialised"', "")
    assert read(write(tmp_path, text, "ping-pong.run1.csv")).schedule == "ping-pong"


def test_an_npz_says_everything(tmp_path):
    trace = simulate("naive", Problem(256, 256, 128), Device(2))
    trace.save(tmp_path / "a.npz")
    (tmp_path / "a.bin").write_bytes((tmp_path / "a.npz").read_bytes())
    same(read(tmp_path / "a.bin"), trace)
    for name in ("a.npz", "a.bin"):
        with refused("says everything; leave out m and sms", TraceError):
            read(tmp_path / name, {"m": 3, "sms": 4})


def test_an_npz_beside_other_files_needs_nothing_that_is_given(tmp_path):
    simulate("naive", Problem(256, 256, 128), Device(2)).save(tmp_path / "a.npz")
    names = [tmp_path / "a.npz", write(tmp_path, OWN)]
    assert [trace.device.sms for trace in read_several(names, {"sms": 3})] == [2, 3]
    with refused("says everything; leave out sms", TraceError):
        read_several(names[:1] * 2, {"sms": 3})


BAD_FILES = {
    "nothing": (b"", "the file is empty"),
    "garbage": (b"tile,sm\n\xff\xfe\x00", "neither a trace in .npz nor text (see byte 8)"),
    "half a UTF-16": (b"\xff\xfea", "neither a trace in .npz nor text"),
    "half a gzip": (gzip.compress(OWN.encode())[:-9], "this is not a complete gzip file"),
    "half a zip": (b"PK\x03\x04", "this is not a complete tilesim trace"),
    "half a JSON": (b'{"spans": [', "this is not JSON: Expecting value in line 1"),
    "NaN": (b'{"spans": [{"tile": NaN}]}', "NaN is no number"),
    "deep": (b"[" * 100_000, "nested too deeply"),
    "long number": (b'{"spans": [{"tile": ' + b"9" * 5000 + b"}]}", "this is not JSON that can be read"),
    "JSON of something else": (b'{"a": 1}', 'neither a list "spans" nor one of "traceEvents"'),
    "JSON that is a number": (b"[7]", "row 1 of spans is 7; it must be an object"),
    "open quote": (b'tile,sm,start,end\n0,0,"1,2\n1,1,1,2\n', "a quote is opened and never closed"),
    "only remarks": (b"# m=3\n#\n", "it has no header"),
    "prose": (b"Hello, world.\n", "there is no tile and no sm and no start and no end; rows need tile"),
    "no rows": (b"# m=1 n=1 k=1 tile=1x1x1 sms=1\ntile,sm,start,end\n", "it has no rows"),
    "null": (b"tile,sm,start,end\n\x00,0,0,0\n", "line 2: tile is '\\x00'; it must be a whole number"),
}


@pytest.mark.parametrize("content, words", BAD_FILES.values(), ids=BAD_FILES)
def test_a_file_that_is_no_trace(tmp_path, content, words):
    refuses(write(tmp_path, content), words)


def refuses(path, words):
    with refused(words, TraceError, path):
        read(path)


def test_a_file_that_cannot_be_read(tmp_path):
    refuses(tmp_path / "none.csv", "there is no such file")
    refuses(tmp_path, "Is a directory")


BAD_FACTS = {
    "no problem": ("# m=256 n=256 k=128 tile=128x128x64 dtype=fp16\n", "", "it does not say m, n, k and"),
    "no device": ('sms=2 gpu="NVIDIA L40S"', 'gpu="My GPU"', "it does not say which GPU it ran on"),
    "no tile": ("tile=128x128x64", "", "it does not say tile of the problem; give --tile"),
    "wrong tile": ("128x128x64", "128x128", "tile is (128, 128); it must be a list of 3"),
    "a million tiles": ("m=256", "m=1000000000", "tile 4 is never computed"),
    "wrong dtype": ("fp16", "half", "dtype is 'half'"),
    "unknown fact": ("sms=2", "sm=2", "line 2: there is no fact 'sm'; did you mean 'sms'?"),
    "no fact": ("n=256", "and", "line 1: 'and k=128 tile=128x128x64 dtype=fp16' is no fact such as m=4096"),
    "no value": ("sms=2", "sms=", "is no fact such as m=4096"),
    "open value": ('="NVIDIA', '=["NVIDIA', "line 2: '[\"NVIDIA L40S"),
    "unknown device": ("sms=2", "device=h20", "there is no device 'h20'; did you mean 'h200'?"),
    "no meta": ("sms=2", "sms=2 meta=[]", "meta is []; it must be an object"),
    "no name": ("sms=2", "sms=2 schedule=7", "schedule is 7; it must be a text"),
}


@pytest.mark.parametrize("old, new, words", BAD_FACTS.values(), ids=BAD_FACTS)
def test_facts_that_make_no_sense(tmp_path, old, new, words):
    assert old in OWN
    text = OWN.replace(' schedule="warp specialised"', "") if "schedule" in new else OWN
    refuses(write(tmp_path, text.replace(old, new)), words)


@pytest.mark.parametrize(
    "document, words",
    [
        ({"spans": [], "problem": []}, "problem is []; it must be an object"),
        ({"spans": [], "problem": {"M": 4}}, "a field of problem is 'M'; did you mean 'm'?"),
        ({"spans": {}}, 'neither a list "spans"'),
        ({"spans": [[1, 2]]}, "row 1 of spans is [1, 2]; it must be an object"),
        ({"spans": [{"tile": 0}, {}]}, "row 2 of spans: tile is None; it must be a whole number"),
        ({"spans": [{"tile": 0.0}]}, "row 1 of spans: tile is 0.0; it must be a whole number"),
        ({"format": "tilesim trace", "version": 2}, 'neither a list "spans"'),
        ({"format": "tilesim trace", "version": 2, "spans": []}, "the file has format version 2"),
    ],
)
def test_json_that_makes_no_sense(tmp_path, document, words):
    refuses(write(tmp_path, json.dumps(document), "a.json"), words)
