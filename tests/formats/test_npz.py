"""The .npz file: what is in it, and that damage is told in one sentence and never loses a file."""

import io
import json
import os
import resource
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest
from hypothesis import given
from refusals import refused
from strategies import traces

from tilesim import Device, Problem, Trace, simulate
from tilesim.errors import TilesimError, TraceError
from tilesim.storage import trace_file

TRACE = simulate("persistent", Problem(300, 300, 300, tile=(64, 64, 64), order="grouped:2"), Device(3, 2))


@pytest.fixture
def saved(tmp_path):
    TRACE.save(tmp_path / "run.npz")
    return tmp_path / "run.npz"


def rewritten(path, **arrays):
    """The file with some of its arrays replaced; None leaves one out."""
    with np.load(path) as file:
        kept = {name: file[name] for name in file.files}
    if "spans" in arrays:
        del kept["planes"]
    kept.update(arrays)
    np.savez(path, **{name: array for name, array in kept.items() if array is not None})
    return path


def with_header(path, change):
    with np.load(path) as file:
        values = json.loads(bytes(file["header"]))
    change(values)
    return rewritten(path, header=np.frombuffer(json.dumps(values).encode(), np.uint8))


NOT_A_TRACE = "this is not a complete tilesim trace"


def refuses(path, words):
    with refused(words, TraceError, path):
        Trace.load(path)


@given(traces())
def test_what_is_saved_is_loaded(tmp_path_factory, trace):
    path = tmp_path_factory.mktemp("round") / "a.npz"
    trace.save(path)
    again = Trace.load(path)
    assert (again.problem, again.device, again.schedule) == (trace.problem, trace.device, trace.schedule)
    assert (again.origin, again.tick_ns) == (trace.origin, trace.tick_ns)
    assert again.meta == json.loads(json.dumps(dict(trace.meta)))
    assert again.spans.dtype == trace.spans.dtype
    assert again.spans.tolist() == trace.spans.tolist()


def test_the_file_holds_two_plain_arrays_and_a_version(saved):
    with np.load(saved, allow_pickle=False) as file:
        assert sorted(file.files) == ["header", "planes"]
        values = json.loads(bytes(file["header"]))
        assert file["planes"].dtype == np.uint8
    assert (values["format"], values["version"]) == ("tilesim trace", trace_file.VERSION)


def test_spans_as_they_are_do_for_planes(saved):
    spans = Trace.load(saved).spans
    assert Trace.load(rewritten(saved, spans=spans)).spans.tolist() == spans.tolist()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda planes: planes[:12],
        lambda planes: planes[:, :7],
        lambda planes: planes.astype(np.int16),
        lambda planes: planes[0],
        np.asfortranarray,
        lambda planes: np.where(np.arange(8)[:, None] == 5, 1, planes).astype(np.uint8),  # beyond 32 bits
    ],
)
def test_planes_of_another_form(saved, spoil):
    with np.load(saved) as file:
        planes = spoil(file["planes"])
    refuses(rewritten(saved, planes=planes), NOT_A_TRACE)


def test_the_bytes_do_not_depend_on_the_time_of_day(saved, monkeypatch):
    later = time.time() + 10**8
    monkeypatch.setattr(time, "time", lambda: later)
    monkeypatch.setattr(time, "localtime", lambda *_: time.gmtime(int(later)))
    TRACE.save(saved.with_name("later.npz"))
    assert saved.with_name("later.npz").read_bytes() == saved.read_bytes()


def test_a_file_that_is_not_there(tmp_path):
    refuses(tmp_path / "none.npz", "there is no such file")
    refuses(tmp_path, "Is a directory")


def test_a_file_that_is_no_archive_or_one_of_other_things(tmp_path):
    for content in (b"", b"PK\x03\x04", b"tile,sm\n1,2\n", b"\x93NUMPY"):
        (tmp_path / "a.npz").write_bytes(content)
        refuses(tmp_path / "a.npz", NOT_A_TRACE)
    np.save(tmp_path / "a.npy", np.arange(9))
    refuses(tmp_path / "a.npy", NOT_A_TRACE)
    np.savez(tmp_path / "a.npz", weights=np.arange(9))
    refuses(tmp_path / "a.npz", NOT_A_TRACE)
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as file:
        file.writestr("header", "{}")
    refuses(tmp_path / "a.npz", NOT_A_TRACE)


def test_a_truncated_file(saved):
    whole = saved.read_bytes()
    for length in range(0, len(whole), 11):
        saved.write_bytes(whole[:length])
        refuses(saved, NOT_A_TRACE)


def test_a_damaged_file(saved):
    """A flipped byte is found, or it is one that carries nothing."""
    whole = saved.read_bytes()
    found = 0
    for place in range(0, len(whole), 5):
        saved.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            again = Trace.load(saved)
        except TraceError as error:
            found += 1
            assert str(error).startswith(f"{saved}: ")
        else:
            assert again.spans.tolist() == TRACE.spans.tolist()
            assert again.problem == TRACE.problem
    assert found > len(whole) / 5 / 2


