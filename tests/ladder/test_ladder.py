"""Ladders: read as they were written, in order, and refused in a sentence where they make no sense."""

import json

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


def test_a_problem_that_is_not_there():
    said = "nothing was measured with m 4096, n 2048; there is 2048x2048x2048 bf16, 4096x4096x4096 bf16"
    with pytest.raises(ReportError, match=f"^{said}$"):
        parse(values()).of(m=4096, n=2048)


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


def broken(**changes):
    return values() | {"rows": [row(1, "tiled", 1024) | changes]}


BROKEN = {
    "no GPU": (values() | {"machine": {}}, "machine lacks gpu, driver"),
    "half a peak": (values() | {"peak_tflops": {"datasheet": 989}}, "peak_tflops lacks measured"),
    "no rows": (values() | {"rows": []}, "rows is []; it must be a list that is not empty"),
    "no why": (broken(why=None), "rows[0] lacks why"),
    "no time": (broken(us=0), "rows[0].us is 0; it must be a number from 1e-09"),
    "a film's worth of text": (broken(why="so " * 9999), "it must be a text of 0 to 2000 characters"),
    "a name that no film shows": (broken(name="tiled\0"), "rows[0].name is 'tiled\\x00' with a U+0000"),
    "beside its spread": (broken(p20=1e9), "the median of rows[0], "),
    "other TFLOP/s": (broken(tflops=500.0), "rows[0] says 500 TFLOP/s, but its time makes 388"),
    "bytes from nowhere": (broken(bytes_from="guess"), "bytes_from is 'guess'; choose from counters, model"),
    "bytes from nobody": (broken(bytes_from=None), "rows[0] lacks bytes_from"),
    "twice": (values() | {"rows": [ROWS[0], ROWS[0]]}, "a yardstick of 4096x4096x4096 bf16 is there twice"),
}
BROKEN |= {
    name: (broken(**{name: -1}), f"rows[0].{name} is -1") for name in ("dram_bytes", "l2_bytes", "sm_mhz")
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


def test_what_nobody_noted_is_left_open():
    bare = parse(broken(dram_bytes=None, bytes_from=None, tile=None, sm_mhz=None)).rows[0]
    assert bare.intensity is bare.bytes_from is bare.sm_mhz is None and bare.tflops > 0
    (yardstick,) = parse(broken(step=None, change="", why=None)).rows
    assert yardstick.change == yardstick.why == ""
