"""Ladders: read as they were written, in order, and refused in a sentence where they make no sense."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ladders import STEPS, row, values, write

from tilesim.errors import ReportError
from tilesim.ladder.file import ladders, parse, read
from tilesim.ladder.steps import ridge, roofline

ROWS = values()["rows"]


@given(st.permutations(ROWS))
def test_rows_in_any_order_are_the_same_ladder(rows):
    ladder = parse(values() | {"rows": rows}).of(m=2048)
    assert [step.name for step in ladder.steps] == list(STEPS)[:-1]
    assert [step.step for step in ladder.steps] == list(range(1, 12))
    assert ladder.rows[-1].name == "cublas" and ladder.rows[-1].step is None


def test_what_is_read_is_what_was_written(tmp_path):
    ladder = read(write(tmp_path / "own.json"))
    assert ladder.machine == values()["machine"] and ladder.method == values()["method"]
    assert (ladder.peak_tflops.datasheet, ladder.bandwidth_gb_per_s.measured) == (989.4, 4290)
    for given_row in ROWS:
        (found,) = (one for one in ladder.rows if one.name == given_row["name"] and one.m == given_row["m"])
        assert all(getattr(found, key) == given_row[key] for key in ("change", "why", "us", "dram_bytes"))
        assert found.tflops == pytest.approx(given_row["tflops"], abs=0.051)
        assert found.intensity == 2 * found.m * found.n * found.k / given_row["dram_bytes"]


def test_the_problem_with_most_rungs_is_taken_and_then_the_largest():
    both = parse(values())
    assert both.of().rows[0].m == 2048 and len(both.of().steps) == 11
    without = [one for one in ROWS if one["name"] != "element"]
    assert parse(values() | {"rows": without}).of().rows[0].m == 4096
    assert both.of(m=4096, dtype="bf16").rows[0].k == 4096


@pytest.mark.parametrize("sizes", [{"m": 1}, {"dtype": "fp16"}, {"m": 4096, "n": 2048}])
def test_a_problem_that_is_not_there(sizes):
    with pytest.raises(ReportError) as caught:
        parse(values()).of(**sizes)
    asked = ", ".join(f"{name} {value}" for name, value in sizes.items())
    assert str(caught.value) == (
        f"nothing was measured with {asked}; there is 2048x2048x2048 bf16, 4096x4096x4096 bf16"
    )


def test_ladders_ship_as_package_data(tmp_path, monkeypatch):
    monkeypatch.setattr("tilesim.ladder.file.FOLDER", tmp_path)
    assert ladders() == ()
    write(tmp_path / "b.json", method="second")
    write(tmp_path / "a.json", method="first")
    assert [ladder.method for ladder in ladders()] == ["first", "second"]
    monkeypatch.setattr("tilesim.ladder.file.FOLDER", tmp_path / "none")
    assert ladders() == ()


def test_every_ladder_that_ships_can_be_shown():
    for ladder in ladders():
        assert len(ladder.of().steps) >= 2 and ladder.machine["gpu"]


@given(st.floats(0.01, 1e5), st.floats(1, 1e4), st.floats(1, 1e5))
def test_the_roof_is_the_lower_of_two_limits(intensity, peak, bandwidth):
    allowed, edge = float(roofline(intensity, peak, bandwidth)), ridge(peak, bandwidth)
    assert allowed <= peak and allowed <= intensity * bandwidth / 1000
    assert allowed == pytest.approx(peak if intensity >= edge else peak * intensity / edge)


def without(key):
    return {name: value for name, value in values().items() if name != key}


def broken(**changes):
    return values() | {"rows": [row(1, "tiled", 1024) | changes]}


BROKEN = {
    "a list": ([], "the file is []; it must be an object"),
    "no machine": (without("machine"), "the file lacks machine"),
    "no GPU": (values() | {"machine": {}}, "machine lacks gpu, driver"),
    "no peak": (without("peak_tflops"), "the file lacks peak_tflops"),
    "half a peak": (values() | {"peak_tflops": {"datasheet": 989}}, "peak_tflops lacks measured"),
    "no rows": (values() | {"rows": []}, "rows is []; it must be a list that is not empty"),
    "a row of text": (values() | {"rows": ["tiled"]}, "rows[0] is 'tiled'; it must be an object"),
    "a step of text": (broken(step="1"), "rows[0].step is '1'; it must be a whole number from 1"),
    "no name": (broken(name=" "), "rows[0].name is ''; it must be a text"),
    "no why": (broken(why=None), "rows[0] lacks why"),
    "no size": (broken(m=0), "rows[0].m is 0; it must be a whole number from 1 to"),
    "half a tile": (broken(tile=[128]), "rows[0].tile is [128]; it must be a list of 3"),
    "no time": (broken(us=0), "rows[0].us is 0; it must be a number from 1e-09"),
    "a time of text": (broken(us="fast"), "rows[0].us is 'fast'; it must be a number"),
    "no time that a GPU takes": (broken(us=10**400), "a number in it is too large for a double"),
    "a time of ages": (broken(us=10**30), "rows[0].us is 1000000000000000000000000000000; it must be a"),
    "a film's worth of text": (broken(why="so " * 9999), "it must be a text of 0 to 2000 characters"),
    "a name that no film shows": (broken(name="tiled\0"), "rows[0].name is 'tiled\\x00' with a U+0000"),
    "a yes for a time": (broken(us=True), "rows[0].us is True; it must be a number"),
    "beside its spread": (broken(p20=1e9), "the median of rows[0], "),
    "other TFLOP/s": (broken(tflops=500.0), "rows[0] says 500 TFLOP/s, but its time makes 388"),
    "bytes below 0": (broken(dram_bytes=-1), "rows[0].dram_bytes is -1; it must be a number"),
    "a clock that stands": (broken(sm_mhz=0), "rows[0].sm_mhz is 0; it must be a number"),
    "bytes from nowhere": (broken(bytes_from="guess"), "bytes_from is 'guess'; choose from counters, model"),
    "twice": (values() | {"rows": [ROWS[0], ROWS[0]]}, "a yardstick of 4096x4096x4096 bf16 is there twice"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_ladder_is_one_sentence(case, tmp_path):
    content, words = BROKEN[case]
    path = tmp_path / "own.json"
    path.write_text(json.dumps(content), "utf-8")
    with pytest.raises(ReportError) as caught:
        read(path)
    said = str(caught.value)
    assert said.startswith(f"{path}: ") and words in said and "\n" not in said


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b'{"rows": NaN}', b"[" * 100_000])
def test_bytes_that_are_no_ladder(content, tmp_path):
    (tmp_path / "own.json").write_bytes(content)
    with pytest.raises(ReportError, match=r"this is not JSON|NaN is no number|nested too deeply") as caught:
        read(tmp_path / "own.json")
    assert "\n" not in str(caught.value)


def test_no_such_file(tmp_path):
    for path, words in ((tmp_path / "no.json", "there is no such file"), (tmp_path, "Is a directory")):
        with pytest.raises(ReportError, match=words):
            read(path)


def test_of_the_yardstick_nobody_says_what_it_changes():
    (yardstick,) = parse(broken(step=None, change="", why=None)).rows
    assert yardstick.change == yardstick.why == ""


@pytest.mark.parametrize("mhz", [None, 1567.5])
def test_the_clock_is_read_where_somebody_noted_it(mhz):
    assert parse(broken(sm_mhz=mhz)).rows[0].sm_mhz == mhz


def test_unknown_bytes_have_no_intensity():
    bare = parse(broken(dram_bytes=None, bytes_from=None, tile=None)).rows[0]
    assert bare.intensity is None and bare.bytes_from is None and np.isfinite(bare.tflops)


@pytest.mark.parametrize("name", ["l2_bytes", "sm_mhz", "stages", "order"])
def test_what_a_row_need_not_say_is_checked_where_it_does(name):
    with pytest.raises(ReportError, match=rf"rows\[0\].{name} is -1"):
        parse(values() | {"rows": [row(1, "tiled", 2048, **{name: -1})]})