@pytest.mark.parametrize("version", [2, 0, "1", None])
def test_another_version_is_named_even_if_its_arrays_are_new(saved, version):
    with_header(saved, lambda header: header.update(version=version))
    rewritten(saved, spans=None, lanes=np.zeros(3))
    refuses(saved, f"the file has format version {version!r}; this tilesim reads version 1")


@pytest.mark.parametrize("key", ["problem", "device", "schedule", "origin", "tick_ns", "meta"])
def test_a_header_that_lacks_something(saved, key):
    with_header(saved, lambda header: header.pop(key))
    refuses(saved, f"the header lacks {key}")


@pytest.mark.parametrize(
    ("place", "value", "sentence"),
    [
        (("problem",), 5, "problem is 5; it must be an object"),
        (("problem", "m"), 0, "m is 0; it must be a whole number"),
        (("problem", "m"), 10**6, "is never computed"),
        (("problem", "k"), 1, "they must lie in 0 to 1"),
        (("problem", "tile"), None, "tile is None; it must be a list of 3"),
        (("problem", "order"), "spiral", "there is no order 'spiral'"),
        (("device", "a\0"), 1, "there is no field of the device 'a\\x00'"),
        (("device", "sms"), 1, "it must be from 0 to 0"),
        (("device", "name"), "abacus", "name is 'abacus'"),
        (("device", "sm_order"), [0, 0, 1], "the SM order must list each SM"),
        (("device", "sm_order"), [1.0, 0.0, 2.0], "sm_order[0] is 1.0; it must be a whole"),
        (("origin",), "dreamt", "origin is 'dreamt'"),
        (("tick_ns",), None, "tick_ns is None"),
        (("schedule",), {}, "schedule is {}"),
        (("meta",), "none", "meta is 'none'"),
    ],
)
def test_a_header_that_makes_no_sense(saved, place, value, sentence):
    def change(header):
        for key in place[:-1]:
            header = header[key]
        header[place[-1]] = value

    with_header(saved, change)
    refuses(saved, sentence)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff\xfe"])
def test_a_header_that_is_no_object(saved, text):
    refuses(rewritten(saved, header=np.frombuffer(text, np.uint8)), NOT_A_TRACE)


def test_spans_that_make_no_sense(saved):
    """What else is refused of spans, tests/test_traces.py shows."""
    refuses(rewritten(saved, spans=np.full(25, np.nan)), "spans are float64")
    TRACE.save(saved)
    refuses(rewritten(saved, spans=TRACE.spans[1:]), "is never computed")


def test_a_pickle_is_never_opened(saved, tmp_path):
    class Trap:
        def __reduce__(self):
            return (os.mkdir, (str(tmp_path / "sprung"),))

    refuses(rewritten(saved, header=np.array([Trap()], object)), NOT_A_TRACE)
    TRACE.save(saved)
    refuses(rewritten(saved, spans=np.array([Trap()], object)), NOT_A_TRACE)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("name", ["run.trace", "plain", "x" * 255])
def test_a_file_is_saved_under_exactly_its_name_with_the_rights_of_any_new_file(tmp_path, name):
    TRACE.save(str(tmp_path / name))
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert Trace.load(tmp_path / name).spans.tolist() == TRACE.spans.tolist()
    (tmp_path / "other").touch()
    assert (tmp_path / name).stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("missing/run.npz", "missing does not exist"),
        (".", "it is a folder; give the name of a file"),
        ("file/run.npz", "does not exist"),
        ("x" * 300 + ".npz", "File name too long"),
    ],
)
def test_a_place_that_cannot_be_written(tmp_path, name, sentence):
    (tmp_path / "file").touch()
    with refused(sentence, path=f"cannot write {tmp_path / name}"):
        TRACE.save(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_disk_that_fills_up_leaves_the_old_file_and_nothing_else(saved):
    # A limit on the size of files fails a write in the middle, as a full disk does.
    before, limits = saved.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    trace = simulate("naive", Problem(8192, 8192, 64), Device(132))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(TilesimError, match=f"^cannot write {saved}: File too large$"):
            trace.save(saved)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert saved.read_bytes() == before and list(saved.parent.iterdir()) == [saved]


def test_the_archive_is_read_by_plain_numpy(saved):
    """The recipe for someone without tilesim."""
    buffer = io.BytesIO(saved.read_bytes())
    with np.load(buffer) as file:
        columns = np.ascontiguousarray(file["planes"].transpose(0, 2, 1)).view("<i8")[..., 0]
    tile, issue, steps = columns[1], columns[6], columns[7:12]
    assert tile.tolist() == TRACE.spans["tile"].tolist()
    assert (np.cumsum(issue) + sum(steps)).max() == TRACE.makespan


def test_a_trace_goes_down_a_pipe(tmp_path):
    trace = simulate("naive", Problem(128, 256, 64), Device(1))
    trace.save(tmp_path / "run.npz")
    program = "from tilesim import *; simulate('naive', Problem(128, 256, 64), Device(1)).save('/dev/stdout')"
    piped = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True).stdout
    assert piped == (tmp_path / "run.npz").read_bytes()
    trace.save("/dev/null")
