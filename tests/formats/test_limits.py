"""A small file that claims to be large is refused before it is built; what none could read is not written."""

import gzip
import io
import json
import tracemalloc
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from refusals import refused

from tilesim import Device, Problem, simulate
from tilesim import formats as limits
from tilesim.errors import TilesimError, TraceError
from tilesim.formats import reader
from tilesim.formats import save as save_as
from tilesim.formats.reader import read
from tilesim.storage import trace_file
from tilesim.storage.files import DEEPEST
from tilesim.traces import header

TRACE = simulate("persistent", Problem(256, 256, 128), Device(2))
MOST_MEMORY = 2**24


def refuses_in_little_memory(path, words):
    tracemalloc.start()
    try:
        with refused(words, TraceError, path):
            read(path)
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    finally:
        tracemalloc.stop()


def archive(path, described, planes):
    """An .npz of a header's values, and of bytes that stand for an array."""
    text = io.BytesIO()
    np.save(text, np.frombuffer(json.dumps(described).encode(), np.uint8))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("header.npy", text.getvalue())
        with file.open("planes.npy", "w") as member:
            for piece in planes:
                member.write(piece)
    return path


def planes_header(rows):
    said = f"{{'descr': '|u1', 'fortran_order': False, 'shape': (13, 8, {rows})}}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(said).to_bytes(2, "little") + said


HEADER = json.loads(json.dumps(header(TRACE)))
PLANES = [planes_header(len(TRACE.spans)), trace_file.packed(TRACE.spans).tobytes()]


def test_a_problem_of_two_thousand_million_tiles_costs_nothing_to_refuse(tmp_path):
    described = HEADER | {"problem": HEADER["problem"] | {"m": 2**35}}
    path = archive(tmp_path / "a.npz", described, PLANES)
    refuses_in_little_memory(path, "tile 2 is never computed")


def test_an_archive_that_inflates_without_end_is_not_inflated(tmp_path, monkeypatch):
    monkeypatch.setattr(trace_file, "MOST_SPANS", 2**18)
    rows = 2**18 + 2**10
    path = archive(tmp_path / "a.npz", HEADER, [planes_header(rows), bytes(13 * 8 * rows)])
    assert path.stat().st_size < 2**17
    refuses_in_little_memory(path, "its planes take")


def test_an_array_that_claims_more_than_there_is_is_not_allocated(tmp_path):
    path = archive(tmp_path / "a.npz", HEADER, [planes_header(2**33), bytes(99)])
    refuses_in_little_memory(path, "not a complete tilesim trace")


@pytest.mark.parametrize("kind", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_only_what_tilesim_packs_with_is_unpacked(tmp_path, kind):
    TRACE.save(tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "a.npz") as old, zipfile.ZipFile(tmp_path / "b.npz", "w", kind) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    refuses_in_little_memory(tmp_path / "b.npz", "not a complete tilesim trace")


def test_a_header_may_not_be_nested_beyond_sense(tmp_path):
    deep = {}
    for _ in range(400):
        deep = {"a": deep}
    path = archive(tmp_path / "a.npz", HEADER | {"meta": deep}, PLANES)
    refuses_in_little_memory(path, f"nested too deeply; at most {DEEPEST} levels")


def test_text_that_inflates_without_end_is_cut_off(tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "MOST_TEXT", 2**20)
    (tmp_path / "a.csv").write_bytes(gzip.compress(bytes(2**24)))
    refuses_in_little_memory(tmp_path / "a.csv", "inflates to more than the 1 MiB")
    (tmp_path / "a.csv").write_bytes(b"0" * (2**20 + 1))
    refuses_in_little_memory(tmp_path / "a.csv", "larger than the 1 MiB")


def test_a_file_without_an_end_is_not_read_to_it(monkeypatch):
    monkeypatch.setattr(reader, "MOST_TEXT", 2**20)
    refuses_in_little_memory("/dev/zero", "larger than the 1 MiB")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" + "[],{}," * 600 + "0]", "lists and objects; at most 1000 are read"),
        ('{"a": [' + "0," * 5000 + "0]}", "values; at most 4000 are read"),
        ("tile,sm\n" + "\n" * 4000, "lines; at most"),
        ("tile,sm\n" + "," * 9000, "cells; at most"),
    ],
    ids=["lists", "values", "lines", "cells"],
)
def test_what_would_be_too_many_values_is_not_parsed(tmp_path, monkeypatch, text, words):
    for name, most in {"LISTS": 1000, "VALUES": 4000, "LINES": 1000, "CELLS": 4000}.items():
        monkeypatch.setattr(limits, f"MOST_{name}", most)
    (tmp_path / "a").write_text(text)
    refuses_in_little_memory(tmp_path / "a", words)


@pytest.mark.parametrize("form", ["csv", "json", "perfetto"])
def test_what_is_too_long_for_a_format_is_refused_before_it_is_written(tmp_path, monkeypatch, form):
    monkeypatch.setattr(limits, "MOST_SEGMENTS", dict.fromkeys(limits.MOST_SEGMENTS, len(TRACE.spans) - 1))
    (tmp_path / "a").write_text("old")
    with pytest.raises(TilesimError, match=r"the trace has 2 segments, too many for a \w+ file: at most 1"):
        save_as(TRACE, tmp_path / "a", form)
    assert (tmp_path / "a").read_text() == "old"


@pytest.mark.parametrize("form", ["perfetto", "pftrace"])
def test_slots_that_no_viewer_has_rows_for_are_refused(tmp_path, monkeypatch, form):
    monkeypatch.setattr(limits, "MOST_SLOTS", TRACE.device.slots)
    save_as(TRACE, tmp_path / "a", form)
    sms, more = TRACE.device.sms, TRACE.device.sms + 1
    with refused(f"{more * TRACE.device.slots // sms} slots, too many for a p"):
        save_as(replace(TRACE, device=replace(TRACE.device, sms=more)), tmp_path / "a", form)


def test_what_a_native_file_could_not_be_read_with_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(trace_file, "MOST_SPANS", len(TRACE.spans))
    TRACE.save("/dev/null")
    monkeypatch.setattr(trace_file, "MOST_SPANS", 1)
    with pytest.raises(TilesimError, match="the trace has 2 segments"):
        TRACE.save(tmp_path / "a.npz")
    assert not list(tmp_path.iterdir())


def test_as_many_segments_as_are_written_are_within_what_is_read():
    assert limits.MOST_SEGMENTS["csv"] < limits.MOST_LINES
    assert limits.MOST_SEGMENTS["csv"] * len(TRACE.spans.dtype) < limits.MOST_CELLS
    for form, objects, values in (("json", 1, 13), ("perfetto", 11, 5 * 17 + 13)):
        assert limits.MOST_SEGMENTS[form] * objects < limits.MOST_LISTS
        assert limits.MOST_SEGMENTS[form] * values < limits.MOST_VALUES


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "\x1b[31mred", "two\nlines", "\u202eback"], ids=ascii)
def test_texts_that_cannot_be_printed_are_refused_where_a_trace_is_built_or_read(tmp_path, text):
    for change in (
        {"schedule": text}, {"meta": {"gpu": text}}, {"meta": {"a": [{"b": text}]}}, {"meta": {text: 1}},
    ):  # fmt: skip
        with pytest.raises(TraceError, match=r"U\+[0-9A-F]{4,6}, which cannot be printed"):
            replace(TRACE, **change)
    head = f"# m=1 n=1 k=1 tile=1x1x1 sms=1 schedule={json.dumps(text)}\n"
    (tmp_path / "a.csv").write_text(f"{head}tile,sm,start,end\n0,0,0,1\n")
    archive(tmp_path / "a.npz", HEADER | {"schedule": text}, PLANES)
    for name in ("a.csv", "a.npz"):
        refuses_in_little_memory(tmp_path / name, "which cannot be printed")


def test_a_name_is_no_longer_than_can_be_shown():
    with refused("it must be a text of 0 to 1000 characters", TraceError):
        replace(TRACE, schedule="x" * 1001)
    with pytest.raises(TraceError, match=r"meta has \d+ characters as JSON"):
        replace(TRACE, meta={"remark": "x" * 2**20})


@pytest.mark.parametrize(
    "meta",
    [{"a": 10**400}, {"a": 10**5000}, {1: "a"}, {"gpu": 7}, {"kernel": ["a"]}, {"a": {"b": [-(10**301)]}}],
    ids=range(6),
)
def test_meta_that_could_not_be_read_again_is_refused(meta):
    with pytest.raises(TraceError, match="meta"):
        replace(TRACE, meta=meta)


def test_a_file_whose_name_cannot_be_printed_still_labels_its_kernel(tmp_path):
    path = tmp_path / "my\x1b kernel.csv"
    path.write_text("# m=1 n=1 k=1 tile=1x1x1 sms=1\ntile,sm,start,end\n0,0,0,1\n")
    assert read(path).schedule == "my kernel"
